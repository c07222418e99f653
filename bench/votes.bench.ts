/**
 * What does a vote for a key that nobody listed cost, on a day of 10⁶ people and 10⁵ keys, and the test at its end? Opponent:
 * exact counts in a Map and voters in a Set, which nothing bounds and which are not private.
 */
import { chooseNoise } from "../src/core/choose.js";
import { jsNoise } from "../src/core/js/index.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { discoveryRule, KeyDiscovery } from "../src/events/keys/keyDiscovery.js";
import { collectGarbage, measure, type Row } from "./harness.js";

const PEOPLE = 1_000_000;
const KEYS = 100_000;
const VOTES = 10_000;
const DAY = 86_400_000;
const names = Array.from({ length: KEYS }, (_, i) => `/page/${i}`);
const rule = discoveryRule(2, 8, 1e-9);
const key = unsafeKey("bench");

/** Ranks of a Zipf law, about: the exponential of a uniform. */
const rankOf = (i: number): number =>
  Math.floor(Math.exp(((Math.imul(i, 0x9e3779b1) >>> 0) / 2 ** 32) * Math.log(KEYS)));
const hash = new Uint32Array(4);

/** Everything that the process holds. */
function held(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

class Voting {
  readonly discovery: KeyDiscovery;
  #person = 0;

  constructor(core = chooseNoise()) {
    this.discovery = new KeyDiscovery(rule, core, key, PEOPLE);
  }

  /** The next votes of the day; people come again when all have been there. */
  vote(count: number): void {
    for (let i = 0; i < count; i++, this.#person++) {
      const person = this.#person % PEOPLE;
      const day = Math.floor(this.#person / PEOPLE) * DAY;
      hash[0] = Math.imul(person, 0x85ebca6b);
      hash[1] = person;
      hash[3] = Math.imul(person, 0xc2b2ae35);
      if (person === 0) this.discovery.forgetBefore(day);
      this.discovery.vote(names[rankOf(person)]!, hash, day);
    }
  }
}

export async function* rows(): AsyncGenerator<Row> {
  const voting = new Voting();
  const counts = new Map<string, number>();
  const voters = new Set<string>();
  let person = 0;
  yield await measure({
    path: "votes",
    case: `${VOTES} votes of ${PEOPLE} people for ${KEYS} keys`,
    wasm: () => voting.vote(VOTES),
    naive: () => {
      for (let i = 0; i < VOTES; i++, person++) {
        if (person % PEOPLE === 0) {
          counts.clear();
          voters.clear();
        }
        const id = `p${person % PEOPLE}`;
        if (voters.has(id)) continue;
        voters.add(id);
        const name = names[rankOf(person % PEOPLE)]!;
        counts.set(name, (counts.get(name) ?? 0) + 1);
      }
    },
  });
  const before = held();
  const day = new Voting();
  day.vote(PEOPLE);
  const bytes = held() - before;
  const twin = new Voting(jsNoise);
  twin.vote(PEOPLE);
  const row = await measure({
    path: "votes",
    case: `the test of a day: ${rule.cells} cells, ${Math.round(bytes / 2 ** 20)} MB of votes and voters`,
    wasm: () => void day.discovery.test(0),
    js: () => void twin.discovery.test(0),
  });
  yield { ...row, keys: KEYS, bytesPerKey: bytes / KEYS, residentBytes: process.memoryUsage().rss };
}

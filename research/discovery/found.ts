/**
 * Measures which keys votes of people find. People come every day, each with a number of events (geometric, 8 in the mean)
 * whose keys follow a Zipf law, and vote as in a hub; found keys are public from the second midnight on. Prints how many keys are
 * public after some days, and which share of the events has a public key; and what it takes: processor time per event that
 * may vote, and per test of a day, and bytes in memory and in a snapshot before the test.
 *
 *     node --expose-gc --import tsx research/discovery/found.ts [people per day] [keys] [days]
 */
import { chooseNoise } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { discoveryRule, KeyDiscovery } from "../../src/events/keys/keyDiscovery.js";
import { Encoder } from "../../src/snapshot/codec.js";
import { fastRandom } from "../fastRandom.js";

const DAY = 86_400_000;
const EPSILON = 2; // a quarter of it chooses keys
const SHARE = 8;
const DELTA = 1e-9;
const EVENTS = 8;

/** Keys drawn by a Zipf law of exponent 1, by their rank. */
function zipf(keys: number, random: () => number): () => number {
  const sums = new Float64Array(keys);
  for (let i = 0, sum = 0; i < keys; i++) sums[i] = sum += 1 / (i + 1);
  const all = sums[keys - 1]!;
  return () => {
    const at = random() * all;
    let [low, high] = [0, keys - 1];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sums[middle]! < at) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}

export interface Found {
  readonly day: number;
  readonly keys: number;
  /** Share of the day's events whose key is public by the end of the day's test. */
  readonly share: number;
}

export interface Cost {
  /** Events whose key was not public. */
  readonly votes: number;
  /** Microseconds of the processor for one of them. */
  readonly vote: number;
  /** Milliseconds of the processor for the test of a day, in the mean. */
  readonly test: number;
  /** Bytes of votes and voters of a day: in memory, and in a snapshot; the most of all days. */
  readonly memory: number;
  readonly snapshot: number;
}

/** People whose events are made before they vote: votes are timed together. */
const TOGETHER = 4096;

/** Runs something; returns how many microseconds of the processor it took. */
function timed(run: () => void): number {
  const before = process.cpuUsage();
  run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

const held = (): number => {
  (globalThis as { gc?: () => void }).gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

export function simulate(
  people: number,
  keys: number,
  days: number,
  seed = 1,
): { readonly found: Found[]; readonly cost: Cost } {
  const random = fastRandom(seed);
  const draw = zipf(keys, random);
  const rule = discoveryRule(EPSILON, SHARE, DELTA);
  const names = Array.from({ length: keys }, (_, key) => `/page/${key}`);
  const discovery = new KeyDiscovery(rule, chooseNoise(), unsafeKey(`found ${people} ${keys}`), people);
  /** Known names get no votes: they are public, or will be. */
  const known = new Set<number>();
  const hash = new Uint32Array(4);
  const found: Found[] = [];
  let [votes, voteTime, testTime, memory, snapshot] = [0, 0, 0, 0, 0];
  const perKey = new Uint32Array(keys);
  const empty = held();
  for (let day = 0; day < days; day++) {
    perKey.fill(0);
    let events = 0;
    for (let from = 0; from < people; from += TOGETHER) {
      const to = Math.min(people, from + TOGETHER);
      const asked: number[] = [];
      for (let person = from; person < to; person++)
        do {
          const key = draw();
          perKey[key]!++;
          events++;
          if (!known.has(key)) asked.push(person, key);
        } while (random() < 1 - 1 / EVENTS);
      votes += asked.length / 2;
      voteTime += timed(() => {
        for (let i = 0; i < asked.length; i += 2) {
          const person = asked[i]!;
          hash[0] = Math.imul(person + 1, 0x9e3779b1);
          hash[1] = person;
          hash[2] = day;
          hash[3] = Math.imul(person, 0x85ebca6b);
          discovery.vote(names[asked[i + 1]!]!, hash, day * DAY);
        }
      });
    }
    memory = Math.max(memory, held() - empty);
    const writer = new Encoder();
    discovery.save(writer, [day * DAY]);
    snapshot = Math.max(snapshot, writer.bytes.length);
    testTime += timed(() => {
      for (const { name } of discovery.test(day * DAY)) known.add(Number(name.slice("/page/".length)));
    });
    discovery.forgetBefore((day + 1) * DAY);
    let covered = 0;
    for (const key of known) covered += perKey[key]!;
    found.push({ day: day + 1, keys: known.size, share: covered / events });
  }
  const cost = { votes, vote: voteTime / votes, test: testTime / days / 1000, memory, snapshot };
  return { found, cost };
}

const main = process.argv[1]?.endsWith("found.ts") === true;
if (main) {
  const given = process.argv.slice(2).map(Number);
  const cases: readonly (readonly [number, number, number])[] =
    given.length === 3
      ? [given as unknown as [number, number, number]]
      : [
          [500, 1000, 30],
          [10_000, 1000, 30],
          [10_000, 100_000, 30],
          [1_000_000, 100_000, 7],
        ];
  const { k, delta } = discoveryRule(EPSILON, SHARE, DELTA);
  console.log(
    `ε = ${EPSILON}, of which ${(EPSILON * SHARE) / 32} chooses keys; δ = ${delta.toPrecision(3)}, k = ${k}`,
  );
  for (const [people, keys, days] of cases) {
    const { found, cost } = simulate(people, keys, days);
    const shown = found.filter(({ day }) => [1, 7, 30].includes(day));
    console.log(
      `${people} people a day, ${keys} keys: ${shown.map(({ day, keys: n, share }) => `after ${day} days ${n} keys, ${Math.round(100 * share)} % of events`).join("; ")}`,
    );
    const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
    console.log(
      `  ${cost.votes} events of keys that were not public: ${cost.vote.toFixed(2)} µs of the processor each; ${cost.test.toFixed(1)} ms for the test of a day; ${megabytes(cost.memory)} in memory, ${megabytes(cost.snapshot)} in a snapshot`,
    );
  }
}

/**
 * What do votes of people find? People come every day, each with a number of events (geometric, 8 in the mean) whose keys
 * follow a Zipf law, and vote as in a hub; found keys are public from the second midnight on. Prints how many keys are
 * public after some days, and which share of the events has a public key.
 *
 *     npx tsx research/discovery/found.ts [people per day] [keys] [days]
 */
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { discoveryRule, KeyDiscovery } from "../../src/events/keyDiscovery.js";

const DAY = 86_400_000;
const EPSILON = 2; // a quarter of it chooses keys
const SHARE = 8;
const DELTA = 1e-9;
const EVENTS = 8;

/** A fast generator for made-up people: no noise comes from it. */
function generator(seed: number): () => number {
  let x = seed >>> 0;
  return () => {
    x = (x + 0x6d2b79f5) >>> 0;
    let y = Math.imul(x ^ (x >>> 15), 1 | x);
    y = (y + Math.imul(y ^ (y >>> 7), 61 | y)) ^ y;
    return ((y ^ (y >>> 14)) >>> 0) / 2 ** 32;
  };
}

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
  /** Of the day's events, the share whose key is public by the end of the day's test. */
  readonly share: number;
}

export function simulate(people: number, keys: number, days: number, seed = 1): Found[] {
  const random = generator(seed);
  const draw = zipf(keys, random);
  const rule = discoveryRule(EPSILON, SHARE, DELTA);
  const discovery = new KeyDiscovery(rule, chooseCore(), unsafeKey(`found ${people} ${keys}`), people);
  /** Known names get no votes: they are public, or will be. */
  const known = new Set<number>();
  const hash = new Uint32Array(4);
  const results: Found[] = [];
  for (let day = 0; day < days; day++) {
    const perKey = new Uint32Array(keys);
    let events = 0;
    for (let person = 0; person < people; person++) {
      hash.set([Math.imul(person + 1, 0x9e3779b1) >>> 0, person, day, Math.imul(person, 0x85ebca6b) >>> 0]);
      let voted = false;
      do {
        const key = draw();
        perKey[key]!++;
        events++;
        if (!voted && !known.has(key)) voted = discovery.vote(`/page/${key}`, hash, day * DAY);
      } while (random() < 1 - 1 / EVENTS);
    }
    for (const { name } of discovery.test(day * DAY)) known.add(Number(name.slice("/page/".length)));
    discovery.forgetBefore((day + 1) * DAY);
    let covered = 0;
    for (const key of known) covered += perKey[key]!;
    results.push({ day: day + 1, keys: known.size, share: covered / events });
  }
  return results;
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
    const found = simulate(people, keys, days);
    const shown = found.filter(({ day }) => [1, 7, 30].includes(day));
    console.log(
      `${people} people a day, ${keys} keys: ${shown.map(({ day, keys: n, share }) => `after ${day} days ${n} keys, ${Math.round(100 * share)} % of events`).join("; ")}`,
    );
  }
}

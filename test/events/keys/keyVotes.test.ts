/** Votes of one person and day, by exact laws: what one vote can change, and with what probability it is seen. */
import { describe, expect, test } from "vitest";
import { chooseNoise } from "../../../src/core/choose.js";
import { Purpose, subStream } from "../../../src/core/random.js";
import { makeScale } from "../../../src/core/tables/scale.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { KeyVotes, truncatedNoise } from "../../../src/events/keys/keyVotes.js";
import { Decoder, Encoder } from "../../../src/snapshot/codec.js";

const HASH = Uint32Array.of(1, 2, 3, 4);
const NAMES = ["a", "b", "c"];
const K = 3;

/** P(X = x) of truncated discrete Laplace noise on [−k, k]. */
const law = (epsilon: number, k: number) => {
  const q = Math.exp(-epsilon);
  const z = (1 + q - 2 * q ** (k + 1)) / (1 - q);
  return (x: number): number => (Math.abs(x) > k ? 0 : q ** Math.abs(x) / z);
};
const DELTA = 0.02364054302; // P(X = 3) at ε = 1

type Counts = ReadonlyMap<string, number>;
type Count = (votes: readonly string[]) => Counts;

const cellsOf =
  (cells: number, cap = Infinity): Count =>
  (votes) => {
    const table = new KeyVotes({ k: K, cap, cells }, HASH);
    for (const name of votes) table.vote(name);
    return new Map(table.candidates.map((found) => [found.name, found.votes]));
  };
const exactly: Count = (votes) => {
  const counts = new Map<string, number>();
  for (const name of votes) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};
/** The first names that come have the only places. */
const firstCome: Count = (votes) => {
  const counts = new Map<string, number>();
  for (const name of votes)
    if (counts.has(name) || counts.size < 1) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

interface Rule {
  readonly epsilon: number;
  readonly above: (noisy: number) => boolean;
}
const RIGHT: Rule = { epsilon: 1, above: (noisy) => noisy > K };

/** The law of what is published of one name: its noisy number, or nothing. */
function outcomes(count: number, { epsilon, above }: Rule): Map<string, number> {
  const found = new Map<string, number>([["nothing", count === 0 ? 1 : 0]]);
  if (count === 0) return found;
  const atom = law(epsilon, K);
  for (let x = -K; x <= K; x++) {
    const outcome = above(count + x) ? String(count + x) : "nothing";
    found.set(outcome, (found.get(outcome) ?? 0) + atom(x));
  }
  return found;
}

/** Largest δ at e^ε over both directions, for names that are independent: the laws are multiplied. */
function divergence(a: Counts, b: Counts, rule: Rule): number {
  const joint = (counts: Counts) =>
    NAMES.reduce(
      (all, name) => {
        const own = outcomes(counts.get(name) ?? 0, rule);
        return new Map(
          [...all].flatMap(([before, p]) => [...own].map(([o, r]) => [`${before}|${o}`, p * r] as const)),
        );
      },
      new Map<string, number>([["", 1]]),
    );
  const [p, q] = [joint(a), joint(b)];
  const one = (x: ReadonlyMap<string, number>, y: ReadonlyMap<string, number>) =>
    [...x].reduce((sum, [outcome, odds]) => sum + Math.max(0, odds - Math.E * (y.get(outcome) ?? 0)), 0);
  return Math.max(one(p, q), one(q, p));
}

/** All sequences of up to `most` votes. */
function sequences(most: number): string[][] {
  const all: string[][] = [[]];
  for (let from = 0, length = 1; length <= most; length++) {
    const end = all.length;
    for (; from < end; from++) for (const name of NAMES) all.push([...all[from]!, name]);
  }
  return all;
}

/** The worst divergence if votes are inserted into any sequence at any place. */
function worst(count: Count, rule: Rule, inserted = 1, most = 4): number {
  let largest = 0;
  for (const votes of sequences(most))
    for (let at = 0; at <= votes.length; at++)
      for (const name of NAMES) {
        const more = [
          ...votes.slice(0, at),
          ...Array.from({ length: inserted }, () => name),
          ...votes.slice(at),
        ];
        largest = Math.max(largest, divergence(count(votes), count(more), rule));
      }
  return largest;
}

describe("one vote", () => {
  test.each([
    ["exact counts", exactly],
    ["one cell", cellsOf(1)],
    ["two cells", cellsOf(2)],
    ["cells with a cap", cellsOf(2, 3)],
  ])("%s: the worst δ at ε = 1 is P(X = k), to all digits", (name, count) => {
    const found = worst(count, RIGHT);
    if (name === "cells with a cap") expect(found).toBeLessThanOrEqual(DELTA + 1e-11);
    else expect(found).toBeCloseTo(DELTA, 10);
  });

  test.each([
    ["noise a tenth too small", exactly, { ...RIGHT, epsilon: 1 / 0.9 }, 1, 1.05],
    ["published at the threshold", exactly, { ...RIGHT, above: (noisy: number) => noisy >= K }, 1, 2],
    ["a person votes twice", exactly, RIGHT, 2, 5],
    ["the first names that come have the places", firstCome, RIGHT, 1, 5],
  ] as const)("planted: %s", (_, count, rule, inserted, times) => {
    expect(worst(count, rule, inserted)).toBeGreaterThan(times * DELTA);
  });

  test("planted: one noise of a day that is tested at every tick tells when a person came", () => {
    /** The law of all that two ticks show of a name that had so many votes by the end of each. */
    const ticks = (counts: readonly number[]): Map<string, number> => {
      const found = new Map<string, number>();
      for (let x = -K; x <= K; x++) {
        const outcome = counts.map((n) => (n > 0 && n + x > K ? n + x : "-")).join();
        found.set(outcome, (found.get(outcome) ?? 0) + law(1, K)(x));
      }
      return found;
    };
    const beyond = (p: ReadonlyMap<string, number>, r: ReadonlyMap<string, number>): number =>
      [...p].reduce((sum, [outcome, odds]) => sum + Math.max(0, odds - Math.E * (r.get(outcome) ?? 0)), 0);
    let [often, once] = [0, 0];
    for (let first = 0; first <= 5; first++)
      for (let more = 0; more <= 3; more++)
        for (const early of [0, 1]) {
          const [without, with_] = [
            [first, first + more],
            [first + early, first + more + 1],
          ];
          const worse = (a: readonly number[], b: readonly number[]) =>
            Math.max(beyond(ticks(a), ticks(b)), beyond(ticks(b), ticks(a)));
          often = Math.max(often, worse(without, with_));
          once = Math.max(once, worse(without.slice(1), with_.slice(1)));
        }
    expect(once).toBeCloseTo(DELTA, 10);
    expect(often).toBeGreaterThan(5 * DELTA);
  });

  test("moves one cell by one, for the rest of the day, whatever comes after it", () => {
    for (const cells of [1, 2, 4])
      for (const votes of sequences(5))
        for (let at = 0; at <= votes.length; at++)
          for (const name of NAMES) {
            const before = cellsOf(cells)(votes);
            const after = cellsOf(cells)([...votes.slice(0, at), name, ...votes.slice(at)]);
            const names = new Set([...before.keys(), ...after.keys()]);
            const moved = [...names].reduce(
              (sum, n) => sum + Math.abs((before.get(n) ?? 0) - (after.get(n) ?? 0)),
              0,
            );
            expect(moved).toBe(1);
          }
  });
});

describe("the test of a day", () => {
  const scale = makeScale(1n, 1n);
  const cores = [chooseNoise("wasm"), chooseNoise("js")];
  const key = unsafeKey("votes");

  test("both cores draw the same noise, never beyond the threshold", () => {
    const drawn = cores.map((core) =>
      truncatedNoise(core, scale, { k: K, cells: 4096 }, (run) => subStream(key, Purpose.dayVotes, run, 7)),
    );
    expect(drawn[0]).toEqual(drawn[1]);
    expect(Math.max(...drawn[0]!.map(Math.abs))).toBe(K);
  });

  test("cells of one vote are published with probability δ: 2^21 of them, within 5 standard deviations (6·10⁻⁷)", () => {
    const cells = 2 ** 21;
    const noise = truncatedNoise(cores[0]!, scale, { k: K, cells }, (run) =>
      subStream(key, Purpose.dayVotes, run, 1),
    );
    const published = noise.reduce((sum, x) => sum + (1 + x > K ? 1 : 0), 0);
    const deviation = Math.sqrt(cells * DELTA * (1 - DELTA));
    expect(Math.abs(published - cells * DELTA)).toBeLessThan(5 * deviation);
    // Without truncation more of them are above the threshold, and the same bound sees it.
    const plain = new Float64Array(cells);
    cores[0]!.laplace(subStream(key, Purpose.dayVotes, 0, 1), scale, plain);
    const seen = plain.reduce((sum, x) => sum + (1 + x > K ? 1 : 0), 0);
    expect(Math.abs(seen - cells * DELTA)).toBeGreaterThan(5 * deviation);
  });

  test("a popular key is found, a capped one leaves votes for others, and a snapshot goes on", () => {
    const rule = { k: K, cap: 8, cells: 16 };
    const votes = new KeyVotes(rule, HASH);
    expect(Array.from({ length: 10 }, () => votes.vote("/")).filter((vote) => vote === "kept")).toHaveLength(
      2,
    );
    votes.vote("/account/ann");
    const writer = new Encoder();
    votes.save(writer, 1);
    const copy = new KeyVotes(rule, HASH);
    copy.load(new Decoder(writer.bytes));
    expect(copy.candidates).toEqual(votes.candidates);
    for (const core of cores) {
      const found = copy.test(core, scale, key, 3);
      expect(found.map(({ name }) => name)).toContain("/");
      expect(found).toEqual(votes.test(core, scale, key, 3));
    }
    copy.wipe();
    expect(copy.test(cores[0]!, scale, key, 4)).toEqual([]);
  });
});

/** Votes of people on days: what one person's day can move, over interleaved lives and over two days that feed each other. */
import { describe, expect, test } from "vitest";
import { Dice } from "../../../scripts/fuzz/dice.js";
import { chooseNoise } from "../../../src/core/choose.js";
import { makeScale } from "../../../src/core/tables/scale.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { type DiscoveryRule, discoveryRule, KeyDiscovery } from "../../../src/events/keys/keyDiscovery.js";
import { canBecomePublic } from "../../../src/events/keys/keyName.js";
import { KeyVotes } from "../../../src/events/keys/keyVotes.js";
import { Decoder, Encoder } from "../../../src/snapshot/codec.js";

const core = chooseNoise();
const DAY = 86_400_000;
const personHash = (person: number): Uint32Array => Uint32Array.of(person, 7, 7, person);

describe("the rule of a discovery", () => {
  test("k and δ follow from the share of ε, exactly", () => {
    expect(discoveryRule(2, 8, 1e-9)).toMatchObject({ k: 39, cap: 51, epsilon: 0.5 });
    expect(discoveryRule(1, 8, 1e-9)).toMatchObject({ k: 75, cap: 99, epsilon: 0.25 });
    // A share that is no power of two: δ is that of the noise that is drawn, 32/(0.1·5) exactly.
    const { k, delta, scale } = discoveryRule(0.1, 5, 1e-6);
    expect(scale.numerator * 3602879701896397n * 5n).toBe(scale.denominator * 32n * 2n ** 55n);
    const q = Math.exp(-0.1 * (5 / 32));
    expect(delta / ((q ** k * (1 - q)) / (1 + q - 2 * q ** (k + 1)))).toBeCloseTo(1, 9);
  });

  test("names that may become public", () => {
    expect(["/a", "é", "日本", "a b", "x".repeat(128)].every(canBecomePublic)).toBe(true);
    expect(
      ["", "(other)", "x".repeat(129), "a\tb", "=1", "\u200b", "日".repeat(43)].some(canBecomePublic),
    ).toBe(false);
  });
});

/** An event of a life: who, and which key. */
type Visit = readonly [person: number, key: number];

/** Votes in cells after these visits. @param votes of a person, 1 as it must be */
function cellsAfter(visits: readonly Visit[], rule: DiscoveryRule, votes: number): Map<string, number> {
  const table = new KeyVotes(rule, Uint32Array.of(1, 2, 3, 4));
  const used = new Map<number, number>();
  for (const [person, key] of visits)
    if ((used.get(person) ?? 0) < votes && table.vote(`/${key}`) === "used")
      used.set(person, (used.get(person) ?? 0) + 1);
  return new Map(table.candidates.map(({ name, votes: count }) => [name, count]));
}

/** The most that all visits of one person move the cells by, over random lives that are interleaved in any way. */
function mostMoved(lives: number, votes: number): number {
  const rule = { ...discoveryRule(4, 8, 1e-3), cap: 2, cells: 4 };
  const dice = new Dice(20261118, votes);
  let most = 0;
  for (let life = 0; life < lives; life++) {
    const visits = Array.from({ length: 3 + dice.below(12) }, (): Visit => [dice.below(5), dice.below(6)]);
    const [a, b] = [visits, visits.filter(([person]) => person !== 0)].map((own) =>
      cellsAfter(own, rule, votes),
    );
    const moved = [...new Set([...a!.keys(), ...b!.keys()])].reduce(
      (sum, name) => sum + Math.abs((a!.get(name) ?? 0) - (b!.get(name) ?? 0)),
      0,
    );
    most = Math.max(most, moved);
  }
  return most;
}

test("with a cap and interleaved lives, one person's day moves one cell by one; two votes would move more", () => {
  expect(mostMoved(30_000, 1)).toBe(1);
  expect(mostMoved(3000, 2)).toBeGreaterThan(1);
});

describe("two days that feed each other", () => {
  const [EPSILON, K] = [1, 3];
  const DELTA = 0.02364054302; // P(X = 3) at ε = 1
  const q = Math.exp(-EPSILON);
  const z = (1 + q - 2 * q ** (K + 1)) / (1 - q);
  const atom = (x: number): number => q ** Math.abs(x) / z;

  /** The law of what is published of a key with so many votes: its noisy number, or nothing. */
  function outcomes(count: number): Map<string, number> {
    const found = new Map<string, number>();
    for (let x = -K; x <= K; x++) {
      const outcome = count > 0 && count + x > K ? String(count + x) : "-";
      found.set(outcome, (found.get(outcome) ?? 0) + atom(x));
    }
    return found;
  }

  /** The joint law of both days, one key in the middle of interest and one beside it; a key that is found gets no votes. */
  function law(first: readonly number[], second: readonly (readonly number[])[]): Map<string, number> {
    const all = new Map<string, number>();
    const dayOne = [0, 1].map((key) => outcomes(first.filter((vote) => vote === key).length));
    for (const [a, p] of dayOne[0]!)
      for (const [b, r] of dayOne[1]!) {
        const isPublic = [a !== "-", b !== "-"];
        // A person votes for the first of their keys that is not public.
        const votes = second.map((keys) => keys.find((key) => !isPublic[key]));
        const dayTwo = [0, 1].map((key) => outcomes(votes.filter((vote) => vote === key).length));
        for (const [c, s] of dayTwo[0]!)
          for (const [d, t] of dayTwo[1]!) {
            const outcome = [a, b, c, d].join();
            all.set(outcome, (all.get(outcome) ?? 0) + p * r * s * t);
          }
      }
    return all;
  }

  const divergence = (
    x: ReadonlyMap<string, number>,
    y: ReadonlyMap<string, number>,
    epsilon = EPSILON,
  ): number =>
    [...x].reduce(
      (sum, [outcome, odds]) => sum + Math.max(0, odds - Math.exp(epsilon) * (y.get(outcome) ?? 0)),
      0,
    );

  const firsts = [[], [0], [0, 0], [0, 0, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0, 0]];
  const seconds = [
    [],
    [[0, 1]],
    [
      [0, 1],
      [1, 0],
    ],
    [[0], [0], [0, 1], [1]],
  ];

  test("a person's vote of one day changes the law of both by ε and δ, exactly", () => {
    let worst = 0;
    for (const first of firsts)
      for (const second of seconds) {
        const base = law(first, second);
        const neighbours = [
          ...[0, 1].map((key) => law([...first, key], second)),
          ...[[0], [1], [0, 1], [1, 0]].map((keys) => law(first, [...second, keys])),
        ];
        for (const other of neighbours)
          worst = Math.max(worst, divergence(base, other), divergence(other, base));
      }
    expect(worst).toBeCloseTo(DELTA, 9);
  });

  test("planted: a person with a vote on each day is not covered by one day's ε", () => {
    const [base, other] = [law([0, 0, 0], [[0]]), law([0, 0, 0, 0], [[0], [0]])];
    expect(Math.max(divergence(base, other), divergence(other, base))).toBeGreaterThan(1.5 * DELTA);
  });
});

describe("a key of one person, every day", () => {
  const RULE: DiscoveryRule = {
    ...discoveryRule(1, 8, 1e-3),
    k: 3,
    scale: makeScale(1n, 1n),
    cap: 9,
    cells: 4,
  };
  const DAYS = 28;
  const DELTA = 0.02364054302;

  /** On how many of many runs of 28 days the key is found. @param adds votes of all days in one table */
  function found(runs: number, adds: boolean): number {
    let count = 0;
    for (let run = 0; run < runs; run++) {
      const discovery = new KeyDiscovery(RULE, core, unsafeKey(`own ${run}`), 4);
      let isFound = false;
      for (let day = 0; day < DAYS; day++) {
        // Another person each day, as far as a table of all days can tell.
        discovery.vote("/account/ann", personHash(adds ? day : 1), adds ? 0 : day * DAY);
        if (adds && day < DAYS - 1) continue;
        isFound ||= discovery.test(adds ? 0 : day * DAY).length > 0;
        discovery.forgetBefore((day + 1) * DAY);
      }
      if (isFound) count++;
    }
    return count;
  }

  test("is found with odds of at most 28 δ; if votes of days added up it would be found for sure", () => {
    const runs = 1500;
    const odds = 1 - (1 - DELTA) ** DAYS;
    // Five standard deviations: odds of 6·10⁻⁷.
    expect(Math.abs(found(runs, false) - runs * odds)).toBeLessThan(5 * Math.sqrt(runs * odds * (1 - odds)));
    expect(found(20, true)).toBe(20);
  });
});

test("a snapshot goes on: votes, voters and days", () => {
  const rule = { ...discoveryRule(2, 8, 1e-9), cells: 256 };
  const make = () => new KeyDiscovery(rule, core, unsafeKey("snapshot"), 8);
  const first = make();
  const vote = (to: KeyDiscovery, from: number, until: number) => {
    for (let i = from; i < until; i++) {
      to.vote(`/p${i % 3}`, personHash(i), DAY);
      to.vote("/again", personHash(i), DAY); // has voted
      to.vote("/next", personHash(i), 2 * DAY);
    }
  };
  vote(first, 0, 100);
  const writer = new Encoder();
  first.save(writer, [DAY]);
  const second = make();
  second.load(new Decoder(writer.bytes));
  for (const one of [first, second]) vote(one, 50, 200);
  expect(second.test(DAY)).toEqual(first.test(DAY));
  expect(first.test(DAY).map(({ name }) => name)).toEqual(expect.arrayContaining(["/p0", "/p1", "/p2"]));
  expect(second.test(2 * DAY).map(({ name }) => name)).toEqual(["/next"]);
  first.forgetBefore(2 * DAY);
  expect(first.test(DAY)).toEqual([]);
});

import { describe, expect, test } from "vitest";
import { chooseCore } from "../../../src/core/choose.js";
import { Purpose, subStream } from "../../../src/core/random.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import {
  binOf,
  chooseCandidate,
  cost,
  geometricCandidates,
  isSparse,
  makeChoice,
  steepness,
} from "../../../src/stream/holdout/choice.js";
import type { Scale } from "../../../src/core/tables/scale.js";
import { againstExact, ODDS } from "../../support/chiSquare.js";
import { above, coarse, law } from "../../support/choiceLaw.js";

const cores = { js: chooseCore("js"), wasm: chooseCore("wasm") };

describe("candidates", () => {
  test("quarters of powers of two, each once, and the largest value", () => {
    expect([...geometricCandidates(20)]).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16, 19, 20]);
    expect([...geometricCandidates(1)]).toEqual([1]);
    expect(geometricCandidates(1e5)).toHaveLength(63);
    expect(geometricCandidates(2 ** 40).at(-2)).toBe(Math.round(2 ** 39.75));
  });

  test("a value is above exactly the candidates below its bin", () => {
    const candidates = geometricCandidates(50);
    for (let x = 0; x <= 51; x++)
      expect(binOf(candidates, x)).toBe(candidates.filter((candidate) => x > candidate).length);
  });

  test.each([1, 2, 50, 2047, 2048, 5000, 2 ** 40])("the table of small bins, up to %d", (largest) => {
    const { candidates, smallBins } = makeChoice(1, 64, 4096, largest);
    expect([...smallBins]).toEqual(Array.from(smallBins, (_, x) => binOf(candidates, x)));
  });
});

describe("the rule", () => {
  test("every number of a choice follows from ε, m, r and max", () => {
    for (const epsilon of [1e-9, 0.013, 0.7, 5])
      for (const [m, r] of [
        [16, 4096],
        [255, 4096],
        [256, 4096],
        [257, 4096],
        [1000, 3000],
        [65_535, 4096],
        [2 ** 20, 4096],
      ] as const)
        for (const largest of [1, 300, 2 ** 33]) {
          const f = Math.min(256, Math.max(1, (16 * m) / r));
          const short = Math.max(0.6, Math.min(1, Math.sqrt((16 * m) / r)));
          const choice = makeChoice(epsilon, m, r, largest);
          expect(choice.hinge).toBe(Math.floor(f / epsilon));
          expect(choice.steepest).toBeCloseTo(5 * short * Math.sqrt(f), 12);
          const tOf = ({ numerator, denominator }: Scale) => Number(numerator) / Number(denominator);
          expect(tOf(choice.scale) / (choice.countWeight / epsilon)).toBeCloseTo(1, 12);
          expect(tOf(choice.countScale) * epsilon).toBeCloseTo(1, 12);
        }
  });

  test("the score of every θ, word by word", () => {
    const choice = makeChoice(0.3, 4096, 65_536, 1e4);
    for (const above of [0, 2, 3, 4, 700])
      for (const theta of [1, 2, 64, 65, 1e4])
        for (const knee of [0, 1, 64, 1e5]) {
          const slope = Math.log(theta) + (knee === 0 ? 0 : Math.min(Math.log(theta), Math.log(knee)));
          const lost = Math.max(above - 3, 0) + (1.7 / 0.3) * slope;
          expect(cost(choice, above, theta, 1.7, knee) / choice.countWeight).toBeCloseTo(lost, 2);
          expect(Number.isInteger(cost(choice, above, theta, 1.7, knee))).toBe(true);
        }
  });

  test("a tie goes to the smaller θ, and the winner may be any", () => {
    const still = {
      ...cores.js,
      geometric: (_: unknown, __: unknown, out: Float64Array) => void out.fill(5),
    };
    const choice = { ...makeChoice(1, 64, 1024, 6), hinge: 0 };
    const random = subStream(unsafeKey("tie"), Purpose.holdout, 0, 0);
    const flat = choice.candidates.map((theta) => 100 - cost(choice, 0, theta, 2, 0) / choice.countWeight);
    const winner = (change: (k: number) => number) =>
      chooseCandidate(
        still,
        random,
        choice,
        flat.map((x, k) => x + change(k)),
        2,
        0,
      );
    expect(winner(() => 0)).toBe(0);
    for (let best = 0; best < flat.length; best++) expect(winner((k) => (k === best ? -1 : 0))).toBe(best);
  });

  test("a count for sparsity is believed from eight scales of its noise on", () => {
    const choice = makeChoice(0.5, 64, 1024, 100);
    expect([15, 16, 17].map((count) => isSparse(choice, count))).toEqual([true, false, false]);
  });

  test("forgives 1/ε values above θ, sixteen times m/r as many for longer hold-outs", () => {
    expect(makeChoice(0.1, 65536, 2 ** 20, 1e5).hinge).toBe(10);
    expect(makeChoice(0.1, 4096, 2 ** 20, 1e5).hinge).toBe(10);
    expect(makeChoice(0.1, 65536, 2 ** 18, 1e5).hinge).toBe(40);
    expect(makeChoice(0.1, 2 ** 27, 16, 1e5).hinge).toBe(2560);
    expect(makeChoice(3, 65536, 2 ** 20, 1e5).hinge).toBe(0);
  });

  test("the slope doubles below the knee, and the penalty has no step there", () => {
    const choice = makeChoice(1, 65536, 2 ** 20, 1e5);
    const penalty = (theta: number) => cost(choice, 0, theta, 2, 64) / choice.countWeight;
    expect(penalty(32) - penalty(16)).toBeCloseTo(4 * Math.LN2, 2);
    expect(penalty(64) - penalty(32)).toBeCloseTo(4 * Math.LN2, 2);
    expect(penalty(128) - penalty(64)).toBeCloseTo(2 * Math.LN2, 2);
  });

  test("is gentle on sparse streams and steep on full ones", () => {
    const choice = makeChoice(0.1, 65536, 2 ** 20, 1e5);
    expect(steepness(choice, -30)).toBe(1.5);
    expect(steepness(choice, 60)).toBeCloseTo((13 * (6 - 2)) / (2 * Math.log(1e5)), 12); // 2 of 6 are doubted
    expect(steepness(choice, 3840)).toBe(5);
    expect(steepness(makeChoice(0.1, 4096, 2 ** 20, 1e5), 3840)).toBe(3); // short hold-outs
    expect(steepness(makeChoice(0.1, 65536, 2 ** 18, 1e5), 3840)).toBe(10); // long ones: 5√f
  });

  test.each([2 ** -32, 1e-6, 1, 64])("scores stay exact at ε = %d", (epsilon) => {
    const choice = makeChoice(epsilon, 2 ** 32, 16, 2 ** 40);
    const worst = cost(choice, 2 ** 32, 2 ** 40, choice.steepest, 2 ** 41);
    expect(Number.isSafeInteger(worst)).toBe(true);
    expect(Number(choice.scale.numerator) / Number(choice.scale.denominator)).toBeLessThan(2 ** 40);
  });
});

/** Every way to choose `count` of 0 … most, in ascending order: the order of values makes no difference. */
function* multisets(count: number, most: number, least = 0): Generator<number[], void, undefined> {
  if (count === 0) yield [];
  else
    for (let x = least; x <= most; x++) for (const rest of multisets(count - 1, most, x)) yield [x, ...rest];
}

/**
 * The largest |ln P/P′| over all tiny hold-outs of one class, all replacements of one value in it and all winners.
 * @param weaken 1, or the factor by which the noise is too small
 */
function worstLoss(epsilon: number, values: number, largest: number, weaken = 1): number {
  const choice = coarse(makeChoice(epsilon, 16, 256, largest));
  const t = (choice.countWeight / epsilon) * weaken;
  let worst = 0;
  for (const [beta, knee] of [
    [2, 0],
    [3.3, 2],
    [5, 2 * largest],
  ] as const) {
    const laws = new Map<string, number[]>();
    const lawOf = (list: readonly number[]) => {
      const key = list.join();
      if (!laws.has(key)) laws.set(key, law(choice, list, beta, knee, t));
      return laws.get(key)!;
    };
    for (const list of multisets(values, largest))
      for (let replaced = 0; replaced < values; replaced++)
        for (let other = 0; other <= largest; other++) {
          const neighbour = list.map((x, i) => (i === replaced ? other : x)).sort((a, b) => a - b);
          const [p, q] = [lawOf(list), lawOf(neighbour)];
          for (let k = 0; k < p.length; k++) worst = Math.max(worst, Math.log(p[k]! / q[k]!));
        }
  }
  return worst;
}

describe("replacing one value of a class changes no winner's probability by more than e^ε, on every tiny hold-out", () => {
  // Probabilities are sums of some thousand doubles: exact to 10⁻⁹ or so.
  test.each([
    [0.5, 4, 3],
    [1, 3, 4],
    [2, 3, 3],
  ])("ε = %d, %d values from 0 to %d", (epsilon, values, largest) => {
    const loss = worstLoss(epsilon, values, largest);
    expect(loss).toBeLessThanOrEqual(epsilon + 1e-9);
    expect(loss).toBeGreaterThan(0.999 * epsilon); // and the bound is reached
  });

  test("noise that is a tenth too small is seen", () => {
    expect(worstLoss(1, 3, 3, 0.9)).toBeGreaterThan(1.1);
  });
});

describe("the whole hold-out of 16 values, classes and all", () => {
  const EPSILON = 1;
  const choice = coarse(makeChoice(EPSILON, 16, 256, 3));
  const t = choice.countWeight / EPSILON;
  const laplace = (n: number) => Math.tanh(EPSILON / 2) * Math.exp(-EPSILON * Math.abs(n));

  /**
   * P(noisy sparsity count is n, rough winner is j, winner is k), all three taken as seen; the mean and the count of
   * values above θ add noise of their own, on values of their own.
   */
  function jointLaw(values: readonly number[], dealt: (i: number) => "sparse" | "rough" | "fine" | "other") {
    const of = (name: string) => values.filter((_, i) => dealt(i) === name);
    const count = of("sparse").filter((x) => x > 1).length;
    const outcomes = new Map<string, number>();
    for (const n of [-1, 0, 1, 2, 4]) {
      const p = laplace(n - count);
      const beta = steepness(choice, n);
      const rough = law(choice, of("rough"), beta, 0, t);
      for (const [j, roughly] of rough.entries()) {
        const knee = 2 * choice.candidates[j]!;
        for (const [k, finally_] of law(choice, of("fine"), beta, knee, t).entries())
          outcomes.set(`${n} ${j} ${k}`, p * roughly * finally_);
      }
    }
    return outcomes;
  }
  const dealt = (i: number) =>
    i % 16 === 3 ? "sparse" : i % 16 === 7 ? "rough" : i % 16 === 15 ? "other" : "fine";

  /** The largest |ln P/P′| over replacements of the value at each position, in a few hold-outs. */
  function worst(classes: typeof dealt): number {
    let most = 0;
    for (const base of [0, 1, 3])
      for (const large of [0, 2]) {
        const values = Array.from({ length: 16 }, (_, i) => (i < large ? 3 : base));
        const p = jointLaw(values, classes);
        for (const position of [0, 3, 7, 12, 15])
          for (const other of [0, 2, 3]) {
            const q = jointLaw(
              values.map((x, i) => (i === position ? other : x)),
              classes,
            );
            for (const [outcome, probability] of p)
              most = Math.max(most, Math.abs(Math.log(probability / q.get(outcome)!)));
          }
      }
    return most;
  }

  test("no output's probability changes by more than e^ε", () => {
    expect(worst(dealt)).toBeLessThanOrEqual(EPSILON + 1e-9);
  });

  test("a value that served two purposes would be seen", () => {
    // The rough θ reads position 3 as well, which the sparsity count reads already.
    const shared = (values: readonly number[]) => {
      const outcomes = new Map<string, number>();
      const count = Number(values[3]! > 1);
      for (let n = -3; n <= 6; n++) {
        const rough = law(choice, [values[3]!, values[7]!, 3], steepness(choice, n), 0, t);
        for (const [j, p] of rough.entries()) outcomes.set(`${n} ${j}`, laplace(n - count) * p);
      }
      return outcomes;
    };
    const base = new Array<number>(16).fill(3);
    const [p, q] = [shared(base), shared(base.map((x, i) => (i === 3 ? 0 : x)))];
    const losses = [...p].map(([outcome, x]) => Math.abs(Math.log(x / q.get(outcome)!)));
    expect(Math.max(...losses)).toBeGreaterThan(1.2 * EPSILON);
  });
});

describe("what the code draws", () => {
  const choice = makeChoice(0.7, 64, 1024, 6);
  const counts = above(choice.candidates, [0, 1, 1, 2, 3, 3, 5, 6, 6, 6]);
  const winners = (core: keyof typeof cores, runs: number) => {
    const seen = new Float64Array(choice.candidates.length);
    const random = subStream(unsafeKey("winners"), Purpose.holdout, 0, 0);
    for (let run = 0; run < runs; run++) seen[chooseCandidate(cores[core], random, choice, counts, 2, 6)]!++;
    return seen;
  };
  const exact = law(choice, [0, 1, 1, 2, 3, 3, 5, 6, 6, 6], 2, 6, choice.countWeight / 0.7);

  test("has the exact law", () => {
    expect(againstExact(winners("js", 40_000), exact, 10)).toBeGreaterThan(ODDS);
  });

  test("noise that is a tenth too small is seen", () => {
    const wrong = law(choice, [0, 1, 1, 2, 3, 3, 5, 6, 6, 6], 2, 6, (0.9 * choice.countWeight) / 0.7);
    expect(againstExact(winners("js", 40_000), wrong, 10)).toBeLessThan(ODDS);
  });

  test("both cores draw the same", () => {
    expect(winners("wasm", 500)).toEqual(winners("js", 500));
  });
});

test("held-out values count among the sums that stay exact", () => {
  // The penalties alone are 2³¹ below 2⁴¹, which would leave room for ten bits; 2³² values more do not.
  const [holdout, largest] = [2 ** 32, 1e6];
  const { steepest } = makeChoice(1, holdout, 2 ** 20, largest);
  const epsilon = (2 * steepest * Math.log(2 * largest)) / (2 ** 41 - 2 ** 31);
  expect(makeChoice(epsilon, holdout, 2 ** 20, largest).countWeight).toBe(2 ** 9);
  expect(makeChoice(epsilon, 2 ** 30, 2 ** 18, largest).countWeight).toBe(2 ** 10);
});

test("the grid of the scores gets coarser until sums are exact and the scale of the noise is below 2^40", () => {
  for (const epsilon of [1e-12, 1e-10, 1e-9, 1e-8, 1e-6, 1, 1e3])
    for (const largest of [1, 1e3, 2 ** 40])
      for (const holdout of [16, 2 ** 16, 2 ** 32]) {
        const { countWeight, steepest } = makeChoice(epsilon, holdout, 2 ** 20, largest);
        const exact = (weight: number) =>
          weight * ((2 * steepest * Math.log(2 * largest)) / epsilon + holdout) < 2 ** 51 &&
          weight / epsilon < 2 ** 40;
        expect(countWeight === 1 || exact(countWeight)).toBe(true);
        expect(countWeight === 2 ** 10 || !exact(2 * countWeight)).toBe(true);
      }
});

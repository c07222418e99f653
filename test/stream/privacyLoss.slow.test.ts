/**
 * An empirical ε of the whole of ToPS: streams that differ in one value, many runs with fresh noise, and the event
 * of the output whose probabilities differ most. The event is found on one half of the runs and measured on the
 * other, with Clopper–Pearson bounds, so a sound mechanism exceeds ε with probability at most 10⁻⁶ per question.
 */
import { describe, expect, test } from "vitest";
import { resolveSettings, type Settings } from "../../src/stream/options.js";
import { HoldoutStream } from "../../src/stream/holdoutStream.js";
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { incompleteBeta, lowerBound, upperBound } from "../support/binomial.js";

const core = chooseCore("js"); // nothing here is large enough to gain by WebAssembly
const ODDS = 1e-6;
const EPSILON = 1;
const RUNS = 100_000;

/** As small as it gets with every stage in it: 16 values are held out and choose θ ∈ {1, 2}, three blocks of 16 are released. */
const tiny = {
  max: 2,
  holdout: 16,
  maxRange: 256,
  tuning: { resolution: 1, fanout: 16, skipLevels: 1 },
} as const;
const settingsAt = (epsilon: number, change = {}) =>
  resolveSettings({ ...tiny, ...change, epsilon, unsafeSeed: "privacy loss" });

const [HELD, BLOCK] = [16, 16];
/** One value above θ = 1 in the class that chooses: as many as the hinge of 1/ε forgives, so that one more counts in full. */
const BASE = Array.from({ length: HELD + 3 * BLOCK }, (_, i) => (i === 0 ? 2 : 0));
const replaced = (position: number) => BASE.map((value, i) => (i === position ? 2 : value));
const POSITIONS = {
  "the choice of θ": 2,
  "the warm start": 15,
  "the first block": HELD,
  "a middle block": HELD + BLOCK + 7,
  "the last block": HELD + 3 * BLOCK - 1,
};

/** Everything a run gives out, one column per number: θ, what the ends of blocks publish, and the sums of blocks. */
class Outputs {
  readonly columns: Float64Array[];

  constructor(settings: Settings, stream: readonly number[], runs: number, name: string) {
    const values = Float64Array.from(stream);
    const key = unsafeKey(name);
    this.columns = Array.from({ length: 10 }, () => new Float64Array(runs));
    for (let run = 0; run < runs; run++) {
      key[0] = run;
      const publisher = new HoldoutStream(settings, core, key.slice());
      const published = publisher.pushMany(values);
      const { columns } = this;
      columns[0]![run] = publisher.statement().threshold!;
      for (let block = 0; block < 3; block++) {
        const [first, last] = [published[block * BLOCK]!, published[(block + 1) * BLOCK - 1]!];
        columns[1 + 2 * block]![run] = first;
        columns[2 + 2 * block]![run] = last;
        columns[7 + block]![run] = (BLOCK - 1) * first + last;
      }
    }
  }

  /** How many of the runs [from, to) are in the event. */
  count({ theta, column, least, sign }: Event, from: number, to: number): number {
    const [thetas, numbers] = [this.columns[0]!, this.columns[column]!];
    let count = 0;
    for (let run = from; run < to; run++)
      if ((theta === 0 || thetas[run] === theta) && sign * numbers[run]! >= least) count++;
    return count;
  }
}

/** "θ is this (0: any), and this number times sign is at least so much". */
interface Event {
  readonly theta: 0 | 1 | 2;
  readonly column: number;
  readonly least: number;
  readonly sign: 1 | -1;
}

const EVENTS: Event[] = ([0, 1, 2] as const).flatMap((theta) =>
  ([1, -1] as const).flatMap((sign) =>
    Array.from({ length: 10 }, (_, column) =>
      [-4, -3, -2, -1.5, -1, -0.5, 0, 0.5, 1, 1.5, 2, 3, 4].map((least) => ({ theta, column, least, sign })),
    ).flat(),
  ),
);

/** A lower bound of ln(P_a(event)/P_b(event)) for the event that looked worst on the first half; wrong with odds ODDS. */
function privacyLoss(a: Outputs, b: Outputs): number {
  const runs = a.columns[0]!.length;
  const half = runs / 2;
  const cautious = (k: number, sign: number) => Math.max(0, k + sign * 5 * Math.sqrt(k + 1));
  const rough = (event: Event) => {
    // A tenth of the first half is enough to see which events are hopeless.
    const [few, others] = [a.count(event, 0, half / 10), b.count(event, 0, half / 10)];
    if (few < 50 || few < 1.5 * others) return -Infinity;
    return Math.log(cautious(a.count(event, 0, half), -1) / cautious(b.count(event, 0, half), 1));
  };
  let [worst, most] = [EVENTS[0]!, -Infinity];
  for (const event of EVENTS) {
    const loss = rough(event);
    if (loss > most) [worst, most] = [event, loss];
  }
  const [p, q] = [a.count(worst, half, runs), b.count(worst, half, runs)];
  return Math.log(lowerBound(p, half, ODDS / 2) / upperBound(q, half, ODDS / 2));
}

test("Clopper–Pearson bounds against exact sums", () => {
  // P(Binomial(10, 0.3) ≥ 6) = 0.0473489874; and with no success in n trials the bound is 1 − odds^(1/n).
  expect(incompleteBeta(6, 5, 0.3)).toBeCloseTo(0.0473489874, 10);
  expect(upperBound(0, 100, 0.01)).toBeCloseTo(1 - 0.01 ** 0.01, 12);
  expect(lowerBound(100, 100, 0.01)).toBeCloseTo(0.01 ** 0.01, 12);
  expect(
    incompleteBeta(lowerBound(300, 1000, 1e-6) > 0 ? 300 : 0, 701, lowerBound(300, 1000, 1e-6)),
  ).toBeCloseTo(1e-6, 10);
});

describe("replacing one value in", () => {
  // Six streams of 100 000 runs, two questions per stream.
  const base = new Outputs(settingsAt(EPSILON), BASE, RUNS, "base");

  test.each(Object.entries(POSITIONS))("%s never shows more than ε", (place, position) => {
    const other = new Outputs(settingsAt(EPSILON), replaced(position), RUNS, place);
    const [forth, back] = [privacyLoss(base, other), privacyLoss(other, base)];
    expect(forth).toBeLessThanOrEqual(EPSILON);
    expect(back).toBeLessThanOrEqual(EPSILON);
    // The question has teeth: nearly all of ε is seen.
    expect(Math.max(forth, back)).toBeGreaterThan(0.8 * EPSILON);
  });
});

describe("noise that is 20 % too small is seen in", () => {
  // The mutant: all noise as for 1.25 ε, that is at 0.8 of its scale, held against the claim of ε.
  const runs = 60_000;
  const weak = settingsAt(1.25 * EPSILON);
  const base = new Outputs(weak, BASE, runs, "weak base");

  test.each(Object.entries(POSITIONS))("%s", (place, position) => {
    const other = new Outputs(weak, replaced(position), runs, `weak ${place}`);
    expect(Math.max(privacyLoss(base, other), privacyLoss(other, base))).toBeGreaterThan(EPSILON);
  });
});

test("two levels, made consistent: never more than ε", () => {
  // Consistency mixes the noise of levels, and no event of these shows all of ε; so there is no mutant to catch here.
  const settings = settingsAt(EPSILON, { maxRange: 257 });
  const base = new Outputs(settings, BASE, 40_000, "two levels");
  const other = new Outputs(settings, replaced(HELD + BLOCK + 7), 40_000, "two levels, middle");
  expect(privacyLoss(base, other)).toBeLessThanOrEqual(EPSILON);
  expect(privacyLoss(other, base)).toBeLessThanOrEqual(EPSILON);
});

import { afterEach, describe, expect, test, vi } from "vitest";
import { chooseCore } from "../../../src/core/choose.js";
import { jsCore } from "../../../src/core/js/index.js";
import { type Random, Purpose } from "../../../src/core/random.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import type { Scale } from "../../../src/core/tables/scale.js";
import { openHub, plan, privateStream, restore, type StreamOptions } from "../../../src/index.js";
import { ThresholdCounts } from "../../../src/stream/holdout/thresholdCounts.js";
import { makeChoice } from "../../../src/stream/holdout/choice.js";
import { makeFollowRule } from "../../../src/stream/release/follow.js";
import { clippingIn, partLikeHeldOut } from "../../../src/stream/answer/clipping.js";
import { noiseScale } from "../../../src/stream/release/forest.js";
import { resolveSettings } from "../../../src/stream/options.js";
import { REFINE_SHARE, refiningEpsilon, refiningValues } from "../../../src/stream/release/refining.js";
import { HoldoutStream } from "../../../src/stream/holdoutStream.js";
import { firstShare, leastEpsilon, nodeShare } from "../../../src/stream/epsilonShares.js";
import { coarse, law } from "../../support/choiceLaw.js";
import { bits } from "../../support/numbers.js";
import { waysToPush } from "../../support/waysToPush.js";

const BOTH = { follow: true, refine: true };

describe("ε", () => {
  const tOf = ({ numerator, denominator }: Scale) => Number(numerator) / Number(denominator);

  /**
   * The largest log-ratio of probabilities that replacing one value of the first tree can cause. All noise is independent:
   * that of the nodes and of the count is discrete Laplace, whose probabilities differ by |change|/t in the tails, and
   * the law of the choice is known exactly. All values serve the choice of θ: those of other purposes decide
   * what the slopes are, and are in no other count.
   * @param parts 32nds of ε that nodes have @param share of ε that the choice has
   */
  function worstLoss(parts: number, share: number): number {
    const [epsilon, theta, limit, largest] = [1, 2, 3, 4];
    const nodes = tOf(noiseScale(2, theta, epsilon, parts));
    const counts = tOf(makeFollowRule(epsilon, Float64Array.of(1, 2, 3, 4)).scale);
    const choice = coarse(makeChoice(share * epsilon, 16, 256, largest));
    const laws = new Map<string, number[]>();
    const lawOf = (values: readonly number[]): number[] => {
      const key = [...values].sort().join();
      if (!laws.has(key)) laws.set(key, law(choice, values, 2, 2, choice.countWeight / (share * epsilon)));
      return laws.get(key)!;
    };
    // Two leaves of two values under one root, on every stream of values from 0 to 4.
    const sums = (values: readonly number[]): number[] => {
      const x = values.map((v) => Math.min(v, theta));
      const [left, right] = [x[0]! + x[1]!, x[2]! + x[3]!];
      return [left, right, left + right];
    };
    const above = (list: readonly number[]) =>
      jsCore.blockSums(Float64Array.from(list), 1, 1, 4, 0, 0, new Float64Array(1), limit).above;
    let worst = 0;
    for (let code = 0; code < (largest + 1) ** 4; code++) {
      const values = [0, 1, 2, 3].map((i) => Math.floor(code / (largest + 1) ** i) % (largest + 1));
      for (let place = 0; place < 4; place++)
        for (let other = 0; other <= largest; other++) {
          const replaced = values.with(place, other);
          const [a, b] = [sums(values), sums(replaced)];
          const moved = a.reduce((sum, x, i) => sum + Math.abs(x - b[i]!), 0);
          const counted = Math.abs(above(values) - above(replaced));
          const [p, q] = [lawOf(values), lawOf(replaced)];
          const chosen = Math.max(...p.map((x, k) => Math.log(x / q[k]!)));
          worst = Math.max(worst, moved / nodes + counted / counts + chosen);
        }
    }
    return worst;
  }
  const first = firstShare(BOTH);

  test("no replacement in a tiny first tree shows more, and one shows nearly all of it", () => {
    const loss = worstLoss(first, REFINE_SHARE / 32);
    expect(loss).toBeLessThanOrEqual(1 + 1e-9);
    expect(loss).toBeGreaterThan(0.99);
  });

  test("nodes that kept all of ε beside the choice would be seen", () => {
    expect(worstLoss(nodeShare(BOTH), REFINE_SHARE / 32)).toBeGreaterThan(1.4);
  });

  test("a choice with all of ε would be seen", () => {
    expect(worstLoss(first, 1)).toBeGreaterThan(1.4);
  });

  test("is shared exactly, whatever double it is", () => {
    expect([first, REFINE_SHARE, nodeShare(BOTH)]).toEqual([15, 16, 31]);
    for (const epsilon of [0.1, 1 / 3, 5e-9, 7]) expect(2 * refiningEpsilon({ epsilon })).toBe(epsilon);
    expect(leastEpsilon({ ...BOTH, epsilon: 32 })).toBe(15);
    expect(leastEpsilon({ follow: true, refine: false, epsilon: 32 })).toBe(32);
  });
});

describe("options", () => {
  test("off unless asked for, and refused where θ cannot follow", () => {
    const options = { epsilon: 1, max: 100 };
    expect(resolveSettings(options)).toMatchObject({ privacy: { refine: false, follow: true } });
    const settings = resolveSettings({ ...options, tuning: { refine: true } });
    expect(settings).toMatchObject({ privacy: { refine: true, follow: true } });
    expect(refiningValues(settings)).toBe(65_536);
    const refused = (more: object, tuning: object = {}) =>
      expect(() => privateStream({ ...options, ...more, tuning: { refine: true, ...tuning } }));
    refused({ threshold: 5 }).toThrow("tuning.refine: expected false where θ does not follow");
    refused({ variant: "paper" }).toThrow("tuning.refine: expected false where θ does not follow");
    refused({}, { follow: false }).toThrow("tuning.refine: expected false where θ does not follow");
    refused({ maxRange: 4096 }).toThrow("tuning.refine: expected false where θ does not follow");
    refused({ maxRange: 256 }, { follow: true }).toThrow("tuning.refine: expected trees of at least 32");
    refused({}, { refine: 1 }).toThrow("tuning.refine: expected true or false, got a value of type number");
  });

  test("noise of the first tree stays exact, or the options are refused", () => {
    const options = { epsilon: 2 ** -20, max: 2 ** 19, maxRange: 64 };
    const tuning = { fanout: 2, skipLevels: 5, resolution: 1, follow: true };
    expect(() => privateStream({ ...options, tuning })).not.toThrow();
    expect(() => privateStream({ ...options, tuning: { ...tuning, refine: true } })).toThrow(
      "epsilon: noise of scale",
    );
  });

  test("a plan says when θ is chosen once more, and with how much noise until then", () => {
    const options = { epsilon: 0.5, max: 1000, holdout: 1024 };
    const [without, planned] = [plan(options), plan({ ...options, tuning: { refine: true } })];
    expect(without.refining).toBeNull();
    expect(planned.refining!.values).toBe(65_536);
    expect(planned.refining!.noiseScalePerTheta / planned.noiseScalePerTheta).toBeCloseTo(31 / 15, 12);
    expect({ ...planned, refining: null, memory: null }).toEqual({ ...without, memory: null });
    expect(planned.memory.stream).toBeGreaterThan(without.memory.stream);
  });

  test("a hub passes it on, and refuses it at once where θ is shared", async () => {
    const options = { epsilon: 8, max: 1000, holdout: 64, maxRange: 256, unsafeSeed: "hub" };
    const tuning = { fanout: 4, refine: true };
    const hub = openHub({ ...options, tuning });
    await hub.pushMany("a", VALUES.subarray(0, HELD + 70));
    expect((await hub.statement("a")).composition).toMatch("second choice of θ");
    expect((await hub.statement("a")).thresholds).toHaveLength(2);
    await hub.close();
    expect(() => openHub({ ...options, tuning, threshold: "shared" })).toThrow(
      "tuning.refine: expected false",
    );
  });
});

/** Trees of 64 values in forests of 256, and a hold-out that shows nothing of the values after it. */
const OPTIONS: StreamOptions = {
  ...{ epsilon: 8, max: 1000, holdout: 64, maxRange: 256, unsafeSeed: "refine", history: Infinity },
  tuning: { fanout: 4, skipLevels: 1, resolution: 1, refine: true },
};
const HELD = 64;
const TREE = 64;
const VALUES = Float64Array.from({ length: HELD + 256 * 3 + 30 }, (_, i) =>
  i < HELD ? i % 5 : (i * 131) % 400,
);

/** Trees of 4096 values; those after the hold-out are about twice as large. */
const LONGER: StreamOptions = {
  ...{ epsilon: 2, max: 1000, holdout: 256, maxRange: 2 ** 16, unsafeSeed: "longer" },
  tuning: { resolution: 1, refine: true },
};
const GROWN = Float64Array.from({ length: 256 + 8192 }, (_, i) => (i < 256 ? i % 61 : i % 131));

describe("a stream", () => {
  const whole = privateStream(OPTIONS);
  const published = whole.pushMany(VALUES);

  test("has a θ that fits from the second tree on", () => {
    const [rough, second] = whole.statement().thresholds;
    expect(rough!.from).toBe(0);
    expect(rough!.threshold).toBeLessThan(10);
    expect(second!.from).toBe(TREE);
    expect(second!.threshold).toBeGreaterThan(200);
  });

  test("chooses as a hold-out with half of ε does that reads the values of the first tree, unclamped", () => {
    const {
      privacy: { epsilon },
      grid: { max },
      tree: { maxRange },
    } = resolveSettings(OPTIONS);
    const counts = new ThresholdCounts(makeChoice(epsilon / 2, TREE, maxRange, max));
    for (const value of VALUES.subarray(HELD, HELD + TREE)) counts.add(value);
    // Other noise, but at this ε hardly any: the neighbours of the winner at most.
    const { theta, above } = counts.choose(chooseCore(), new Uint32Array(8));
    const { threshold, from } = whole.statement().thresholds[1]!;
    expect(Math.abs(Math.log2(threshold / theta))).toBeLessThan(1);
    expect([from, above.values]).toEqual([TREE, 2]);
    expect(whole.statement().clampedShare!.of).toBe(2);
  });

  test("states every stage with its ε, and no value is read for more than ε", () => {
    const { stages, composition, epsilon } = whole.statement();
    expect(composition).toMatch(/half of ε is its share: sequential composition/);
    const positions = VALUES.length;
    for (const at of [
      0,
      3,
      7,
      15,
      31,
      HELD,
      HELD + 3,
      HELD + 7,
      HELD + 15,
      HELD + 31,
      HELD + TREE,
      positions,
    ]) {
      const spent = stages
        .filter(({ values: [from, to] }) => from <= at && (to === null || at < to))
        .filter(
          ({ which }) => which === undefined || reads(which, which.startsWith("published") ? at - HELD : at),
        )
        .reduce((sum, stage) => sum + stage.epsilon, 0);
      expect({ at, spent }).toEqual({ at, spent: at - HELD === 15 ? epsilon / 2 : epsilon }); // no mean is given out
    }
    expect(whole.explain()).toContain(
      "second choice: θ by permute-and-flip, ε = 4, on values 64 to 127, published positions other than 3, 7, 15 mod 16",
    );
  });

  /** Whether a stage reads a position, by its own words. */
  function reads(which: string, at: number): boolean {
    const numbers = which.match(/\d+/g)!.map(Number);
    const modulus = numbers.pop()!;
    return numbers.includes(at % modulus) !== which.includes("other than");
  }

  test("warns of a rough θ until it is chosen once more, and then of what that choice could not see", () => {
    const stream = privateStream({ ...LONGER, epsilon: 0.5, tuning: { ...LONGER.tuning, follow: true } });
    stream.pushMany(GROWN.subarray(0, 256));
    expect(stream.statement().warnings[0]).toMatch(
      /^the hold-out of 256 values at ε = 0.5 .*; θ is chosen once more after 4096 published values$/,
    );
    stream.pushMany(GROWN.subarray(256, 256 + 4096));
    expect(stream.statement().warnings).toEqual([]);
    const short = privateStream({ ...OPTIONS, epsilon: 1, tuning: { ...OPTIONS.tuning, follow: true } });
    short.pushMany(VALUES.subarray(0, HELD + TREE));
    expect(short.statement().warnings[0]).toMatch(
      /^the first tree of 64 values at ε = 0.5 .*; raise maxRange or give a threshold$/,
    );
  });

  test("has error bars for the noise that each tree has", () => {
    const stream = privateStream(OPTIONS);
    stream.pushMany(VALUES.subarray(0, HELD + 2 * TREE));
    const { levels, noiseScale, thresholds } = stream.statement();
    expect(noiseScale).toBe((levels * thresholds[1]!.threshold) / (8 * (31 / 32)));
    const error = (from: number, to: number) => stream.range(from, to, { answer: "blocks" }).standardError;
    const ratio = (thresholds[0]!.threshold * 31) / (thresholds[1]!.threshold * 15);
    expect(error(0, TREE) / error(TREE, 2 * TREE)).toBeCloseTo(ratio, 1); // up to the grid of the noise
    expect(error(0, 2 * TREE)).toBeCloseTo(Math.hypot(error(0, TREE), error(TREE, 2 * TREE)), 9);
    expect(stream.range(7, TREE + 9).standardError).toBeGreaterThan(0);
  });

  test("says what is hidden: much in the first tree, little after it", () => {
    const stream = privateStream(LONGER);
    stream.pushMany(GROWN);
    const { thresholds, clampedShare } = stream.statement();
    expect(thresholds[0]!.threshold).toBeLessThan(92);
    expect(thresholds[1]!.threshold).toBeGreaterThanOrEqual(128);
    expect(clampedShare!.of).toBe(4096 / 32);
    const [first, after] = [stream.range(0, 4096), stream.range(4096, 8000)];
    const lost = (from: number, to: number, theta: number) =>
      GROWN.subarray(256 + from, 256 + to).reduce((sum, x) => sum + Math.max(0, x - theta), 0);
    expect(first.hidden!.low).toBeGreaterThan(0);
    expect(first.hidden!.low).toBeLessThan(lost(0, 4096, thresholds[0]!.threshold));
    expect(first.hidden!.high).toBeGreaterThan(lost(0, 4096, thresholds[0]!.threshold));
    expect(lost(4096, 8000, thresholds[1]!.threshold)).toBeLessThan(first.hidden!.low);
    expect(after.hidden!.low).toBe(0);
  });

  test("says after the second choice what its count of values above θ says, with its noise", () => {
    const stream = privateStream(LONGER);
    stream.pushMany(GROWN.subarray(0, 256 + 8000)); // inside the second tree, which has not been counted yet
    const { clampedShare, threshold } = stream.statement();
    const { count, high, of } = clampedShare!;
    expect(high).toBeCloseTo(count + Math.log(20) / 1, 12); // ε/2 = 1
    const part = partLikeHeldOut(threshold!, 3000, { count, values: of }, 1);
    expect(stream.range(5000, 8000).hidden).toEqual(clippingIn([part], 1000, 0.95));
  });

  test("draws the noise that its shares of ε ask for, each from a sub-stream of its own", () => {
    const drawn: { stage: Purpose; nonce: string; scale: number }[] = [];
    const core = chooseCore("js");
    const note = ({ nonce }: Random, { numerator, denominator }: Scale): void => {
      const scale = Number(numerator) / Number(denominator);
      drawn.push({ stage: nonce[2]! % 256, nonce: nonce.join(), scale });
    };
    const settings = resolveSettings(OPTIONS);
    const stream = new HoldoutStream(
      settings,
      {
        ...core,
        laplace: (random, scale, out) => (note(random, scale), core.laplace(random, scale, out)),
        geometric: (random, scale, out) => (note(random, scale), core.geometric(random, scale, out)),
        growTree: (random, scale, b, levels) => (
          note(random, scale),
          core.growTree(random, scale, b, levels)
        ),
      },
      unsafeKey("noise"),
    );
    stream.pushMany(VALUES.subarray(0, HELD + 2 * TREE));
    const [theta1, theta2] = stream.statement().thresholds.map(({ threshold }) => threshold);
    expect(new Set(drawn.map(({ nonce }) => nonce)).size).toBe(drawn.length);
    const scales = (stage: Purpose) => drawn.filter((draw) => draw.stage === stage).map(({ scale }) => scale);
    const {
      privacy: { epsilon },
      tree: { levels },
    } = settings;
    const trees = [(levels * theta1! * 32) / (15 * epsilon), (levels * theta2! * 32) / (31 * epsilon)];
    expect(scales(Purpose.forest)).toEqual(trees);
    expect(scales(Purpose.following)).toEqual([32 / epsilon, 32 / epsilon]);
    const { countWeight } = makeChoice(epsilon / 2, TREE, settings.tree.maxRange, 1000);
    // A count, two choices, a mean that is not given out, and a count: all with half of ε.
    expect(scales(Purpose.refining)).toEqual(
      [1, countWeight, countWeight, theta2!, 1].map((unit) => unit / (epsilon / 2)),
    );
  });

  test.each(["wasm", "js"] as const)("has the same bits one by one and in any batches: %s", (core) => {
    for (const { stream, published: numbers } of waysToPush({ ...OPTIONS, core }, VALUES)) {
      expect(bits(numbers)).toBe(bits(published));
      expect({ ...stream.statement(), core: "" }).toEqual({ ...whole.statement(), core: "" });
      expect(stream.range(3, 790)).toEqual(whole.range(3, 790));
    }
  });

  test("goes on from a snapshot anywhere in the first tree, and chooses the same θ", async () => {
    for (const cut of [HELD, HELD + 1, HELD + 31, HELD + TREE - 1, HELD + TREE, HELD + TREE + 5]) {
      const stream = privateStream(OPTIONS);
      stream.pushMany(VALUES.subarray(0, cut));
      const key = new Uint8Array(32).fill(cut);
      const again = await restore(await stream.snapshot(key), key, OPTIONS);
      expect(bits(again.pushMany(VALUES.subarray(cut)))).toBe(bits(published.subarray(cut - HELD)));
      expect(again.statement()).toEqual(whole.statement());
      expect(again.range(5, 790)).toEqual(whole.range(5, 790));
    }
  });

  test("chooses the same θ in any order of the values of a class", () => {
    const swapped = VALUES.slice();
    for (const [a, b] of [
      [0, 1],
      [33, 60],
      [3, 19],
      [7, 55],
    ] as const)
      [swapped[HELD + a], swapped[HELD + b]] = [swapped[HELD + b]!, swapped[HELD + a]!];
    const stream = privateStream(OPTIONS);
    stream.pushMany(swapped);
    expect(stream.statement().thresholds[1]).toEqual(whole.statement().thresholds[1]);
  });

  test("is not restored with the option off, and a stream without it not with the option on", async () => {
    const key = new Uint8Array(32).fill(1);
    const off = { ...OPTIONS, tuning: { ...OPTIONS.tuning, refine: false } };
    await expect(restore(await privateStream(OPTIONS).snapshot(key), key, off)).rejects.toThrow("refine");
    await expect(restore(await privateStream(off).snapshot(key), key, OPTIONS)).rejects.toThrow("refine");
  });
});

describe("true counts", () => {
  afterEach(() => vi.restoreAllMocks());

  /** Everything that `wipe` was not called on, among the counts made since `watch`. */
  function watch() {
    const wiped = new Set<ThresholdCounts>();
    const copies: ThresholdCounts[] = [];
    const { copy, wipe } = ThresholdCounts.prototype; // eslint-disable-line @typescript-eslint/unbound-method
    vi.spyOn(ThresholdCounts.prototype, "wipe").mockImplementation(function (this: ThresholdCounts) {
      wiped.add(this);
      wipe.call(this);
    });
    vi.spyOn(ThresholdCounts.prototype, "copy").mockImplementation(function (this: ThresholdCounts) {
      const made = copy.call(this);
      copies.push(this, made);
      return made;
    });
    return () => copies.filter((one) => !wiped.has(one));
  }

  test.each(["one by one", "in a batch"])("are overwritten when θ is chosen: %s", (how) => {
    const stream = privateStream(OPTIONS);
    stream.pushMany(VALUES.subarray(0, HELD + 10));
    const left = watch();
    const rest = VALUES.subarray(HELD + 10, HELD + TREE);
    if (how === "in a batch") stream.pushMany(rest);
    else for (const value of rest) stream.push(value);
    expect(stream.statement().thresholds).toHaveLength(2);
    expect(left()).toEqual([]);
  });

  test("are overwritten in the copy that a failed batch leaves behind", () => {
    const stream = privateStream(OPTIONS);
    stream.pushMany(VALUES.subarray(0, HELD + 10));
    const left = watch();
    expect(() => stream.pushMany(Float64Array.of(1, 2, NaN))).toThrow(TypeError);
    expect(left()).toHaveLength(1); // those of the stream itself, which goes on
    expect(bits(stream.pushMany(VALUES.subarray(HELD + 10)))).toBe(
      bits(privateStream(OPTIONS).pushMany(VALUES).subarray(10)),
    );
  });
});

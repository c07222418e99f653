import { describe, expect, test } from "vitest";
import { jsCore } from "../../../src/core/js/index.js";
import { privateStream, restore, type StreamOptions } from "../../../src/index.js";
import { geometricCandidates } from "../../../src/stream/holdout/choice.js";
import { Decoder, Encoder } from "../../../src/snapshot/codec.js";
import {
  canFollow,
  countedAbove,
  followFrom,
  type Following,
  followTree,
  loadFollowing,
  makeFollowRule,
  saveFollowing,
} from "../../../src/stream/release/follow.js";
import { noiseScale } from "../../../src/stream/release/forest.js";
import { makeEpoch } from "../../../src/stream/release/epochs.js";
import { nodeShare } from "../../../src/stream/epsilonShares.js";
import type { Scale } from "../../../src/core/tables/scale.js";
import { bits } from "../../support/numbers.js";
import { waysToPush } from "../../support/waysToPush.js";

const candidates = geometricCandidates(100_000);
/** 32/ε = 64: a count is believed above 640, two above 905, four above 1280. */
const rule = makeFollowRule(0.5, candidates);
const tree = (count: number, mean = 10) => ({ count, values: 10_000, mean });

describe("θ of the next tree, worked by hand", () => {
  const start = followFrom(64);

  test("stays where no count is sure", () => {
    const next = followTree(rule, start, tree(640));
    expect(next).toEqual({ theta: 64, first: 64, largest: 10, counts: [640] });
  });

  test("is twice as large after one count above 640, three times where more than a tenth was above", () => {
    expect(followTree(rule, start, tree(641))).toEqual({ theta: 128, first: 64, largest: 10, counts: [] });
    expect(followTree(rule, start, tree(1000)).theta).toBe(128);
    expect(followTree(rule, start, tree(1001)).theta).toBe(215); // the first candidate from 192 on
  });

  test("rises after two counts above 905 together, or four above 1280", () => {
    expect(followTree(rule, { ...start, counts: [400] }, tree(505)).theta).toBe(64);
    expect(followTree(rule, { ...start, counts: [400] }, tree(506)).theta).toBe(128);
    expect(followTree(rule, { ...start, counts: [320, 320, 320] }, tree(320)).theta).toBe(64);
    expect(followTree(rule, { ...start, counts: [320, 320, 320] }, tree(321)).theta).toBe(128);
    // Three counts are no window, and of more than four the oldest are forgotten.
    expect(followTree(rule, { ...start, counts: [420, 420] }, tree(420)).theta).toBe(64);
    expect(followTree(rule, { ...start, counts: [250, 250, 250, 250] }, tree(250)).counts).toHaveLength(4);
  });

  test("returns to the first one when the mean falls below half of the largest", () => {
    const high: Following = { theta: 512, first: 64, largest: 40, counts: [100] };
    expect(followTree(rule, high, tree(0, 20)).theta).toBe(512);
    expect(followTree(rule, high, tree(9000, 19.9))).toEqual({
      ...{ theta: 64, first: 64, largest: 19.9, counts: [] },
    });
  });

  test("is never above the largest candidate, above which nothing is counted", () => {
    expect(followTree(rule, followFrom(80_000), tree(9000)).theta).toBe(100_000);
    expect(countedAbove(rule, 100_000)).toBe(Infinity);
    expect(countedAbove(rule, 64)).toBe(76);
  });
});

test("what the trees say is saved and loaded, with as many bytes whatever it is", () => {
  const lengths = [[], [5], [5, -3], [5, -3, 700], [5, -3, 700, 0.5]].map((counts) => {
    const following = { theta: 128, first: 64, largest: 10.5, counts };
    const writer = new Encoder();
    saveFollowing(writer, following);
    expect(loadFollowing(new Decoder(writer.bytes))).toEqual(following);
    return writer.bytes.length;
  });
  expect(new Set(lengths)).toEqual(new Set([64]));
});

describe("ε", () => {
  test("is shared by the nodes and the count of a tree, exactly", () => {
    // One value moves a count by 1 and each of L node sums by Θ: 1/(32/ε) + L·Θ/(LΘ·32/(31ε)) = ε.
    const [epsilon, levels, theta] = [0.75, 3, 40];
    const nodes = noiseScale(levels, theta, epsilon, nodeShare({ follow: true }));
    const { scale } = makeFollowRule(epsilon, candidates);
    const [n, c] = [nodes, scale].map((s) => ({ p: s.numerator, q: s.denominator }));
    // ε = 3/4: 1·c.q/c.p + L·Θ·n.q/n.p, over the common denominator.
    const spent = [c!.q * n!.p + BigInt(levels * theta) * n!.q * c!.p, c!.p * n!.p] as const;
    expect(spent[0] * 4n).toBe(spent[1] * 3n);
    expect(nodeShare({ follow: false })).toBe(32);
    expect(makeEpoch({ levels, epsilon }, 0, theta, 31).scale).toEqual(nodes);
  });

  /**
   * The largest log-ratio of probabilities that replacing one value of a tree can cause: every noisy integer of the tree has
   * discrete Laplace noise, whose probabilities differ by |change|/t at most, and by that much in its tails.
   */
  function worstLoss(parts: number): number {
    const [epsilon, theta, limit, largest] = [0.75, 2, 3, 4];
    const nodes = tOf(noiseScale(2, theta, epsilon, parts));
    const counts = tOf(makeFollowRule(epsilon, candidates).scale);
    // A tree of two leaves of two values under one root, on every stream of values from 0 to 4.
    const sums = (values: readonly number[]): number[] => {
      const x = values.map((v) => Math.min(v, theta));
      const [left, right] = [x[0]! + x[1]!, x[2]! + x[3]!];
      return [left, right, left + right];
    };
    let worst = 0;
    for (let code = 0; code < (largest + 1) ** 4; code++) {
      const values = [0, 1, 2, 3].map((i) => Math.floor(code / (largest + 1) ** i) % (largest + 1));
      for (let place = 0; place < 4; place++)
        for (let other = 0; other <= largest; other++) {
          const replaced = values.with(place, other);
          const [a, b] = [sums(values), sums(replaced)];
          const moved = a.reduce((sum, x, i) => sum + Math.abs(x - b[i]!), 0);
          const above = (list: readonly number[]) =>
            jsCore.blockSums(Float64Array.from(list), 1, 1, 4, 0, 0, new Float64Array(1), limit).above;
          worst = Math.max(worst, moved / nodes + Math.abs(above(values) - above(replaced)) / counts);
        }
    }
    return worst;
  }
  const tOf = ({ numerator, denominator }: Scale) => Number(numerator) / Number(denominator);

  test("no replacement in a tiny tree shows more, and one shows all of it", () => {
    expect(worstLoss(nodeShare({ follow: true }))).toBeCloseTo(0.75, 12);
  });

  test("nodes that kept all of ε beside the count would be seen", () => {
    expect(worstLoss(32)).toBeGreaterThan(0.75 * 1.03);
  });

  test("a tree follows from 320/ε values on", () => {
    expect(canFollow(0.01, 32_000)).toBe(true);
    expect(canFollow(0.01, 31_999)).toBe(false);
    expect(() => privateStream({ epsilon: 1, max: 10, threshold: 5, tuning: { follow: true } })).toThrow(
      /tuning\.follow: expected false/,
    );
    expect(() => privateStream({ epsilon: 1, max: 10, tuning: { follow: 1 as unknown as boolean } })).toThrow(
      /tuning\.follow: expected true or false/,
    );
  });
});

/** Trees of 64 values in forests of 256. Values are small, then large, then small again. */
const OPTIONS: StreamOptions = {
  ...{ epsilon: 8, max: 1000, holdout: 64, maxRange: 256, unsafeSeed: "follow", history: Infinity },
  tuning: { fanout: 4, skipLevels: 1, resolution: 1 },
};
const HELD = 64;
const VALUES = Float64Array.from({ length: HELD + 256 * 5 + 30 }, (_, i) =>
  i < HELD + 300 ? (i * 7) % 11 : i < HELD + 900 ? (i * 131) % 400 : (i * 5) % 13,
);

describe("a stream", () => {
  const whole = privateStream(OPTIONS);
  const published = whole.pushMany(VALUES);

  test("raises θ where values grow, and returns where they shrink", () => {
    const thresholds = whole.statement().thresholds;
    const at = (position: number) => thresholds.findLast(({ from }) => from <= position)!.threshold;
    expect(at(0)).toBeLessThan(20);
    expect(at(890)).toBeGreaterThan(150);
    expect(at(VALUES.length - HELD - 1)).toBe(at(0));
    for (const { from } of thresholds) expect(from % 64).toBe(0);
    expect(whole.statement().threshold).toBe(at(VALUES.length - HELD - 1));
    const stages = whole
      .statement()
      .stages.filter(({ stage }) => stage === "release" || stage === "following");
    expect(stages.map(({ epsilon }) => epsilon)).toEqual([7.75, 0.25]);
  });

  test.each(["wasm", "js"] as const)("has the same bits one by one and in any batches: %s", (core) => {
    for (const { stream, published: numbers } of waysToPush({ ...OPTIONS, core }, VALUES)) {
      expect(bits(numbers)).toBe(bits(published));
      expect(stream.statement().thresholds).toEqual(whole.statement().thresholds);
      expect(stream.range(3, 1290)).toEqual(whole.range(3, 1290));
    }
  });

  test("goes on from a snapshot at any place of a tree", async () => {
    for (const cut of [HELD + 310, HELD + 384, HELD + 395, HELD + 1023]) {
      const stream = privateStream(OPTIONS);
      stream.pushMany(VALUES.subarray(0, cut));
      const key = new Uint8Array(32).fill(cut);
      const again = await restore(await stream.snapshot(key), key, OPTIONS);
      expect(bits(again.pushMany(VALUES.subarray(cut)))).toBe(bits(published.subarray(cut - HELD)));
      expect(again.statement().thresholds).toEqual(whole.statement().thresholds);
      expect(again.range(5, 1300)).toEqual(whole.range(5, 1300));
    }
  });

  test("a batch that fails behind a change of θ changes nothing", () => {
    const stream = privateStream(OPTIONS);
    stream.pushMany(VALUES.subarray(0, HELD + 290));
    const broken = VALUES.slice(HELD + 290);
    broken[broken.length - 1] = NaN;
    expect(() => stream.pushMany(broken)).toThrow(TypeError);
    expect(stream.length).toBe(290);
    expect(bits(stream.pushMany(VALUES.subarray(HELD + 290)))).toBe(bits(published.subarray(290)));
  });

  test("keeps the epochs of its history, and no more", () => {
    const stream = privateStream({ ...OPTIONS, history: 512 });
    for (let i = 0; i < 12; i++) stream.pushMany(VALUES.subarray(i === 0 ? 0 : HELD));
    const { thresholds } = stream.statement();
    expect(thresholds.length).toBeLessThanOrEqual(1 + (3 * 256) / 64);
  });
});

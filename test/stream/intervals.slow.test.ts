/** Properties of every answer, for any data, range and confidence. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  memoryStore,
  openHub,
  privateStream,
  type RangeAnswer,
  type RangeOptions,
  restore,
  type StreamOptions,
} from "../../src/index.js";

const KEY = new Uint8Array(32).fill(7);
const KINDS = ["best", "blocks", "published"] as const;
const CASES: Record<string, StreamOptions> = {
  "a public θ": { epsilon: 1, max: 10, threshold: 8, maxRange: 64, tuning: { fanout: 4, skipLevels: 1 } },
  "a θ that follows": {
    ...{ epsilon: 8, max: 100, holdout: 64, maxRange: 256 },
    tuning: { fanout: 4, skipLevels: 1, follow: true },
  },
  "a second choice of θ": {
    ...{ epsilon: 8, max: 100, holdout: 64, maxRange: 256 },
    tuning: { fanout: 4, skipLevels: 1, follow: true, refine: true },
  },
  "blocks of one value": {
    ...{ epsilon: 0.5, max: 1, threshold: 1, maxRange: 64 },
    tuning: { fanout: 4, skipLevels: 0 },
  },
  "the paper's": { epsilon: 1, max: 10, holdout: 64, maxRange: 64, variant: "paper", tuning: { fanout: 4 } },
};

/** Data of any kind, what is asked, and how sure the answer is to be. */
const question = fc.record({
  seed: fc.string(),
  values: fc.oneof(
    fc.array(fc.double({ min: -1, max: 120, noNaN: true }), { minLength: 65, maxLength: 500 }),
    fc.tuple(fc.nat(120), fc.integer({ min: 65, max: 500 })).map(([x, n]) => new Array<number>(n).fill(x)),
  ),
  ends: fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
  confidence: fc.double({ min: 0.01, max: 0.999, noNaN: true }),
});

/** The positions that two shares of a stream's length stand for: kept, published, in order. */
function positions(length: number, oldest: number, ends: readonly number[]): [number, number] {
  const [from, to] = ends
    .map((share) => Math.round(oldest + share * (length - oldest)))
    .sort((a, b) => a - b);
  return [from!, to!];
}

/** The first position that is kept: forests of maxRange values, two of them. */
const oldestOf = ({ length }: { length: number }, { maxRange }: StreamOptions): number =>
  Math.max(0, Math.floor((length - 1) / maxRange!) - 1) * maxRange!;

describe.each(Object.entries(CASES))("%s", (_, options) => {
  test("the value lies in the interval, near what was measured; the interval is the same for all kinds", () => {
    fc.assert(
      fc.property(question, ({ seed, values, ends, confidence }) => {
        const stream = privateStream({ ...options, unsafeSeed: seed });
        stream.pushMany(values);
        const [from, to] = positions(stream.length, oldestOf(stream, options), ends);
        const [best, blocks, published] = KINDS.map((answer) =>
          stream.range(from, to, { answer, confidence }),
        ) as [RangeAnswer, RangeAnswer, RangeAnswer];
        expect(best.low).toBeLessThanOrEqual(best.sum);
        expect(best.sum).toBeLessThanOrEqual(best.high);
        expect(best.standardError).toBe(blocks.standardError);
        const free = best.low < best.sum && best.sum < best.high;
        if (free)
          expect(Math.abs(best.sum - blocks.sum)).toBeLessThanOrEqual(
            1.5 * best.standardError + 1e-9 * stream.length,
          );
        for (const { low, high, measured } of [blocks, published])
          expect({ low, high, measured }).toEqual({
            low: best.low,
            high: best.high,
            measured: best.measured,
          });
        const { blockLength } = stream.statement();
        const finished = stream.length - (stream.length % blockLength);
        const borders = from % blockLength === 0 && to % blockLength === 0 && to <= finished;
        expect(best.measured).toBe(borders || from === to);
        expect(best.low).toBeGreaterThanOrEqual(0);
        expect(best.high).toBeLessThanOrEqual((to - from) * options.max * (1 + 1e-12));
      }),
      { seed: 24, numRuns: 150 },
    );
  });

  test("both cores, a restored stream and a hub give the same answers, in every bit", async () => {
    await fc.assert(
      fc.asyncProperty(question, async ({ seed, values, ends, confidence }) => {
        const seeded = { ...options, unsafeSeed: seed };
        const stream = privateStream({ ...seeded, core: "wasm", name: "a" });
        const other = privateStream({ ...seeded, core: "js" });
        for (const each of [stream, other]) each.pushMany(values);
        const again = await restore(await stream.snapshot(KEY), KEY, { ...seeded, core: "js", name: "a" });
        const [from, to] = positions(stream.length, oldestOf(stream, options), ends);
        for (const answer of KINDS) {
          const asked: RangeOptions = { answer, confidence };
          const want = stream.range(from, to, asked);
          expect(other.range(from, to, asked)).toEqual(want);
          expect(again.range(from, to, asked)).toEqual(want);
        }
      }),
      { seed: 24, numRuns: 25 },
    );
    const hub = openHub({ ...options, unsafeSeed: "hub", live: 1, store: memoryStore(), key: KEY });
    const alone = privateStream({ ...options, unsafeSeed: "hub/a" });
    const values = Float64Array.from({ length: 300 }, (_, i) => (i * 7919) % 60);
    await hub.pushMany("a", values);
    await hub.pushMany("b", values); // "a" is put away, and restored when it is asked
    alone.pushMany(values);
    const [from, to] = positions(alone.length, oldestOf(alone, options), [0.1, 0.97]);
    expect(await hub.range("a", from, to)).toEqual(alone.range(from, to));
    await hub.close();
  });
});

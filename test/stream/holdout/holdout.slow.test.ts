import { describe, expect, test } from "vitest";
import { resolveSettings, type StreamOptions } from "../../../src/stream/options.js";
import { warmValues, withSkipped } from "../../../src/stream/shape.js";
import { valueStream, restoreValues } from "../../../src/stream/holdoutStream.js";
import { longTailedStream } from "../../support/streams.js";

const key = new Uint8Array(32).fill(3);
/** Fan-out 4 and 64 values a forest: a probe of 4 values behind hold-outs of 64 and more. */
const probed: StreamOptions = {
  ...{ epsilon: 8, max: 100, maxRange: 64, holdout: 80, unsafeSeed: "hold-out" },
  tuning: { fanout: 4 },
};

describe("settings of the hold-out", () => {
  test("its last values probe where sixteen probes fit in and a level is skipped", () => {
    expect(resolveSettings({ epsilon: 1, max: 100 })).toMatchObject({
      holdout: { choosing: 61440, probing: 4096 },
    });
    expect(resolveSettings({ epsilon: 1, max: 100, holdout: 65535 })).toMatchObject({
      holdout: { choosing: 65535, probing: 0 },
    });
    const fixed = { epsilon: 1, max: 100, tuning: { skipLevels: 2 } };
    expect(resolveSettings(fixed)).toMatchObject({ holdout: { choosing: 65536, probing: 0 } });
    expect(resolveSettings({ epsilon: 1, max: 100, variant: "paper" })).toMatchObject({
      holdout: { probing: 0 },
    });
  });

  test("the first prediction is a mean of every 32nd value", () => {
    const warm = (holdout: number) => warmValues(resolveSettings({ epsilon: 1, max: 100, holdout }));
    expect([16, 47, 48, 79, 80].map(warm)).toEqual([1, 1, 2, 2, 3]);
    expect(warm(65536)).toBe(1920);
  });

  test("one level less makes the blocks shorter, and what is kept stays as long", () => {
    const settings = resolveSettings({ ...probed, history: 200 });
    const finer = withSkipped(settings, settings.tree.skipped - 1);
    expect(finer.tree.levels).toBe(settings.tree.levels + 1);
    expect(finer.tree.blockLength).toBe(settings.tree.blockLength / 4);
    expect(
      (finer.tree.history - 1) * finer.tree.blocksPerForest * finer.tree.blockLength,
    ).toBeGreaterThanOrEqual(200);
  });
});

describe("what the probe decides", () => {
  /** Blocks of 4 values whose halves differ, or not. */
  const values = (rough: boolean) =>
    Float64Array.from({ length: 300 }, (_, i) => (rough ? (i % 4 < 2 ? 0 : 100) : 50));

  test("is known when the hold-out ends, and the statement says so", () => {
    const stream = valueStream(probed);
    expect(stream.statement()).toMatchObject({ settled: false, skipLevels: 1, blockLength: 4 });
    stream.pushMany(values(true));
    expect(stream.statement()).toMatchObject({ settled: true, skipLevels: 0, blockLength: 1 });
    const flat = valueStream(probed);
    flat.pushMany(values(false));
    expect(flat.statement()).toMatchObject({ settled: true, skipLevels: 1, blockLength: 4 });
  });

  test("survives snapshots at every moment, in both cases", async () => {
    for (const rough of [true, false]) {
      const whole = valueStream(probed);
      const published = whole.pushMany(values(rough));
      for (let at = 0; at <= 100; at += 7) {
        const before = valueStream(probed);
        const first = before.pushMany(values(rough).subarray(0, at));
        const after = await restoreValues(await before.snapshot(key), key, probed);
        const rest = after.pushMany(values(rough).subarray(at));
        expect([...first, ...rest]).toEqual([...published]);
        expect(after.statement()).toEqual(whole.statement());
      }
    }
  });
});

test("the length of a snapshot says nothing about held-out values, at every moment", async () => {
  for (const held of [0, 5, 40, 75, 76, 79]) {
    const lengths = await Promise.all(
      [0, 100].map(async (value) => {
        const stream = valueStream(probed);
        stream.pushMany(new Float64Array(held).fill(value));
        return (await stream.snapshot(key)).length;
      }),
    );
    expect(lengths[0]).toBe(lengths[1]);
  }
});

describe("warnings", () => {
  const after = (options: StreamOptions, values: Float64Array) => {
    const stream = valueStream(options);
    stream.pushMany(values);
    return stream.statement().warnings;
  };

  test("θ is the largest candidate", () => {
    const options = { epsilon: 1, max: 10, holdout: 4096, maxRange: 65536, unsafeSeed: "warnings" };
    expect(after(options, new Float64Array(4096).fill(12))).toEqual([
      "θ is the largest candidate, max = 10: values above it are clamped whatever they are; raise max if values can be larger",
    ]);
    expect(after(options, longTailedStream(4096, 20, "warnings"))).toEqual([]);
  });

  test("nearly all held-out values are 0", () => {
    const options = { epsilon: 1, max: 10, holdout: 4096, maxRange: 65536, unsafeSeed: "warnings" };
    const sparse = Float64Array.from({ length: 4096 }, (_, i) => (i % 500 === 3 ? 5 : 0));
    expect(after(options, sparse)[0]).toMatch(
      /^so few held-out values are above 0 that noise may have chosen θ/,
    );
  });

  test("a hold-out that is too small says so before any value", () => {
    const small = valueStream({ epsilon: 0.01, max: 100, holdout: 1024 });
    expect(small.statement().warnings[0]).toMatch(
      /^the hold-out of 1024 values at ε = 0.01 is too small to see/,
    );
    expect(small.explain()).toContain("Warning: the hold-out of 1024 values");
    expect(valueStream({ epsilon: 0.01, max: 100 }).statement().warnings).toEqual([]);
  });
});

test("the count of held-out values above θ lies in its interval", () => {
  // 200 streams, each interval misses with 5 %: more than 33 misses come once in 10⁶ times (binomial).
  let missed = 0;
  const values = Float64Array.from({ length: 320 }, (_, i) => (i % 32 === 31 ? 90 : 1));
  for (let run = 0; run < 200; run++) {
    const stream = valueStream({
      epsilon: 1,
      max: 100,
      holdout: 320,
      maxRange: 5120,
      unsafeSeed: `share ${run}`,
    });
    stream.pushMany(values);
    const { threshold, clampedShare } = stream.statement();
    const { low, high, of } = clampedShare!;
    expect(of).toBe(10);
    const exact = threshold! < 90 ? 10 : 0;
    if (low > exact || high < exact) missed++;
  }
  expect(missed).toBeLessThanOrEqual(33);
});

describe.each(["wasm", "js"] as const)("a batch with a value that is no number, %s core", (core) => {
  const options: StreamOptions = {
    epsilon: 1,
    max: 100,
    holdout: 320,

    core,
    unsafeSeed: "bad",
  };
  const values = longTailedStream(320 + 70_000, 100, "bad");
  const spoilt = (at: number, from = 0) => values.slice(from).map((value, i) => (i === at ? NaN : value));
  const whole = valueStream(options).pushMany(values);
  const refused = (at: number) => `values[${at}]: expected a finite number; nothing of this batch was taken`;

  // In the hold-out, its last value, the first and a late one after it, in another tree of noise.
  test.each([7, 319, 320, 69_000])(
    "at %s of a batch that ends the hold-out: it is named, nothing is taken",
    (at) => {
      const stream = valueStream(options);
      expect(() => stream.pushMany(spoilt(at))).toThrow(new TypeError(refused(at)));
      expect(stream.received).toBe(0);
      expect(stream.pushMany(values)).toEqual(whole);
    },
  );

  test.each([0, 5, 69_000])("at %s of a batch behind the hold-out", (at) => {
    const stream = valueStream(options);
    stream.pushMany(values.subarray(0, 320));
    expect(() => stream.pushMany(spoilt(at, 320))).toThrow(new TypeError(refused(at)));
    expect(stream.received).toBe(320);
    expect(stream.pushMany(values.subarray(320))).toEqual(whole);
  });
});

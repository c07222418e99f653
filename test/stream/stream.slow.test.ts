import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StreamOptions } from "../../src/stream/options.js";
import { plan, privateStream } from "../../src/index.js";
import { small } from "../support/smallStream.js";
import { arrayBytes } from "../support/memory.js";
import { diurnalStream, longTailedStream } from "../support/streams.js";

describe("the release rule", () => {
  test("nothing is published during the hold-out, one number per value after it", () => {
    const stream = privateStream(small);
    for (let i = 0; i < 64; i++) expect(stream.push(i)).toBeUndefined();
    expect(stream.length).toBe(0);
    for (let i = 0; i < 10; i++) expect(stream.push(i)).toBeTypeOf("number");
    expect(stream.length).toBe(10);
  });

  test.each(["recent", "mean", "median", { moving: 3 }, { exponential: 0.5 }] as const)(
    "every finished block sums exactly to its estimate, over several forests: %s",
    (smoother) => {
      const stream = privateStream({ ...small, tuning: { ...small.tuning, skipLevels: 2 }, smoother });
      const values = longTailedStream(64 + 3 * 256 + 37, 100, "blocks");
      const published = stream.pushMany(values);
      const all = privateStream({
        ...small,
        tuning: { ...small.tuning, skipLevels: 2 },
        smoother,
        history: Infinity,
      });
      all.pushMany(values);
      for (let block = 0; block < 48; block++) {
        const sum = published.slice(16 * block, 16 * block + 16).reduce((a, b) => a + b, 0);
        expect(all.range(16 * block, 16 * block + 16, { answer: "blocks" }).sum).toBe(sum);
      }
      for (const [from, to] of [
        [0, 768],
        [16, 400],
        [240, 272],
        [512, 768],
      ] as const) {
        const sum = published.slice(from, to).reduce((a, b) => a + b, 0);
        expect(all.range(from, to, { answer: "blocks" }).sum).toBe(sum);
        expect(all.range(from, to, { answer: "published" }).sum).toBe(sum);
      }
    },
  );

  test("a block's numbers: the prediction, and at its last position the rest of the estimate", () => {
    const stream = privateStream({
      ...small,
      holdout: 0,
      threshold: 10,
      tuning: { ...small.tuning, skipLevels: 1 },
    });
    const published = stream.pushMany(new Float64Array(8).fill(7));
    expect([...published.slice(0, 3)]).toEqual([5, 5, 5]); // θ/2: nothing is known yet
    const estimate = stream.range(0, 4).sum;
    expect(published[3]).toBe(estimate - 15);
    expect(published[4]).toBeCloseTo(estimate / 4, 6);
  });

  test("without skipped levels every value carries noise of its own", () => {
    const stream = privateStream({
      ...small,
      holdout: 0,
      threshold: 10,
      tuning: { ...small.tuning, skipLevels: 0 },
    });
    const published = stream.pushMany(new Float64Array(256).fill(7));
    // Noise of scale 160 ties once in 640 pairs of siblings, of which there are 384; other groups have other fractions. Fifty
    // ties where 0.6 are expected: odds below 10⁻⁶⁰.
    expect(new Set(published).size).toBeGreaterThan(206);
  });
});

describe("same bits", () => {
  const options: StreamOptions[] = [
    { ...small, tuning: { ...small.tuning, skipLevels: 0 } },
    { ...small, tuning: { ...small.tuning, skipLevels: 1 }, smoother: "median" },
    { ...small, tuning: { ...small.tuning, skipLevels: 2 }, smoother: { moving: 2 } },
    { ...small, tuning: { ...small.tuning, skipLevels: 3, warmStart: false } },
    { ...small, variant: "paper" },
    { ...small, tuning: { ...small.tuning, fanout: 3, resolution: 0.1, skipLevels: 1 }, maxRange: 100 },
    { ...small, max: 5, tuning: { ...small.tuning, fanout: 2 }, maxRange: 50 },
  ];

  test.each(options)("push by push, or in any batches, on either core: %o", (option) => {
    const values = longTailedStream(1200, 120, "batches");
    const one = privateStream({ ...option, history: Infinity, core: "js" });
    const expected = Float64Array.from([...values].flatMap((value) => one.push(value) ?? []));
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 700 })), fc.constantFrom("wasm", "js"), (cuts, core) => {
        const stream = privateStream({ ...option, history: Infinity, core });
        const parts: number[] = [];
        let from = 0;
        for (const size of [...cuts, values.length]) {
          if (size === 1 && from < values.length) {
            const published = stream.push(values[from]!);
            if (published !== undefined) parts.push(published);
          } else parts.push(...stream.pushMany(values.subarray(from, from + size)));
          from = Math.min(values.length, from + size);
        }
        expect(new BigUint64Array(Float64Array.from(parts).buffer)).toEqual(
          new BigUint64Array(expected.buffer),
        );
        expect(stream.range(3, 900)).toMatchObject({
          sum: one.range(3, 900).sum,
          standardError: one.range(3, 900).standardError,
        });
      }),
      { numRuns: 25, seed: 7 },
    );
  });

  test("order within a block does not matter: only its sum is used", () => {
    const values = longTailedStream(64 + 16, 100, "order");
    const [a, b] = [
      privateStream({ ...small, tuning: { ...small.tuning, skipLevels: 2 } }),
      privateStream({ ...small, tuning: { ...small.tuning, skipLevels: 2 } }),
    ];
    const turned = Float64Array.from([...values.slice(0, 64), ...[...values.slice(64)].reverse()]);
    expect(b.pushMany(turned)).toEqual(a.pushMany(values));
  });

  test("arrays of numbers are as good as typed arrays", () => {
    const values = longTailedStream(300, 100, "plain");
    expect(privateStream(small).pushMany([...values])).toEqual(privateStream(small).pushMany(values));
  });
});

describe("values at the edge", () => {
  const published = (values: number[]) => [
    ...privateStream({
      ...small,
      holdout: 0,
      threshold: 10,
      tuning: { ...small.tuning, skipLevels: 0 },
    }).pushMany(values),
  ];

  test("outside [0, θ] they are clamped, −0 and subnormals are 0", () => {
    const zeros = published([0, 0, 0, 0, 0]);
    expect(published([-0, -1e300, 5e-324, -5e-324, -Number.MAX_VALUE])).toEqual(zeros);
    const tens = published([10, 10, 10, 10, 10]);
    expect(published([1e300, 2 ** 53 - 1, 2 ** 53, 2 ** 53 + 2, Number.MAX_VALUE])).toEqual(tens);
    expect(zeros.some((value) => Object.is(value, -0))).toBe(false);
  });

  test.each([NaN, Infinity, -Infinity, "7", null, undefined, {}])(
    "%s is refused, unquoted, and nothing changes",
    (bad) => {
      for (const holdout of [0, 64]) {
        const option = {
          ...small,
          holdout,
          threshold: holdout === 0 ? 10 : ("noisy-max" as const),
          tuning: { ...small.tuning, skipLevels: 1 },
        };
        const values = longTailedStream(200, 100, "bad");
        const [clean, dirty] = [privateStream(option), privateStream(option)];
        const expected = clean.pushMany(values);
        const got: number[] = [];
        for (let i = 0; i < values.length; i++) {
          const withBad = [values[i]!, bad as number, 3];
          expect(() => dirty.push(bad as number)).toThrow(new TypeError("value: expected a finite number"));
          expect(() => dirty.pushMany(withBad)).toThrow(
            "values[1]: expected a finite number; nothing of this batch was taken",
          );
          const one = dirty.push(values[i]!);
          if (one !== undefined) got.push(one);
        }
        expect(got).toEqual([...expected]);
      }
    },
  );
});

describe("a smoother of your own", () => {
  test("that throws fails no push: each estimate is shown once, so no noise is ever seen on two sums", () => {
    const values = longTailedStream(200, 100, "own");
    const run = (size: number) => {
      const shown: number[] = [];
      const smoother = (means: readonly number[]) => {
        shown.push(means.at(-1)!);
        if (shown.length % 3 === 0) throw new Error("no idea");
        return means.at(-1)! / 2;
      };
      const stream = privateStream({
        ...small,
        holdout: 0,
        threshold: 10,
        tuning: { ...small.tuning, skipLevels: 1 },
        smoother,
      });
      const published: number[] = [];
      for (let from = 0; from < values.length; from += size)
        published.push(
          ...(size === 1
            ? [stream.push(values[from]!)!]
            : stream.pushMany(values.subarray(from, from + size))),
        );
      return { shown, published, told: stream.statement().smoother };
    };
    const one = run(1);
    expect(one.shown).toHaveLength(50);
    expect(one.told).toBe("own function, which failed on 16 blocks");
    for (const size of [7, 50, 200]) expect(run(size)).toEqual(one);
  });
});

describe("endless streams", () => {
  test("every forest has noise of its own", () => {
    const stream = privateStream({
      ...small,
      holdout: 0,
      threshold: 10,
      tuning: { ...small.tuning, skipLevels: 0 },
      maxRange: 64,
    });
    const published = stream.pushMany(new Float64Array(640).fill(5));
    const forests = Array.from({ length: 10 }, (_, i) => published.slice(64 * i, 64 * i + 64).join());
    expect(new Set(forests).size).toBe(10);
  });

  test("state stays as small as it was", () => {
    const values = diurnalStream(65536, 1657, "bounded");
    const options = { epsilon: 0.05, max: 1657, unsafeSeed: "bounded" };
    const { memory } = plan(options);
    privateStream(options).pushMany(values); // what all streams share is there now
    const before = arrayBytes();
    const streams = Array.from({ length: 10 }, () => privateStream(options));
    for (let i = 0; i < 40; i++) {
      for (const stream of streams) stream.pushMany(values);
      const each = (arrayBytes() - before) / streams.length;
      expect(each).toBeLessThanOrEqual(1.1 * (memory.stream + memory.index) + 4096);
    }
    expect(memory.stream).toBeLessThanOrEqual(256 * 1024);
  });
});

test("sums stay exact where a double has few bits to spare", () => {
  // 2¹⁶ values near θ = 2³² add up to 48 bits before the point, so only a few are left behind it.
  const [theta, count] = [2 ** 32, 2 ** 16];
  const options = {
    epsilon: 1,
    max: theta,
    threshold: theta,
    tuning: { fanout: 16, skipLevels: 1 },
    maxRange: count,
  };
  const stream = privateStream({ ...options, unsafeSeed: "few bits" });
  const published = stream.pushMany(new Float64Array(count).fill(theta));
  // Sums of doubles that share one grid are the same in any order, as long as none is rounded.
  const forwards = published.reduce((a, b) => a + b, 0);
  expect(published.reduceRight((a, b) => a + b, 0)).toBe(forwards);
  const sum = (from: number, to: number) => stream.range(from, to, { answer: "blocks" }).sum;
  expect(sum(0, count)).toBe(forwards);
  expect(sum(0, 12_345) + sum(12_345, count)).toBe(forwards);
});

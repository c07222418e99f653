import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { StreamOptions } from "../../src/stream/options.js";
import { plan, privateStream } from "../../src/index.js";
import { arrayBytes } from "../support/memory.js";
import { diurnalStream, driftingStream, longTailedStream } from "../support/streams.js";

const small = {
  epsilon: 1,
  max: 100,
  maxRange: 256,
  tuning: { fanout: 4 },
  holdout: 64,
  unsafeSeed: "small",
} as const;

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

describe("threshold", () => {
  const values = longTailedStream(2000, 100, "theta");
  /** θ and the first published number, when some values are replaced by others. */
  const outcome = (change: (i: number) => boolean, options: Partial<StreamOptions> = {}) => {
    const tuning = { fanout: 4, skipLevels: 2 };
    const stream = privateStream({ ...small, holdout: 512, tuning, ...options });
    const published = stream.pushMany(values.map((value, i) => (change(i) ? 100 - value : value)));
    return { theta: stream.statement().threshold, first: published[0] };
  };

  test("depends on nothing but the positions of the hold-out that choose it", () => {
    const usual = outcome(() => false);
    expect(outcome((i) => i >= 512)).toEqual(usual);
    expect(outcome((i) => i % 16 === 15).theta).toBe(usual.theta);
    expect(outcome((i) => i < 512 && i % 16 !== 15).theta).not.toBe(usual.theta);
  });

  test("the warm start reads positions of its own", () => {
    const usual = outcome(() => false);
    expect(outcome((i) => i % 32 === 31 || i >= 512)).toEqual(usual);
    expect(outcome((i) => i < 512 && i % 32 === 15).first).not.toBe(usual.first);
  });

  test("in the paper's variant the first values choose it", () => {
    const paper = { variant: "paper", tuning: { fanout: 4, skipLevels: 2, warmStart: true } } as const;
    const usual = outcome(() => false, paper);
    expect(outcome((i) => i >= 448, paper).theta).toBe(usual.theta); // 448 choose, 64 warm up
    expect(outcome((i) => i < 448, paper).theta).not.toBe(usual.theta);
    expect(outcome((i) => i >= 448 && i < 512, paper).first).not.toBe(usual.first);
  });

  test("a public number is taken as it is, and needs no hold-out", () => {
    const stream = privateStream({ epsilon: 1, max: 100, threshold: 12.5, unsafeSeed: "fixed" });
    expect(stream.push(1)).toBeTypeOf("number");
    expect(stream.statement()).toMatchObject({ threshold: 12.5, stages: [{ stage: "release" }] });
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

describe("range", () => {
  const values = driftingStream(6 * 256, 100, "range");
  const stream = privateStream({
    ...small,
    holdout: 0,
    threshold: 50,
    tuning: { ...small.tuning, skipLevels: 1 },
  });
  stream.pushMany(values);

  test("says what is wrong with a question", () => {
    expect(() => stream.range(0, 1537)).toThrow("range(0, 1537): only 1536 values published so far");
    expect(() => stream.range(5, 4)).toThrow("range(5, 4): to: expected a whole number from 5");
    expect(() => stream.range(-1, 4)).toThrow("range(-1, 4): from: expected a whole number from 0");
    expect(() => stream.range(0.5, 4)).toThrow("range(0.5, 4): from: expected a whole number");
    expect(() => stream.range(0, 10)).toThrow("positions before 1024 are no longer kept");
    expect(() => stream.range(1100, 1200, { answer: "exact" as "best" })).toThrow(
      'answer: expected "best", "blocks", "published"',
    );
    for (const confidence of [0, 1, 95, NaN])
      expect(() => stream.range(1100, 1200, { confidence })).toThrow(
        `confidence: expected a number between 0 and 1, got ${confidence}`,
      );
    expect(() => stream.range(1100, 1200, { level: 0.9 } as object)).toThrow('range: unknown option "level"');
  });

  test("answers are plain data, and a surer interval is a wider one", () => {
    const answer = stream.range(1100, 1200, { confidence: 0.99 });
    expect(answer.confidence).toBe(0.99);
    expect(structuredClone(answer)).toEqual(answer);
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
    const usual = stream.range(1100, 1200);
    expect(usual.confidence).toBe(0.95);
    expect(answer.low).toBeLessThan(usual.low);
    expect(answer.high).toBeGreaterThan(usual.high);
    expect(usual.low).toBeLessThan(usual.sum);
  });

  test("an empty range sums to 0 without error, anywhere and at any time", () => {
    const empty = { sum: 0, mean: 0, standardError: 0, low: 0, high: 0, confidence: 0.95 };
    for (const at of [0, 1100, stream.length]) expect(stream.range(at, at)).toMatchObject(empty);
    expect(privateStream(small).range(0, 0)).toMatchObject(empty); // before θ is chosen
    expect(() => stream.range(1537, 1537)).toThrow("only 1536 values published so far");
  });

  test("is close to the truth, as close as it says", () => {
    const exact = values.slice(1040, 1520).reduce((a, b) => a + b, 0);
    const { sum, mean, standardError } = stream.range(1040, 1520);
    expect(mean).toBe(sum / 480);
    // P(|noise| > 12 standard errors) ≤ e^(−12√2) < 10⁻⁷ for one Laplace variable, and less for a sum of many.
    expect(Math.abs(sum - exact)).toBeLessThan(12 * standardError);
    expect(Math.abs(sum - 2 * exact)).toBeGreaterThan(12 * standardError); // and twice the values would be seen
  });
});

describe("bad parameters fail at construction, and say what was wanted and what came", () => {
  test.each([
    [{ epsilon: 0 }, "epsilon: expected a finite number above 0, got 0"],
    [{ epsilon: -1 }, "epsilon: expected a finite number above 0, got -1"],
    [{ epsilon: NaN }, "epsilon: expected a finite number above 0, got NaN"],
    [{ epsilon: Infinity }, "epsilon: expected a finite number above 0, got Infinity"],
    [{ epsilon: "1" }, 'epsilon: expected a number above 0, got "1"'],
    [{ epsilon: 5e-324 }, "epsilon: noise of scale"],
    [{ epsilon: 1e6 }, "epsilon: expected at most"],
    [{ max: 0 }, "max: expected a finite number above 0, got 0"],
    [{ max: 1e15 }, "is above 2^40; raise epsilon (1), lower max (1000000000000000)"],
    [{ max: 1e10, maxRange: 2 ** 30 }, "do not stay exact in a double"],
    [
      { tuning: { ...small.tuning, resolution: 101 } },
      "tuning.resolution: expected at most max = 100, got 101",
    ],
    [{ maxRange: 3 }, "maxRange: expected a whole number from 4 to"],
    [{ maxRange: 100.5 }, "maxRange: expected a whole number"],
    [
      { tuning: { ...small.tuning, fanout: 65 } },
      "tuning.fanout: expected a whole number from 2 to 64, got 65",
    ],
    [{ holdout: 15 }, "holdout: expected a whole number from 16 to 4294967296, got 15"],
    [{ variant: "paper", holdout: 0 }, "holdout: expected a whole number from 1 to 134217728, got 0"],
    [
      {
        variant: "paper",
        epsilon: 0.01,
        max: 1e15,
        tuning: { resolution: 1e12 },
        holdout: 4096,
        maxRange: 16,
      },
      "expected scores below 2⁵¹",
    ],
    [{ threshold: 2 ** 36, max: 2 ** 36, holdout: 2 ** 24, maxRange: 16 }, "do not stay exact in a double"],
    [
      { tuning: { fanout: 4, skipLevels: 4 } },
      'tuning.skipLevels: expected "auto", "paper" or a whole number from 0 to 3 (maxRange has 4 levels), got 4',
    ],
    [
      { tuning: { ...small.tuning, skipLevels: "most" } },
      'tuning.skipLevels: expected "auto", "paper", got "most"',
    ],
    [{ threshold: 101 }, "threshold: expected resolution"],
    [{ threshold: "max" }, 'threshold: expected "noisy-max" or a number, got "max"'],
    [{ tuning: { thresholdStep: 1 } }, 'tuning.thresholdStep: expected none; only variant "paper"'],
    [
      { variant: "paper", tuning: { thresholdStep: 0.3 } },
      "tuning.thresholdStep: expected a multiple of resolution",
    ],
    [
      { variant: "paper", tuning: { thresholdStep: 1000 } },
      "tuning.thresholdStep: expected at most max = 100, got 1000",
    ],
    [
      { tuning: { ...small.tuning, warmStart: 1 } },
      "tuning.warmStart: expected true or false, got a value of type number",
    ],
    [{ variant: "printed" }, 'variant: expected "default", "paper", got "printed"'],
    [{ history: 5 }, "history: expected at least 512 values (two forests) or Infinity, got 5"],
    [{ core: "gpu" }, 'core: expected "auto", "wasm", "js", got "gpu"'],
    [{ smoother: "newest" }, 'smoother: expected "shrunk", "recent"'],
    [{ unsafeSeed: 5 }, "unsafeSeed: expected a string, got a value of type number"],
    [{ epsilom: 5 }, 'options: unknown option "epsilom"'],
    [{ fanout: 4 }, 'options: unknown option "fanout"'],
    [{ tuning: { fanOut: 4 } }, 'tuning: unknown option "fanOut"'],
    [{ tuning: 4 }, "tuning: expected an object of options, got 4"],
  ])("%o", (change, message) => {
    expect(() => privateStream({ ...small, ...change } as StreamOptions)).toThrow(message);
  });
});

describe("the account", () => {
  test("says what is promised, with what, and what is not", () => {
    const stream = privateStream({ epsilon: 0.5, max: 100, holdout: 64, maxRange: 256 });
    expect(stream.statement()).toMatchObject({
      epsilon: 0.5,
      delta: 0,
      private: true,
      threshold: null,
      noiseScale: null,
    });
    stream.pushMany(longTailedStream(100, 100, "account"));
    const account = stream.statement();
    expect(
      account.stages.map(({ stage, epsilon, values, which }) => [stage, epsilon, values, which]),
    ).toEqual([
      ["threshold", 0.5, [0, 64], "positions 3 mod 16"],
      ["threshold", 0.5, [0, 64], "positions 7 mod 16"],
      ["threshold", 0.5, [0, 64], "positions other than 3, 7, 15 mod 16"],
      ["warm start", 0.5, [0, 64], "positions 15 mod 32"],
      ["clamped share", 0.5, [0, 64], "positions 31 mod 32"],
      ["release", 0.5, [64, null], undefined],
    ]);
    expect(account.clampedShare).toMatchObject({ low: 0, of: 2 });
    expect(account.warnings).toEqual([
      expect.stringMatching(/^the hold-out of 64 values at ε = 0.5 is too small/),
    ]);
    expect(account.noiseScale).toBe((account.levels * account.threshold!) / 0.5);
    expect(account.published).toBe(36);
    expect(JSON.parse(JSON.stringify(account))).toEqual(account);
    expect(stream.explain()).toContain("ε = 0.5");
    expect(stream.explain()).toContain("a person with many values");
  });

  test("a seed makes it not private, and says so", () => {
    expect(privateStream(small).statement()).toMatchObject({
      private: false,
      randomness: expect.stringContaining("NOT PRIVATE") as string,
    });
    expect(privateStream(small).explain()).toContain("NOT PRIVATE");
    expect(privateStream(small).explain()).not.toContain("hardly tell");
  });

  test("without a seed two releases differ", () => {
    const option = { epsilon: 1, max: 100, threshold: 10, tuning: { skipLevels: 0 }, maxRange: 256 } as const;
    const values = new Float64Array(64).fill(5);
    expect(privateStream(option).pushMany(values)).not.toEqual(privateStream(option).pushMany(values));
  });
});

test("θ can be any of 2¹⁸ candidates, more than 16 bits can number", () => {
  const stream = privateStream({
    epsilon: 8,
    max: 2 ** 18,
    variant: "paper",
    tuning: { thresholdStep: 1 },
    holdout: 64,
    unsafeSeed: "many candidates",
  });
  stream.pushMany(new Float64Array(64).fill(200_000));
  // All 64 values lie above any lower θ; e^(−8·64) are the odds that noise prefers one.
  expect(stream.statement().threshold).toBeGreaterThanOrEqual(200_000);
  expect(stream.statement().threshold).toBeLessThan(250_000);
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
  expect(stream.range(0, count).sum).toBe(forwards);
  expect(stream.range(0, 12_345).sum + stream.range(12_345, count).sum).toBe(forwards);
});

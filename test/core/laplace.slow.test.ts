import { SCALE_COLUMNS, SCALE_ESCAPE, SCALE_ESCAPE_STEP } from "../../src/core/layout.js";
import { describe, expect, test } from "vitest";
import type { Core } from "../../src/core/core.js";
import { jsCore } from "../../src/core/js/index.js";
import { Purpose, subStream, type Random } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { fillDigit } from "../../src/core/js/digit.js";
import { columnsBefore, makeScale, type Scale } from "../../src/core/tables/scale.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { againstExact, ODDS } from "../support/chiSquare.js";
import { bits } from "../support/numbers.js";
import { PlainSampler } from "../support/sampler.js";

const wasm = makeWasmCore();
const random = (name: string): Random => subStream(unsafeKey(name), Purpose.baseline, 0, 0);
const samplers = ["laplace", "geometric"] as const;
type Fraction = readonly [bigint, bigint];

function draw(
  core: Core,
  sampler: (typeof samplers)[number],
  from: Random,
  scale: Scale,
  count: number,
): Float64Array {
  const out = new Float64Array(count);
  core[sampler](from, scale, out);
  return out;
}

function wordsOf(name: string, count: number): Uint32Array {
  const words = new Uint32Array(count);
  jsCore.keystream(random(name), words);
  return words;
}

/** All three paths: one word a sample, two, three; with and without division. */
const scales: Fraction[] = [
  [1n, 10n],
  [7n, 10n],
  [5n, 3n],
  [40n, 1n],
  [4096n, 1n],
  [40000n, 7n],
  [1n << 40n, 1n],
];

describe("against the definition in docs/noise.md", () => {
  test.each(scales)("scale %d/%d: the plain sampler draws the same from the same words", (...fraction) => {
    const scale = makeScale(...fraction);
    for (const sampler of samplers) {
      const plain = new PlainSampler(wordsOf("plain", 100_000), scale);
      const want = Float64Array.from({ length: 20_000 }, () => plain[sampler]());
      for (const core of [wasm, jsCore]) {
        const from = random("plain");
        expect(bits(draw(core, sampler, from, scale, want.length)) === bits(want)).toBe(true);
        expect(from.position).toBe(plain.used);
      }
    }
  });

  test.each(samplers)("%s: many escapes and many ties, from tables made for them", (sampler) => {
    for (const [numerator, denominator] of [
      [40n, 1n],
      [1n << 20n, 1n],
      [1n << 40n, 1n],
    ] as const) {
      const made = makeScale(numerator, denominator);
      const words = made.words(fillDigit).slice();
      // Half of all columns tie at fraction 3 (but for a digit without bits, which none may), and outcome 1 of H, one of
      // the likeliest, becomes the escape.
      for (const digit of made.weights.keys()) {
        if (made.weights[digit] === made.weights[digit - 1]) continue;
        const headAt = digit === 0 ? 18 : 16;
        for (let i = columnsBefore(digit); i < columnsBefore(digit + 1); i += 2)
          words[SCALE_COLUMNS + i] = (3 << headAt) | (words[SCALE_COLUMNS + i]! & (2 ** headAt - 1));
      }
      words[SCALE_ESCAPE] = 1;
      new DataView(words.buffer).setFloat64(4 * SCALE_ESCAPE_STEP, made.weights[0]!, true);
      const scale = { ...made, words: () => words, escape: 1 };
      const plain = new PlainSampler(wordsOf("rare", 200_000), scale);
      const want = Float64Array.from({ length: 20_000 }, () => plain[sampler]());
      for (const core of [wasm, jsCore]) {
        const from = random("rare");
        expect(bits(draw(core, sampler, from, scale, want.length)) === bits(want)).toBe(true);
        expect(from.position).toBe(plain.used);
      }
    }
  });

  test.each([0, 1, 2, 3, 4, 5])("a digit that ties on %d words of its tail looks at the next", (ties) => {
    const made = makeScale(40n, 1n);
    const keystream = wordsOf("deep", 64);
    const [column, fraction] = [keystream[0]! >>> 23, (keystream[0]! >>> 16) & 127];
    for (const own of [true, false]) {
      const words = made.words(fillDigit).slice();
      words[SCALE_COLUMNS + column] = (fraction << 18) | (20 << 9) | 10; // alias 20, own outcome 10
      words.set(keystream.subarray(1, 1 + Math.min(ties, 5)), made.tails + 5 * column);
      if (ties < 5) words[made.tails + 5 * column + ties] = keystream[1 + ties]! + (own ? 1 : -1);
      const scale = { ...made, words: () => words };
      // A complete tie is not below the threshold: alias.
      const top = own && ties < 5 ? 10 : 20;
      for (const core of [wasm, jsCore])
        for (const count of [1, 8]) {
          const from = random("deep");
          const [sample] = draw(core, "geometric", from, scale, count);
          expect(Math.floor(sample! / made.weights[0]!)).toBe(top);
          if (count === 1) expect(from.position).toBe(1 + Math.min(ties + 1, 5));
        }
    }
  });
});

describe("both cores, and any cut into calls", () => {
  const fewer: Fraction[] = [scales[0]!, scales[3]!, scales[5]!, scales[6]!];
  test.each(fewer)("scale %d/%d: a million samples are the same, bit for bit", (...fraction) => {
    const scale = makeScale(...fraction);
    for (const sampler of samplers) {
      const [a, b] = [random("same"), random("same")];
      const [x, y] = [draw(wasm, sampler, a, scale, 1_000_000), draw(jsCore, sampler, b, scale, 1_000_000)];
      expect(bits(x) === bits(y)).toBe(true);
      expect(a.position).toBe(b.position);
    }
  });

  test.each([wasm, jsCore])("$name: one call equals many", (core) => {
    const lengths = [0, 1, 2, 3, 4, 5, 7, 8, 9, 100, 8191, 8192, 8193, 1, 20_000];
    for (const fraction of scales) {
      const scale = makeScale(...fraction);
      const [once, often] = [random("cuts"), random("cuts")];
      const whole = draw(
        core,
        "laplace",
        once,
        scale,
        lengths.reduce((a, b) => a + b),
      );
      const parts = lengths.flatMap((length) => [...draw(core, "laplace", often, scale, length)]);
      expect(bits(Float64Array.from(parts)) === bits(whole)).toBe(true);
      expect(often.position).toBe(once.position);
    }
  });

  test.each([wasm, jsCore])("$name: zero is never negative", (core) => {
    for (const fraction of scales)
      expect(
        draw(core, "laplace", random("zero"), makeScale(...fraction), 100_000).some((k) => Object.is(k, -0)),
      ).toBe(false);
  });
});

/** P(k) ∝ exp(−|k|/t) on −last … last, and what is beyond on either side: 2·last + 3 numbers. */
function laplaceLaw(t: number, last: number): number[] {
  const rho = Math.exp(-1 / t);
  const zero = -Math.expm1(-1 / t) / (1 + rho);
  const tail = Math.exp(-(last + 1) / t) / (1 + rho);
  const inside = Array.from({ length: 2 * last + 1 }, (_, i) => zero * Math.exp(-Math.abs(i - last) / t));
  return [tail, ...inside, tail];
}

describe("ten million samples against the exact law", () => {
  const MILLION = 1_000_000;

  function counts(scale: Scale, last: number, millions: number): Float64Array {
    const from = random("law");
    const samples = new Float64Array(MILLION);
    const seen = new Float64Array(2 * last + 3);
    for (let i = 0; i < millions; i++) {
      wasm.laplace(from, scale, samples);
      for (let j = 0; j < MILLION; j++)
        seen[Math.max(-last - 1, Math.min(last + 1, samples[j]!)) + last + 1]!++;
    }
    return seen;
  }

  // At t = 0.1 only 900 samples are not 0, so that nothing below 10 % could be seen there.
  const cases: [Fraction, Fraction][] = [
    [
      [1n, 10n],
      [11n, 100n],
    ],
    [
      [7n, 10n],
      [707n, 1000n],
    ],
    [
      [1n, 1n],
      [101n, 100n],
    ],
    [
      [5n, 3n],
      [505n, 300n],
    ],
    [
      [40n, 1n],
      [404n, 10n],
    ],
  ];
  test.each(cases)("scale %s; another scale, %s, is seen", (right, wrong) => {
    const t = Number(right[0]) / Number(right[1]);
    const last = Math.ceil(12 * t);
    const law = laplaceLaw(t, last);
    expect(againstExact(counts(makeScale(...right), last, 10), law, 10)).toBeGreaterThan(ODDS);
    expect(againstExact(counts(makeScale(...wrong), last, 2), law, 10)).toBeLessThan(ODDS);
  });

  test("one column whose outcomes are exchanged is seen", () => {
    const made = makeScale(40n, 1n);
    const words = made.words(fillDigit).slice();
    const column = SCALE_COLUMNS + 3;
    const entry = words[column]!;
    words[column] = (entry & (-1 << 18)) | ((entry & 511) << 9) | ((entry >>> 9) & 511);
    expect(
      againstExact(counts({ ...made, words: () => words }, 480, 8), laplaceLaw(40, 480), 10),
    ).toBeLessThan(ODDS);
  });
});

describe("large scales", () => {
  const N = 1_000_000;
  const Z = 5.33; // two-sided: one false alarm in 10⁷ fresh seeds

  /** How far mean, mean size, variance, sign and the tail beyond 5t stray, in standard deviations. */
  function strays(t: number, samples: Float64Array): number[] {
    let [sum, size, squares, negative, tail] = [0, 0, 0, 0, 0];
    for (const k of samples) {
      const x = k / t;
      sum += x;
      size += Math.abs(x);
      squares += x * x;
      negative += k < 0 ? 1 : 0;
      tail += Math.abs(x) > 5 ? 1 : 0;
    }
    // Laplace with t ≫ 1: E|x| = 1, Var|x| = 1, E x² = 2, Var x² = 20, all but for a relative 1/t² < 10⁻⁷.
    const p = Math.exp(-5);
    const below = (1 - 1 / (2 * t)) / 2;
    return [
      sum / Math.sqrt(2 * N),
      (size - N) / Math.sqrt(N),
      (squares - 2 * N) / Math.sqrt(20 * N),
      (negative - N * below) / Math.sqrt(N / 4),
      (tail - N * p) / Math.sqrt(N * p * (1 - p)),
    ];
  }

  test.each([12n, 20n, 40n])("2^%d: moments, signs and tails; 1 % more is seen", (exponent) => {
    const t = 2 ** Number(exponent);
    const right = draw(wasm, "laplace", random("large"), makeScale(1n << exponent, 1n), N);
    expect(strays(t, right).every((z) => Math.abs(z) < Z)).toBe(true);
    const wrong = draw(wasm, "laplace", random("large"), makeScale(101n << exponent, 100n << 1n), N);
    expect(strays(t / 2, wrong).every((z) => Math.abs(z) < Z)).toBe(false);
  });

  test.each([12n, 20n, 40n])("2^%d: every group of six bits has its own law", (exponent) => {
    const t = 2 ** Number(exponent);
    const samples = draw(wasm, "geometric", random("bits"), makeScale(1n << exponent, 1n), N);
    for (let shift = 0; shift + 6 <= Number(exponent) + 4; shift += 6) {
      const unit = 2 ** shift;
      const seen = new Float64Array(64);
      for (const k of samples) seen[Math.floor(k / unit) % 64]!++;
      const law = Array.from({ length: 64 }, (_, d) => Math.exp((-d * unit) / t));
      const total = law.reduce((a, b) => a + b);
      const isRight = (law: number[]) => againstExact(seen, law, 10) > ODDS;
      expect(isRight(law.map((p) => p / total))).toBe(true);
      // Each of 64 cells sees about 15 625: one that is 2 % off strays by 2.5 standard deviations, all of them are seen.
      expect(isRight(law.map((p, d) => (p / total) * (d % 2 === 0 ? 1.02 : 0.98)))).toBe(false);
    }
  });
});

test.each([
  [4096n, 15760930, 35],
  [1n << 30n, 15760899, 22],
])("a sample beyond the table, scale %d: one in e^16, and the same in both cores", (t, position, index) => {
  // Places in a fixed keystream where the top digit escapes, found by looking through sixteen million samples.
  const scale = makeScale(t, 1n);
  const from = (): Random => ({ ...random("escape"), position });
  const beyond = draw(wasm, "geometric", from(), scale, index + 1);
  expect(bits(beyond)).toEqual(bits(draw(jsCore, "geometric", from(), scale, index + 1)));
  expect(beyond[index]).toBeGreaterThanOrEqual(scale.escape * scale.weights[0]!);
});

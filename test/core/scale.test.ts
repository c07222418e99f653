import { SCALE_DIVISOR, SCALE_DRAWS, SCALE_ESCAPE_STEP } from "../../src/core/layout.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillDigit } from "../../src/core/js/digit.js";
import { aliasTable } from "../../src/core/tables/alias.js";
import { exactRational, expFixed } from "../../src/core/tables/fixedPoint.js";
import { makeScale, type Scale } from "../../src/core/tables/scale.js";
import { expBounds, type Bounds } from "../support/exp.js";
import { weightsOf } from "../support/sampler.js";

describe("exactRational", () => {
  test("a few doubles by hand", () => {
    expect(exactRational(0.1)).toEqual({ numerator: 3602879701896397n, denominator: 2n ** 55n });
    expect(exactRational(-1.5)).toEqual({ numerator: -3n, denominator: 2n });
    expect(exactRational(0)).toEqual({ numerator: 0n, denominator: 1n });
    expect(exactRational(2 ** 60)).toEqual({ numerator: 2n ** 60n, denominator: 1n });
    expect(exactRational(5e-324)).toEqual({ numerator: 1n, denominator: 2n ** 1074n });
    expect(() => exactRational(NaN)).toThrow(RangeError);
    expect(() => exactRational(-Infinity)).toThrow(RangeError);
  });

  test("is the double itself, in lowest terms", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, min: 1e-10, max: 1e300 }), (x) => {
        const { numerator, denominator } = exactRational(x);
        expect(Number(numerator) / Number(denominator)).toBe(x); // 53 bits over a power of two: both exact
        expect(denominator === 1n || numerator % 2n === 1n).toBe(true);
      }),
    );
  });
});

describe("expFixed", () => {
  test("exp(0) = 1, and exp(−∞) = 0", () => {
    expect(expFixed(0n, 7n, 192)).toBe(1n << 192n);
    expect(expFixed(10n ** 9n, 1n, 192)).toBe(0n);
  });

  test("is off by less than 0.51 units, whatever the exponent", () => {
    const exponent = fc.tuple(fc.bigInt(0n, 10n ** 12n), fc.bigInt(1n, 10n ** 12n));
    fc.assert(
      fc.property(exponent, fc.constantFrom(64, 192, 256), ([numerator, denominator], bits) => {
        numerator %= 100n * denominator;
        const { low, high } = expBounds(numerator, denominator, bits + 20);
        const got = expFixed(numerator, denominator, bits) << 20n;
        const slack = (51n << 20n) / 100n;
        expect(got - low < slack && high - got < slack).toBe(true);
      }),
    );
  });
});

/** Where the tables come from, evaluated with 320 bits: P(digit = k) between two bounds. */
const BITS = 320;
const ONE = 1n << BigInt(BITS);

/** The bounds of ρ^k, ρ = exp(−weight·m/t …): k units of a digit, in units of the scale of the tables. */
function survival(scale: Scale, digit: number, k: number): Bounds {
  const units = BigInt(k) * BigInt(scale.weights[digit]!);
  return expBounds(units * scale.denominator, scale.numerator * BigInt(scale.divisor), BITS);
}

/** The bounds of each outcome's probability, times 2³²⁰. Of H with a sign: first those of G, then those of −1 − G. */
function digitBounds(scale: Scale, digit: number): Bounds[] {
  const count = digit === 0 ? scale.escape + 1 : scale.weights[digit - 1]! / scale.weights[digit]!;
  const powers = Array.from({ length: count + 1 }, (_, k) => survival(scale, digit, k));
  if (digit === 0) powers[count] = { low: 0n, high: 0n }; // the last outcome is "at least"
  const { low, high } = powers[count]!;
  const bounds = powers.slice(1).map((next, k) => ({
    low: ((powers[k]!.low - next.high) * ONE) / (ONE - low),
    high: ((powers[k]!.high - next.low) * ONE) / (ONE - high) + 1n,
  }));
  if (digit > 0) return bounds;
  const odds = survival({ ...scale, weights: [1] }, 0, 1); // ρ = exp(−1/t), in units of the scale of the tables
  const positive = { low: (ONE * ONE) / (ONE + odds.high), high: (ONE * ONE) / (ONE + odds.low) + 1n };
  const times = (by: Bounds) =>
    Array.from({ length: 256 }, (_, k) => ({
      low: ((bounds[k]?.low ?? 0n) * by.low) / ONE,
      high: k < bounds.length ? (bounds[k]!.high * by.high) / ONE + 1n : 0n,
    }));
  return [...times(positive), ...times({ low: ONE - positive.high, high: ONE - positive.low })];
}

/** Whether the table of a digit has every probability to within a factor 1 ± 2⁻¹⁴⁶. */
function isPrecise(scale: Scale, digit: number): boolean {
  const bounds = digitBounds(scale, digit);
  return weightsOf(scale, digit).every((weight, k) => {
    if (k >= bounds.length) return weight === 0n;
    const got = weight << BigInt(BITS - 176);
    const { low, high } = bounds[k]!;
    return got - low <= low >> 146n && high - got <= low >> 146n;
  });
}

/** The weights of H whatever the sign. */
function topWeights(scale: Scale): bigint[] {
  const signed = weightsOf(scale, 0);
  return signed.slice(0, 256).map((weight, k) => weight + signed[k + 256]!);
}

const scales: [bigint, bigint][] = [
  [1n, 10n ** 6n],
  [1n, 10n],
  [7n, 10n],
  [1n, 1n],
  [5n, 3n],
  [16n, 1n],
  [33n, 2n],
  [40n, 1n],
  [4096n, 1n],
  [40000n, 7n],
  [2n ** 20n, 3n],
  [2n ** 40n, 1n],
];

describe("the tables of a scale", () => {
  test.each(scales)("%d/%d: every weight agrees with another way to compute it", (numerator, denominator) => {
    const scale = makeScale(numerator, denominator);
    for (const digit of scale.weights.keys()) {
      expect(weightsOf(scale, digit).reduce((a, b) => a + b)).toBe(1n << 176n);
      expect(isPrecise(scale, digit)).toBe(true);
    }
  });

  test("one wrong bit in one threshold, worth 2⁻¹¹⁰, is seen", () => {
    const scale = makeScale(40n, 1n);
    const words = scale.words(fillDigit).slice();
    words[scale.tails + 5 * 3 + 2]! ^= 4; // the third column of the first digit
    expect(isPrecise({ ...scale, words: () => words }, 0)).toBe(false);
    expect(isPrecise(scale, 0)).toBe(true);
  });

  test("the digits of a scale are part of which noise a key leads to: J, widths, escape and divisor, by their rules", () => {
    for (const t of [
      2 ** -32,
      0.3,
      0.5,
      1,
      5,
      15.9,
      16,
      16.1,
      17,
      31,
      32,
      33,
      100,
      4096,
      4097,
      5000,
      2 ** 20,
      2 ** 28,
      2 ** 28 + 1,
      2 ** 40,
    ]) {
      const { numerator, denominator } = exactRational(t);
      const { weights, escape, divisor } = makeScale(numerator, denominator);
      const m = t < 1 ? Math.ceil(1 / t) : 1;
      const J = Math.max(0, Math.ceil(Math.log2(m * t)) - 4);
      const draws = J <= 8 ? 1 : J <= 24 ? 2 : 3;
      expect([divisor, weights[0], weights.length]).toEqual([m, 2 ** J, 2 * draws]);
      expect(escape).toBe(Math.min(255, Math.ceil((16 * m * t) / 2 ** J)));
      // The bits below H, shared out evenly from the highest down; the third digit has none where the others have room.
      const spared = draws > 1 && J <= 8 * (2 * draws - 2) ? 2 : -1;
      let left = J;
      for (let digit = 1; digit < 2 * draws; digit++) {
        const later = Array.from({ length: 2 * draws - digit }, (_, i) => digit + i).filter(
          (d) => d !== spared,
        );
        if (digit !== spared) left -= Math.ceil(left / later.length);
        expect(weights[digit]).toBe(2 ** left);
      }
    }
  });

  test("digits of weight 1, 2, 4, … cover the integers, H above them", () => {
    for (const [numerator, denominator] of scales) {
      const { weights, escape, divisor } = makeScale(numerator, denominator);
      const t = (divisor * Number(numerator)) / Number(denominator);
      expect(weights).toHaveLength(weights[0]! <= 2 ** 8 ? 2 : weights[0]! <= 2 ** 24 ? 4 : 6);
      expect(weights.at(-1)).toBe(1);
      for (const [i, weight] of weights.slice(1).entries())
        expect(weights[i]! / weight).toBeLessThanOrEqual(256);
      expect(Math.exp((-escape * weights[0]!) / t)).toBeLessThan(1.2e-7);
      expect(escape).toBeLessThan(256);
    }
  });
});

/** (a/b) as exact fractions: enough arithmetic to multiply probabilities. */
const multiply = ([a, b]: [bigint, bigint], [c, d]: [bigint, bigint]): [bigint, bigint] => [a * c, b * d];

test("digits of a geometric variable are independent: their product is its law, exactly", () => {
  // ρ = 2/3, digits of 2 and 3 bits, and H with escape at 5, all as fractions: equality of integers, no rounding.
  const [p, q] = [2n, 3n];
  const digitLaw = (k: number, weight: number, count: number): [bigint, bigint] => {
    const [a, b] = [p ** BigInt(weight), q ** BigInt(weight)]; // ratio ρ^weight = a/b; (1 − r)r^k/(1 − r^count)
    const n = BigInt(count);
    return [(b - a) * a ** BigInt(k) * b ** (n - BigInt(k) - 1n), b ** n - a ** n];
  };
  for (let x = 0; x < 512; x++) {
    let law: [bigint, bigint] = [1n, 1n];
    law = multiply(law, digitLaw(x % 4, 1, 4));
    law = multiply(law, digitLaw(Math.floor(x / 4) % 8, 4, 8));
    const [a, b] = [p ** 32n, q ** 32n];
    const top = Math.floor(x / 32);
    for (let escapes = Math.floor(top / 5); escapes > 0; escapes--) law = multiply(law, [a ** 5n, b ** 5n]);
    const rest = BigInt(top % 5);
    law = multiply(law, [(b - a) * a ** rest, b ** (rest + 1n)]);
    // (1 − ρ)ρ^x = p^x/3^(x+1)
    expect(law[0] * q ** BigInt(x + 1)).toBe(law[1] * p ** BigInt(x));
  }
});

test("the law that the tables of t = 40 draw, escapes included, is the geometric one", () => {
  const scale = makeScale(40n, 1n);
  const [high, low] = [topWeights(scale), weightsOf(scale, 1)];
  const span = scale.escape * 4; // what an escape adds
  for (const x of [0, 1, 3, 4, 39, 40, 200, span - 1, span, span + 5, 3 * span + 77]) {
    const escapes = Math.floor(x / span);
    let [weight, bits] = [high[Math.floor((x % span) / 4)]! * low[x % 4]!, 176n + 176n];
    for (let i = 0; i < escapes; i++) {
      weight *= high[scale.escape]!;
      bits += 176n;
    }
    const got = (weight << BigInt(BITS)) >> bits;
    const [power, next] = [expBounds(BigInt(x), 40n, BITS), expBounds(BigInt(x + 1), 40n, BITS)];
    expect(got - (power.low - next.high) < power.low >> 140n).toBe(true);
    expect(power.high - next.low - got < power.low >> 140n).toBe(true);
  }
});

describe("aliasTable", () => {
  test("three outcomes by hand: 1/2, 1/4, 1/4 of 2¹⁰ in columns of 4", () => {
    const table = aliasTable([512n, 256n, 256n], 256, 10n);
    const sums = [0n, 0n, 0n];
    for (const { own, alias, threshold } of table) {
      sums[own]! += threshold;
      sums[alias]! += 4n - threshold;
    }
    expect(sums).toEqual([512n, 256n, 256n]);
  });

  test("keeps any weights exactly", () => {
    const cuts = fc.uniqueArray(fc.bigInt(0n, 2n ** 64n), { maxLength: 255 });
    fc.assert(
      fc.property(cuts, (inner) => {
        const edges = [0n, ...inner, 2n ** 64n].toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
        const weights = edges.slice(1).map((edge, i) => edge - edges[i]!);
        const sums = weights.map(() => 0n);
        for (const { own, alias, threshold } of aliasTable(weights, 256, 64n)) {
          sums[own]! += threshold;
          if (alias !== own) sums[alias]! += 2n ** 56n - threshold;
          else expect(threshold).toBe(2n ** 56n);
        }
        expect(sums).toEqual(weights);
      }),
    );
  });
});

describe("makeScale", () => {
  test("equal fractions share one table, and only those asked for lately are kept", () => {
    const scale = makeScale(10n, 4n);
    expect([scale.numerator, scale.denominator]).toEqual([5n, 2n]);
    expect(makeScale(5n, 2n)).toBe(scale);
    const often = makeScale(7n, 2n);
    for (let i = 1n; i <= 1024n; i++) {
      makeScale(i, 4001n);
      expect(makeScale(7n, 2n)).toBe(often);
    }
    expect(makeScale(5n, 2n)).not.toBe(scale);
    expect(makeScale(5n, 2n).words(fillDigit)).toEqual(scale.words(fillDigit));
  });

  test("the header repeats the fields", () => {
    const { escape, divisor, weights, ...scale } = makeScale(2n, 7n);
    const words = scale.words(fillDigit);
    const view = new DataView(words.buffer);
    expect(divisor).toBe(4); // ⌈7/2⌉, so the tables are of scale 8/7
    expect(view.getFloat64(4 * SCALE_DIVISOR, true)).toBe(4);
    expect(view.getFloat64(4 * SCALE_ESCAPE_STEP, true)).toBe(escape * weights[0]!);
    expect(words[SCALE_DRAWS]).toBe(1);
  });

  test("refuses what it has no tables for", () => {
    expect(() => makeScale(0n, 1n)).toThrow(/^scale: expected a fraction above 0, got 0\/1/);
    expect(() => makeScale(1n, -1n)).toThrow(RangeError);
    expect(() => makeScale((1n << 40n) + 1n, 1n)).toThrow(/2⁻³² ≤ scale ≤ 2⁴⁰/);
    expect(() => makeScale(1n, (1n << 32n) + 1n)).toThrow(RangeError);
    expect(makeScale(1n, 1n << 32n).divisor).toBe(2 ** 32);
  });
});

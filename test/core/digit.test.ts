import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fillDigit as byBigInt } from "../../src/core/js/digit.js";
import { COLUMNS, TAIL_WORDS, TOP_COLUMNS } from "../../src/core/layout.js";
import { type DigitLaw, type FillDigit } from "../../src/core/tables/digit.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { digit } from "../../src/core/wasm/digit.js";
import { loadNoiseKernels } from "../../src/core/wasm/instance.js";

const byKernel = digit(loadNoiseKernels());
const ONE = 2n ** 256n;

/** The table that `fill` writes over what stood there before. */
function tableOf(fill: FillDigit, law: DigitLaw): Uint32Array {
  const count = law.negative === null ? COLUMNS : TOP_COLUMNS;
  const words = new Uint32Array(count * (1 + TAIL_WORDS)).fill(0xa5a5a5a5);
  fill(law, words.subarray(0, count), words.subarray(count));
  return words;
}

/** Compared as bytes: thousands of tables of thousands of words. */
function same(law: DigitLaw): void {
  const [one, other] = [tableOf(byKernel, law), tableOf(byBigInt, law)];
  expect(Buffer.compare(Buffer.from(one.buffer), Buffer.from(other.buffer))).toBe(0);
}

/** Scales are kept with their tables. As many others as there is room for push them out. */
function forgetScales(): void {
  for (let i = 1n; i <= 1024n; i++) makeScale(i, 8009n);
}

/** How many digits of this scale, which is not kept, have the same table from both. */
function sameDigits(numerator: bigint, denominator: bigint): number {
  let digits = 0;
  makeScale(numerator, denominator).words((law, columns, tails) => {
    same(law);
    digits++;
    byBigInt(law, columns, tails);
  });
  return digits;
}

/** Numbers of 256 bits with long runs of ones and zeros, where carries go far. */
const long = fc
  .array(fc.constantFrom(0n, 1n, 2n ** 31n, 2n ** 32n - 2n, 2n ** 32n - 1n, 0x89abcdefn), {
    minLength: 8,
    maxLength: 8,
  })
  .map((words) => words.reduce((sum, word) => (sum << 32n) | word));

describe("kernel and twin write the same table", () => {
  test("for six hundred scales between 2⁻³² and 2⁴⁰", () => {
    for (let i = 0; i < 600; i++) {
      const exponent = -31.9 + (71.8 * i) / 600;
      const denominator = 1_000_003n + BigInt((i * i) % 997);
      const numerator = BigInt(Math.ceil(2 ** (exponent + 40))) * denominator + 1n;
      expect(sameDigits(numerator, denominator << 40n)).toBe(exponent < 12 ? 2 : exponent < 28 ? 4 : 6);
    }
  });

  test.each([2n, 3n, 15n, 16n, 17n, 4096n, 4097n, 2n ** 28n, 2n ** 28n + 1n, 2n ** 40n])(
    "for scales at the edges of the digits: %d and its inverse",
    (t) => {
      forgetScales();
      expect(sameDigits(t, 1n)).toBe(t <= 4096n ? 2 : t <= 2n ** 28n ? 4 : 6);
      if (t <= 2n ** 32n) expect(sameDigits(1n, t)).toBe(2);
    },
  );

  test("for laws whose numbers are long runs of ones and zeros", () => {
    fc.assert(
      fc.property(long, long, long, fc.integer({ min: 1, max: 256 }), (ratio, part, share, outcomes) => {
        // What all outcomes but the last have together stays below 1 − 2⁻¹⁶.
        const first = part / BigInt(outcomes + 1);
        same({ outcomes, ratio, first, negative: null });
        same({ outcomes, ratio, first, negative: share >> 1n });
      }),
      { numRuns: 200, seed: 2 },
    );
  });

  test("for one outcome, which is certain", () => {
    const certain = { outcomes: 1, ratio: 7n, first: ONE, negative: null };
    same(certain);
    expect(new Set(tableOf(byKernel, certain).subarray(0, COLUMNS))).toEqual(new Set([256 << 16]));
    same({ ...certain, negative: ONE / 2n });
    same({ ...certain, negative: 0n });
  });
});

test("one bit of a ratio, worth 2⁻¹⁷⁰, changes the table", () => {
  const law = { outcomes: 200, ratio: ONE - ONE / 16n, first: ONE / 16n, negative: ONE / 2n };
  const other = { ...law, ratio: law.ratio + 2n ** 86n };
  expect(tableOf(byKernel, other)).not.toEqual(tableOf(byKernel, law));
});

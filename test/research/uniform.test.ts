import { expect, test } from "vitest";
import { uniformBelow } from "../../research/uniform.js";
import { jsCore } from "../../src/core/js/index.js";
import { type Random, Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { againstExact, ODDS } from "../support/chiSquare.js";

const random = (name: string): Random => subStream(unsafeKey(name), Purpose.baseline, 0, 0);

/** The first words of `random(name)`. */
function wordsOf(name: string, count: number): Uint32Array {
  const words = new Uint32Array(count);
  jsCore.keystream(random(name), words);
  return words;
}

const below = (from: Random, n: number, count: number) => {
  const out = new Float64Array(count);
  uniformBelow(from, n, out);
  return out;
};

test("uniformBelow(1) needs no randomness", () => {
  const from = random("one");
  expect(below(from, 1, 100)).toEqual(new Float64Array(100));
  expect(from.position).toBe(0);
});

test("powers of two are the top bits of the words", () => {
  const words = wordsOf("powers", 200);
  expect([...below(random("powers"), 2, 100)]).toEqual(Array.from(words.subarray(0, 100), (w) => w >>> 31));
  expect([...below(random("powers"), 2 ** 32, 100)]).toEqual([...words.subarray(0, 100)]);
  const from = random("powers");
  const wide = Array.from({ length: 100 }, (_, i) => (words[2 * i]! >>> 11) * 2 ** 32 + words[2 * i + 1]!);
  expect([...below(from, 2 ** 53, 100)]).toEqual(wide);
  expect(from.position).toBe(200);
});

test.each([3, 10, 2 ** 31 + 1, 2 ** 32 - 1])("below %d: words that are too large are passed over", (n) => {
  const unused = Math.clz32(n - 1);
  const words = wordsOf("small", 400);
  const from = random("small");
  const kept = [...words].map((word) => word >>> unused).filter((x) => x < n);
  expect([...below(from, n, 100)]).toEqual(kept.slice(0, 100));
  const used = [...words].findIndex(
    (_, i) => words.subarray(0, i).filter((w) => w >>> unused < n).length === 100,
  );
  expect(from.position).toBe(used);
});

test.each([2 ** 32 + 1, 2 ** 52 + 1, 2 ** 53 - 1])("below %d: the same with two words", (n) => {
  const unused = Math.clz32(Math.floor((n - 1) / 2 ** 32));
  const words = wordsOf("wide", 1000);
  const pairs = Array.from(
    { length: 500 },
    (_, i) => (words[2 * i]! >>> unused) * 2 ** 32 + words[2 * i + 1]!,
  );
  expect([...below(random("wide"), n, 100)]).toEqual(pairs.filter((x) => x < n).slice(0, 100));
});

test.each([3, 10, 1000])(
  "below %d: all numbers are as likely; a remainder instead of rejection is seen",
  (n) => {
    const isFair = (numbers: Float64Array) => {
      const counts = new Float64Array(n);
      for (const x of numbers) counts[x % n]!++;
      return againstExact(counts, new Float64Array(n).fill(1 / n), 10) > ODDS;
    };
    expect(isFair(below(random("fair"), n, 1_000_000))).toBe(true);
    expect(isFair(below(random("fair"), 2 ** Math.ceil(Math.log2(n)), 1_000_000))).toBe(false);
  },
);

test.each([0, 0.5, -1, 2 ** 53 + 2, NaN])("below %d is refused", (n) => {
  const from = random("bad");
  expect(() => below(from, n, 1)).toThrow(/^n: expected an integer 1 ≤ n ≤ 2⁵³/);
  expect(from.position).toBe(0);
});

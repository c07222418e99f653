import { describe, expect, test } from "vitest";
import { type Coin, expCoin, fixedCoin, ratioCoin } from "../../src/core/tables/coin.js";
import { jsCore } from "../../src/core/js/index.js";
import { WordReader } from "../../src/core/js/reader.js";
import { Stage, subStream, type Random } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { againstExact, ODDS } from "../support/chiSquare.js";
import { expBounds } from "../support/exp.js";
import { bits } from "../support/numbers.js";

const wasm = makeWasmCore();
const random = (name: string): Random => subStream(unsafeKey(name), Stage.baseline, 0, 0);

/** The first words that any sampler will take from `random(name)`. */
function wordsOf(name: string, count: number): Uint32Array {
  const words = new Uint32Array(count);
  jsCore.keystream(random(name), words);
  return words;
}

describe("coins", () => {
  const threshold = ({ words }: Coin) =>
    words.subarray(0, 6).reduce((sum, word) => (sum << 32n) | BigInt(word), 0n);

  test("hold their probability in 192 bits, the certain one by a mark", () => {
    expect(threshold(ratioCoin(1n, 2n))).toBe(1n << 191n);
    expect(threshold(ratioCoin(1n, 3n))).toBe((1n << 192n) / 3n);
    expect([...fixedCoin(0x0102030405060708n).words]).toEqual([0, 0, 0, 0, 0x01020304, 0x05060708, 0, 0]);
    expect([...ratioCoin(1n, 1n).words]).toEqual([...new Uint32Array(6).fill(0xffffffff), 1, 0]);
    expect([...ratioCoin(0n, 5n).words]).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(expCoin(0n, 1n)).toEqual(ratioCoin(1n, 1n));
  });

  test.each([1n, 2n, 77n])("exp(−%d/10) to the last bit or the one next to it", (numerator) => {
    const { low, high } = expBounds(numerator, 10n, 192);
    const got = threshold(expCoin(numerator, 10n));
    expect(got >= low - 1n && got <= high + 1n).toBe(true);
  });

  test("refuse what is not a probability", () => {
    expect(() => ratioCoin(3n, 2n)).toThrow(/between 0 and 1, got 3\/2/);
    expect(() => ratioCoin(-1n, 2n)).toThrow(RangeError);
    expect(() => ratioCoin(1n, 0n)).toThrow(RangeError);
    expect(() => expCoin(-1n, 2n)).toThrow(/exponent ≥ 0, got -1\/2/);
    expect(() => fixedCoin((1n << 192n) + 1n)).toThrow(RangeError);
  });
});

describe.each([wasm, jsCore])("$name core", (core) => {
  const below = (from: Random, n: number, count: number) => {
    const out = new Float64Array(count);
    core.uniformBelow(from, n, out);
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

  test.each([0, 1, 2, 3, 4, 5])("a toss that ties on %d words looks at the next", (ties) => {
    const words = wordsOf("ties", 6);
    for (const heads of [true, false]) {
      const coin = ratioCoin(1n, 2n);
      coin.words.set(words.subarray(0, ties));
      coin.words[ties] = words[ties]! + (heads ? 1 : -1);
      const from = random("ties");
      const out = new Uint8Array(1);
      core.toss(from, coin, out);
      expect(out[0]).toBe(heads ? 1 : 0);
      expect(from.position).toBe(ties + 1);
    }
  });

  test.each([0, 1])("a toss that ties on all 192 bits is what the mark says: %d", (mark) => {
    const coin = ratioCoin(1n, 2n);
    coin.words.set(wordsOf("ties", 6));
    coin.words[6] = mark;
    const from = random("ties");
    const out = new Uint8Array(1);
    core.toss(from, coin, out);
    expect(out[0]).toBe(mark);
    expect(from.position).toBe(6);
  });

  test.each<[bigint, bigint]>([
    [1n, 2n],
    [1n, 3n],
    [999n, 1000n],
    [0n, 1n],
    [1n, 1n],
  ])("a coin of %d/%d", (a, b) => {
    const out = new Uint8Array(1_000_000);
    core.toss(random("coin"), ratioCoin(a, b), out);
    const [heads, p] = [out.reduce((x, y) => x + y, 0), Number(a) / Number(b)];
    const isFair = (p: number) => Math.abs(heads - 1e6 * p) <= 5 * Math.sqrt(1e6 * p * (1 - p)); // 1 in 10⁶
    expect(isFair(p)).toBe(true);
    if (p > 0 && p < 1) expect(isFair(p + 0.01 * Math.min(p, 1))).toBe(false);
  });

  test("past the end of a sub-stream nothing is drawn, and `random` stays where it was", () => {
    const near = () => ({ ...random("end"), position: 2 ** 36 - 10 });
    const calls: ((from: Random) => void)[] = [
      (from) => core.uniformBelow(from, 2 ** 32, new Float64Array(11)),
      (from) => core.toss(from, ratioCoin(1n, 2n), new Uint8Array(11)),
      (from) => core.geometric(from, makeScale(40n, 1n), new Float64Array(11)),
      (from) => core.laplace(from, makeScale(40n, 1n), new Float64Array(5000)),
    ];
    for (const call of calls) {
      const from = near();
      expect(() => call(from)).toThrow(/^random: expected a position up to 2³⁶ words/);
      expect(from.position).toBe(2 ** 36 - 10);
    }
    const from = near();
    core.uniformBelow(from, 2 ** 32, new Float64Array(10));
    expect(from.position).toBe(2 ** 36);
  });
});

describe("both cores take the same words", () => {
  const N = 1_000_000;

  test.each([3, 1000, 2 ** 32 + 1, 2 ** 53 - 1])("uniformBelow(%d)", (n) => {
    const [a, b] = [random("same"), random("same")];
    const [x, y] = [new Float64Array(N), new Float64Array(N)];
    wasm.uniformBelow(a, n, x);
    jsCore.uniformBelow(b, n, y);
    expect(bits(x) === bits(y)).toBe(true);
    expect(a.position).toBe(b.position);
  });

  test.each([ratioCoin(2n, 3n), expCoin(1n, 3n)])("toss", (coin) => {
    const [a, b] = [random("same"), random("same")];
    const [x, y] = [new Uint8Array(N), new Uint8Array(N)];
    wasm.toss(a, coin, x);
    jsCore.toss(b, coin, y);
    expect(Buffer.compare(x, y)).toBe(0);
    expect(a.position).toBe(b.position);
  });
});

test("a WordReader moves `random` when it is told to, and not before", () => {
  const from = { ...random("reader"), position: 37 };
  const words = wordsOf("reader", 1000);
  const reader = new WordReader(from);
  for (let i = 37; i < 900; i++) expect(reader.next()).toBe(words[i]);
  expect(reader.position).toBe(900);
  expect(from.position).toBe(37);
  reader.finish();
  expect(from.position).toBe(900);
});

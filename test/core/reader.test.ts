import { describe, expect, test } from "vitest";
import { type Coin, expCoin, fixedCoin, ratioCoin } from "../../src/core/tables/coin.js";
import { jsCore } from "../../src/core/js/index.js";
import { WordReader } from "../../src/core/js/reader.js";
import { Purpose, subStream, type Random } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { expBounds } from "../support/exp.js";
import { jsToss, wasmToss } from "../support/tossKernels.js";

const wasm = await wasmToss();
const random = (name: string): Random => subStream(unsafeKey(name), Purpose.baseline, 0, 0);

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
    expect(() => ratioCoin(1n, 0n)).toThrow(/between 0 and 1, got 1\/0/);
    expect(() => expCoin(-1n, 2n)).toThrow(/exponent ≥ 0, got -1\/2/);
    expect(() => expCoin(1n, 0n)).toThrow(/exponent ≥ 0, got 1\/0/);
    expect(() => fixedCoin(-1n)).toThrow(/expected 0 ≤ threshold ≤ 2¹⁹²/);
    expect(() => fixedCoin(1n << 192n)).not.toThrow();
    expect(() => fixedCoin((1n << 192n) + 1n)).toThrow(RangeError);
  });
});

describe.each([wasm, jsToss])("$name core", (core) => {
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
      (from) => core.toss(from, ratioCoin(1n, 2n), new Uint8Array(11)),
    ];
    for (const call of calls) {
      const from = near();
      expect(() => call(from)).toThrow(/^random: position: expected a number from 0 to 68719476736/);
      expect(from.position).toBe(2 ** 36 - 10);
    }
    const from = near();
    core.toss(from, ratioCoin(1n, 2n), new Uint8Array(10));
    expect(from.position).toBe(2 ** 36);
  });
});

describe("both cores take the same words", () => {
  const N = 1_000_000;

  test.each([ratioCoin(2n, 3n), expCoin(1n, 3n)])("toss", (coin) => {
    const [a, b] = [random("same"), random("same")];
    const [x, y] = [new Uint8Array(N), new Uint8Array(N)];
    wasm.toss(a, coin, x);
    jsToss.toss(b, coin, y);
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

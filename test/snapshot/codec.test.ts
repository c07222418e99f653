/** Round trips of the codec, and the bytes that each kind of value takes. */
import { describe, expect, test } from "vitest";
import { Decoder, Encoder } from "../../src/snapshot/codec.js";
import { integers } from "../support/numbers.js";

/** The bytes of what was written, and what is read of it; nothing may be left. */
function there<T>(write: (to: Encoder) => void, read: (from: Decoder) => T): { bytes: number[]; back: T } {
  const writer = new Encoder();
  write(writer);
  const { bytes } = writer;
  // In the middle of a larger buffer, as a part of a snapshot is.
  const padded = new Uint8Array(bytes.length + 11).fill(0xee);
  padded.set(bytes, 7);
  const reader = new Decoder(padded.subarray(7, 7 + bytes.length));
  expect(reader.atEnd).toBe(bytes.length === 0);
  const back = read(reader);
  expect(reader.atEnd).toBe(true);
  return { bytes: [...bytes], back };
}

describe("whole numbers", () => {
  test.each([
    [0, [0]],
    [1, [1]],
    [127, [127]],
    [128, [128, 1]],
    [129, [129, 1]],
    [300, [172, 2]],
    [16_383, [255, 127]],
    [16_384, [128, 128, 1]],
    [2 ** 31, [128, 128, 128, 128, 8]],
    [Number.MAX_SAFE_INTEGER, [255, 255, 255, 255, 255, 255, 255, 15]],
  ])("%d", (value, bytes) => {
    expect(
      there(
        (to) => to.count(value),
        (from) => from.count(),
      ),
    ).toEqual({ bytes, back: value });
  });

  test.each([-1, 0.5, NaN, Infinity, 2 ** 53])("%d is refused", (value) => {
    expect(() => new Encoder().count(value)).toThrow("snapshot: expected whole numbers below 2^53");
  });
});

test("doubles keep every bit, eight bytes each", () => {
  const values = [0, -0, 1, -1.5, Math.PI, 5e-324, Number.MAX_VALUE, NaN, -Infinity];
  const { bytes, back } = there(
    (to) => values.forEach((x) => to.double(x)),
    (from) => values.map(() => from.double()),
  );
  expect(bytes).toHaveLength(8 * values.length);
  expect(bytes.slice(16, 24)).toEqual([0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
  back.forEach((x, i) => expect(x).toBe(values[i]));
});

test("words, lowest byte first, and texts", () => {
  const words = Uint32Array.of(1, 0x01020304, 0xffffffff);
  const { bytes, back } = there(
    (to) => {
      to.words(words);
      to.text("ε é");
      to.blob(Uint8Array.of(9, 8));
      to.words(new Uint32Array(0));
    },
    (from) => [from.words(3), from.text(), from.blob(), from.words(0)],
  );
  expect(bytes).toEqual([
    ...[1, 0, 0, 0, 4, 3, 2, 1, 255, 255, 255, 255, 5, 0xce, 0xb5, 0x20, 0xc3, 0xa9, 2, 9, 8],
  ]);
  expect(back).toEqual([words, "ε é", Uint8Array.of(9, 8), new Uint32Array(0)]);
});

test.each([31, 32, 33, 1000])("%d words at any place, from a part of an array", (length) => {
  const all = Uint32Array.from({ length: length + 2 }, (_, i) => Math.imul(i + 1, 0x9e3779b1));
  const words = all.subarray(1, length + 1);
  for (let before = 0; before < 4; before++) {
    const { bytes, back } = there(
      (to) => {
        for (let i = 0; i < before; i++) to.count(7);
        to.words(words);
        to.count(9);
      },
      (from) => {
        for (let i = 0; i < before; i++) from.count();
        return [from.words(length), from.count()];
      },
    );
    const last = words[length - 1]!;
    expect(bytes.slice(-5)).toEqual([last & 255, (last >>> 8) & 255, (last >>> 16) & 255, last >>> 24, 9]);
    expect(back).toEqual([words, 9]);
  }
});

test("words are not read beyond the end", () => {
  const reader = () => new Decoder(new Uint8Array(8));
  expect(reader().words(2)).toEqual(Uint32Array.of(0, 0));
  expect(() => reader().words(3)).toThrow("snapshot: expected more bytes, got its end");
  expect(() => reader().words(NaN)).toThrow("snapshot: expected more bytes, got its end");
  const moved = reader();
  moved.count();
  expect(() => moved.words(2)).toThrow("snapshot: expected more bytes, got its end");
  expect(moved.words(1)).toEqual(Uint32Array.of(0));
});

test("multiples of a fraction, as differences: small steps take one byte", () => {
  const values = Float64Array.of(0, 0.25, -0.25, -16, 0, 15.75, 1e6);
  const { bytes, back } = there(
    (to) => to.multiples(values, 4),
    (from) => from.multiples(4),
  );
  expect(back).toEqual(values);
  // Differences in quarters: 0, 1, −2, −63, 64, 63, 3 999 937; folded 0, 2, 3, 125, 128, 126, 7 999 874.
  expect(bytes.slice(0, 8)).toEqual([7, 0, 2, 3, 125, 128, 1, 126]);
  expect(bytes).toHaveLength(12);
  const many = integers(5, 300, 1e9);
  expect(
    there(
      (to) => to.multiples(many, 1),
      (from) => from.multiples(1),
    ).back,
  ).toEqual(many);
});

describe("numbers that the reader can guess", () => {
  const guess = (i: number) => i * i;
  const written = (values: number[]) =>
    there(
      (to) => to.guessed(Float64Array.from(values), guess),
      (from) => [...from.guessed(guess)],
    );

  test.each([
    [[], 1],
    [[0, 1, 4, 9], 3],
    [[0, 1, 7, 9], 1 + 2 + 8 + 2],
    [[5, 5, 5, 5], 1 + 2 + 32],
    [[5, 1, 5, 9], 1 + 2 + 8 + 2 + 8 + 2],
    [[0, 1, 4, 5], 1 + 2 + 8],
    [[-0, 1, NaN], 1 + 2 + 8 + 2 + 8],
  ])("%o takes %d bytes", (values, length) => {
    const { bytes, back } = written(values);
    expect(back).toEqual(values);
    expect(bytes).toHaveLength(length);
  });

  test("any pattern of good and bad guesses", () => {
    for (let pattern = 0; pattern < 256; pattern++) {
      const values = Array.from({ length: 8 }, (_, i) => ((pattern >> i) & 1 ? guess(i) : guess(i) + 0.5));
      expect(written(values).back).toEqual(values);
    }
  });
});

test("a state of any length, written by any mixture of calls", () => {
  for (const size of [1015, 1016, 1017, 1023, 1024, 1025, 5000]) {
    const filler = Uint8Array.from({ length: size }, (_, i) => i);
    const { back } = there(
      (to) => {
        to.blob(filler);
        to.double(1.5);
        to.count(Number.MAX_SAFE_INTEGER);
        to.words(Uint32Array.of(size));
        to.blob(filler);
        to.double(2.5);
      },
      (from) => [from.blob(), from.double(), from.count(), from.words(1)[0], from.blob(), from.double()],
    );
    expect(back).toEqual([filler, 1.5, Number.MAX_SAFE_INTEGER, size, filler, 2.5]);
  }
});

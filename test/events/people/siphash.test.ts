/** Ids are hashed by SipHash-2-4 with 128 bits, as its authors and a second implementation have it. */
import { expect, test } from "vitest";
import { digest, hashText } from "../../../src/events/people/siphash.js";

const KEY = Uint8Array.from({ length: 16 }, (_, i) => i);
const keyWords = new Uint32Array(KEY.buffer);

function hashed(text: string): string {
  hashText(keyWords, text);
  return Buffer.from(digest.slice().buffer).toString("hex");
}

const MASK = 2n ** 64n - 1n;
const rotate = (x: bigint, by: bigint): bigint => ((x << by) | (x >> (64n - by))) & MASK;

/** The algorithm as it is printed, on 64-bit integers. @param message whole blocks of 8 bytes, padding included */
function reference(message: Uint8Array): string {
  const words = (bytes: Uint8Array): BigUint64Array => new BigUint64Array(Uint8Array.from(bytes).buffer);
  const [k0, k1] = words(KEY) as unknown as [bigint, bigint];
  let v0 = k0 ^ 0x736f6d6570736575n;
  let v1 = k1 ^ 0x646f72616e646f6dn ^ 0xeen;
  let v2 = k0 ^ 0x6c7967656e657261n;
  let v3 = k1 ^ 0x7465646279746573n;
  const rounds = (count: number): void => {
    for (let i = 0; i < count; i++) {
      v0 = (v0 + v1) & MASK;
      v1 = rotate(v1, 13n) ^ v0;
      v0 = rotate(v0, 32n);
      v2 = (v2 + v3) & MASK;
      v3 = rotate(v3, 16n) ^ v2;
      v0 = (v0 + v3) & MASK;
      v3 = rotate(v3, 21n) ^ v0;
      v2 = (v2 + v1) & MASK;
      v1 = rotate(v1, 17n) ^ v2;
      v2 = rotate(v2, 32n);
    }
  };
  for (const m of words(message)) {
    v3 ^= m;
    rounds(2);
    v0 ^= m;
  }
  v2 ^= 0xeen;
  rounds(4);
  const first = v0 ^ v1 ^ v2 ^ v3;
  v1 ^= 0xddn;
  rounds(4);
  return Buffer.from(BigUint64Array.of(first, v0 ^ v1 ^ v2 ^ v3).buffer).toString("hex");
}

/** Bytes of text whose characters fit a byte, with SipHash's own padding. */
function narrow(text: string): Uint8Array {
  const padded = new Uint8Array((Math.floor(text.length / 8) + 1) * 8);
  padded.set(Buffer.from(text, "latin1"));
  padded[padded.length - 1] = text.length;
  return padded;
}

/** UTF-16 of other text, its length, and a tag that no text of bytes ends with. */
function wide(text: string): Uint8Array {
  const units = Buffer.from(text, "utf16le");
  const padded = new Uint8Array((Math.ceil(units.length / 8) + 1) * 8);
  padded.set(units);
  new DataView(padded.buffer).setUint32(padded.length - 8, text.length, true);
  padded[padded.length - 1] = 0x80;
  return padded;
}

const letters = (length: number, first: number): string =>
  String.fromCharCode(...Array.from({ length }, (_, i) => first + (i % 200)));

test("the authors' vectors", () => {
  const messages = [0, 1, 2, 3].map((length) => letters(length, 0));
  const vectors = [
    "a3817f04ba25a8e66df67214c7550293",
    "da87c1d86b99af44347659119b22fc45",
    "8177228da4a45dc7fca38bdef60affe4",
    "9c70b60c5267a94e5f33b6b02985ed51",
  ];
  expect(messages.map(hashed)).toEqual(vectors);
  expect(messages.map((text) => reference(narrow(text)))).toEqual(vectors);
});

test("text of any length, in bytes and beyond, whatever was hashed before", () => {
  for (const length of [...Array(40).keys(), 127, 128, 129, 255, 256, 257, 600, 3000]) {
    const bytes = letters(length, 32);
    expect({ length, hash: hashed(bytes) }).toEqual({ length, hash: reference(narrow(bytes)) });
    if (length === 0) continue;
    const others = letters(length, 0x3b1);
    expect({ length, hash: hashed(others) }).toEqual({ length, hash: reference(wide(others)) });
  }
  // One wide character, at any place, decides for all.
  for (const text of ["€abcdefg", "abcdefg€", "abcd€efg", "abcdefgh€"])
    expect(hashed(text)).toBe(reference(wide(text)));
});

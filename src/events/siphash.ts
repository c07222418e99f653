/**
 * SipHash-2-4 with 128 bits of output (Aumasson and Bernstein 2012): a keyed hash, fast on short ids. Without the key,
 * nobody can tell which id a hash belongs to. 64-bit words are pairs of 32-bit halves, since JavaScript has no others.
 */

/** The state v0 … v3, low halves first; one for the module, since a hash never waits for anything. */
const v = new Int32Array(8);

/** Where `hashText` leaves its result: 4 words. */
export const digest = new Uint32Array(4);

/** Text whose characters all fit a byte is hashed as these bytes; other text as UTF-16. The tag tells them apart. */
const WIDE_TAG = 0x80;

/**
 * Hashes text into `digest`.
 * @param key 4 words
 */
export function hashText(key: Uint32Array, text: string): void {
  const length = text.length;
  let wide = 0;
  for (let i = 0; i < length; i++) wide |= text.charCodeAt(i);
  begin(key);
  if (wide > 0xff) hashWide(text);
  else hashNarrow(text);
  finish();
}

function hashNarrow(text: string): void {
  const length = text.length;
  const at = (i: number): number => (i < length ? text.charCodeAt(i) : 0);
  let i = 0;
  for (; i + 8 <= length; i += 8)
    take(
      text.charCodeAt(i) |
        (text.charCodeAt(i + 1) << 8) |
        (text.charCodeAt(i + 2) << 16) |
        (text.charCodeAt(i + 3) << 24),
      text.charCodeAt(i + 4) |
        (text.charCodeAt(i + 5) << 8) |
        (text.charCodeAt(i + 6) << 16) |
        (text.charCodeAt(i + 7) << 24),
    );
  take(
    at(i) | (at(i + 1) << 8) | (at(i + 2) << 16) | (at(i + 3) << 24),
    at(i + 4) | (at(i + 5) << 8) | (at(i + 6) << 16) | (length << 24),
  );
}

function hashWide(text: string): void {
  const length = text.length;
  const at = (i: number): number => (i < length ? text.charCodeAt(i) : 0);
  for (let i = 0; i < length; i += 4) take(at(i) | (at(i + 1) << 16), at(i + 2) | (at(i + 3) << 16));
  take(length, WIDE_TAG << 24);
}

function begin(key: Uint32Array): void {
  const [k0, k1, k2, k3] = key as unknown as [number, number, number, number];
  v[0] = k0 ^ 0x70736575;
  v[1] = k1 ^ 0x736f6d65;
  v[2] = k2 ^ 0x6e646f6d ^ 0xee; // 0xee: the variant of 128 bits
  v[3] = k3 ^ 0x646f7261;
  v[4] = k0 ^ 0x6e657261;
  v[5] = k1 ^ 0x6c796765;
  v[6] = k2 ^ 0x79746573;
  v[7] = k3 ^ 0x74656462;
}

/** One 64-bit word of the message: two rounds. */
function take(low: number, high: number): void {
  v[6]! ^= low;
  v[7]! ^= high;
  rounds(2);
  v[0]! ^= low;
  v[1]! ^= high;
}

function finish(): void {
  v[4]! ^= 0xee;
  rounds(4);
  digest[0] = v[0]! ^ v[2]! ^ v[4]! ^ v[6]!;
  digest[1] = v[1]! ^ v[3]! ^ v[5]! ^ v[7]!;
  v[2]! ^= 0xdd;
  rounds(4);
  digest[2] = v[0]! ^ v[2]! ^ v[4]! ^ v[6]!;
  digest[3] = v[1]! ^ v[3]! ^ v[5]! ^ v[7]!;
}

/** SipRounds, with the state in local variables while they run. A carry is what an unsigned sum lost. */
function rounds(count: number): void {
  let a = v[0]!,
    A = v[1]!,
    b = v[2]!,
    B = v[3]!,
    c = v[4]!,
    C = v[5]!,
    d = v[6]!,
    D = v[7]!;
  for (; count > 0; count--) {
    let low = (a + b) | 0;
    A = (A + B + (low >>> 0 < a >>> 0 ? 1 : 0)) | 0; // v0 += v1
    a = low;
    low = (b << 13) | (B >>> 19); // v1 <<<= 13, v1 ^= v0
    B = ((B << 13) | (b >>> 19)) ^ A;
    b = low ^ a;
    low = a; // v0 <<<= 32
    a = A;
    A = low;
    low = (c + d) | 0;
    C = (C + D + (low >>> 0 < c >>> 0 ? 1 : 0)) | 0; // v2 += v3
    c = low;
    low = (d << 16) | (D >>> 16); // v3 <<<= 16, v3 ^= v2
    D = ((D << 16) | (d >>> 16)) ^ C;
    d = low ^ c;
    low = (a + d) | 0;
    A = (A + D + (low >>> 0 < a >>> 0 ? 1 : 0)) | 0; // v0 += v3
    a = low;
    low = (d << 21) | (D >>> 11); // v3 <<<= 21, v3 ^= v0
    D = ((D << 21) | (d >>> 11)) ^ A;
    d = low ^ a;
    low = (c + b) | 0;
    C = (C + B + (low >>> 0 < c >>> 0 ? 1 : 0)) | 0; // v2 += v1
    c = low;
    low = (b << 17) | (B >>> 15); // v1 <<<= 17, v1 ^= v2
    B = ((B << 17) | (b >>> 15)) ^ C;
    b = low ^ c;
    low = c; // v2 <<<= 32
    c = C;
    C = low;
  }
  v[0] = a;
  v[1] = A;
  v[2] = b;
  v[3] = B;
  v[4] = c;
  v[5] = C;
  v[6] = d;
  v[7] = D;
}

/**
 * SipHash-2-4 with 128 bits of output (Aumasson and Bernstein 2012): a keyed hash, fast on short ids. Without the key,
 * nobody can tell which id a hash belongs to. 64-bit words are pairs of 32-bit halves, since JavaScript has no others.
 */

/** Where `hashText` leaves its result: 4 words. */
export const digest = new Uint32Array(4);

/** The message, in 32-bit halves; one for the module, since a hash never waits for anything. */
let message = new Int32Array(256);

/** Text whose characters all fit a byte is hashed as these bytes; other text as UTF-16. The tag tells them apart. */
const WIDE_TAG = 0x80;

/**
 * Hashes text into `digest`.
 * @param key 4 words
 */
export function hashText(key: Uint32Array, text: string): void {
  const most = (text.length >> 1) + 4;
  if (message.length < most) message = new Int32Array(most);
  hashMessage(key, (packNarrow(text) || packWide(text)) >> 1);
}

/** Packs text whose characters all fit a byte; returns how many halves it takes, or 0 for other text. */
function packNarrow(text: string): number {
  const length = text.length;
  let all = 0;
  let halves = 0;
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    const first = text.charCodeAt(i);
    const second = text.charCodeAt(i + 1);
    const third = text.charCodeAt(i + 2);
    const fourth = text.charCodeAt(i + 3);
    all |= first | second | third | fourth;
    message[halves++] = first | (second << 8) | (third << 16) | (fourth << 24);
  }
  let rest = 0;
  for (let shift = 0; i < length; i++, shift += 8) {
    const char = text.charCodeAt(i);
    all |= char;
    rest |= char << shift;
  }
  if (all > 0xff) return 0;
  if (halves % 2 === 0) {
    message[halves++] = rest;
    rest = 0;
  }
  message[halves++] = rest | (length << 24);
  return halves;
}

function packWide(text: string): number {
  const length = text.length;
  let halves = 0;
  for (let i = 0; i < length; i += 2)
    message[halves++] = text.charCodeAt(i) | (i + 1 < length ? text.charCodeAt(i + 1) << 16 : 0);
  if (halves % 2 === 1) message[halves++] = 0;
  message[halves++] = length;
  message[halves++] = WIDE_TAG << 24;
  return halves;
}

/**
 * The state v0 … v3 is aA, bB, cC, dD, low halves first: all in local variables, which take a quarter of the time of an
 * array. A carry is what an unsigned sum lost; `+` makes it a number without a branch.
 */
function hashMessage(key: Uint32Array, words: number): void {
  const k0 = key[0]!;
  const k1 = key[1]!;
  const k2 = key[2]!;
  const k3 = key[3]!;
  let a = k0 ^ 0x70736575,
    A = k1 ^ 0x736f6d65,
    b = k2 ^ 0x6e646f6d ^ 0xee, // 0xee: the variant of 128 bits
    B = k3 ^ 0x646f7261,
    c = k0 ^ 0x6e657261,
    C = k1 ^ 0x6c796765,
    d = k2 ^ 0x79746573,
    D = k3 ^ 0x74656462;
  // Two rounds for a word of the message; in the end four rounds for each half of the result.
  for (let step = 0; step < words + 2; step++) {
    const more = step < words;
    const m = more ? message[2 * step]! : 0;
    const M = more ? message[2 * step + 1]! : 0;
    if (more) message[2 * step] = message[2 * step + 1] = 0; // no id is kept
    if (step === words) c ^= 0xee;
    else if (step > words) b ^= 0xdd;
    d ^= m;
    D ^= M;
    for (let round = more ? 2 : 4; round > 0; round--) {
      let low = (a + b) | 0;
      A = (A + B + +(low >>> 0 < a >>> 0)) | 0; // v0 += v1
      a = low;
      low = (b << 13) | (B >>> 19); // v1 <<<= 13, v1 ^= v0
      B = ((B << 13) | (b >>> 19)) ^ A;
      b = low ^ a;
      low = a; // v0 <<<= 32
      a = A;
      A = low;
      low = (c + d) | 0;
      C = (C + D + +(low >>> 0 < c >>> 0)) | 0; // v2 += v3
      c = low;
      low = (d << 16) | (D >>> 16); // v3 <<<= 16, v3 ^= v2
      D = ((D << 16) | (d >>> 16)) ^ C;
      d = low ^ c;
      low = (a + d) | 0;
      A = (A + D + +(low >>> 0 < a >>> 0)) | 0; // v0 += v3
      a = low;
      low = (d << 21) | (D >>> 11); // v3 <<<= 21, v3 ^= v0
      D = ((D << 21) | (d >>> 11)) ^ A;
      d = low ^ a;
      low = (c + b) | 0;
      C = (C + B + +(low >>> 0 < c >>> 0)) | 0; // v2 += v1
      c = low;
      low = (b << 17) | (B >>> 15); // v1 <<<= 17, v1 ^= v2
      B = ((B << 17) | (b >>> 15)) ^ C;
      b = low ^ c;
      low = c; // v2 <<<= 32
      c = C;
      C = low;
    }
    a ^= m;
    A ^= M;
    if (step === words) {
      digest[0] = a ^ b ^ c ^ d;
      digest[1] = A ^ B ^ C ^ D;
    }
  }
  digest[2] = a ^ b ^ c ^ d;
  digest[3] = A ^ B ^ C ^ D;
}

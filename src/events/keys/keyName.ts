/** Names of keys that people's events bring: which of them may become public, and how they are stored in fixed room. */

/** Name under which events of keys that are not public count. It never becomes a key of its own, and gets no votes. */
export const OTHER_KEYS = "(other)";

/** Bytes of UTF-8 that a name has at most; longer ones never become public. */
export const LONGEST_NAME = 128;
/** Words of a stored name: its length in bytes, and its bytes. */
export const NAME_WORDS = 1 + LONGEST_NAME / 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();
const scratch = new Uint8Array(LONGEST_NAME);
/** Control and format characters, halves of pairs and what is no character: a name stands in tables and on pages as it is. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/u;

/** Spreadsheets run cells that begin so: nobody who sends many events shall put one into a CSV file. */
const FORMULA = /^[=+\-@]/;

/** Whether a name may ever become public. A public rule: it looks at the name alone. */
export function canBecomePublic(name: string): boolean {
  if (name.length === 0 || name.length > LONGEST_NAME || name === OTHER_KEYS) return false;
  if (UNFIT.test(name) || FORMULA.test(name)) return false;
  const { read } = encoder.encodeInto(name, scratch);
  scratch.fill(0); // no name is kept
  return read === name.length;
}

/** Writes a name that may become public, or zeros for none, into its room. */
export function writeName(name: string | undefined, words: Uint32Array, at: number): void {
  if (name === undefined) return;
  words[at] = encoder.encodeInto(name, scratch).written;
  for (let i = 0; i < LONGEST_NAME / 4; i++) {
    const b = 4 * i;
    words[at + 1 + i] =
      scratch[b]! | (scratch[b + 1]! << 8) | (scratch[b + 2]! << 16) | (scratch[b + 3]! << 24);
  }
  scratch.fill(0);
}

export function readName(words: Uint32Array, at: number): string {
  const length = Math.min(words[at]!, LONGEST_NAME);
  const bytes = Uint8Array.from({ length }, (_, i) => words[at + 1 + (i >> 2)]! >>> (8 * (i & 3)));
  return decoder.decode(bytes);
}

/** Calls assembly/digit.ts. */
import { LAW_BYTES, LAW_FIRST, LAW_NEGATIVE, LAW_RATIO } from "../layout.js";
import { type FillDigit, LAW_BITS } from "../tables/digit.js";
import { type NoiseKernels, useArena } from "./instance.js";

const LONG_WORDS = LAW_BITS / 64;

export function digit(kernels: NoiseKernels): FillDigit {
  return ({ outcomes, ratio, first, negative }, columns, tails) =>
    useArena(kernels, (arena) => {
      const law = arena.take(LAW_BYTES);
      arena.write(law + LAW_RATIO, longWords(ratio));
      arena.write(law + LAW_FIRST, longWords(first));
      if (negative !== null) arena.write(law + LAW_NEGATIVE, longWords(negative));
      const scratch = arena.take(kernels.digitBytes());
      const columnsAt = arena.take(columns.byteLength);
      const tailsAt = arena.take(tails.byteLength);
      kernels.fillDigit(law, outcomes, negative === null ? 8 : 9, scratch, columnsAt, tailsAt);
      arena.read(columnsAt, columns);
      arena.read(tailsAt, tails);
    });
}

/** A number of 256 bits, lowest word first. A law of one outcome has first = 2²⁵⁶, which no kernel reads. */
function longWords(x: bigint): BigUint64Array {
  const words = new BigUint64Array(LONG_WORDS);
  for (let k = 0; k < LONG_WORDS; k++, x >>= 64n) words[k] = x; // the lowest 64 bits of it
  return words;
}

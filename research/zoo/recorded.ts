/**
 * What the paper's variant and the first default reached on the zoo at the usual hold-out and range. The first default's
 * choice of θ is no longer in the library; these numbers are all that is left of it.
 */
import type { Measured } from "./measure.js";

/** Mean squared errors: the paper's of published sums, the first default's of its answers and of published sums. */
export interface RecordedCell {
  readonly paper: Measured;
  readonly answers: Measured;
  readonly published: Measured;
}

/** Cells by "stream, ε". */
export const RECORDED: { readonly command: string; readonly cells: Readonly<Record<string, RecordedCell>> } =
  {
    command: "",
    cells: {},
  };

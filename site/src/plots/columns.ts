/** Places on a stream's plot where its lines are known: about one per pixel. */
export const COLUMNS = 900;

/** Values that column j looks back on: the first `columnEnd` of `total`. */
export const columnEnd = (j: number, total: number): number => Math.floor(((j + 1) * total) / COLUMNS);

export const columnEnds = (total: number): Float64Array =>
  Float64Array.from({ length: COLUMNS }, (_, j) => columnEnd(j, total));

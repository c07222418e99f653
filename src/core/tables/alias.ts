/**
 * Alias tables (Walker 1974) with exact integer weights. Of 2^c columns c random bits choose one, further bits are a
 * number below 2^(bits − c); below the column's threshold its own outcome is drawn, otherwise its alias. Summed over
 * the columns, every outcome has its weight exactly.
 */

export interface Column {
  own: number;
  alias: number;
  /** From 0 to 2^(bits − c). */
  threshold: bigint;
}

/** The table of at most `columns` weights that sum to 2^bits. */
export function aliasTable(weights: readonly bigint[], columns: number, bits: bigint): Column[] {
  const full = (1n << bits) / BigInt(columns);
  const left = Array.from({ length: columns }, (_, i) => weights[i] ?? 0n);
  const [small, large]: [number[], number[]] = [[], []];
  const table: Column[] = [];
  for (let i = 0; i < columns; i++) {
    (left[i]! < full ? small : large).push(i);
    table.push({ own: i, alias: i, threshold: full });
  }
  // The weights left always sum to the capacity of the columns left, so while one is small another is large.
  for (let own = small.pop(); own !== undefined; own = small.pop()) {
    const alias = large[large.length - 1]!;
    // A column of one outcome is marked by a threshold that no number reaches: it never ties.
    table[own] =
      left[own] === 0n ? { own: alias, alias, threshold: full } : { own, alias, threshold: left[own]! };
    left[alias]! -= full - left[own]!;
    if (left[alias]! < full) small.push(large.pop()!);
  }
  return table;
}

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

/**
 * Weights of the outcomes 0 … count − 1 in units of 2^−bits, from a table of powers: P(outcome < k) =
 * (1 − ρ^k)/(1 − ρ^count), rounded, so that they sum to 2^bits and each is off by little more than one unit.
 * @param powers 2^f·ρ^k for k = 0 … count
 */
export function truncatedGeometric(powers: readonly bigint[], bits: bigint): bigint[] {
  const one = powers[0]!;
  return differences(powers, one - powers.at(-1)!, bits);
}

/** The same where the last outcome is "at least": P(outcome ≥ k) = ρ^k for k = 0 … count − 1, and 0 for count. */
export function escapingGeometric(powers: readonly bigint[], bits: bigint): bigint[] {
  return differences([...powers, 0n], powers[0]!, bits);
}

/** Weights of outcomes that also carry a sign: first those without, then as many with a share of odds/(1 + odds) each. */
export function withSigns(weights: readonly bigint[], odds: bigint, one: bigint): bigint[] {
  const negative = weights.map((weight) => (2n * weight * odds + one + odds) / (2n * (one + odds)));
  return [...weights.map((weight, k) => weight - negative[k]!), ...negative];
}

function differences(powers: readonly bigint[], total: bigint, bits: bigint): bigint[] {
  const below = powers.map((power) => (((powers[0]! - power) << (bits + 1n)) / total + 1n) >> 1n);
  return below.slice(1).map((sum, k) => sum - below[k]!);
}

/** 2^bits·ρ^k for k = 0 … count, each cut to an integer: off by less than 2k where ρ is off by less than 1. */
export function powersOf(rho: bigint, count: number, bits: number): bigint[] {
  const powers = [1n << BigInt(bits)];
  while (powers.length <= count) powers.push((powers[powers.length - 1]! * rho) >> BigInt(bits));
  return powers;
}

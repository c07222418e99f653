/** Exact rationals of doubles, and exp in BigInt fixed point with a proven error: the only exp that noise depends on. */

/** The rational a double stands for, in lowest terms: 0.1 is 3602879701896397 / 2⁵⁵. */
export function exactRational(x: number): { numerator: bigint; denominator: bigint } {
  if (!Number.isFinite(x)) throw new RangeError(`x: expected a finite number, got ${x}`);
  // Doubling is exact and reaches an integer after at most 1074 steps, the first of which is odd.
  let doublings = 0;
  while (!Number.isInteger(x)) {
    x *= 2;
    doublings++;
  }
  return { numerator: BigInt(x), denominator: 1n << BigInt(doublings) };
}

/** Extra bits carried while exp is evaluated. */
const GUARD = 64n;

/**
 * 2^bits · exp(−numerator/denominator) to the nearest integer, off by less than 0.51.
 *
 * With y = x/2^s < 2⁻⁸ the series of exp(−y) is summed until its terms vanish, then squared s times. Working
 * with g = 64 guard bits and u = 2^−(bits+g): y and each of at most 60 terms are cut by less than one u, so the
 * sum is off by less than 128 u; a squaring at most doubles the error and cuts one u more: 129·2^s u in all.
 * x < bits (beyond it the answer is 0), so 2^s ≤ 2⁹·bits, and for bits ≤ 1024 the error before the last rounding is
 * below 2²⁷ u = 2⁻³⁷ units.
 */
export function expFixed(numerator: bigint, denominator: bigint, bits: number): bigint {
  if (numerator >= denominator * BigInt(bits)) return 0n;
  const working = BigInt(bits) + GUARD;
  let halvings = 0n;
  while (numerator << 8n >= denominator << halvings) halvings++;
  const y = (numerator << working) / (denominator << halvings);
  let sum = 1n << working;
  for (let k = 1n, term = (sum * y) >> working; term > 0n; k++, term = (term * y) / (k << working))
    sum += k % 2n === 1n ? -term : term;
  for (; halvings > 0n; halvings--) sum = (sum * sum) >> working;
  return (sum + (1n << (GUARD - 1n))) >> GUARD;
}

/** exp(−x) between two bounds, by a way of its own: the series of exp(+x), all terms positive, no halving of x. */

export interface Bounds {
  readonly low: bigint;
  readonly high: bigint;
}

/** Bounds of 2^bits · exp(−numerator/denominator), for exponents up to a few hundred. */
export function expBounds(numerator: bigint, denominator: bigint, bits: number): Bounds {
  const x = Number(numerator) / Number(denominator);
  const last = BigInt(Math.ceil(8 * x) + bits); // far beyond x, so that the terms fall by 8 each
  const one = 1n << BigInt(2 * bits + Math.ceil(2 * x));
  let [low, lowTerm, high, highTerm] = [one, one, one, one];
  for (let k = 1n; k <= last; k++) {
    lowTerm = (lowTerm * numerator) / (k * denominator);
    highTerm = (highTerm * numerator) / (k * denominator) + 1n;
    low += lowTerm;
    high += highTerm;
  }
  high += highTerm; // more than all further terms: a geometric series of ratio below 1/8
  const scaled = one << BigInt(bits);
  return { low: scaled / high, high: scaled / low + 1n };
}

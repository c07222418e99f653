/**
 * A distribution of whole numbers with the percentiles and the mean of a row of Table 1, as a quantile function Q(u).
 * Above the 85th percentile, ln Q is linear in ln(1 − u) between the known percentiles: pieces of Pareto tails. Below it
 *
 *     Q(u) = least + (p85 − least)·(u/0.85)^k,
 *
 * a body about which the table says nothing but what it leaves for the mean; k is chosen to give that mean.
 */
import type { Characteristics } from "./datasets.js";

const BODY = 0.85;
/** Strata for the mean; it is known to better than 0.1 % then. */
const STRATA = 2 ** 17;

/** @param least smallest value: 0 for counts, 1 for baskets, which are never empty */
export function quantileFunction(row: Characteristics, least: number): (u: number) => number {
  const tail = tailOf(row);
  const height = row.p85 - least;
  const inBody = Math.floor(BODY * STRATA + 0.5);
  let tailSum = 0;
  for (let i = inBody; i < STRATA; i++) tailSum += Math.round(tail((i + 0.5) / STRATA));
  const meanWith = (k: number) => (inBody * least + bodySum(k, height, inBody) + tailSum) / STRATA;
  // The mean falls as k grows: halve the interval of ln k until it is 2⁻³⁰ of its length.
  let [low, high] = [Math.log(0.01), Math.log(100)];
  for (let step = 0; step < 30; step++) {
    const middle = (low + high) / 2;
    if (meanWith(Math.exp(middle)) > row.mean) low = middle;
    else high = middle;
  }
  const k = Math.exp((low + high) / 2);
  return (u) => Math.round(u > BODY ? tail(u) : least + height * (u / BODY) ** k);
}

/** The sum that Q adds to `least` over the body's strata: for each unit, the strata that reach it, u ≥ 0.85·((unit − ½)/height)^(1/k). */
function bodySum(k: number, height: number, inBody: number): number {
  let sum = 0;
  for (let unit = 1; unit <= height; unit++) {
    const from = BODY * ((unit - 0.5) / height) ** (1 / k);
    sum += inBody - Math.ceil(from * STRATA - 0.5);
  }
  return sum;
}

function tailOf({ n, p85, p95, p995, p100 }: Characteristics): (u: number) => number {
  const anchors = [
    [0.15, p85],
    [0.05, p95],
    [0.005, p995],
    [1 / n, p100],
  ] as const;
  return (u) => {
    const left = Math.max(1 - u, 1 / n);
    const i = left > 0.05 ? 0 : left > 0.005 ? 1 : 2;
    const [from, low] = anchors[i];
    const [to, high] = anchors[i + 1]!;
    return low * (high / low) ** (Math.log(from / left) / Math.log(from / to));
  };
}

/**
 * Streams with the statistics of Table 1, because the data sets themselves cannot be shipped. The distribution comes from
 * `quantileFunction`; what follows what in time comes from a signal of which only the ranks are used:
 *
 *     value at t = Q((rank of signal(t) + ½)/n)
 *
 * so percentiles and mean do not depend on the signal. The same numbers every time.
 */
import seedrandom from "seedrandom";
import { type DatasetName, TABLE1 } from "./datasets.js";
import { quantileFunction } from "./quantiles.js";

/** Stands in the keys of stored runs: change it with anything that changes a value. */
export const GENERATOR_VERSION = 1;

export function generate(name: DatasetName): Float64Array {
  const row = TABLE1[name];
  const uniform = seedrandom.alea(name);
  if (name === "DNS") return ranked(dnsSignal(row.n, uniform), quantileFunction(row, 0));
  if (name === "POS") return ranked(posSignal(row.n, uniform), quantileFunction(row, 1));
  return independent(row.n, quantileFunction(row, name === "Kosarak" ? 1 : 0), uniform);
}

/** "No clear pattern in these datasets": values in no order at all, with the largest one planted. */
function independent(n: number, quantile: (u: number) => number, uniform: () => number): Float64Array {
  const values = Float64Array.from({ length: n }, () => quantile(uniform()));
  values[Math.floor(n * uniform())] = quantile(1);
  return values;
}

function ranked(signal: Float64Array, quantile: (u: number) => number): Float64Array {
  const n = signal.length;
  const byRank = Float64Array.from({ length: n }, (_, rank) => quantile((rank + 0.5) / n));
  const sorted = signal.slice().sort();
  return signal.map((value) => byRank[positionOf(sorted, value)]!);
}

/** First index of `value` in an ascending array that holds it. */
function positionOf(sorted: Float64Array, value: number): number {
  let [low, high] = [0, sorted.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Mean 0, variance 1, close to normal. */
const spread = (uniform: () => number) => (uniform() + uniform() + uniform() - 1.5) * 2;

/** Fourteen days of queries a second: a wave a day, quieter weekends, a load that wanders, and bursts of seconds to minutes. */
function dnsSignal(n: number, uniform: () => number): Float64Array {
  const day = n / 14;
  let wander = 0;
  let burst = 0;
  return Float64Array.from({ length: n }, (_, t) => {
    const weekend = Math.floor(t / day) % 7 >= 5 ? -0.6 : 0;
    wander += -wander / 20_000 + spread(uniform) / 300;
    burst = uniform() < 1 / 3000 ? 1 + 3 * uniform() : burst * 0.98;
    return -1.2 * Math.cos((2 * Math.PI * t) / day) + weekend + wander + burst + 0.8 * spread(uniform);
  });
}

/** Baskets that differ from one to the next, around a size that drifts through the season. */
function posSignal(n: number, uniform: () => number): Float64Array {
  let drift = 0;
  return Float64Array.from({ length: n }, () => {
    drift += -drift / 100_000 + spread(uniform) / 700;
    return drift + spread(uniform);
  });
}

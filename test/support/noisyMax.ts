/** Noisy max as one would write it down: every candidate scored, every candidate given noise. */
import type { Sampling } from "../../src/core/core.js";
import { penalty, type Selection } from "../../src/core/tables/selection.js";
import type { Random } from "../../src/core/random.js";

/** −score of candidates 1 … n: 2^F·#{v > θ_i} + penalty, where a value of bin k is above θ_i iff k ≥ i. */
export function costs(bins: ArrayLike<number>, selection: Selection): number[] {
  const inside = new Array<number>(selection.candidates + 1).fill(0);
  for (const bin of Array.from(bins)) inside[Math.min(bin, selection.candidates)]!++;
  const result = new Array<number>(selection.candidates);
  for (let i = selection.candidates, above = 0; i >= 1; i--) {
    above += inside[i]!;
    result[i - 1] = selection.countWeight * above + penalty(selection, i);
  }
  return result;
}

/** The winner, from 1, by a full scan; `cost` as {@link costs} has it. */
export function fullScan(
  core: Sampling,
  random: Random,
  { noise, scale }: Selection,
  cost: number[],
): number {
  const sample = new Float64Array(cost.length);
  if (noise === "laplace") core.laplace(random, scale, sample);
  else core.geometric(random, scale, sample);
  let [best, winner] = [-Infinity, 0];
  for (let i = 0; i < cost.length; i++) {
    const score = sample[i]! - cost[i]!;
    if (score > best) [best, winner] = [score, i + 1];
  }
  return winner;
}

/**
 * P(candidate i wins), in floats: Σ_v P(N_i = v + cost_i) · Π_{j<i} P(N_j < v + cost_j) · Π_{j>i} P(N_j ≤ v + cost_j).
 * Values v further than 36 t from the best score have a probability below n·exp(−36).
 * @param t scale of the noise
 * @param ties which of two equal scores wins: "lowest" is ours
 */
export function winnerDistribution(
  cost: number[],
  t: number,
  noise: Selection["noise"],
  ties: "lowest" | "highest" = "lowest",
): number[] {
  if (ties === "highest") return winnerDistribution(cost.toReversed(), t, noise).reverse();
  const n = cost.length;
  const q = Math.exp(-1 / t);
  const upTo = (x: number) =>
    noise === "exponential"
      ? x < 0
        ? 0
        : -Math.expm1(-(x + 1) / t)
      : x < 0
        ? q ** -x / (1 + q)
        : 1 - q ** (x + 1) / (1 + q);
  const exactly = (x: number) =>
    noise === "exponential" ? (x < 0 ? 0 : (1 - q) * q ** x) : ((1 - q) / (1 + q)) * q ** Math.abs(x);
  const top = -Math.min(...cost);
  const reach = Math.ceil(36 * t);
  const wins = new Array<number>(n).fill(0);
  const after = new Float64Array(n + 1).fill(1);
  for (let v = top - (noise === "laplace" ? reach : 0); v <= top + reach; v++) {
    for (let i = n - 1; i >= 0; i--) after[i] = after[i + 1]! * upTo(v + cost[i]!);
    for (let i = 0, before = 1; i < n; i++) {
      wins[i]! += before * exactly(v + cost[i]!) * after[i + 1]!;
      before *= upTo(v - 1 + cost[i]!);
    }
  }
  return wins;
}

/**
 * Published sums that hold back what looks like noise (docs/departures.md, "Shrunk corrections").
 *
 * A block's estimate strays by far more than its data: most of what the last position of a block would publish is noise,
 * and it comes back with the opposite sign when its family ends. So each running family of the tree (k finished children
 * with sum A, of b) publishes A − (1 − c)(A − kμ) so far, μ the mean child of the family before it, and the rest when it
 * ends: a tree, not a block, sums to its estimate. c = d k²/(d k² + V_k) weighs how far families were from the one before
 * them, d k², against the noise V_k of A.
 *
 * The prediction is that of the expert that has been best lately: the last finished node of each level, the mean of all
 * blocks, the running family, and the block one period ago.
 */
import { deviationVariances } from "../shrink.js";
import type { Smoother, SmootherContext } from "./smoother.js";

/** Weight of a family in the mean over past families, once there are eight. */
const FORGET = 1 / 8;
/** Share of an expert's past errors that is kept with every block. */
const KEEP = 63 / 64;
/** Nothing is moved by more standard deviations of the noise than this. */
const REACH = 2;

/** @param period of the data, in values; 0 for none */
export function shrunk(context: SmootherContext, period: number): Smoother {
  const { fanout: b, levels, blocksPerForest, blockLength, first } = context;
  const families = levels - 1;
  const sums = familyVariances(b, levels); // sums[g][k] = V_k for noise of variance 1 on every node
  const squaresOfK = ((b - 1) * b * (2 * b - 1)) / 6; // Σ k², k < b
  const lag = period / blockLength; // in blocks
  const ring = period === 0 ? 0 : Math.ceil(lag) + 1;
  const experts = levels + 2 + (period === 0 ? 0 : 1);

  // blocks, sum of all, held back, last nodes by level, errors and predictions of experts, past blocks, families
  const state = new Float64Array(3 + levels + 2 * experts + ring + families * (2 + b));
  const part = (start: number, length: number) => state.subarray(start, start + length);
  const nodes = part(3, levels);
  const errors = part(3 + levels, experts);
  const predictions = part(3 + levels + experts, experts);
  const past = part(3 + levels + 2 * experts, ring);
  /** Per level: A, μ, S_k − V_k for k = 1 … b − 1, and how many families have begun. */
  const rows = Array.from({ length: families }, (_, g) =>
    part(3 + levels + 2 * experts + ring + g * (2 + b), 2 + b),
  );
  rows.forEach((row, g) => (row[1] = first * b ** g));
  predictions.fill(first);
  nodes.fill(NaN);

  /** V_k of the running tree. */
  let nodeVariance = NaN;
  const noiseOf = (g: number, k: number): number => nodeVariance * sums[g]![k]!;

  /** d k²/(d k² + V_k) */
  const kept = (g: number, k: number): number => {
    const row = rows[g]!;
    if (row[1 + b]! <= 1) return 1; // no family has ended yet
    let surplus = 0;
    for (let i = 1; i < b; i++) surplus += row[1 + i]!;
    const signal = (Math.max(0, surplus) / squaresOfK) * k ** 2;
    return signal / (signal + noiseOf(g, k));
  };

  /** Adds a finished node of level g to its family, and the family to the one above if that ends it. */
  const addNode = (g: number, node: number, place: number): void => {
    nodes[g] = node / b ** g;
    const row = rows[g];
    if (row === undefined) return;
    const k = place % b === 0 ? b : place % b;
    if (k === 1) row[1 + b]!++;
    row[0]! += node;
    if (k < b) {
      const weight = Math.max(FORGET, 1 / row[1 + b]!);
      row[1 + k]! += weight * ((row[0]! - k * row[1]!) ** 2 - noiseOf(g, k) - row[1 + k]!);
      return;
    }
    const sum = row[0]!;
    row[0] = 0;
    row[1] = sum / b;
    addNode(g + 1, sum, place / b);
  };

  /** Σ over running families of what they hold back. */
  const heldBack = (inForest: number): number => {
    let sum = 0;
    for (let g = 0, size = 1; g < families; g++, size *= b) {
      const k = Math.floor(inForest / size) % b;
      if (k === 0) continue;
      const row = rows[g]!;
      const reach = REACH * Math.sqrt(noiseOf(g, k));
      const move = (1 - kept(g, k)) * (row[0]! - k * row[1]!);
      sum += Math.max(-reach, Math.min(reach, move));
    }
    return sum;
  };

  const predictAll = (estimate: number, inForest: number): void => {
    for (let l = 0; l < levels; l++) predictions[l] = Number.isNaN(nodes[l]!) ? estimate : nodes[l]!;
    predictions[levels] = state[1]! / state[0]!;
    const k = inForest % b;
    const row = rows[0];
    predictions[levels + 1] =
      row === undefined ? estimate : k === 0 ? row[1]! : row[1]! + kept(0, k) * (row[0]! / k - row[1]!);
    if (period === 0) return;
    // The next block began `lag` blocks after a place between two blocks.
    const before = state[0]! - lag;
    const whole = Math.floor(before);
    const at = (block: number): number => past[block % ring]!;
    predictions[levels + 2] =
      whole < 0
        ? estimate
        : at(whole) + (before - whole) * (at(Math.min(whole + 1, state[0]! - 1)) - at(whole));
  };

  return {
    state,
    get heldBack() {
      return state[2]!;
    },
    next(estimate, variance) {
      nodeVariance = variance;
      for (let i = 0; i < experts; i++)
        errors[i] = KEEP * errors[i]! + (state[0] === 0 ? 0 : (estimate - predictions[i]!) ** 2);
      if (ring > 0) past[state[0]! % ring] = estimate;
      state[0]!++;
      state[1]! += estimate;
      const inForest = state[0]! % blocksPerForest;
      addNode(0, estimate, inForest === 0 ? blocksPerForest : inForest);
      if (inForest === 0) for (const row of rows) row[0] = 0; // a forest may end inside a tree
      state[2] = heldBack(inForest);
      predictAll(estimate, inForest);
      let best = 0;
      for (let i = 1; i < experts; i++) if (errors[i]! < errors[best]!) best = i;
      // Not held near the last block: a season may begin with a jump.
      if (best === levels + 2) return predictions[best]!;
      const reach = REACH * Math.sqrt(nodeVariance * (sums[0]?.[1] ?? 1));
      return Math.max(estimate - reach, Math.min(estimate + reach, predictions[best]!));
    },
  };
}

/** V_k = σ_g²·k(b − k)/b + k²·W_(g+1)/b²: variance of the noise in k children of a family, W that of a node. */
export function familyVariances(b: number, levels: number): number[][] {
  const sigma = deviationVariances(b, levels, 1);
  let parent = sigma[levels - 1]!; // W, from the trees down
  const rows: number[][] = [];
  for (let g = levels - 2; g >= 0; g--) {
    const above = parent;
    rows.unshift(
      Array.from({ length: b }, (_, k) => (sigma[g]! * k * (b - k)) / b + (k ** 2 * above) / b ** 2),
    );
    parent = sigma[g]! * (1 - 1 / b) + above / b ** 2;
  }
  return rows;
}

/** Irregular days for tests: random shapes, dense least squares, and the kernels that draw nothing. */
import { type DayShape, makeDayShape } from "../../src/core/dayShape.js";
import { makeDayConsistent } from "../../src/core/js/day.js";
import { loadNoiseKernels, useArena } from "../../src/core/wasm/instance.js";
import { eliminate } from "./consistency.js";
import { integers } from "./numbers.js";

/** A forest of 1 to 4 levels whose nodes have 1 to `most` children each. */
export function randomShape(seed: number, most = 5): DayShape {
  const dice = integers(seed, 400, 2 ** 20).map((x) => (Math.abs(x) % 9973) / 9973);
  let next = 0;
  const levels = 1 + Math.floor(dice[next++]! * 4);
  const fanouts: number[][] = [];
  let size = 1 + Math.floor(dice[next++]! * 3);
  for (let l = 1; l < levels; l++) {
    const level = Array.from({ length: size }, () => 1 + Math.floor(dice[next++ % 400]! * most));
    fanouts.unshift(level);
    size = level.reduce((total, n) => total + n, 0);
  }
  return makeDayShape(size, fanouts);
}

/** Leaves below each node, in the order of the shape: [first, end). */
export function leavesOf({ sizes, fanouts }: DayShape): [number, number][] {
  const all = Array.from({ length: sizes[0]! }, (_, i): [number, number] => [i, i + 1]);
  let child = 0;
  for (const count of fanouts) {
    all.push([all[child]![0], all[child + count - 1]![1]]);
    child += count;
  }
  return all;
}

/**
 * The coefficients that least squares gives to the noise of each node in each leaf's estimate: rows are leaves. From the
 * normal equations (AᵀA)⁻¹Aᵀ, by Gauss–Jordan.
 */
export function denseCoefficients(shape: DayShape): number[][] {
  const nodes = leavesOf(shape);
  const leaves = shape.sizes[0]!;
  const matrix = Array.from({ length: leaves }, () => new Array<number>(leaves + nodes.length).fill(0));
  nodes.forEach(([first, end], node) => {
    for (let row = first; row < end; row++) {
      for (let column = first; column < end; column++) matrix[row]![column]! += 1;
      matrix[row]![leaves + node] = 1;
    }
  });
  eliminate(matrix);
  return matrix.map((row) => row.slice(leaves));
}

/** The sum of the leaves below each node. */
export function withSums(leaves: Float64Array, shape: DayShape): Float64Array {
  return Float64Array.from(leavesOf(shape), ([first, end]) =>
    leaves.subarray(first, end).reduce((total, n) => total + n, 0),
  );
}

/** Leaf i of a shape is in family familyOf[i]. */
export function familyOf({ sizes, fanouts }: DayShape): number[] {
  return Array.from(fanouts.subarray(0, sizes[1] ?? 0)).flatMap((count, i) =>
    new Array<number>(count).fill(i),
  );
}

export interface DayKernel {
  readonly name: "wasm" | "js";
  makeDayConsistent(nodes: Float64Array, shape: DayShape): Float64Array;
}

export const wasmDay: DayKernel = {
  name: "wasm",
  makeDayConsistent(nodes, { sizes, fanouts, weights }) {
    const kernels = loadNoiseKernels();
    return useArena(kernels, (arena) => {
      const inner = fanouts.length;
      const shares = arena.take(8 * inner);
      const [f, w, n] = [arena.put(fanouts), arena.put(weights), arena.put(nodes)];
      kernels.makeDayConsistent(sizes[0]!, inner, f, w, n, shares);
      return arena.copy(shares, sizes[1] ?? 0);
    });
  },
};

export const jsDay: DayKernel = { name: "js", makeDayConsistent };

/** Consistency of one tree, typed out plainly: Eq. 10–11 as printed, and the least squares they stand for. */

/** A tree level by level, leaves first: `levels[k][i]` has children `levels[k − 1][i·b … i·b + b − 1]`. */
export type Levels = readonly (readonly number[])[];

/** Cuts flat nodes, leaves first and top last, into levels. */
export function toLevels(nodes: ArrayLike<number>, fanout: number, levels: number): number[][] {
  const flat = Array.from(nodes);
  return Array.from({ length: levels }, (_, k) => flat.splice(0, fanout ** (levels - 1 - k)));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
const children = <T>(level: readonly T[], i: number, b: number): T[] => level.slice(i * b, i * b + b);

/** The leaves after Eq. 10 (weighted mean with the children's sum, upwards) and Eq. 11 (surplus shared, downwards). */
export function printedLeaves(tree: Levels, b: number): number[] {
  const up: number[][] = [];
  tree.forEach((level, k) => {
    const l = k + 1; // height of these nodes, leaves have 1
    const own = (b ** l - b ** (l - 1)) / (b ** l - 1);
    const others = (b ** (l - 1) - 1) / (b ** l - 1);
    up.push(level.map((h, i) => (l === 1 ? h : own * h + others * sum(children(up[k - 1]!, i, b)))));
  });
  let parents = up.at(-1)!;
  for (let k = up.length - 2; k >= 0; k--) {
    const level = up[k]!;
    const above = parents;
    parents = level.map((z, i) => {
      const parent = Math.floor(i / b);
      return z + (above[parent]! - sum(children(level, parent, b))) / b;
    });
  }
  return parents;
}

/** The leaves which minimise Σ over all nodes of (sum of the leaves below − H)², from the normal equations. */
export function leastSquaresLeaves(tree: Levels, b: number): number[] {
  const leaves = tree[0]!.length;
  const matrix = Array.from({ length: leaves }, () => new Array<number>(leaves + 1).fill(0));
  tree.forEach((level, k) =>
    level.forEach((h, i) => {
      const below = Array.from({ length: b ** k }, (_, j) => i * b ** k + j);
      for (const row of below) {
        for (const column of below) matrix[row]![column]! += 1;
        matrix[row]![leaves]! += h;
      }
    }),
  );
  return solve(matrix);
}

const solve = (matrix: number[][]): number[] => {
  eliminate(matrix);
  return matrix.map((row) => row.at(-1)!);
};

/** Gauss–Jordan on [A | Y], in place: Y becomes A⁻¹Y. A is symmetric and positive definite here, so no pivot is needed. */
export function eliminate(matrix: number[][]): void {
  matrix.forEach((pivotRow, pivot) => {
    const scale = pivotRow[pivot]!;
    for (let column = 0; column < pivotRow.length; column++) pivotRow[column]! /= scale;
    matrix.forEach((row, r) => {
      const factor = row[pivot]!;
      if (r === pivot || factor === 0) return;
      for (let column = 0; column < row.length; column++) row[column]! -= factor * pivotRow[column]!;
    });
  });
}

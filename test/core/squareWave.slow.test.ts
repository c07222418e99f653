import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeTransition, type Transition } from "../../src/core/tables/transition.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { continuousMatrix, discreteMatrix, emUpdate, smoothed, times, wave } from "../support/squareWave.js";

/** Whole numbers below `limit`, always the same. */
function numbers(length: number, limit: number, name = "squareWave"): Float64Array {
  const words = new Uint32Array(length);
  jsCore.keystream(subStream(unsafeKey(name), Purpose.reports, 0, 0), words);
  return Float64Array.from(words, (word) => word % limit);
}

/** Probabilities per cell of the window mechanism with n·C inputs and a window of kC. */
function cellProbabilities(epsilon: number, bins: number, cells: number, window: number) {
  const outside = 1 / (window * cells * Math.exp(epsilon) + bins * cells - 1);
  return { inside: outside * Math.exp(epsilon), outside };
}

function transition(epsilon: number, bins: number, cells: number): Transition {
  const window = Math.max(1, Math.round(wave(epsilon).w * bins));
  const { inside, outside } = cellProbabilities(epsilon, bins, cells, window);
  return makeTransition(bins, cells, window, inside, outside);
}

/** The matrix that the tables stand for: column j is M f of the unit vector j. */
function matrixOf(core: typeof jsCore, tables: Transition): number[][] {
  const n = tables.bins;
  const columns = Array.from({ length: n }, (_, j) => {
    const estimates = new Float64Array(2 * n);
    estimates[j] = 1;
    const predicted = new Float64Array(n);
    core.emSteps(tables, new Float64Array(n).fill(1), false, estimates, predicted);
    return predicted;
  });
  return Array.from({ length: n }, (_, i) => columns.map((column) => column[i]!));
}

function run(core: typeof jsCore, tables: Transition, counts: Float64Array, smooth: boolean, steps: number) {
  const estimates = new Float64Array((steps + 1) * tables.bins).fill(1 / tables.bins, 0, tables.bins);
  const predicted = new Float64Array(steps * tables.bins);
  core.emSteps(tables, counts, smooth, estimates, predicted);
  return { estimates, predicted };
}

const relative = (have: number, want: number) => Math.abs(have - want) / Math.abs(want);
const worst = (have: ArrayLike<number>, want: ArrayLike<number>) =>
  Math.max(...Array.from(want, (value, i) => relative(have[i]!, value)));

const wasmCore = makeWasmCore();

describe.each([wasmCore, jsCore])("$name core", (core) => {
  test("two bins, worked by hand", () => {
    // C = 2, k = 1: inputs 0…3, window of 2, outputs 0…4, c = 3: bins {0, 1, 2} and {3, 4}; a cell has 3/9 inside
    // and 1/9 outside. From inputs {0, 1}: x = 0 sees its window {0, 1}, so 3+3+1 of 9; x = 1 {1, 2}: 1+3+3. From {2, 3}:
    // 1+1+3 and 1+1+1.
    const matrix = matrixOf(core, makeTransition(2, 2, 1, 3 / 9, 1 / 9));
    const want = [[7 / 9, 4 / 9], [2 / 9, 5 / 9]]; // prettier-ignore
    matrix.forEach((row, i) => row.forEach((entry, j) => expect(entry).toBeCloseTo(want[i]![j]!, 15)));
  });

  test.each([0.1, 0.5, 1, 2, 4, 8])("ε = %d: the tables hold the matrix counted cell by cell", (epsilon) => {
    const [bins, cells] = [16, 32];
    const window = Math.max(1, Math.round(wave(epsilon).w * bins));
    const { inside, outside } = cellProbabilities(epsilon, bins, cells, window);
    const dense = discreteMatrix(bins, cells, window, inside, outside);
    const matrix = matrixOf(core, makeTransition(bins, cells, window, inside, outside));
    dense.forEach((row, i) => expect(worst(matrix[i]!, row)).toBeLessThan(1e-12));
    for (let j = 0; j < bins; j++) expect(matrix.reduce((sum, row) => sum + row[j]!, 0)).toBeCloseTo(1, 13); // every report lands somewhere
  });

  test.each([0.1, 0.3, 1, 2, 4, 6, 8])(
    "ε = %d: a step equals the dense step to 1e-12, 1024 bins",
    (epsilon) => {
      const tables = transition(epsilon, 1024, 1024);
      const dense = matrixOf(jsCore, tables); // checked against counting above
      const counts = numbers(1024, 500);
      const f = numbers(1024, 1000).map((value) => value ** 4 + 1);
      const sum = f.reduce((a, b) => a + b);
      const estimates = new Float64Array(2048);
      estimates.set(f.map((value) => value / sum));
      const predicted = new Float64Array(1024);
      core.emSteps(tables, counts, false, estimates, predicted);
      expect(worst(predicted, times(dense, estimates.subarray(0, 1024)))).toBeLessThan(1e-12);
      expect(
        worst(estimates.subarray(1024), emUpdate(dense, counts, estimates.subarray(0, 1024))),
      ).toBeLessThan(1e-12);
    },
  );

  test("EMS smooths after every update, alike at both borders", () => {
    const tables = transition(1, 64, 64);
    const dense = matrixOf(core, tables);
    const counts = numbers(64, 900);
    let want: number[] = new Array<number>(64).fill(1 / 64);
    for (let step = 0; step < 50; step++) want = smoothed(emUpdate(dense, counts, want));
    const { estimates } = run(core, tables, counts, true, 50);
    expect(worst(estimates.subarray(50 * 64), want)).toBeLessThan(1e-12);
  });

  test.each([0.1, 1, 4, 8])("ε = %d: the likelihood never decreases", (epsilon) => {
    const counts = numbers(1024, 60);
    const { predicted } = run(core, transition(epsilon, 1024, 1024), counts, false, 200);
    const likelihood = (step: number) =>
      counts.reduce((sum, count, i) => sum + count * Math.log(predicted[1024 * step + i]!), 0);
    for (let step = 1, last = likelihood(0); step < 200; step++) {
      const now = likelihood(step);
      // Rounding: 1024 terms of about 60·ln(1024) each, 2⁻⁵³ of their sum at most.
      expect(now - last).toBeGreaterThan(-1e-9);
      last = now;
    }
  });
});

test("both cores take the same steps, bit for bit", () => {
  for (const epsilon of [0.1, 1, 3, 8])
    for (const smooth of [false, true]) {
      const tables = transition(epsilon, 1024, 1024);
      const counts = numbers(1024, 100, `equal ${epsilon}`);
      const [a, b] = [wasmCore, jsCore].map((core) => run(core, tables, counts, smooth, 30));
      expect(a!.estimates).toEqual(b!.estimates);
      expect(a!.predicted).toEqual(b!.predicted);
    }
});

test("the discrete matrix comes closer to the continuous one as cells are refined", () => {
  const [bins, window, epsilon] = [16, 8, 1];
  const w = window / bins;
  const e = Math.exp(epsilon);
  const dense = continuousMatrix({ w, p: e / (w * e + 1), q: 1 / (w * e + 1) }, bins);
  const errors = [16, 64, 256, 1024, 4096].map((cells) => {
    const { inside, outside } = cellProbabilities(epsilon, bins, cells, window);
    const matrix = matrixOf(jsCore, makeTransition(bins, cells, window, inside, outside));
    return Math.max(...dense.map((row, i) => worst(matrix[i]!, row)));
  });
  // Halving the cells halves the error: the matrices differ by O(1/cells).
  for (let i = 1; i < errors.length; i++) expect(errors[i]! / errors[i - 1]!).toBeCloseTo(1 / 4, 1);
  expect(errors.at(-1)).toBeLessThan(1e-3);
});

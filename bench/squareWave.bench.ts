/** What is the O(n) EM step worth? Opponents: the same passes in JavaScript, and the dense matrix. */
import { jsCore } from "../src/core/js/index.js";
import { makeTransition } from "../src/core/tables/transition.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { measure, type Row } from "./harness.js";

const BINS = 1024;

/** The textbook step on a row-major matrix: two passes over n² numbers. */
function denseSteps(
  matrix: Float64Array,
  counts: Float64Array,
  f: Float64Array,
  steps: number,
): Float64Array {
  const n = f.length;
  for (let step = 0; step < steps; step++) {
    const gains = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      let predicted = 0;
      for (let j = 0; j < n; j++) predicted += matrix[i * n + j]! * f[j]!;
      const ratio = counts[i]! / predicted;
      for (let j = 0; j < n; j++) gains[j]! += matrix[i * n + j]! * ratio;
    }
    const next = f.map((value, j) => value * gains[j]!);
    const sum = next.reduce((a, b) => a + b);
    f = next.map((value) => value / sum);
  }
  return f;
}

export async function* rows(): AsyncGenerator<Row> {
  const wasmCore = makeWasmCore();
  const window = 524; // ε = 1
  const outside = 1 / (window * BINS * Math.E + BINS * BINS - 1);
  const tables = makeTransition(BINS, BINS, window, outside * Math.E, outside);
  const counts = Float64Array.from({ length: BINS }, (_, i) => ((i * 7919) % 97) + 20);
  const uniform = new Float64Array(BINS).fill(1 / BINS);
  const matrix = new Float64Array(BINS * BINS);
  for (let j = 0; j < BINS; j++) {
    const estimates = new Float64Array(2 * BINS);
    estimates[j] = 1;
    const column = new Float64Array(BINS);
    jsCore.emSteps(tables, counts, false, estimates, column);
    for (let i = 0; i < BINS; i++) matrix[i * BINS + j] = column[i]!;
  }
  const steps = (core: typeof jsCore, count: number) => () => {
    const estimates = new Float64Array((count + 1) * BINS);
    estimates.set(uniform);
    core.emSteps(tables, counts, false, estimates, new Float64Array(count * BINS));
  };
  yield await measure({
    path: "em-step",
    case: `16 EM steps, ${BINS} × ${BINS} bins, naive: dense matrix`,
    wasm: steps(wasmCore, 16),
    js: steps(jsCore, 16),
    naive: () => denseSteps(matrix, counts, uniform, 16),
  });
}

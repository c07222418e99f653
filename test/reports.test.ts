import { describe, expect, test } from "vitest";
import { jsCore } from "../src/core/js/index.js";
import { makeMechanism, type Mechanism, WHOLE } from "../src/core/mechanism.js";
import { Stage, subStream, unsafeKey } from "../src/core/random.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { hybrid, piecewise, squareWave, stochasticRounding } from "../src/local/mechanisms.js";
import { estimateOf, varianceOf } from "../src/local/moments.js";
import { cellShares, sharesOf } from "./reference/mechanisms.js";

const wasmCore = makeWasmCore();
const cores = [wasmCore, jsCore];

/** Reports of inputs 0 … N themselves. */
function draw(core: typeof jsCore, mechanism: Mechanism, inputs: Float64Array, seed: string): Uint32Array {
  const out = new Uint32Array(inputs.length);
  const random = subStream(unsafeKey(seed), Stage.reports, 0, 0);
  core.fillReports(random, mechanism, { scale: 1, shift: 0 }, inputs, out);
  return out;
}

const SHIPPED = {
  "Square Wave": squareWave(1),
  "Stochastic Rounding": stochasticRounding(1),
  Piecewise: piecewise(1),
  Hybrid: hybrid(1),
  "Hybrid, ε = 0.1": hybrid(0.1),
  "Hybrid, ε = 10": hybrid(10),
};

test.each(Object.entries(SHIPPED))(
  "%s: both cores draw the same reports from the same words",
  (_, mechanism) => {
    const values = Float64Array.from(
      { length: 20_000 },
      (_, i) => ((i * 7919.37) % (mechanism.top * 1.1)) - 3,
    );
    const quantiser = { scale: 0.97, shift: 0.5 };
    const [a, b] = cores.map((core) => {
      const random = subStream(unsafeKey("equal"), Stage.reports, 0, 0);
      const out = new Uint32Array(values.length);
      core.fillReports(random, mechanism, quantiser, values, out);
      return { out, position: random.position };
    });
    expect(a).toEqual(b);
    expect(a!.out.every((cell) => cell < mechanism.cells)).toBe(true);
  },
);

describe.each(cores)("$name core", (core) => {
  test("a tie in the first word is decided by the next five", () => {
    // Coins whose first word is the word that comes: the first report reads 6 words for the sector and 1 for the place.
    const words = new Uint32Array(7);
    core.keystream(subStream(unsafeKey("tie"), Stage.reports, 0, 0), words);
    const number = words.subarray(0, 6).reduce((value, word) => (value << 32n) | BigInt(word), 0n);
    const sectorAt = (end: bigint) => {
      const mechanism = makeMechanism(1, 2 ** 20, 2 ** 10, [end, WHOLE, WHOLE]);
      const random = subStream(unsafeKey("tie"), Stage.reports, 0, 0);
      const out = new Uint32Array(1);
      core.fillReports(random, mechanism, { scale: 1, shift: 0 }, Float64Array.of(2 ** 19), out);
      expect(random.position).toBe(7);
      return out[0]! >= 2 ** 19 && out[0]! < 2 ** 19 + 2 ** 10;
    };
    expect(sectorAt(number + 1n)).toBe(true); // number < end: in the window
    expect(sectorAt(number)).toBe(false);
  });

  test("quantising clamps and never leaves 0 … N", () => {
    const mechanism = makeMechanism(1, 100, 1, [WHOLE, WHOLE, WHOLE]); // always the cell itself
    const values = Float64Array.of(-5, -0, 0, 5e-324, 0.49, 0.5, 99.6, 100, 101, 2 ** 53 + 1, 1e308);
    const out = new Uint32Array(values.length);
    core.fillReports(
      subStream(unsafeKey("q"), Stage.reports, 0, 0),
      mechanism,
      { scale: 1, shift: 0.5 },
      values,
      out,
    );
    expect([...out]).toEqual([0, 0, 0, 0, 0, 1, 100, 100, 100, 100, 100]);
  });
});

/**
 * Pearson's χ² against the counted probabilities. With k − 1 degrees of freedom it exceeds k + 6√(2k) + 30 less than
 * once in 10⁷ (k ≥ 2; Laurent and Massart: P(χ² ≥ d + 2√(dx) + 2x) ≤ e^−x with x = 16.2, and 2√(16.2) < 6√2).
 */
function fits(drawn: Mechanism, claimed: Mechanism, x: number, n: number, seed: string): boolean {
  const seen = new Float64Array(claimed.cells);
  for (const cell of draw(wasmCore, drawn, new Float64Array(n).fill(x), seed)) seen[cell]!++;
  const { unit } = sharesOf(claimed, x);
  const chi = cellShares(claimed, x).reduce((sum, share, cell) => {
    const expected = (Number((share << 100n) / unit) / 2 ** 100) * n;
    return sum + (seen[cell]! - expected) ** 2 / expected;
  }, 0);
  const k = claimed.cells;
  return chi < k + 6 * Math.sqrt(2 * k) + 33;
}

describe("reports have the probabilities they claim", () => {
  const make = {
    squareWave: squareWave(1, 4, 4),
    hybrid: hybrid(1, 16),
    piecewise: piecewise(2, 16),
    sr: stochasticRounding(0.5, 16),
  };
  test.each(Object.entries(make))("%s", (name, mechanism) => {
    for (const x of [0, 5, mechanism.top])
      expect(fits(mechanism, mechanism, x, 200_000, `${name} ${x}`)).toBe(true);
  });

  test("a window 3 % likelier is seen", () => {
    const { ends, width } = make.hybrid;
    const off = makeMechanism(1, 16, width, [(ends[0] * 103n) / 100n, ends[1], ends[2]]);
    expect(fits(off, make.hybrid, 5, 200_000, "off")).toBe(false);
  });
});

/**
 * Mean within 5.33 standard errors (once in 10⁷), and so the variance: with errors of at most R, E e⁴ ≤ R²·variance, so the
 * mean of e² strays by at most R/√(variance·n) of itself.
 */
function isUnbiased(cells: Uint32Array, mechanism: Mechanism, share: number, variance: number): boolean {
  const n = cells.length;
  let sum = 0;
  let squares = 0;
  let largest = 0;
  for (const cell of cells) {
    const error = estimateOf(mechanism, cell) - share;
    sum += error;
    squares += error * error;
    largest = Math.max(largest, Math.abs(error));
  }
  return (
    Math.abs(sum / n) < 5.33 * Math.sqrt(variance / n) &&
    Math.abs(squares / n / variance - 1) < (5.33 * largest) / Math.sqrt(variance * n)
  );
}

describe("shipped grids are unbiased, with the variance of the formula", () => {
  const n = 200_000;
  test.each(Object.entries(SHIPPED))("%s", (name, mechanism) => {
    for (const share of [0, 0.25, 0.5, 0.9, 1]) {
      const x = Math.round(share * mechanism.top);
      const cells = draw(wasmCore, mechanism, new Float64Array(n).fill(x), `${name} ${share}`);
      expect(isUnbiased(cells, mechanism, x / mechanism.top, varianceOf(mechanism, x / mechanism.top))).toBe(
        true,
      );
    }
  });

  test("reports of ε = 1.1 passed off as ε = 1 are seen", () => {
    const [claimed, drawn] = [stochasticRounding(1), stochasticRounding(1.1)];
    const cells = draw(wasmCore, drawn, new Float64Array(n).fill(drawn.top), "leak");
    expect(isUnbiased(cells, claimed, 1, varianceOf(claimed, 1))).toBe(false);
  });
});

import { MECHANISM_FACTORS, MECHANISM_SLACK } from "../../src/core/layout.js";
import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { makeMechanism, type Mechanism, WHOLE } from "../../src/core/tables/sectors.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { hybrid, piecewise, squareWave, stochasticRounding } from "../../src/local/mechanisms.js";
import { estimateOf, varianceOf } from "../../src/local/moments.js";
import { cellShares, isDecided, placeOf, PlainReporter, sharesOf } from "../support/mechanisms.js";

const wasmCore = makeWasmCore();
const cores = [wasmCore, jsCore];

/** Reports of inputs 0 … N themselves. */
function draw(core: typeof jsCore, mechanism: Mechanism, inputs: Float64Array, seed: string): Uint32Array {
  const out = new Uint32Array(inputs.length);
  const random = subStream(unsafeKey(seed), Purpose.reports, 0, 0);
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

function wordsOf(name: string, count: number): Uint32Array {
  const words = new Uint32Array(count);
  jsCore.keystream(subStream(unsafeKey(name), Purpose.reports, 0, 0), words);
  return words;
}

/** The first six words of a keystream as one number. */
const numberOf = (name: string): bigint =>
  wordsOf(name, 6).reduce((value, word) => (value << 32n) | BigInt(word), 0n);

/** A third of the words lead nowhere, and a place of sector 1 is too short for a word to decide on any. */
const SPARSE = makeMechanism(1, 2 ** 20, 1000, [WHOLE / 3000n, WHOLE >> 26n, WHOLE >> 23n, WHOLE >> 23n]);

const EXACTLY = { ...SHIPPED, SPARSE, "Hybrid, ε = 10⁻⁶": hybrid(1e-6), "Hybrid, ε = 24": hybrid(24) };

describe("against the definition in src/core/tables/sectors.ts", () => {
  test.each(Object.entries(EXACTLY))("%s: the same reports from the same words", (_, mechanism) => {
    const inputs = Float64Array.from({ length: 20_000 }, (_, i) => (i * 7919) % (mechanism.top + 1));
    const plain = new PlainReporter(wordsOf("plain", 60_000), mechanism);
    const want = Uint32Array.from(inputs, (x) => plain.report(x));
    for (const core of cores) {
      const random = subStream(unsafeKey("plain"), Purpose.reports, 0, 0);
      const out = new Uint32Array(inputs.length);
      core.fillReports(random, mechanism, { scale: 1, shift: 0 }, inputs, out);
      expect(out).toEqual(want);
      expect(random.position).toBe(plain.used);
    }
    expect(plain.used).toBeGreaterThan(inputs.length); // some needed more than a word
  });

  const place = (mechanism: Mechanism, word: number, rest: bigint) =>
    placeOf(mechanism, (BigInt(word) << 160n) | rest);
  /** Whether a word said to decide does: the lowest and the highest number that begin with it have the same place. */
  const decides = (mechanism: Mechanism, word: number) =>
    !isDecided(mechanism, word) ||
    JSON.stringify(place(mechanism, word, 0n)) === JSON.stringify(place(mechanism, word, (1n << 160n) - 1n));

  /** Words drawn at random, and the ends of places and sectors with their neighbours. */
  function edges(mechanism: Mechanism): number[] {
    const { starts, weights, width, top } = mechanism;
    const ends = [0, 1, 2, 3].flatMap((sector) => {
      const places = sector === 0 ? width : top;
      const chosen = [
        0,
        1,
        2,
        places - 1,
        places,
        ...wordsOf("edges", 500).map((word) => word % (places + 1)),
      ];
      return chosen.map((j) => Number((starts[sector]! + BigInt(j) * weights[sector]!) >> 160n));
    });
    return [...ends.flatMap((word) => [word - 1, word, word + 1]), ...wordsOf("words", 5000)].filter(
      (word) => word >= 0 && word < 2 ** 32,
    );
  }

  test.each(Object.entries(EXACTLY))("%s: a word said to decide does", (_, mechanism) => {
    expect(edges(mechanism).filter((word) => !decides(mechanism, word))).toEqual([]);
  });

  test("no margin, or M rounded down: words that do not decide are seen", () => {
    const changed = (change: (words: Uint32Array) => void): Mechanism => {
      const words = SHIPPED.Hybrid.words.slice();
      change(words);
      return { ...SHIPPED.Hybrid, words };
    };
    for (const hasty of [
      changed((words) => (words[MECHANISM_SLACK] = 0)),
      changed((words) => words[MECHANISM_FACTORS]!--),
      changed((words) => words[MECHANISM_FACTORS + 3]!--),
    ])
      expect(edges(hasty).filter((word) => !decides(hasty, word)).length).toBeGreaterThan(0);
  });
});

test.each(Object.entries(SHIPPED))(
  "%s: both cores draw the same reports from the same words",
  (_, mechanism) => {
    const values = Float64Array.from(
      { length: 20_000 },
      (_, i) => ((i * 7919.37) % (mechanism.top * 1.1)) - 3,
    );
    const quantiser = { scale: 0.97, shift: 0.5 };
    const [a, b] = cores.map((core) => {
      const random = subStream(unsafeKey("equal"), Purpose.reports, 0, 0);
      const out = new Uint32Array(values.length);
      core.fillReports(random, mechanism, quantiser, values, out);
      return { out, position: random.position };
    });
    expect(a).toEqual(b);
    expect(a!.out.every((cell) => cell < mechanism.cells)).toBe(true);
  },
);

describe.each(cores)("$name core", (core) => {
  /** The first report of value 2¹⁹, and the number of words that it takes. */
  function first(mechanism: Mechanism, name: string): { cell: number; position: number } {
    const random = subStream(unsafeKey(name), Purpose.reports, 0, 0);
    const out = new Uint32Array(1);
    core.fillReports(random, mechanism, { scale: 1, shift: 0 }, Float64Array.of(2 ** 19), out);
    return { cell: out[0]!, position: random.position };
  }

  test("where the first word leaves two places, the next five decide, to the last bit", () => {
    const u = numberOf("tie 3"); // below 2¹⁹¹
    const places = (weight: bigint) => makeMechanism(1, 2 ** 20, 2, [weight, 0n, 0n, 0n]);
    expect(first(places(u + 1n), "tie 3")).toEqual({ cell: 2 ** 19, position: 6 }); // the second place begins behind u
    expect(first(places(u), "tie 3")).toEqual({ cell: 2 ** 19 + 1, position: 6 }); // at u
    expect(first(places(u - 1n), "tie 3").cell).toBe(2 ** 19 + 1);
  });

  test("the last place ends behind its last bit: beyond, the next report's words are taken", () => {
    const u = numberOf("tie 3");
    const one = (weight: bigint) => makeMechanism(1, 2 ** 20, 1, [weight, (WHOLE - weight) >> 20n, 0n, 0n]);
    expect(first(one(u + 1n), "tie 3")).toEqual({ cell: 2 ** 19, position: 6 });
    expect(first(one(u), "tie 3").position).toBeGreaterThan(6);
    expect(first(one(u), "tie 3").cell).toBe(new PlainReporter(wordsOf("tie 3", 99), one(u)).report(2 ** 19));
  });

  test("quantising clamps and never leaves 0 … N", () => {
    const mechanism = makeMechanism(1, 100, 1, [WHOLE, 0n, 0n, 0n]); // always the cell itself
    const values = Float64Array.of(-5, -0, 0, 5e-324, 0.49, 0.5, 99.6, 100, 101, 2 ** 53 + 1, 1e308);
    const out = new Uint32Array(values.length);
    core.fillReports(
      subStream(unsafeKey("q"), Purpose.reports, 0, 0),
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
    const { weights, width } = make.hybrid;
    const [inside, outside, kept, flipped] = weights;
    const more = (inside * 3n) / 100n;
    const less = (more * BigInt(width)) / 16n; // what the window gains, the 16 places outside lose
    const off = makeMechanism(1, 16, width, [inside + more, outside - less - 1n, kept, flipped]);
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

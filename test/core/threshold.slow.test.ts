import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { makeSelection, penaltySlope, type SelectionNoise } from "../../src/core/tables/selection.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { costs } from "../support/noisyMax.js";
import { integers, random, selection, usual } from "../support/selections.js";

const wasm = makeWasmCore();
const cores = [wasm, jsCore];
const noises: SelectionNoise[] = ["exponential", "laplace"];

describe("scores", () => {
  const vector = JSON.parse(
    readFileSync(new URL("../vectors/nm_quality.json", import.meta.url), "utf8"),
  ) as Record<
    "m" | "B" | "r" | "epsilon" | "b" | "slope" | "levels_in_noise_term" | "paper_slope" | "paper_argmax",
    number
  > &
    Record<"values" | "paper_q", number[]>;
  const options = {
    candidates: vector.B,
    step: 1,
    holdout: vector.m,
    epsilon: 1,
    releaseEpsilon: vector.epsilon,
    maxRange: vector.r,
    fanout: vector.b,
    noise: "exponential",
  } as const;
  // θ_i = i, so value v lies in bin v − 1; a value of 0 is not above any candidate.
  const bins = Uint16Array.from(vector.values, (v) => Math.max(0, v - 1));

  test("are those of the paper, rounded to the grid", () => {
    expect(Math.abs(penaltySlope(options) / vector.paper_slope - 1)).toBeLessThan(1e-12);
    const authors = { ...options, penaltyLevels: vector.levels_in_noise_term };
    expect(Math.abs(penaltySlope(authors) / vector.slope - 1)).toBeLessThan(1e-12);
    const grid = makeSelection(options);
    expect(grid.countWeight).toBe(4096);
    // Half a unit of rounding; the factor's 2⁻³³ of the penalty and the sums of q are far below the slack.
    const slack = 0.5 / 4096 + 1e-9;
    costs(bins, grid).forEach((cost, i) =>
      expect(Math.abs(-cost / 4096 - vector.paper_q[i + 1]!)).toBeLessThan(slack),
    );
  });

  test.each(cores)("the best one wins without noise ($name)", (core) => {
    const quiet = makeSelection({ ...options, epsilon: 1e6 });
    expect(core.noisyMax(random("quiet"), bins, quiet)).toBe(vector.paper_argmax);
  });

  test("the grid gets coarser where sums would not be exact", () => {
    expect(selection({ candidates: 10, holdout: 100, epsilon: 1e-9 }, 1).countWeight).toBe(2 ** 10);
    expect(makeSelection({ ...options, releaseEpsilon: 1e-12 }).countWeight).toBe(2 ** 9);
  });
});

describe.each(cores)("without noise, $name", (core) => {
  /** At ε = 10⁶ a sample is 0 but for odds of exp(−244), so the winner is known: the lowest of the cheapest. */
  const check = (
    bins: Uint16Array | Uint32Array,
    candidates: number,
    perCandidate: number,
    chunkBits?: number,
  ) => {
    const made = selection({ candidates, holdout: bins.length, epsilon: 1e6 }, perCandidate);
    const quiet = chunkBits === undefined ? made : { ...made, chunkBits };
    const cost = costs(bins, quiet);
    const best = cost.reduce((least, x, i) => (x < cost[least]! ? i : least), 0);
    expect(core.noisyMax(random("quiet"), bins, quiet)).toBe(best + 1);
  };

  test("worked by hand", () => {
    // Values in bins 0, 1, 1, 4 of 5 candidates; one candidate costs 3/4 of a value.
    // Above θ_1 … θ_5: 3, 1, 1, 1, 0. With the penalty: 3.75, 2.5, 3.25, 4, 3.75.
    const of = selection({ candidates: 5, holdout: 4, epsilon: 1e6 }, 3072);
    expect(costs([0, 1, 1, 4], of).map((cost) => cost / 4096)).toEqual([3.75, 2.5, 3.25, 4, 3.75]);
    expect(core.noisyMax(random("hand"), Uint16Array.of(0, 1, 1, 4), of)).toBe(2);
  });

  test("ties go to the lowest", () => {
    check(Uint16Array.of(3, 3, 3), 1000, 1e-6);
    expect(
      core.noisyMax(
        random("x"),
        Uint16Array.of(3, 3, 3),
        selection({ candidates: 1000, holdout: 3, epsilon: 1e6 }, 1e-6),
      ),
    ).toBe(4);
  });

  test.each([1, 2, 3, 20, 257, 2000, 41_270])("%d candidates", (n) => {
    for (const at of [0, n >> 1, n - 1, n, 65_535]) check(new Uint16Array(100).fill(at), n, 0.01);
    check(Uint16Array.of(0), n, 1);
    check(Uint32Array.of(n - 1), n, 1);
    check(Uint32Array.of(2 ** 32 - 1), n, 4000 / n);
  });

  test("generated problems of every size, slope and block width", () => {
    const below = integers("problems");
    for (let i = 0; i < 600; i++) {
      const n = 1 + below(2 ** (1 + below(12)));
      const m = 1 + below(2 ** (1 + below(9)));
      const span = 1 + below(n + (n >> 3) + 1);
      const Bins = below(2) === 0 ? Uint16Array : Uint32Array;
      const bins = new Bins(m).map(() => Math.min(below(span), below(span)));
      check(bins, n, 2 ** (below(30) - 12), below(9));
    }
  });

  test("a sample that misleads about which blocks matter", () => {
    // Every second value is sampled at m = 2 · 8192: the sample alone, or the rest alone, has large values.
    for (const odd of [0, 1])
      for (const perCandidate of [0.5, 20, 3000, 50_000, 1e6]) {
        const bins = Uint16Array.from({ length: 16_384 }, (_, i) =>
          i % 2 === odd ? 900 + (i % 100) : i % 50,
        );
        check(bins, 1024, perCandidate, 6);
        check(Uint32Array.from(bins), 990, perCandidate, 3);
      }
  });

  test("2²⁰ candidates", () => {
    const below = integers("large");
    const bins = Uint32Array.from({ length: 20_000 }, () => Math.min(below(2 ** 20), below(2 ** 20)));
    check(bins, 2 ** 20, 10);
    check(bins, 2 ** 20, 1000);
  });
});

describe("wasm and js", () => {
  test("choose the same from the same words, in thousands of selections", () => {
    const below = integers("selections");
    const [a, b] = [random("same"), random("same")];
    for (let i = 0; i < 3000; i++) {
      const n = 1 + below(2 ** (1 + below(12)));
      const m = 1 + below(2 ** (1 + below(8)));
      const span = 1 + below(n + 5);
      const Bins = below(2) === 0 ? Uint16Array : Uint32Array;
      const bins = new Bins(m).map(() => below(span));
      const epsilon = [0.001, 0.1, 1, 5, 4096, 5000][below(6)]!;
      const of = {
        ...selection(
          { candidates: n, holdout: m, epsilon, noise: noises[below(2)]! },
          ((2 ** below(8) / n) * 4096) / epsilon,
        ),
        chunkBits: below(9),
      };
      expect(wasm.noisyMax(a, bins, of)).toBe(jsCore.noisyMax(b, bins, of));
      expect(a.position).toBe(b.position);
    }
  });

  test("at full size", () => {
    const below = integers("full size");
    const [a, b] = [random("same"), random("same")];
    for (const n of [2000, 41_270, 2 ** 20])
      for (const noise of noises) {
        const bins = Uint32Array.from({ length: 65_536 }, () => Math.min(below(n), below(n), below(n)));
        const of = makeSelection({ ...usual, candidates: n, step: 1, holdout: 65_536, epsilon: 0.1, noise });
        expect(wasm.noisyMax(a, bins, of)).toBe(jsCore.noisyMax(b, bins, of));
        if (n <= 65_536) {
          const narrow = Uint16Array.from(bins);
          expect(wasm.noisyMax(a, narrow, of)).toBe(jsCore.noisyMax(b, narrow, of));
        }
        expect(a.position).toBe(b.position);
      }
  });

  test("leave the bins as they were, and depend on nothing but selection, bins and key", () => {
    const bins = Uint16Array.from({ length: 500 }, (_, i) => (i * i) % 300);
    const before = bins.slice();
    const of = selection({ candidates: 300, holdout: 500, epsilon: 0.1 }, 100);
    for (const core of cores) {
      const first = core.noisyMax(random("again"), bins, of);
      core.noisyMax(
        random("between"),
        Uint32Array.of(7),
        selection({ candidates: 9, holdout: 1, epsilon: 1 }, 1),
      );
      expect(core.noisyMax(random("again"), bins, of)).toBe(first);
      expect(core.noisyMax(random("again"), bins.toSorted(), of)).toBe(first);
    }
    expect(bins).toEqual(before);
  });
});

describe("errors", () => {
  const good = { ...usual, candidates: 10, step: 1, holdout: 3, epsilon: 1 };
  test.each([
    [{ candidates: 0 }, "candidates: expected an integer from 1 to 1048576, got 0"],
    [{ candidates: 2 ** 20 + 1 }, "candidates: expected an integer from 1 to 1048576, got 1048577"],
    [{ candidates: 1.5 }, "candidates: expected an integer"],
    [{ holdout: 0 }, "holdout: expected an integer from 1 to 134217728, got 0"],
    [{ fanout: 1 }, "fanout: expected an integer from 2"],
    [{ epsilon: 0 }, "epsilon: expected 0 < epsilon < ∞, got 0"],
    [{ epsilon: NaN }, "epsilon: expected 0 < epsilon < ∞, got NaN"],
    [{ releaseEpsilon: -1 }, "releaseEpsilon: expected"],
    [{ step: Infinity }, "step: expected"],
    [{ maxRange: 15 }, "maxRange: expected at least the fanout of 16, got 15"],
    [{ epsilon: 5e-324 }, "use a larger epsilon"],
    [{ releaseEpsilon: 5e-324 }, "use a larger"],
    [{ epsilon: 1e300 }, "scale"],
  ])("%o", (change, message) => {
    expect(() => makeSelection({ ...good, ...change })).toThrow(RangeError);
    expect(() => makeSelection({ ...good, ...change })).toThrow(message);
  });

  test.each(cores)("bins that do not fit the selection change nothing ($name)", (core) => {
    const source = random("errors");
    const of = makeSelection(good);
    expect(() => core.noisyMax(source, new Uint16Array(0), of)).toThrow(
      "bins: expected the selection's holdout of 3 values, got 0",
    );
    expect(() => core.noisyMax(source, Uint16Array.of(1, 2), of)).toThrow(RangeError);
    expect(() => core.noisyMax(source, Float64Array.of(1, 2, 3) as unknown as Uint16Array, of)).toThrow(
      "bins: expected a Uint16Array or a Uint32Array",
    );
    expect(source.position).toBe(0);
  });
});

test("values at the edge of the first block that can win, also the last few that fill no vector", () => {
  const draw = integers("edges of blocks");
  for (const wide of [false, true])
    for (let run = 0; run < 200; run++) {
      const [length, candidates] = [100 + draw(23), 2000 + draw(5000)];
      const of = selection({ candidates, holdout: length, epsilon: 10 }, 1 + draw(4));
      const edge = 2 ** of.chunkBits;
      const first = edge * (1 + draw(Math.floor(candidates / edge / 2)));
      const values = Array.from({ length }, () => (draw(4) > 0 ? first : first + draw(edge)));
      const bins = wide ? Uint32Array.from(values) : Uint16Array.from(values);
      const [a, b] = cores.map((core) => core.noisyMax(random(`edge ${run}`), bins, of));
      expect(a).toBe(b);
    }
});

/** Which candidate wins, and how often: the kernel against exact probabilities and against a full scan. */
import { describe, expect, test } from "vitest";
import { ratioCoin } from "../../src/core/tables/coin.js";
import type { Selection, SelectionNoise } from "../../src/core/tables/selection.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { againstExact, ODDS, twoSamples } from "../support/chiSquare.js";
import { costs, fullScan, winnerDistribution } from "../support/noisyMax.js";
import { integers, random, selection, wins } from "../support/selections.js";

const wasm = makeWasmCore();
const noises: SelectionNoise[] = ["exponential", "laplace"];

/** Few candidates, all costs near each other: P(win) is summed exactly. */
describe.each(noises)("exact distribution, %s noise", (noise) => {
  const RUNS = 30_000;
  const bins = Uint16Array.of(0, 0, 0, 1, 3);

  test.each([3, 4, 20])("%d candidates, blocks of every width", (n) => {
    const of = selection({ candidates: n, holdout: 5, epsilon: 2, noise }, 500);
    const probabilities = winnerDistribution(costs(bins, of), 2048, noise);
    expect(probabilities.reduce((a, b) => a + b)).toBeCloseTo(1, 11);
    for (const chunkBits of [0, 1, 3]) {
      const seen = wins(wasm, RUNS, bins, { ...of, chunkBits }, `small ${chunkBits}`);
      expect(againstExact(seen, probabilities, 20)).toBeGreaterThan(ODDS);
    }
  });

  /**
   * t = 2 and penalties that grow by a unit every 64 candidates: nearly all scores tie with many others, and a
   * winner comes from a block that was only tested in 9 of 10 selections.
   */
  const tied = selection({ candidates: 600, holdout: 5, epsilon: 2048, noise }, 1 / 64);
  const tiedProbabilities = winnerDistribution(costs(bins, tied), 2, noise);
  const tiedWins = (of: Selection) => wins(wasm, 2 * RUNS, bins, of, "tied");

  test("600 candidates full of ties", () => {
    expect(tiedProbabilities.reduce((a, b) => a + b)).toBeCloseTo(1, 11);
    const seen = tiedWins(tied);
    expect(againstExact(seen, tiedProbabilities, 20)).toBeGreaterThan(ODDS);
    expect(seen.slice(2 ** tied.chunkBits).reduce((a, b) => a + b)).toBeGreaterThan(1.8 * RUNS);
  });

  test("a wrong tie rule is seen", () => {
    const wrong = winnerDistribution(costs(bins, tied), 2, noise, "highest");
    expect(againstExact(tiedWins(tied), wrong, 20)).toBeLessThan(ODDS);
  });

  test("a lazy test without its coins is seen", () => {
    const certain = ratioCoin(1n, 1n);
    expect(againstExact(tiedWins({ ...tied, strideCoin: certain }), tiedProbabilities, 20)).toBeLessThan(
      ODDS,
    );
    if (noise === "laplace")
      expect(againstExact(tiedWins({ ...tied, sideCoin: certain }), tiedProbabilities, 20)).toBeLessThan(
        ODDS,
      );
  });
});

/** Scores as flat as they can be while values still matter, so that most winners come from blocks tested lazily. */
describe.each(noises)("distribution of the full scan, %s noise", (noise) => {
  test.each([
    { n: 20, runs: 20_000, scans: 20_000 },
    { n: 2000, runs: 12_000, scans: 3000 },
    { n: 41_270, runs: 3000, scans: 1000 },
  ])("$n candidates", ({ n, runs, scans }) => {
    const below = integers("flat");
    const bins = Uint16Array.from({ length: 64 }, () => Math.min(below(n), below(n), below(n)));
    const options = { candidates: n, holdout: 64, noise };
    const of = selection({ ...options, epsilon: 0.2 }, (10 * 4096) / 0.2 / n);
    // Ten per cent less noise on the same scores; where more is lazy, lazy tests without their coins.
    const { penaltyFactor, penaltyUnit } = of;
    const quieter = { ...selection({ ...options, epsilon: 0.22 }, 1), penaltyFactor, penaltyUnit };
    const cost = costs(bins, of);
    const source = random("scan");
    const scanned = new Array<number>(n).fill(0);
    for (let i = 0; i < scans; i++) scanned[fullScan(wasm, source, of, cost) - 1]!++;
    const cell = (runs + scans) / 25;
    expect(twoSamples(wins(wasm, runs, bins, of, "lazy"), scanned, cell)).toBeGreaterThan(ODDS);
    const broken = n === 20 ? quieter : { ...of, strideCoin: ratioCoin(1n, 1n) };
    expect(twoSamples(wins(wasm, runs, bins, broken, "lazy"), scanned, cell)).toBeLessThan(ODDS);
  });
});

/**
 * An attacker who makes a stream stop and resume sorts its held-out values, since a snapshot stores them in ascending order. If θ
 * depended on their order, a restore would choose another θ from the same noise: two answers to one question, and the
 * difference tells about the values.
 */
import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeSelection } from "../../src/core/tables/selection.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import seedrandom from "seedrandom";

const HOLDOUT = 65_536;
const RUNS = 60;

/** Heavy tail: one value in twenty is above all candidates. */
function heavyTail(seed: string, candidates: number): Uint16Array {
  const uniform = seedrandom(seed);
  return Uint16Array.from({ length: HOLDOUT }, () => Math.min(candidates, Math.floor(12 / uniform() ** 2)));
}

function shuffled(bins: Uint16Array, seed: string): Uint16Array {
  const uniform = seedrandom(seed);
  const copy = bins.slice();
  for (let i = copy.length - 1; i > 0; i--) {
    const k = Math.floor(uniform() * (i + 1));
    [copy[i], copy[k]] = [copy[k]!, copy[i]!];
  }
  return copy;
}

describe.each([
  ["wasm", makeWasmCore()],
  ["js", jsCore],
] as const)("%s", (_, core) => {
  // 5000 candidates are no whole number of blocks: values above all of them once fell into the last block.
  test.each([5000, 4096, 700])("%d candidates: any order gives the same θ", (candidates) => {
    const selection = makeSelection({
      candidates,
      step: 1,
      holdout: HOLDOUT,
      epsilon: 0.05,
      releaseEpsilon: 0.05,
      maxRange: 2 ** 20,
      fanout: 16,
      noise: "exponential",
    });
    const bins = heavyTail(`order ${candidates}`, candidates);
    const orders = [bins, bins.slice().sort(), bins.slice().sort().reverse(), shuffled(bins, "again")];
    const chosen = new Set<number>();
    for (let run = 0; run < RUNS; run++) {
      const random = () => subStream(unsafeKey(`order ${run}`), Purpose.threshold, 0, 0);
      const winners = orders.map((order) => core.noisyMax(random(), order, selection));
      expect(new Set(winners).size, `run ${run}: ${winners.join(", ")}`).toBe(1);
      chosen.add(winners[0]!);
    }
    expect(chosen.size).toBeGreaterThan(5); // the noise does decide
  });
});

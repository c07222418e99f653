/** EM with jumps: the likelihood and θ of plain EM, after far fewer updates; and starts from an earlier estimate. */
import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { makeTransition } from "../../src/core/tables/transition.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { acceleratedEstimate } from "../../src/local/acceleratedEm.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { thresholdShares } from "../../src/local/channel.js";
import { estimate, likelihoods, logLikelihood, type Steps } from "../../src/local/em.js";
import { BINS, hybrid, squareWave } from "../../src/local/mechanisms.js";
import { cellProbabilities } from "../../src/local/moments.js";
import { unpackReport } from "../../src/local/report.js";
import { resolutionOf } from "../../src/local/tails.js";
import { chooseThreshold } from "../../src/local/threshold.js";
import { reportsOf, uniforms } from "../support/localValues.js";

const REPORTS = 20_000;
const uniform = new Float64Array(BINS).fill(1 / BINS);

const STREAMS: Record<string, (u: number) => number> = {
  skewed: (u) => -20 * Math.log(u),
  "heavy-tailed": (u) => 3 * (u ** -0.7 - 1),
  "mostly zero": (u) => (u < 0.97 ? 0 : 13_000 * (u - 0.97)),
  "two humps": (u) => (u < 0.5 ? 100 + 40 * u : 800 + 100 * (u - 0.5)),
};

/** The histogram of a stream's reports, and what EM needs. */
function histogram(stream: string, epsilon: number, core = makeWasmCore()) {
  const mechanism = squareWave(epsilon);
  const values = uniforms(REPORTS, stream).map(STREAMS[stream]!);
  const reports = reportsOf(values, `${stream} ${epsilon}`, { epsilon });
  const counts = new Float64Array(BINS);
  const binCells = (mechanism.top + mechanism.width + 1) / BINS;
  for (let i = 0; i < REPORTS; i++) counts[Math.floor(unpackReport(reports, 8 * i)!.cell / binCells)]!++;
  const { inside, outside } = cellProbabilities(mechanism);
  const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
  const steps: Steps = (estimates, predicted) =>
    core.emSteps(transition, counts, false, estimates, predicted);
  return { counts, transition, steps };
}

const cells = Object.keys(STREAMS).flatMap((stream) =>
  [0.3, 1, 3].map((epsilon) => [stream, epsilon] as const),
);

/** θ as the place among the 321 public thresholds. */
async function placeOf(
  shares: Float64Array,
  epsilon: number,
  { transition, counts }: ReturnType<typeof histogram>,
) {
  const evidence = {
    shares,
    resolution: resolutionOf(epsilon, REPORTS),
    logLikelihood: likelihoods(transition, counts),
  };
  const settings = { tail: "models", objective: "exact", maxRange: 2 ** 20 } as const;
  const { share } = await chooseThreshold(evidence, settings, hybrid(1), () => Promise.resolve());
  return thresholdShares().indexOf(share);
}

test("the same likelihood and the same θ as plain EM, after a fifth of the updates or fewer", async () => {
  let [plainUpdates, fewerUpdates, sameThetas] = [0, 0, 0];
  for (const [stream, epsilon] of cells) {
    const data = histogram(stream, epsilon);
    const plain = await estimate(data.steps, data.counts);
    const fast = await acceleratedEstimate(data.steps, data.counts, uniform);
    // A log-likelihood of 10⁵; half a unit is what one parameter is worth.
    expect(Math.abs(fast.logLikelihood - plain.logLikelihood)).toBeLessThan(0.5);
    expect(fast.shares.reduce((a, b) => a + b)).toBeCloseTo(1, 12);
    const [a, b] = [await placeOf(plain.shares, epsilon, data), await placeOf(fast.shares, epsilon, data)];
    expect(Math.abs(a - b)).toBeLessThanOrEqual(1);
    if (a === b) sameThetas++;
    plainUpdates += plain.updates;
    fewerUpdates += fast.updates;
  }
  expect(sameThetas).toBeGreaterThanOrEqual(cells.length - 2);
  expect(fewerUpdates).toBeLessThan(plainUpdates / 5);
});

describe.each(cells)("%s, ε = %d", (stream, epsilon) => {
  test("no likelihood that was reached is lost again", async () => {
    const { counts, steps } = histogram(stream, epsilon);
    let most = -Infinity;
    const watched: Steps = (estimates, predicted) => {
      steps(estimates, predicted);
      most = Math.max(most, logLikelihood(counts, predicted.subarray(BINS)));
    };
    const { logLikelihood: reached } = await acceleratedEstimate(watched, counts, uniform);
    expect(reached).toBeGreaterThanOrEqual(most - 1e-6); // rounding of sums of 10⁵
  });
});

test("both cores give the same bits", async () => {
  for (const [stream, epsilon] of cells.slice(0, 4)) {
    const [wasm, js] = [makeWasmCore(), jsCore].map((core) => histogram(stream, epsilon, core));
    expect(await acceleratedEstimate(js!.steps, js!.counts, uniform)).toEqual(
      await acceleratedEstimate(wasm!.steps, wasm!.counts, uniform),
    );
  }
});

describe("more reports", () => {
  const values = uniforms(22_000, "warm").map(STREAMS["skewed"]!);
  const reports = reportsOf(values, "warm", { epsilon: 3 });
  const server = () => {
    const made = new PaperAggregator({ epsilon: 3, max: 1000, holdout: 22_000 });
    made.learn(reports.subarray(0, 8 * 20_000));
    return made;
  };

  test("an estimate from an earlier one reaches the same likelihood with fewer updates, and does not touch θ", async () => {
    const [warm, cold] = [server(), server()];
    const from = await warm.distribution();
    for (const one of [warm, cold]) one.learn(reports.subarray(8 * 20_000));
    const [again, anew] = [await warm.distribution({ from }), await cold.distribution()];
    expect(Math.abs(again.logLikelihood - anew.logLikelihood)).toBeLessThan(2);
    expect(again.updates).toBeLessThan(anew.updates);
    expect(await warm.threshold()).toBe(await cold.threshold());
    expect(await warm.distribution()).toEqual(anew);
  });

  test("a start that is no distribution is refused", async () => {
    const made = server();
    for (const shares of [
      new Float64Array(5),
      new Float64Array(BINS),
      uniform.map((x, i) => (i === 3 ? -x : x)),
      [1],
    ])
      await expect(made.distribution({ from: { shares: shares as Float64Array } })).rejects.toThrow(
        /^from: expected a distribution of 1024 bins/,
      );
  });
});

/** With 65,536 reports a day's mean is no worse than that of the paper's two phases, on data that had no say in the constants. */
import { expect, test } from "vitest";
import { errorsOf } from "../../research/localAccuracy/factor.js";
import { FRESH } from "../../research/localAccuracy/freshValues.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { nearestThreshold } from "../../src/local/channel.js";
import { nextThreshold } from "../../src/local/dayThreshold.js";
import { hybrid } from "../../src/local/mechanisms.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { Draws } from "../support/dayReports.js";
import { reportsOf, uniforms } from "../support/localValues.js";

const core = makeWasmCore();
const N = 65_536;
const EPSILON = 1;

// Fixed seeds: a measurement, repeated. Errors follow from θ by formula, so that their noise has no say.
test("errors of a second day over those of the paper's variant; with room of a half for all it is worse", async () => {
  const [own, wide]: [number[], number[]] = [[], []];
  for (const [name, stream] of Object.entries(FRESH)) {
    const values = uniforms(N, name).map(stream);
    const max = 10 * values.slice().sort()[Math.floor(0.995 * N)]!;
    const clamped = values.map((value) => Math.min(value, max));
    const draws = new Draws(EPSILON, name);
    const tally = draws.tally(clamped, max);
    const followed = { theta: max, chosen: false, all: tally, days: 1, newest: tally };
    const theta = (await nextThreshold(core, followed, draws.mechanism, max))!;
    const paper = new PaperAggregator({ epsilon: EPSILON, max, holdout: N, maxRange: N });
    paper.learn(reportsOf(clamped, name, { epsilon: EPSILON, max }));
    const [ours, theirs] = [errorsOf(clamped, draws.mechanism), errorsOf(clamped, hybrid(EPSILON))];
    const two = theirs(await paper.threshold(), N).error;
    own.push(Math.log(ours(theta, N).error / two));
    wide.push(Math.log(ours(nearestThreshold(Math.min(max, 1.5 * theta), max), N).error / two));
  }
  const ratio = (logarithms: readonly number[]): number =>
    Math.exp(logarithms.reduce((sum, one) => sum + one, 0) / logarithms.length);
  expect(ratio(own)).toBeLessThan(1.1);
  expect(ratio(wide)).toBeGreaterThan(1.25);
});

/**
 * How much room above the θ of least regret should the first θ have? On the streams that ToPL's rule may be decided on
 * (tuning.ts): error of the mean of one day and of 30 days as a multiple of what the best θ would have, and the share of the mean
 * that θ hides, for factors from 1 to 1.5. The reports that choose θ are drawn; the errors follow from formulas.
 *
 *     npm run measure -- local --days factor
 */
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import type { Mechanism } from "../../src/core/tables/sectors.js";
import { nearestThreshold } from "../../src/local/channel.js";
import { addCells, emptyTally } from "../../src/local/dayTally.js";
import { estimateCounts } from "../../src/local/dayThreshold.js";
import { dayWindow } from "../../src/local/mechanisms.js";
import { varianceOf } from "../../src/local/moments.js";
import { resolutionOf } from "../../src/local/tails.js";
import { makeStream } from "../zoo/zoo.js";
import { LOCAL_TUNING } from "./tuning.js";

const FACTORS = [1, 1.1, 1.2, 1.35, 1.5];
const DAYS = 30;
/** Reports and runs by ε. */
const SETTINGS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  0.2: { 20_000: 1, 65_536: 1 },
  0.5: { 2000: 2, 65_536: 1 },
  1: { 200: 2, 2000: 2, 20_000: 1, 65_536: 1, 262_144: 1 },
  2: { 500: 2, 5000: 1, 65_536: 1 },
  4: { 200: 2, 2000: 1, 20_000: 1 },
};
/** Nearly all of the mean is in values that no rule can see. */
const INVISIBLE = ["flags, seldom", "rare, large", "few outliers"];

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;
const geometric = (values: readonly number[]): number => Math.exp(mean(values.map(Math.log)));

/** Relative error of a mean of `reports`, and the share of it that θ hides. */
export function errorsOf(population: Float64Array, mechanism: Mechanism) {
  const [end, middle] = [varianceOf(mechanism, 0), varianceOf(mechanism, 0.5)];
  const n = population.length;
  const truth = population.reduce((a, b) => a + b, 0) / n;
  return (theta: number, reports: number): { readonly error: number; readonly hidden: number } => {
    let [sum, squares] = [0, 0];
    for (const value of population) {
      const share = Math.min(value, theta) / theta;
      sum += share;
      squares += (share - 0.5) ** 2;
    }
    const hidden = 1 - (theta * sum) / n / truth;
    const variance = (theta / truth) ** 2 * (middle + (4 * (end - middle) * squares) / n);
    return { error: Math.sqrt(variance / reports + hidden * hidden), hidden };
  };
}

/** @param times `max` as a multiple of what holds 99.5 % */
export async function factors(times: number): Promise<void> {
  const core = makeWasmCore();
  console.log(
    `| ε | reports | s | ${FACTORS.map((factor) => `${factor}: day / month, hidden`).join(" | ")} |`,
  );
  console.log(`|${" --- |".repeat(3 + FACTORS.length)}`);
  const settings = Object.entries(SETTINGS).flatMap(([epsilon, sizes]) =>
    Object.entries(sizes).map(([n, runs]) => [Number(epsilon), Number(n), runs] as const),
  );
  for (const [epsilon, n, runs] of settings) {
    const mechanism = dayWindow(epsilon);
    const found = FACTORS.map(() => ({ day: [] as number[], month: [] as number[], hidden: [] as number[] }));
    for (const [name, stream] of Object.entries(LOCAL_TUNING)) {
      if (INVISIBLE.includes(name)) continue;
      const all = makeStream(stream, `local 1, ${name}`, 300_000);
      const sorted = all.slice(0, 40_000).sort();
      const max = times * sorted[39_800]!;
      const errors = errorsOf(
        sorted.map((value) => Math.min(value, max)),
        mechanism,
      );
      const best = (reports: number): number =>
        Math.min(...Array.from({ length: 40 }, (_, k) => errors(max * Math.exp(-0.12 * k), reports).error));
      const [day, month] = [best(n), best(DAYS * n)];
      const random = subStream(unsafeKey(`tune ${name} ${epsilon} ${n} ${times}`), Purpose.reports, 2, 0);
      for (let run = 0; run < runs; run++) {
        const values = all.slice(run * n, (run + 1) * n).map((value) => Math.min(value, max));
        const cells = new Uint32Array(n);
        core.fillReports(random, mechanism, { scale: (mechanism.top + 1) / max, shift: 0 }, values, cells);
        const tally = addCells(emptyTally({ start: 0, end: 86_400_000 }, max), cells, mechanism);
        const { choice } = await estimateCounts(core, tally, mechanism, { served: DAYS * n }, {});
        FACTORS.forEach((factor, i) => {
          const theta = nearestThreshold(Math.min(max, factor * choice.share * max), max);
          found[i]!.day.push(errors(theta, n).error / day);
          found[i]!.month.push(errors(theta, DAYS * n).error / month);
          found[i]!.hidden.push(errors(theta, n).hidden);
        });
      }
    }
    const cells = found.map(
      ({ day, month, hidden }) =>
        `${geometric(day).toFixed(2)} / ${geometric(month).toFixed(2)}, ${(100 * mean(hidden)).toFixed(1)} %`,
    );
    console.log(
      `| ${epsilon} | ${n.toLocaleString("en")} | ${resolutionOf(epsilon, n).toPrecision(2)} | ${cells.join(" | ")} |`,
    );
  }
}

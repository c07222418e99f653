/**
 * The default's θ against the paper's SW-W on many streams: one EM a run, both rules on the same estimate. Expected MSE of random
 * ranges, as in the other tables; a cell is the mean over runs of the default divided by that of SW-W.
 */
import type { Core } from "../../src/core/core.js";
import { makeTransition } from "../../src/core/tables/transition.js";
import { aggregator } from "../../src/local/aggregator.js";
import { reporter } from "../../src/local/anyCoreReporter.js";
import { makeChannel } from "../../src/local/channel.js";
import { acceleratedEstimate } from "../../src/local/acceleratedEm.js";
import { likelihoods } from "../../src/local/em.js";
import { BINS, hybrid } from "../../src/local/mechanisms.js";
import { cellProbabilities } from "../../src/local/moments.js";
import { unpackReport } from "../../src/local/report.js";
import { resolutionOf } from "../../src/local/tails.js";
import { chooseThreshold } from "../../src/local/threshold.js";
import type { Stream } from "./streams.js";

const RULES = {
  "SW-W": { tail: "paper", objective: "paper" },
  default: { tail: "models", objective: "exact" },
} as const;
type Rule = keyof typeof RULES;

export interface Setting {
  readonly epsilons: readonly number[];
  readonly holdout: number;
  readonly maxRange: number;
  readonly releaseEpsilon: number;
  readonly runs: number;
}

/** Per ε: expected MSE of both rules, mean over runs. */
export async function compareRules(
  core: Core,
  stream: Stream,
  setting: Setting,
  expected: (theta: number) => number,
): Promise<Record<Rule, number>[]> {
  const { epsilons, holdout, maxRange, releaseEpsilon, runs } = setting;
  const values = stream.values(0, holdout);
  const release = hybrid(releaseEpsilon);
  const lines: Record<Rule, number>[] = [];
  for (const epsilon of epsilons) {
    const { mechanism } = makeChannel("learn", epsilon, stream.max);
    const { inside, outside } = cellProbabilities(mechanism);
    const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
    const binCells = (mechanism.top + mechanism.width + 1) / BINS;
    const line = { "SW-W": 0, default: 0 };
    for (let run = 0; run < runs; run++) {
      const unsafeSeed = `compare ${stream.name} ${epsilon} ${run}`;
      const reports = reporter({ epsilon, max: stream.max, phase: "learn", unsafeSeed }).reportMany(values);
      const counts = new Float64Array(BINS);
      for (let i = 0; i < holdout; i++) counts[Math.floor(unpackReport(reports, 8 * i)!.cell / binCells)]!++;
      const steps = (estimates: Float64Array, predicted: Float64Array) =>
        core.emSteps(transition, counts, false, estimates, predicted);
      const { shares } = await acceleratedEstimate(steps, counts, new Float64Array(BINS).fill(1 / BINS));
      const resolution = resolutionOf(epsilon, holdout);
      const evidence = { shares, resolution, logLikelihood: likelihoods(transition, counts) };
      for (const rule of Object.keys(RULES) as Rule[]) {
        const found = await chooseThreshold(evidence, { ...RULES[rule], maxRange }, release, async () => {});
        const theta = found.share * stream.max;
        line[rule] += expected(theta) / runs;
        if (run > 0) continue;
        // The long way, once: what an aggregator publishes for these reports.
        const tuning = { learnEpsilon: epsilon, ...RULES[rule] };
        const server = aggregator({ epsilon: releaseEpsilon, max: stream.max, holdout, maxRange, tuning });
        server.learn(reports);
        if ((await server.threshold()) !== theta) throw new Error("compare: not the θ of the aggregator");
      }
    }
    lines.push(line);
  }
  return lines;
}

const geometricMean = (values: readonly number[]): number =>
  Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);

/** A table of ratios, and what they come to over all lines. */
export class Comparison {
  readonly #setting: Setting;
  readonly #ratios: { name: string; epsilon: number; toPaper: number; toBest: number }[] = [];

  constructor(setting: Setting) {
    this.#setting = setting;
    const columns = setting.epsilons.map(String);
    console.log(
      `\n| stream | max | best θ | default / SW-W: ε = ${columns.join(" | ")} | default / best: ε = ${columns.join(" | ")} |`,
    );
    console.log(`|${"---|".repeat(3 + 2 * columns.length)}`);
  }

  async add(
    core: Core,
    stream: Stream,
    expected: (theta: number) => number,
    thetas: readonly number[],
  ): Promise<void> {
    const possible = thetas.map(expected);
    const least = Math.min(...possible);
    const lines = await compareRules(core, stream, this.#setting, expected);
    const found = lines.map((line, i) => ({
      name: stream.name,
      epsilon: this.#setting.epsilons[i]!,
      toPaper: line.default / line["SW-W"],
      toBest: line.default / least,
    }));
    this.#ratios.push(...found);
    const cell = (value: number) => Number(value.toPrecision(2)).toString();
    const cells = [...found.map(({ toPaper }) => cell(toPaper)), ...found.map(({ toBest }) => cell(toBest))];
    console.log(
      `| ${stream.name} | ${stream.max} | ${cell(thetas[possible.indexOf(least)]!)} | ${cells.join(" | ")} |`,
    );
  }

  summary(): void {
    const all = this.#ratios;
    const per = this.#setting.epsilons.map((epsilon) => {
      const lines = all.filter((line) => line.epsilon === epsilon);
      return `${epsilon}: ${geometricMean(lines.map(({ toPaper }) => toPaper)).toPrecision(2)}`;
    });
    const worse = all.filter(({ toPaper }) => toPaper > 1.15).sort((a, b) => b.toPaper - a.toPaper);
    console.log(
      `\nGeometric mean over ${all.length} lines: ${geometricMean(all.map(({ toPaper }) => toPaper)).toPrecision(2)} of SW-W (by ε: ${per.join(", ")}), ${geometricMean(all.map(({ toBest }) => toBest)).toPrecision(2)} of the best possible. Above 1.15: ${worse.length}; above 1.5: ${worse.filter(({ toPaper }) => toPaper > 1.5).length}${
        worse.length > 0
          ? ` (${worse
              .slice(0, 8)
              .map(({ name, epsilon, toPaper }) => `${name} at ${epsilon}: ${toPaper.toPrecision(2)}`)
              .join(", ")})`
          : ""
      }.`,
    );
  }
}

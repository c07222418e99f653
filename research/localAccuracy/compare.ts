/**
 * The default's θ against the paper's SW-W on many streams: one EM a run, both rules on the same estimate. Expected MSE of random
 * ranges, as in the other tables; a cell is the mean over runs of the default divided by that of SW-W.
 */
import type { Core } from "../../src/core/core.js";
import { makeTransition } from "../../src/core/tables/transition.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { reporter } from "../../src/local/anyCoreReporter.js";
import { paperChannel } from "../../src/local/paper/paperChannel.js";
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

/** The MSE over random ranges that a θ would have: what noise adds, and what clamping hides. */
export interface ExpectedError {
  readonly noise: number;
  readonly bias: number;
}

export const total = ({ noise, bias }: ExpectedError): number => noise + bias;

/** Choice of a rule in one run. */
interface Choice extends ExpectedError {
  readonly theta: number;
}

type Choices = Record<Rule, Choice[]>;

/** Per ε: what both rules choose, run by run, from the same reports. */
export async function compareRules(
  core: Core,
  stream: Stream,
  setting: Setting,
  expected: (theta: number) => ExpectedError,
): Promise<Choices[]> {
  const { epsilons, holdout, maxRange, releaseEpsilon, runs } = setting;
  const values = stream.values(0, holdout);
  const release = hybrid(releaseEpsilon);
  const lines: Choices[] = [];
  for (const epsilon of epsilons) {
    const { mechanism } = paperChannel("learn", epsilon, stream.max);
    const { inside, outside } = cellProbabilities(mechanism);
    const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
    const binCells = (mechanism.top + mechanism.width + 1) / BINS;
    const line: Choices = { "SW-W": [], default: [] };
    for (let run = 0; run < runs; run++) {
      const unsafeSeed = `compare ${stream.name} ${epsilon} ${run}`;
      const reports = reporter({
        variant: "paper",
        epsilon,
        max: stream.max,
        phase: "learn",
        unsafeSeed,
      }).reportMany(values);
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
        line[rule].push({ theta, ...expected(theta) });
        if (run > 0) continue;
        // The long way, once: what an aggregator publishes for these reports.
        const tuning = { learnEpsilon: epsilon, ...RULES[rule] };
        const server = new PaperAggregator({
          epsilon: releaseEpsilon,
          max: stream.max,
          holdout,
          maxRange,
          tuning,
        });
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

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Relative standard error of a ratio of means; both rules read the same reports, so runs are pairs. */
function ratioError(above: readonly number[], below: readonly number[]): number {
  const [a, b] = [mean(above), mean(below)];
  const squares = above.map((value, i) => (value / a - below[i]! / b) ** 2);
  return Math.sqrt(mean(squares) / (squares.length - 1));
}

const cell = (value: number): string => Number(value.toPrecision(2)).toString();

/** One stream at one ε. */
interface Compared {
  readonly name: string;
  readonly epsilon: number;
  readonly toPaper: number;
  /** Relative standard error of `toPaper`. */
  readonly strays: number;
  readonly toBest: number;
  /** The best public θ and its error, and what was chosen. */
  readonly best: { readonly theta: number; readonly error: number };
  readonly choices: Choices;
}

/** A table of ratios, and what they come to over all lines. */
export class Comparison {
  readonly #setting: Setting;
  readonly #lines: Compared[] = [];

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
    expected: (theta: number) => ExpectedError,
    thetas: readonly number[],
  ): Promise<void> {
    const possible = thetas.map((theta) => total(expected(theta)));
    const least = Math.min(...possible);
    const best = { theta: thetas[possible.indexOf(least)]!, error: least };
    const lines = await compareRules(core, stream, this.#setting, expected);
    const found = lines.map((choices, i): Compared => {
      const [ours, paper] = [choices.default.map(total), choices["SW-W"].map(total)];
      return {
        ...{ name: stream.name, epsilon: this.#setting.epsilons[i]!, best, choices },
        toPaper: mean(ours) / mean(paper),
        strays: ratioError(ours, paper),
        toBest: mean(ours) / least,
      };
    });
    this.#lines.push(...found);
    const cells = [...found.map(({ toPaper }) => cell(toPaper)), ...found.map(({ toBest }) => cell(toBest))];
    console.log(`| ${stream.name} | ${stream.max} | ${cell(best.theta)} | ${cells.join(" | ")} |`);
  }

  summary(): void {
    const all = this.#lines;
    const per = this.#setting.epsilons.map((epsilon) => {
      const lines = all.filter((line) => line.epsilon === epsilon);
      return `${epsilon}: ${cell(geometricMean(lines.map(({ toPaper }) => toPaper)))}`;
    });
    const worse = all.filter(({ toPaper }) => toPaper > 1.15).sort((a, b) => b.toPaper - a.toPaper);
    const names = worse
      .slice(0, 8)
      .map(
        (line) =>
          `${line.name} at ${line.epsilon}: ${cell(line.toPaper)} ± ${cell(line.toPaper * line.strays)}`,
      );
    console.log(
      `\nGeometric mean over ${all.length} lines: ${cell(geometricMean(all.map(({ toPaper }) => toPaper)))} of SW-W (by ε: ${per.join(", ")}), ${cell(geometricMean(all.map(({ toBest }) => toBest)))} of the best possible. Above 1.15: ${worse.length}; above 1.5: ${worse.filter(({ toPaper }) => toPaper > 1.5).length}${names.length > 0 ? ` (${names.join(", ")})` : ""}.`,
    );
  }

  /** Why: median θ over the best θ, and the error in units of the best one's, as noise + what clamping hides. */
  split(): void {
    console.log(
      "\n| stream | ε | θ/best: default | SW-W | noise + hidden: default | SW-W | default / SW-W |",
    );
    console.log(`|${"---|".repeat(7)}`);
    for (const { name, epsilon, best, choices, toPaper, strays } of this.#lines) {
      const rules = [choices.default, choices["SW-W"]];
      const middles = rules.map((runs) => {
        const sorted = runs.map(({ theta }) => theta).sort((a, b) => a - b);
        return cell(sorted[sorted.length >> 1]! / best.theta);
      });
      const parts = rules.map((runs) =>
        [runs.map(({ noise }) => noise), runs.map(({ bias }) => bias)]
          .map((part) => cell(mean(part) / best.error))
          .join(" + "),
      );
      const ratio = `${cell(toPaper)} ± ${cell(toPaper * strays)}`;
      console.log(`| ${name} | ${epsilon} | ${[...middles, ...parts, ratio].join(" | ")} |`);
    }
  }
}

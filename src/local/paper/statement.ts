/** The statement of a local aggregation: for machines (`statement`) and for people (`explain`). */
import { software, type Software, softwareText } from "../../core/software.js";
import type { ChosenThreshold } from "./paperAggregator.js";
import type { Channel } from "../channel.js";
import type { RejectedCounts } from "../intake.js";
import { worstVariance } from "../moments.js";
import type { PaperSettings } from "./settings.js";

export interface PaperStage {
  readonly stage: "learn" | "release";
  readonly mechanism: "Square Wave" | "Hybrid (Stochastic Rounding, Piecewise)";
  readonly epsilon: number;
  /** The values' public domain, in units of the stream. */
  readonly domain: readonly [0, number];
  /** Inputs are multiples of domain/inputs; a report is one of `cells`. */
  readonly inputs: number;
  readonly cells: number;
  readonly reports: number;
}

export interface PaperStatement {
  readonly software: Software;
  readonly system: "ToPL";
  readonly definition: "local differential privacy";
  readonly neighbours: "any two values of one report";
  readonly unit: "one value, reported once";
  readonly epsilon: number;
  readonly delta: 0;
  /** Every report has noise of its own, drawn on the device. */
  readonly periods: "own noise";
  readonly composition: string;
  readonly stages: readonly PaperStage[];
  /** θ, once chosen; public. */
  readonly threshold: number | null;
  /** Estimated average amount of a value that clamping to θ removes; null if θ was given. */
  readonly expectedClipping: number | null;
  /** Standard deviation of one published value, at worst, in units of the stream. */
  readonly noise: number | null;
  readonly max: number;
  readonly maxRange: number;
  readonly estimator: "em" | "ems";
  readonly tail: "models" | "paper" | "whole";
  readonly objective: "exact" | "paper";
  readonly core: "wasm" | "js";
  readonly rejected: Readonly<RejectedCounts>;
  readonly randomness: string;
  readonly notProtected: readonly string[];
}

const NOT_PROTECTED = [
  "a person with many values: the guarantee is for one value, and k reported values of one person are protected at kε",
  "a value reported twice, or in both phases: its ε add up",
  "when a report arrives, how many there are, and which device or address sent it",
  "the estimate, against devices that lie: a share of false reports shifts it by about as much",
];

export function paperStatement(
  settings: PaperSettings,
  core: "wasm" | "js",
  counts: {
    readonly learned: number;
    readonly released: number;
    readonly rejected: Readonly<RejectedCounts>;
  },
  learning: Channel,
  chosen: ChosenThreshold | undefined,
): PaperStatement {
  const { epsilon, learnEpsilon, max, maxRange, estimator, tail, objective } = settings;
  const learn: PaperStage = {
    stage: "learn",
    mechanism: "Square Wave",
    epsilon: learnEpsilon,
    domain: [0, max],
    inputs: learning.mechanism.top + 1,
    cells: learning.mechanism.cells,
    reports: counts.learned,
  };
  const release: PaperStage[] = chosen
    ? [
        {
          stage: "release",
          mechanism: "Hybrid (Stochastic Rounding, Piecewise)",
          epsilon,
          domain: [0, chosen.theta],
          inputs: chosen.channel.mechanism.top + 1,
          cells: chosen.channel.mechanism.cells,
          reports: counts.released,
        },
      ]
    : [];
  return {
    software,
    system: "ToPL",
    definition: "local differential privacy",
    neighbours: "any two values of one report",
    unit: "one value, reported once",
    epsilon: Math.max(epsilon, learnEpsilon),
    delta: 0,
    periods: "own noise",
    composition:
      "Every value is reported once, in one phase: parallel composition, so the larger ε is the total.",
    stages: [learn, ...release],
    threshold: chosen?.theta ?? null,
    expectedClipping: chosen?.excess ?? null,
    noise: chosen ? chosen.theta * Math.sqrt(worstVariance(chosen.channel.mechanism)) : null,
    max,
    maxRange,
    estimator,
    tail,
    objective,
    core,
    rejected: counts.rejected,
    randomness: "made on the devices; the server draws none",
    notProtected: NOT_PROTECTED,
  };
}

/** The statement as a short text that a person can read. */
export function explainPaper(statement: PaperStatement): string {
  const number = (value: number) => String(Number(value.toPrecision(6)));
  const rejected = Object.entries(statement.rejected).filter(([, count]) => count > 0);
  return [
    `Every report satisfies ε-${statement.definition} with ε = ${statement.epsilon}: no report is more than e^ε = ${number(Math.exp(statement.epsilon))} times likelier for one value than for another. Nobody has to be trusted with the values.`,
    ...statement.stages.map(
      ({ stage, mechanism, epsilon, domain, reports }) =>
        `  ${stage}: ${mechanism} on [0, ${number(domain[1])}], ε = ${epsilon}, ${reports} reports`,
    ),
    statement.composition,
    statement.threshold === null
      ? "Values above a threshold θ will be clamped to it; θ is not chosen yet."
      : `Values above θ = ${number(statement.threshold)} are clamped to θ; ${statement.expectedClipping === null ? "θ was given, so nobody knows how much that hides" : `that is expected to hide ${number(statement.expectedClipping)} of a value on average`}. One published value has a standard deviation of ${number(statement.noise!)}; sums over long ranges are accurate.`,
    `Rejected: ${rejected.length === 0 ? "nothing" : rejected.map(([reason, count]) => `${count} (${reason})`).join(", ")}.`,
    "Not protected:",
    ...statement.notProtected.map((line) => `  - ${line}`),
    softwareText(statement.software),
  ].join("\n");
}

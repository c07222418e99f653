/** What a local aggregation says about itself: for machines (`account`) and for people (`explain`). */
import type { Refused } from "./batch.js";
import { worstVariance } from "./moments.js";
import type { Channel } from "./reporter.js";

export interface LocalStage {
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

export interface LocalAccount {
  readonly system: "ToPL";
  readonly definition: "local differential privacy";
  readonly neighbours: "any two values of one report";
  readonly unit: "one value, reported once";
  readonly epsilon: number;
  readonly delta: 0;
  readonly composition: string;
  readonly stages: readonly LocalStage[];
  /** θ, once chosen; public. */
  readonly threshold: number | null;
  /** What clamping to θ hides of a value on average, by the estimate. */
  readonly expectedClipping: number | null;
  /** Standard deviation of one published value, at worst, in units of the stream. */
  readonly noise: number | null;
  readonly max: number;
  readonly maxRange: number;
  readonly estimator: "em" | "ems";
  readonly prune: "noise" | "paper" | false;
  readonly objective: "exact" | "paper";
  readonly core: "wasm" | "js";
  readonly refused: Readonly<Refused>;
  readonly randomness: string;
  readonly notProtected: readonly string[];
}

const NOT_PROTECTED = [
  "a person with many values: the guarantee is for one value, and k reported values of one person are protected at kε",
  "a value reported twice, or in both phases: its ε add up",
  "when a report arrives, how many there are, and which device or address sent it",
  "the estimate, against devices that lie: a share of false reports shifts it by about as much",
];

interface Settings {
  readonly epsilon: number;
  readonly learnEpsilon: number;
  readonly max: number;
  readonly maxRange: number;
  readonly estimator: "em" | "ems";
  readonly prune: "noise" | "paper" | false;
  readonly objective: "exact" | "paper";
}

export function localAccount(
  settings: Settings,
  core: "wasm" | "js",
  counts: { readonly learned: number; readonly published: number; readonly refused: Readonly<Refused> },
  learning: Channel,
  chosen: { readonly theta: number; readonly excess: number; readonly channel: Channel } | undefined,
): LocalAccount {
  const { epsilon, learnEpsilon, max, maxRange, estimator, prune, objective } = settings;
  const learn: LocalStage = {
    stage: "learn",
    mechanism: "Square Wave",
    epsilon: learnEpsilon,
    domain: [0, max],
    inputs: learning.mechanism.top + 1,
    cells: learning.mechanism.cells,
    reports: counts.learned,
  };
  const release: LocalStage[] = chosen
    ? [
        {
          stage: "release",
          mechanism: "Hybrid (Stochastic Rounding, Piecewise)",
          epsilon,
          domain: [0, chosen.theta],
          inputs: chosen.channel.mechanism.top + 1,
          cells: chosen.channel.mechanism.cells,
          reports: counts.published,
        },
      ]
    : [];
  return {
    system: "ToPL",
    definition: "local differential privacy",
    neighbours: "any two values of one report",
    unit: "one value, reported once",
    epsilon: Math.max(epsilon, learnEpsilon),
    delta: 0,
    composition:
      "Every value is reported once, in one phase: parallel composition, so the larger ε holds in all.",
    stages: [learn, ...release],
    threshold: chosen?.theta ?? null,
    expectedClipping: chosen?.excess ?? null,
    noise: chosen ? chosen.theta * Math.sqrt(worstVariance(chosen.channel.mechanism)) : null,
    max,
    maxRange,
    estimator,
    prune,
    objective,
    core,
    refused: counts.refused,
    randomness: "made on the devices; the server draws none",
    notProtected: NOT_PROTECTED,
  };
}

/** The account as a short text that a person can read. */
export function explainLocal(account: LocalAccount): string {
  const number = (value: number) => String(Number(value.toPrecision(6)));
  const refused = Object.entries(account.refused).filter(([, count]) => count > 0);
  return [
    `Every report satisfies ε-${account.definition} with ε = ${account.epsilon}: none is more than e^ε = ${number(Math.exp(account.epsilon))} times likelier for one value than for another. No one has to be trusted with the values.`,
    ...account.stages.map(
      ({ stage, mechanism, epsilon, domain, reports }) =>
        `  ${stage}: ${mechanism} on [0, ${number(domain[1])}], ε = ${epsilon}, ${reports} reports`,
    ),
    account.composition,
    account.threshold === null
      ? "Values above a threshold θ will be clamped to it; θ is not chosen yet."
      : `Values above θ = ${number(account.threshold)} count as θ, which is expected to hide ${number(account.expectedClipping!)} of a value on average. One published value has a standard deviation of ${number(account.noise!)}; sums over long ranges are what is accurate.`,
    `Refused: ${refused.length === 0 ? "nothing" : refused.map(([reason, count]) => `${count} (${reason})`).join(", ")}.`,
    "Not protected:",
    ...account.notProtected.map((line) => `  - ${line}`),
  ].join("\n");
}

/** The statement of an aggregation by days: for machines (`statement`) and for people (`explain`). */
import { epsilonAdvice } from "../core/advice.js";
import { software, type Software, softwareText } from "../core/software.js";
import type { Mechanism } from "../core/tables/sectors.js";
import type { LocalSettings } from "./aggregatorOptions.js";
import type { RejectedCounts } from "./intake.js";
import { worstVariance } from "./moments.js";

export interface LocalStatement {
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
  readonly mechanism: "window of e^(−ε/2)";
  /** Inputs are multiples of θ/inputs; a report is one of `cells`. */
  readonly inputs: number;
  readonly cells: number;
  readonly max: number;
  /** θ at present; public. */
  readonly threshold: number;
  /** Whether θ follows the reports. */
  readonly follow: boolean;
  readonly zone: string;
  /** Standard deviation of one estimated value, at worst, in units of the stream. */
  readonly noise: number;
  readonly reports: number;
  readonly rejected: Readonly<RejectedCounts>;
  readonly core: "wasm" | "js";
  readonly randomness: string;
  readonly notProtected: readonly string[];
}

const NOT_PROTECTED = [
  "a person with many values: the guarantee is for one value, and k reported values of one person are protected at kε",
  "a value reported twice: its ε add up",
  "when a report arrives, how many there are, and which device or address sent it",
  "the estimate, against devices that lie: a share of false reports shifts it by about as much",
];

export function localStatement(
  { epsilon, max, follow, calendar }: LocalSettings,
  mechanism: Mechanism,
  state: {
    readonly threshold: number;
    readonly reports: number;
    readonly rejected: Readonly<RejectedCounts>;
    readonly core: "wasm" | "js";
  },
): LocalStatement {
  return {
    software,
    system: "ToPL",
    definition: "local differential privacy",
    neighbours: "any two values of one report",
    unit: "one value, reported once",
    epsilon,
    delta: 0,
    periods: "own noise",
    composition:
      "A device that sends one report a day spends ε a day and kε in k days, whatever θ the server asks for; θ is chosen from earlier reports, which are public, and changes at midnight.",
    mechanism: "window of e^(−ε/2)",
    inputs: mechanism.top + 1,
    cells: mechanism.cells,
    max,
    threshold: state.threshold,
    follow,
    zone: calendar.zone,
    noise: state.threshold * Math.sqrt(worstVariance(mechanism)),
    reports: state.reports,
    rejected: state.rejected,
    core: state.core,
    randomness: "made on the devices; the server draws none",
    notProtected: NOT_PROTECTED,
  };
}

/** The statement as a short text that a person can read. */
export function explainLocal(statement: LocalStatement): string {
  const number = (value: number) => String(Number(value.toPrecision(6)));
  const { epsilon, max, threshold } = statement;
  const rejected = Object.entries(statement.rejected).filter(([, count]) => count > 0);
  return [
    `Every report satisfies ε-${statement.definition} with ε = ${epsilon}: no report is more than e^ε = ${number(Math.exp(epsilon))} times likelier for one value than for another, whatever bound the server asks for. Nobody has to be trusted with the values.`,
    ...epsilonAdvice(epsilon),
    statement.composition,
    threshold === max
      ? `Every value up to ${number(max)} counts${statement.follow ? "; the bound follows the reports from day to day" : ""}.`
      : `Values above θ = ${number(threshold)} are clamped to θ. Intervals are for the clamped values; they do not cover what lies above θ.`,
    `${statement.reports} reports. One estimated value has a standard deviation of up to ${number(statement.noise)}; means of many are accurate.`,
    `Rejected: ${rejected.length === 0 ? "nothing" : rejected.map(([reason, count]) => `${count} (${reason})`).join(", ")}.`,
    "Not protected:",
    ...statement.notProtected.map((line) => `  - ${line}`),
    softwareText(statement.software),
  ].join("\n");
}

/** A stream's statement about itself: for machines (`statement`) and for people (`explain`). */
import { boundAdvice, epsilonAdvice } from "../core/advice.js";
import { software, type Software, softwareText } from "../core/software.js";
import type { Settings } from "./options.js";

export interface StageStatement {
  readonly stage: "threshold" | "warm start" | "clamped share" | "probe" | "following" | "release";
  readonly mechanism: string;
  readonly epsilon: number;
  readonly delta: number;
  /** Positions in the input that this stage reads, half-open; `null` means "from there on". */
  readonly values: readonly [from: number, to: number | null];
  /** Which of them, where it is not all. Stages that read the same value share ε. */
  readonly which?: string;
}

/** How many values were above θ when it was chosen, from a count with noise, and a 95 % interval for it; in values. */
export interface ClampedShare {
  readonly count: number;
  readonly low: number;
  readonly high: number;
  /** How many values were looked at: held-out ones, or after a second choice of θ values of the first tree. */
  readonly of: number;
}

export interface Statement {
  readonly software: Software;
  readonly system: string;
  /** "event-level differential privacy" of a stream, for "one value"; some systems of comparison protect another unit. */
  readonly definition: string;
  readonly neighbours: string;
  readonly unit: string;
  readonly epsilon: number;
  readonly delta: number;
  /** False when anyone who knows the seed can remove the noise, or when the method is not private at all. */
  readonly private: boolean;
  readonly composition: string;
  readonly stages: readonly StageStatement[];
  /** θ, once chosen; public. 0 where zeros are published, whatever comes. */
  readonly threshold: number | null;
  /** θ over time, for the positions that can still be asked for: from which published position on each one holds. */
  readonly thresholds: readonly { readonly from: number; readonly threshold: number }[];
  readonly min: number;
  readonly max: number;
  /** Treatment of values outside [min, max] and above θ. No value is rejected for its size. */
  readonly clamping: string;
  /** Values are rounded to multiples of it before noise is added; intervals of answers count what that may be off by. */
  readonly resolution: number;
  readonly fanout: number;
  readonly levels: number;
  readonly skipLevels: number;
  readonly blockLength: number;
  readonly maxRange: number;
  readonly smoother: string;
  /** Scale of the noise on every node, in units of the stream, once θ is chosen; null where levels differ in it. */
  readonly noiseScale: number | null;
  readonly noise: string;
  readonly randomness: string;
  readonly core: { readonly name: "wasm" | "js"; readonly note: string };
  readonly published: number;
  readonly notProtected: readonly string[];
  /** False while the hold-out may still lower `skipLevels` by one. */
  readonly settled: boolean;
  /** Share that clamping to θ removes, if it was counted; null before θ is chosen. */
  readonly clampedShare: ClampedShare | null;
  /** Likely mistakes in the settings. */
  readonly warnings: readonly string[];
}

const NOT_PROTECTED: readonly string[] = [
  "a person with many values: the guarantee is for one value, and k values of one person are protected at kε",
  "when values arrive: one number is published per value, at once",
  "how many values there are",
  "against anyone who can read the memory of this process or its snapshots",
];

export const RANDOMNESS = {
  secret: "ChaCha20, keyed from the platform's cryptographic generator",
  unsafe: "ChaCha20, keyed from a seed: repeatable, NOT PRIVATE",
} as const;

/** Part of a statement that depends on the system; the rest follows from the settings. */
export interface StatementParts extends Pick<
  Statement,
  | "system"
  | "epsilon"
  | "delta"
  | "composition"
  | "stages"
  | "threshold"
  | "smoother"
  | "noiseScale"
  | "noise"
  | "settled"
  | "clampedShare"
  | "warnings"
> {
  /** Given where the system is not private at all, or its grid is not the one of the settings. */
  readonly private?: boolean;
  readonly resolution?: number;
  /** Given where the system protects something else than one value. */
  readonly protects?: Pick<Statement, "definition" | "neighbours" | "unit" | "notProtected">;
  /** Given where θ may change; otherwise it is the same from the first position on. */
  readonly thresholds?: Statement["thresholds"];
}

/** The statement of a system: the one place where it is put together. */
export function makeStatement(
  settings: Settings,
  core: "wasm" | "js",
  published: number,
  { protects, ...parts }: StatementParts,
): Statement {
  const {
    privacy: { unsafeSeed },
    grid: { min, max, resolution },
    tree: { fanout, levels, skipped, blockLength, maxRange },
  } = settings;
  const secret = unsafeSeed === undefined;
  return {
    software,
    definition: "event-level differential privacy",
    neighbours: "streams of the same length that differ in the value at one position",
    unit: "one value",
    min,
    max,
    clamping: `values below ${min === 0 ? "0 are clamped to 0" : "min are clamped to min"}, values above max to max, and values above θ to θ`,
    resolution,
    fanout,
    levels,
    skipLevels: skipped,
    blockLength,
    maxRange,
    randomness: secret ? RANDOMNESS.secret : RANDOMNESS.unsafe,
    core: {
      name: core,
      note:
        core === "js" && settings.output.core === "auto"
          ? "WebAssembly could not be compiled here; same answers, slower"
          : "",
    },
    published,
    notProtected: NOT_PROTECTED,
    ...protects,
    thresholds: parts.threshold === null ? [] : [{ from: 0, threshold: parts.threshold }],
    ...parts,
    private: secret && parts.private !== false,
  };
}

const number = (value: number): string => String(Number(value.toPrecision(6)));

function protection({ unit, min, max, epsilon, delta }: Statement): string {
  return `Protected: ${unit}. Replacing ${unit === "one value" ? "any one value by another" : `${unit} by others`} between ${min} and ${max} changes the probability of any output by at most a factor e^ε = ${number(Math.exp(epsilon))}${delta === 0 ? "" : `, except with probability δ = ${delta}`}.`;
}

/** Says how values are treated: clamped to θ, summed in blocks, covered with noise. */
function treatment(statement: Statement): string[] {
  const { threshold, noise, noiseScale, blockLength, levels, fanout, smoother } = statement;
  if (threshold === 0 && statement.min === 0)
    return ["θ = 0: every value is clamped to 0, and zeros are published."];
  const scale = noiseScale === null ? "its scale is not the same everywhere" : `scale ${number(noiseScale)}`;
  const carriers = levels === 1 ? "one level carries" : `${levels} levels of fan-out ${fanout} carry`;
  return [
    `No value is refused for its size: ${statement.clamping}. They are rounded to ${statement.min === 0 ? "" : `${statement.min} plus `}multiples of ${statement.resolution}.`,
    threshold === null
      ? "θ is not chosen yet."
      : `θ = ${number(threshold)}. Noise on every node: ${noise}, ${scale}.`,
    blockLength === 1
      ? `Every value has an estimate of its own; ${carriers} noise.`
      : `Every ${blockLength} values make a block; ${carriers} noise; predictions by "${smoother}".`,
  ];
}

/** Says how many of the values that chose θ were above it. */
function clipping({ clampedShare }: Statement): string[] {
  if (clampedShare === null) return [];
  const { count, low, high, of } = clampedShare;
  const percent = (x: number) => `${number((100 * x) / of)} %`;
  return [
    `Of ${of} values that were counted, about ${percent(Math.max(0, count))} were above θ (95 % interval ${percent(low)} to ${percent(high)}); error bars do not cover what clamping took from them.`,
  ];
}

/** The statement as a short text that a person can read. */
export function explainStatement(statement: Statement): string {
  const lines = [
    statement.private
      ? `This stream is published under ${statement.definition} with ε = ${statement.epsilon}${statement.delta === 0 ? "" : `, δ = ${statement.delta}`}.`
      : `This stream is NOT PRIVATE (${statement.randomness === RANDOMNESS.unsafe ? "it was made from a seed" : statement.noise}).`,
    ...(statement.private ? [protection(statement), ...epsilonAdvice(statement.epsilon)] : []),
    ...statement.stages.map(
      ({ stage, mechanism, epsilon, delta, values: [from, to], which }) =>
        `  ${stage}: ${mechanism}, ε = ${epsilon}${delta === 0 ? "" : `, δ = ${delta}`}, on values ${from} to ${to === null ? "the end" : to - 1}${which === undefined ? "" : `, ${which}`}`,
    ),
    statement.composition,
    ...treatment(statement),
    ...boundAdvice(statement.min, statement.max, statement.threshold),
    ...clipping(statement),
    ...statement.warnings.map((warning) => `Warning: ${warning}.`),
    `Randomness: ${statement.randomness}. Core: ${statement.core.name}${statement.core.note === "" ? "" : ` (${statement.core.note})`}.`,
    "Not protected:",
    ...statement.notProtected.map((line) => `  - ${line}`),
    softwareText(statement.software),
  ];
  return lines.join("\n");
}

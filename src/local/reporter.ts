/**
 * The device's half of ToPL: turns a private value into one ε-LDP report.
 *
 *     value ─▶ quantise to 0 … N ─▶ mechanism, exact ─▶ a cell of a public grid
 *
 * Small enough for any page: no wasm, and nothing of the server. Report every value once, in one phase.
 */
import { checkChoice, checkPositive, checkValue, checkValues, ownOptions } from "../core/checks.js";
import type { Reports } from "../core/core.js";
import { WordReader } from "../core/js/reader.js";
import { drawReport, quantised, reports as jsReports } from "../core/js/reports.js";
import type { Mechanism, Quantiser } from "../core/tables/mechanism.js";
import { type Random, secretKey, Stage, subStream } from "../core/random.js";
import { checkLocalEpsilon, hybrid, squareWave } from "./mechanisms.js";
import { gridOf, packReports, type Phase, PHASES, type Report, VERSION } from "./report.js";

export interface ReporterOptions {
  /** ε of every report, from 10⁻⁶ to 24; the whole privacy cost of the value reported. */
  readonly epsilon: number;
  /** Public upper bound of a value; values beyond it (or below 0) are clamped. */
  readonly max: number;
  /** "learn": Square Wave on [0, max]. "release": Hybrid on [0, threshold]. */
  readonly phase: Phase;
  /** θ, as the server published it: for "release" only. */
  readonly threshold?: number;
  /** Runs `reportMany`; a wasm core makes large batches faster, for simulations. Default: plain JavaScript. */
  readonly core?: Reports;
  /** Eight words that make every report repeatable, and NOT PRIVATE: for tests and papers. Default: a secret key. */
  readonly unsafeKey?: Uint32Array;
}

const OPTIONS = ["epsilon", "max", "phase", "threshold", "core", "unsafeKey"] as const;

/** How a phase turns values into cells: the same on a device and on the server. */
export interface Channel {
  readonly mechanism: Mechanism;
  readonly quantiser: Quantiser;
  readonly grid: number;
}

/** Learning puts value v into cell ⌊v·2²⁰/max⌋; releasing takes the nearest multiple of θ/2²⁰, off by θ/2²¹ at most. */
export function makeChannel(phase: Phase, epsilon: number, bound: number): Channel {
  const grid = gridOf(phase, epsilon, bound);
  if (phase === "learn") {
    const mechanism = squareWave(epsilon);
    return { mechanism, grid, quantiser: { scale: (mechanism.top + 1) / bound, shift: 0 } };
  }
  const mechanism = hybrid(epsilon);
  return { mechanism, grid, quantiser: { scale: mechanism.top / bound, shift: 0.5 } };
}

export class Reporter {
  readonly phase: Phase;
  /** False when made with `unsafeKey`. */
  readonly private: boolean;
  readonly #channel: Channel;
  readonly #core: Reports;
  readonly #random: Random;
  #reader: WordReader;

  constructor(asked: ReporterOptions) {
    const options = ownOptions("reporter", asked, OPTIONS);
    const { max, threshold, core = jsReports, unsafeKey } = options;
    this.phase = checkChoice("phase", options.phase, PHASES);
    const epsilon = checkLocalEpsilon("epsilon", options.epsilon);
    checkPositive("max", max);
    this.#channel = makeChannel(this.phase, epsilon, checkBound(this.phase, max, threshold));
    if (unsafeKey !== undefined && !(unsafeKey instanceof Uint32Array && unsafeKey.length === 8))
      throw new TypeError("unsafeKey: expected a Uint32Array of 8 words");
    this.private = unsafeKey === undefined;
    this.#core = core;
    this.#random = subStream(unsafeKey ?? secretKey(), Stage.reports, PHASES.indexOf(this.phase), 0);
    this.#reader = new WordReader(this.#random);
  }

  /** One report of one value. NaN and infinities are refused; values outside [0, max] are clamped. */
  report(value: number): Report {
    const { mechanism, quantiser } = this.#channel;
    const x = quantised(checkValue(value), quantiser, mechanism.top);
    return this.#wrap(drawReport(this.#reader, mechanism, x));
  }

  /** One packed report of 8 bytes per value, in order: the same reports as one by one. */
  reportMany(values: Float64Array | readonly number[]): Uint8Array {
    const checked = checkValues(values);
    const cells = new Uint32Array(checked.length);
    const { mechanism, quantiser } = this.#channel;
    this.#reader.finish();
    this.#core.fillReports(this.#random, mechanism, quantiser, checked, cells);
    this.#reader = new WordReader(this.#random);
    return packReports(this.phase, this.#channel.grid, cells);
  }

  #wrap(cell: number): Report {
    return { version: VERSION, phase: this.phase, grid: this.#channel.grid, cell };
  }
}

/** The upper end of the phase's domain. */
function checkBound(phase: Phase, max: number, threshold: number | undefined): number {
  if (phase === "learn") {
    if (threshold !== undefined)
      throw new TypeError('threshold: expected none in phase "learn"; it is what the server learns');
    return max;
  }
  if (checkPositive("threshold", threshold) > max)
    throw new RangeError(`threshold: expected at most max = ${max}, got ${threshold}`);
  return threshold!;
}

/** A device's reporter: `reporter({ epsilon: 1, max: 500, phase: "learn" }).report(value)`. */
export const reporter = (options: ReporterOptions): Reporter => new Reporter(options);

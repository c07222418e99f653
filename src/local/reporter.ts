/**
 * The device's half of ToPL: turns a private value into one ε-LDP report.
 *
 *     value ─▶ quantise to 0 … N ─▶ mechanism, exact ─▶ a cell of a public grid
 *
 * Small enough for any page: no wasm, and nothing of the server. Report every value once, in one phase.
 */
import { checkChoice, checkFinite, checkText, checkValue, ownOptions } from "../core/checks.js";
import type { CoreChoice } from "../core/choose.js";
import type { Reports } from "../core/core.js";
import { chachaBlock, initialState } from "../core/js/chacha.js";
import { drawReport, quantised } from "../core/js/reports.js";
import { Words } from "../core/js/words.js";
import { type Random, secretKey, Stage, subStream } from "../core/random.js";
import { type Channel, checkMax, checkThreshold, makeChannel } from "./channel.js";
import { checkLocalEpsilon } from "./mechanisms.js";
import { packReports, type Phase, PHASES, type Report, REPORT_BYTES, VERSION } from "./report.js";

export interface ReporterOptions {
  /** ε of every report, from 10⁻⁶ to 24; the whole privacy cost of the value reported. Write it into the app. */
  readonly epsilon: number;
  /** Public upper bound of a value; values beyond it (or below 0) are clamped. Write it into the app. */
  readonly max: number;
  /** "learn": Square Wave on [0, max]. "release": Hybrid on [0, threshold]. */
  readonly phase: Phase;
  /** θ, as the server published it: for "release" only. One of 321 public thresholds; any other is refused. */
  readonly threshold?: number;
  /** Runs `reportMany`; wasm makes large batches faster, for simulations. `brume/reporter` has JavaScript only. */
  readonly core?: CoreChoice;
  /** Makes every report repeatable, and NOT PRIVATE: for tests and papers. Default: a secret key. */
  readonly unsafeSeed?: string;
}

const OPTIONS = ["epsilon", "max", "phase", "threshold", "core", "unsafeSeed"];

export class Reporter {
  readonly phase: Phase;
  /** False when made with `unsafeSeed`. */
  readonly private: boolean;
  readonly #channel: Channel;
  readonly #core: Reports;
  readonly #random: Random;
  #reader: Words;

  /** @param coreOf checks the choice and finds the core: without wasm on a device */
  constructor(options: ReporterOptions, coreOf: (choice?: CoreChoice) => Reports) {
    const { phase, epsilon, max, threshold, core, unsafeSeed } = ownOptions("reporter", options, OPTIONS);
    this.phase = checkChoice("phase", phase, PHASES);
    const bound = checkBound(this.phase, checkMax(max), threshold);
    this.#channel = makeChannel(this.phase, checkLocalEpsilon("epsilon", epsilon), bound);
    this.#core = coreOf(core);
    this.private = unsafeSeed === undefined;
    const key = unsafeSeed === undefined ? secretKey() : keyFromSeed(checkText("unsafeSeed", unsafeSeed));
    this.#random = subStream(key, Stage.reports, PHASES.indexOf(this.phase), 0);
    this.#reader = new Words(this.#random);
  }

  /** One report of one value. NaN and infinities are refused; values outside [0, max] are clamped. */
  report(value: number): Report {
    const { mechanism, quantiser, grid } = this.#channel;
    const x = quantised(checkValue(value), quantiser, mechanism.top);
    return { version: VERSION, phase: this.phase, grid, cell: drawReport(this.#reader, mechanism, x) };
  }

  /** One packed report of 8 bytes per value, in order: the same reports as one by one. */
  reportMany(values: Float64Array | readonly number[]): Uint8Array {
    const checked = checkFinite(
      Float64Array.from(values, (value: unknown) => (typeof value === "number" ? value : NaN)),
    );
    const { mechanism, quantiser, grid } = this.#channel;
    const cells = new Uint32Array(checked.length);
    const bytes = new Uint8Array(REPORT_BYTES * checked.length);
    this.#reader.finish();
    this.#core.fillReports(this.#random, mechanism, quantiser, checked, cells);
    this.#reader = new Words(this.#random);
    packReports(this.phase, grid, cells, bytes);
    return bytes;
  }
}

/** The upper end of the phase's domain. */
function checkBound(phase: Phase, max: number, threshold: number | undefined): number {
  if (phase === "release") return checkThreshold(threshold, max);
  if (threshold !== undefined) throw new TypeError('threshold: expected none in phase "learn"');
  return max;
}

/**
 * A key that anyone who knows `seed` can make again. ChaCha20 mixes 32 bytes of the seed at a time into it, so a device
 * needs no second generator.
 */
function keyFromSeed(seed: string): Uint32Array {
  const bytes = new TextEncoder().encode(seed);
  const key = new Uint32Array(8);
  const block = new Uint32Array(16);
  const mix = () => {
    chachaBlock(initialState({ key, nonce: key.subarray(0, 3), position: 0 }), bytes.length, block, 0);
    key.set(block.subarray(0, 8));
  };
  bytes.forEach((byte, i) => {
    key[(i >> 2) & 7]! ^= byte << (8 * i); // shifts count modulo 32
    if (i % 32 === 31) mix();
  });
  mix();
  return key;
}

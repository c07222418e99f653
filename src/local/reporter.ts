/**
 * The device's half of ToPL: turns a private value into one ε-LDP report.
 *
 *     value ─▶ clamp to θ, quantise to 0 … N ─▶ mechanism, exact ─▶ a cell of a public grid
 *
 * Small enough for any page: no wasm, and nothing of the server. Report every value once.
 */
import { checkFinite, checkText, checkValue, ownOptions } from "../core/checks.js";
import type { CoreChoice } from "../core/choose.js";
import type { Reports } from "../core/core.js";
import { chachaBlock, initialState } from "../core/js/chacha.js";
import { drawReport, quantised } from "../core/js/reports.js";
import { Words } from "../core/js/words.js";
import { type Random, secretKey, Purpose, subStream } from "../core/random.js";
import { type Channel, checkMax, checkThreshold, makeChannel } from "./channel.js";
import { checkLocalEpsilon } from "./mechanisms.js";
import { kindOf, packReports, type Phase, type Report, REPORT_BYTES, reportOf } from "./report.js";

export interface ReporterOptions {
  /** ε of every report, from 10⁻⁶ to 24; the whole privacy cost of the value reported. Write it into the app. */
  readonly epsilon: number;
  /** Public upper bound of a value; values beyond it (or below 0) are clamped. Write it into the app. */
  readonly max: number;
  /**
   * θ of the day, as the server's `terms()` has it: values above it are clamped to it. One of 321 public thresholds; any
   * other is refused. Default: `max`.
   */
  readonly threshold?: number;
  /** Runs `reportMany`; wasm makes large batches faster, for simulations. `brume/reporter` has JavaScript only. */
  readonly core?: CoreChoice;
  /** Makes every report repeatable, and NOT PRIVATE: for tests and papers. Default: a secret key. */
  readonly unsafeSeed?: string;
}

const OPTIONS = ["epsilon", "max", "threshold", "core", "unsafeSeed"];

/** Finds the core of a choice: without wasm on a device. */
export type CoreOf = (choice?: CoreChoice) => Reports;

/** A reporter for the reports of a day. */
export function dayReporter(options: ReporterOptions, coreOf: CoreOf): Reporter {
  if (Object.hasOwn(options, "phase"))
    throw new TypeError(
      'phase: expected none, since reports count from the first one; omit it, or take reporter from "brume" with variant: "paper"',
    );
  const { epsilon, max, threshold, core, unsafeSeed } = ownOptions("reporter", options, OPTIONS);
  const bound = checkMax(max);
  const theta = threshold === undefined ? bound : checkThreshold(threshold, bound);
  return new Reporter(makeChannel(checkLocalEpsilon("epsilon", epsilon), theta), coreOf(core), unsafeSeed);
}

export class Reporter {
  /** Whether reports learn θ or are released: with `variant: "paper"` only. */
  readonly phase: Phase | undefined;
  /** False when made with `unsafeSeed`. */
  readonly private: boolean;
  readonly #channel: Channel;
  readonly #core: Reports;
  readonly #random: Random;
  #reader: Words;

  constructor(channel: Channel, core: Reports, unsafeSeed: string | undefined) {
    this.phase = channel.phase;
    this.#channel = channel;
    this.#core = core;
    this.private = unsafeSeed === undefined;
    const key = unsafeSeed === undefined ? secretKey() : keyFromSeed(checkText("unsafeSeed", unsafeSeed));
    this.#random = subStream(key, Purpose.reports, kindOf(this.phase), 0);
    this.#reader = new Words(this.#random);
  }

  /** One report of one value. NaN and infinities are refused; values outside [0, max] are clamped. */
  report(value: number): Report {
    const { mechanism, quantiser, grid } = this.#channel;
    const x = quantised(checkValue(value), quantiser, mechanism.top);
    return reportOf(this.phase, grid, drawReport(this.#reader, mechanism, x));
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

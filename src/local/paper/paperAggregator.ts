/**
 * The server's half of the paper's ToPL, in two phases.
 *
 *     learn-reports ─▶ histogram ─▶ EM ─▶ θ, public ─▶ devices
 *     release-reports, in stream order ─▶ unbiased values ─▶ ranges
 *
 * Everything that comes in is ε-LDP already: nothing here can spend privacy, and everything here may be published. What is
 * counted is whole numbers (tally.ts), so aggregators of many workers add up to one.
 */
import { checkConfidence, checkNumber, checkRange, ownOptions } from "../../core/checks.js";
import { chooseData } from "../../core/choose.js";
import type { DataCore } from "../../core/core.js";
import { type PaperAnswer, makePaperAnswer } from "./answer.js";
import { type Channel, nearestThreshold } from "../channel.js";
import { type EmResult, pauses, type RunOptions } from "../em.js";
import { type DistributionOptions, type Estimated, estimateFrom, startFrom } from "../estimate.js";
import {
  addRejections,
  noRejections,
  readReports,
  type RejectedCounts,
  type ReportBatch,
} from "../intake.js";
import { BINS, hybrid } from "../mechanisms.js";
import { estimator, worstVariance } from "../moments.js";
import {
  type LocalQuantile,
  type LocalShare,
  type PercentileOptions,
  percentileOptions,
  quantileOf,
  shareOf,
} from "../percentiles.js";
import { paperChannel } from "./paperChannel.js";
import { RecentReports } from "./recentReports.js";
import { PAPER_OPTIONS, type PaperOptions, type PaperSettings, settingsOf } from "./settings.js";
import { decodeLocalState, encodeLocalState } from "./state.js";
import { explainPaper, type PaperStatement, paperStatement } from "./statement.js";
import { addSums, type CellSums, estimatedSum, NO_REPORTS, possibleSums, sumsOf } from "./sums.js";
import { checkTotals, decodeTally, encodeTally } from "./tally.js";

/** An estimated distribution of the values: bin j of n holds [j, j + 1)·max/n. */
export interface Distribution extends EmResult {
  /** Width of a bin, in units of the stream. */
  readonly binWidth: number;
}

export interface PaperRangeOptions {
  /** Probability of the interval [low, high]. Default 0.95. */
  readonly confidence?: number;
}

/** θ and everything that follows from it. */
export interface ChosenThreshold {
  readonly theta: number;
  /** E (v − θ)₊ by the estimate: what clamping hides of a value, on average. Undefined where θ was given. */
  readonly excess: number | undefined;
  readonly channel: Channel;
}

export class PaperAggregator {
  readonly #settings: PaperSettings;
  readonly #core: DataCore;
  readonly #learning: Channel;
  readonly #counts = new Float64Array(BINS);
  #rejected: Readonly<RejectedCounts> = noRejections();
  #learned = 0;
  /** The last estimate, and how many learn-reports it is from. */
  #estimated: { readonly learned: number; readonly estimated: Estimated } | undefined;
  #chosen: ChosenThreshold | undefined;
  /** Own release-reports in order, and the sums of all, merged ones included. */
  #recent: RecentReports | undefined;
  #released: CellSums = NO_REPORTS;
  /** While the caller's iterator or getters run. */
  #reading = false;

  constructor(options: PaperOptions) {
    const own = ownOptions("aggregator", options, PAPER_OPTIONS);
    const s = (this.#settings = settingsOf(own));
    this.#core = chooseData(own.core);
    this.#learning = paperChannel("learn", s.learnEpsilon, s.max);
    if (s.threshold !== undefined) this.#choose(s.threshold, undefined);
  }

  /** Learn-reports counted so far; `threshold` wants `holdout` of them. */
  get learned(): number {
    return this.#learned;
  }

  /** Values published so far: positions that `range` knows. */
  get length(): number {
    return this.#recent?.count ?? 0;
  }

  /** Release-reports counted so far, merged ones included: what `total` is about. */
  get released(): number {
    return this.#released.reports;
  }

  /** Reports rejected so far, by reason. */
  get rejected(): Readonly<RejectedCounts> {
    return { ...this.#rejected };
  }

  /** Takes learn-reports, in any order and any batches. Returns how many were taken. */
  learn(batch: ReportBatch): number {
    const { mechanism } = this.#learning;
    const { cells, rejected } = this.#read("learn", batch, this.#learning);
    const taken = Math.min(cells.length, Math.max(0, this.#settings.holdout - this.#learned));
    const binCells = (mechanism.top + mechanism.width + 1) / BINS;
    for (let i = 0; i < taken; i++) this.#counts[Math.floor(cells[i]! / binCells)]!++;
    this.#rejected = addRejections(this.#rejected, { ...rejected, late: cells.length - taken });
    this.#learned += taken;
    return taken;
  }

  /** The distribution of the values, from the learn-reports so far. Lets other work run while it computes. */
  async distribution(options: DistributionOptions = {}): Promise<Distribution> {
    const { from, ...run } = ownOptions("run", options, ["onProgress", "signal", "from"]);
    const { found, choice } = await this.#estimate(run, from && startFrom(from));
    return { ...found, shares: choice.shares.slice(), binWidth: this.#settings.max / BINS };
  }

  /** The p-quantile of the values, from the learn-reports so far, with an interval that covers. 0 < p < 1. */
  async quantile(p: number, options: PercentileOptions = {}): Promise<LocalQuantile> {
    const { confidence, run } = percentileOptions("quantile", options);
    checkNumber("p", p, Number.MIN_VALUE, 1 - Number.EPSILON);
    const { histogram, choice } = await this.#estimate(run);
    return quantileOf(histogram, choice.shares, this.#settings.max, p, confidence);
  }

  /** The share of values below x, from the learn-reports so far, with an interval that covers. */
  async cdf(x: number, options: PercentileOptions = {}): Promise<LocalShare> {
    const { confidence, run } = percentileOptions("cdf", options);
    checkNumber("x", x, -Number.MAX_VALUE, Number.MAX_VALUE);
    const { histogram, choice } = await this.#estimate(run);
    return shareOf(histogram, choice.shares, this.#settings.max, x, confidence);
  }

  /** θ, to be sent to the devices. Chosen once, when `holdout` learn-reports are in; later calls return the same. */
  async threshold(run: RunOptions = {}): Promise<number> {
    if (this.#chosen) return this.#chosen.theta;
    const { holdout, max } = this.#settings;
    if (this.#learned < holdout)
      throw new RangeError(`threshold: expected ${holdout} learn-reports, got ${this.#learned} so far`);
    const { choice } = await this.#estimate(run);
    if (this.#chosen === undefined)
      this.#choose(nearestThreshold(choice.share * max, max), (choice.excess * max) / BINS);
    return this.#chosen!.theta;
  }

  /** The estimate from the learn-reports so far; computed again when more have come. */
  async #estimate(run: RunOptions, from?: Float64Array): Promise<Estimated> {
    const learned = this.#learned;
    if (learned === 0) throw new RangeError("distribution: expected learn-reports, got none so far");
    pauses(run); // checks its options, whether or not there is work to do
    if (this.#estimated?.learned === learned && from === undefined) return this.#estimated.estimated;
    const { mechanism } = this.#learning;
    const counts = this.#counts.slice();
    const release = hybrid(this.#settings.epsilon);
    const estimated = await estimateFrom(this.#core, counts, mechanism, release, this.#settings, run, from);
    if (from === undefined) this.#estimated = { learned, estimated }; // θ depends on the reports alone
    return estimated;
  }

  #choose(theta: number, excess: number | undefined): void {
    const channel = paperChannel("release", this.#settings.epsilon, theta);
    this.#recent = new RecentReports(this.#settings.history, channel.mechanism); // if there is memory for it
    this.#chosen = { theta, excess, channel };
  }

  /**
   * Takes release-reports in stream order and publishes an unbiased value for each one taken: rejected ones leave no
   * gap. Very noisy one by one; their sum is unbiased.
   */
  release(batch: ReportBatch): Float64Array {
    const chosen = this.#chosen;
    const { cells, rejected } = this.#read("release", batch, chosen?.channel);
    const published = new Float64Array(cells.length);
    if (chosen !== undefined) {
      const { mechanism } = chosen.channel;
      const valueOf = estimator(mechanism);
      for (let i = 0; i < cells.length; i++) published[i] = valueOf(cells[i]!) * chosen.theta;
      const released = addSums(this.#released, sumsOf(cells, mechanism));
      this.#recent!.add(cells);
      this.#released = released;
    }
    this.#rejected = addRejections(this.#rejected, rejected);
    return published;
  }

  /** Sum and mean of the values at positions [from, to) of the published stream, with error bars. O(1). */
  range(from: number, to: number, options: PaperRangeOptions = {}): PaperAnswer {
    const { confidence = 0.95 } = ownOptions("range", options, ["confidence"]);
    checkConfidence(confidence);
    const recent = this.#recent;
    checkRange("range", from, to, { length: this.length, oldest: recent?.oldest ?? 0 }, "history");
    return this.#answer(recent?.between(from, to) ?? NO_REPORTS, confidence);
  }

  /** Sum and mean of all release-reports, merged ones included. */
  total(options: PaperRangeOptions = {}): PaperAnswer {
    const { confidence = 0.95 } = ownOptions("total", options, ["confidence"]);
    checkConfidence(confidence);
    return this.#answer(this.#released, confidence);
  }

  #answer(sums: CellSums, confidence: number): PaperAnswer {
    if (this.#chosen === undefined || sums.reports === 0) return makePaperAnswer(0, 0, 0, 0, confidence);
    const { theta, excess, channel } = this.#chosen;
    const { reports } = sums;
    const standardError = theta * Math.sqrt(reports * worstVariance(channel.mechanism));
    const sum = theta * estimatedSum(sums, channel.mechanism);
    const clipped = excess === undefined ? null : excess * reports;
    return makePaperAnswer(sum, reports, standardError, clipped, confidence);
  }

  /** All that was counted, as public bytes of fixed length for `merge`. */
  tally(): Uint8Array {
    const { theta, excess } = this.#chosen ?? { theta: undefined, excess: undefined };
    const [counts, rejected, released] = [this.#counts, this.#rejected, this.#released];
    return encodeTally({ grid: this.#learning.grid, counts, rejected, theta, excess, released });
  }

  /**
   * Adds what another aggregator has counted: its learn-reports, its release-reports to `total`, and its θ if there is none
   * here. Positions of `range` stay those of this one. Merge every tally once; a failed merge changes nothing.
   */
  merge(other: PaperAggregator | Uint8Array): void {
    this.#checkIdle("merge");
    if (other === this) throw new RangeError("merge: expected another aggregator, got the same one");
    const tally = decodeTally(other instanceof PaperAggregator ? other.tally() : other, this.#settings.max);
    const { theta, excess, released } = tally;
    if (tally.grid !== this.#learning.grid)
      throw new RangeError("merge: expected a tally of the same ε and max, got one of others");
    if (theta !== undefined && this.#chosen !== undefined && theta !== this.#chosen.theta)
      throw new RangeError(
        `merge: expected a tally with θ = ${this.#chosen.theta}, got one with θ = ${theta}`,
      );
    const { mechanism } = paperChannel("release", this.#settings.epsilon, theta ?? this.#settings.max);
    if (theta === undefined ? released.reports > 0 : !possibleSums(released, mechanism))
      throw new RangeError(
        "tally: expected sums that release-reports can have, got others; the bytes are damaged",
      );
    const learned = tally.counts.reduce((sum, count) => sum + count, this.#learned);
    const sums = addSums(this.#released, released);
    const rejected = addRejections(this.#rejected, tally.rejected);
    checkTotals([learned, sums.reports, ...Object.values(rejected)]);
    if (theta !== undefined && this.#chosen === undefined) this.#choose(theta, excess);
    else if (theta !== undefined) this.#chosen = { ...this.#chosen!, excess: this.#chosen!.excess ?? excess };
    tally.counts.forEach((count, i) => (this.#counts[i]! += count));
    this.#learned = learned;
    this.#released = sums;
    this.#rejected = rejected;
  }

  /** Everything, as public bytes: `resume` continues from them with the same options. */
  get state(): Uint8Array<ArrayBuffer> {
    const cells = this.#recent?.kept ?? new Uint32Array(0);
    return encodeLocalState({ tally: this.tally(), length: this.length, cells });
  }

  static resume(options: PaperOptions, state: Uint8Array): PaperAggregator {
    const { tally, length, cells } = decodeLocalState(state);
    const aggregator = new PaperAggregator(options);
    aggregator.merge(tally);
    const mechanism = aggregator.#chosen?.channel.mechanism;
    if (mechanism !== undefined)
      aggregator.#recent = RecentReports.resume(aggregator.#settings.history, mechanism, length, cells);
    return aggregator;
  }

  /** The privacy statement of this aggregation, for machines. */
  statement(): PaperStatement {
    return paperStatement(this.#settings, this.#core.name, this, this.#learning, this.#chosen);
  }

  /** The privacy statement of this aggregation for people, as a short text. */
  explain(): string {
    return explainPaper(this.statement());
  }

  /** Reads a batch before anything changes. A batch within a batch has no place in the order, so it is an error. */
  #read(
    call: "learn" | "release",
    batch: ReportBatch,
    channel: Channel | undefined,
  ): { readonly cells: Uint32Array; readonly rejected: RejectedCounts } {
    this.#checkIdle(call);
    const wanted = channel && { phase: call, grid: channel.grid, cells: channel.mechanism.cells };
    this.#reading = true;
    try {
      const { cells, rejected } = readReports(batch, wanted === undefined ? [] : [wanted]);
      return { cells: cells[0] ?? new Uint32Array(0), rejected };
    } finally {
      this.#reading = false;
    }
  }

  #checkIdle(call: string): void {
    if (this.#reading)
      throw new Error(
        `${call}: expected no call while a batch is being read; take one batch after the other`,
      );
  }
}

/** A server's aggregator: `paperAggregator({ epsilon: 1, max: 500 })`. */
export const paperAggregator = (options: PaperOptions): PaperAggregator => new PaperAggregator(options);

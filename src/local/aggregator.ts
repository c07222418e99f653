/**
 * The server's half of ToPL.
 *
 *     learn-reports ─▶ histogram ─▶ EM ─▶ θ, public ─▶ devices
 *     release-reports, in stream order ─▶ unbiased values ─▶ ranges
 *
 * Everything that comes in is ε-LDP already: nothing here can spend privacy, and everything here may be published.
 */
import { checkChoice, checkConfidence, checkInteger, checkRange, ownOptions } from "../core/checks.js";
import { chooseCore, type CoreChoice } from "../core/choose.js";
import type { Core } from "../core/core.js";
import { makeTransition } from "../core/tables/transition.js";
import { type LocalAnswer, makeLocalAnswer } from "./answer.js";
import { type Channel, checkMax, makeChannel, nearestThreshold } from "./channel.js";
import { type Estimate, estimate, likelihoods, pauses, type RunOptions } from "./em.js";
import { type Intake, noRejections, readReports, type RejectedCounts, type ReportBatch } from "./intake.js";
import { BINS, checkLocalEpsilon, hybrid } from "./mechanisms.js";
import { cellProbabilities, estimator, worstVariance } from "./moments.js";
import { explainLocal, type LocalStatement, localStatement } from "./statement.js";
import { RecentSums } from "./sums.js";
import { resolutionOf } from "./tails.js";
import { chooseThreshold, type Objective, type Tail } from "./threshold.js";

export interface AggregatorOptions {
  /** ε of every report. */
  readonly epsilon: number;
  /** Public upper bound of a value. */
  readonly max: number;
  /** Learn-reports wanted; θ is chosen from all of them. Default 65 536. */
  readonly holdout?: number;
  /** Longest range that queries are expected to span, r: θ is chosen for it. Default 2²⁰. */
  readonly maxRange?: number;
  /** Published values that `range` can reach back to, 8 bytes each. Default `maxRange`, at most 2²⁷. */
  readonly history?: number;
  readonly core?: CoreChoice;
  /** What few users need. */
  readonly tuning?: AggregatorTuning;
}

export interface AggregatorTuning {
  /** ε of the learn-reports, if they have another one. Default: `epsilon`. */
  readonly learnEpsilon?: number;
  /** "em": as it is. "ems": smoothed after every update. Default "em". */
  readonly estimator?: "em" | "ems";
  /**
   * What the estimate says of the tail: "models" averages over models of it (tails.ts), "paper" cuts it at 5 shares below
   * 0.01 %, "whole" leaves it. Default "models".
   */
  readonly tail?: Tail;
  /** "exact" averages over random ranges; "paper" is Eq. 8 as printed. Default "exact". */
  readonly objective?: Objective;
}

const OPTIONS = ["epsilon", "max", "holdout", "maxRange", "history", "core", "tuning"];
const TUNING = ["learnEpsilon", "estimator", "tail", "objective"];

/** All settings with their defaults. */
export type LocalSettings = Required<Omit<AggregatorOptions, "core" | "tuning"> & AggregatorTuning>;

/** An estimated distribution of the values: bin j of n holds [j, j + 1)·max/n. */
export interface Distribution extends Estimate {
  /** Width of a bin, in units of the stream. */
  readonly binWidth: number;
}

export interface LocalRangeOptions {
  /** Probability of the interval [low, high]. Default 0.95. */
  readonly confidence?: number;
}

/** θ and everything that follows from it. */
export interface ChosenThreshold {
  readonly theta: number;
  /** E (v − θ)₊ by the estimate: what clamping hides of a value, on average. */
  readonly excess: number;
  readonly channel: Channel;
}

export class Aggregator {
  readonly #settings: LocalSettings;
  readonly #core: Core;
  readonly #learning: Channel;
  readonly #counts = new Float64Array(BINS);
  readonly #rejected = noRejections();
  readonly #sums: RecentSums;
  #learned = 0;
  #chosen: ChosenThreshold | undefined;
  /** While the caller's iterator or getters run. */
  #reading = false;

  constructor(options: AggregatorOptions) {
    const own = ownOptions("aggregator", options, OPTIONS);
    const s = (this.#settings = settingsOf(own));
    this.#core = chooseCore(own.core);
    this.#learning = makeChannel("learn", s.learnEpsilon, s.max);
    this.#sums = new RecentSums(s.history);
  }

  /** Learn-reports taken so far; `threshold` wants `holdout` of them. */
  get learned(): number {
    return this.#learned;
  }

  /** Values published so far. */
  get length(): number {
    return this.#sums.count;
  }

  /** Reports rejected so far, by reason. */
  get rejected(): Readonly<RejectedCounts> {
    return { ...this.#rejected };
  }

  /** Takes learn-reports, in any order and any batches. Returns how many were taken. */
  learn(batch: ReportBatch): number {
    const { mechanism } = this.#learning;
    const { cells, rejected } = this.#read("learn", batch, this.#learning);
    const taken = Math.min(cells.length, this.#settings.holdout - this.#learned);
    const binCells = (mechanism.top + mechanism.width + 1) / BINS;
    for (let i = 0; i < taken; i++) this.#counts[Math.floor(cells[i]! / binCells)]!++;
    this.#reject({ ...rejected, late: cells.length - taken });
    this.#learned += taken;
    return taken;
  }

  /** The distribution of the values, from the learn-reports so far. Lets other work run while it computes. */
  async distribution(run: RunOptions = {}): Promise<Distribution> {
    const { estimate, shares } = await this.#estimate(run);
    return { ...estimate, shares, binWidth: this.#settings.max / BINS };
  }

  /** θ, to be sent to the devices. Chosen once, when `holdout` learn-reports are in; later calls return the same. */
  async threshold(run: RunOptions = {}): Promise<number> {
    if (this.#chosen) return this.#chosen.theta;
    const { holdout, epsilon, max } = this.#settings;
    if (this.#learned < holdout)
      throw new RangeError(`threshold: expected ${holdout} learn-reports, got ${this.#learned} so far`);
    const { share, excess } = await this.#estimate(run);
    const theta = nearestThreshold(share * max, max);
    this.#chosen ??= {
      theta,
      excess: (excess * max) / BINS,
      channel: makeChannel("release", epsilon, theta),
    };
    return this.#chosen.theta;
  }

  /** EM's estimate; the distribution that `tail` makes of it; the best θ as a share of `max`; what it hides, in bins. */
  async #estimate(run: RunOptions) {
    if (this.#learned === 0) throw new RangeError("distribution: expected learn-reports, got none so far");
    const { epsilon, estimator } = this.#settings;
    const { mechanism } = this.#learning;
    const { inside, outside } = cellProbabilities(mechanism);
    const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
    const counts = this.#counts.slice();
    const resolution = resolutionOf(mechanism.epsilon, this.#learned);
    const steps = (estimates: Float64Array, predicted: Float64Array) =>
      this.#core.emSteps(transition, counts, estimator === "ems", estimates, predicted);
    const found = await estimate(steps, counts, run);
    const evidence = { shares: found.shares, resolution, logLikelihood: likelihoods(steps, counts) };
    const pause = pauses(run);
    const choice = await chooseThreshold(evidence, this.#settings, hybrid(epsilon), () => pause());
    return { estimate: found, ...choice };
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
      const valueOf = estimator(chosen.channel.mechanism);
      for (let i = 0; i < cells.length; i++) published[i] = valueOf(cells[i]!) * chosen.theta;
      this.#sums.add(published);
    }
    this.#reject(rejected);
    return published;
  }

  /** Sum and mean of the values at positions [from, to) of the published stream, with error bars. O(1). */
  range(from: number, to: number, options: LocalRangeOptions = {}): LocalAnswer {
    const { confidence = 0.95 } = ownOptions("range", options, ["confidence"]);
    checkConfidence(confidence);
    checkRange("range", from, to, { length: this.#sums.count, oldest: this.#sums.oldest }, "history");
    if (this.#chosen === undefined || from === to) return makeLocalAnswer(0, 0, 0, 0, confidence);
    const { theta, excess, channel } = this.#chosen;
    const length = to - from;
    const standardError = theta * Math.sqrt(length * worstVariance(channel.mechanism));
    return makeLocalAnswer(this.#sums.between(from, to), length, standardError, excess * length, confidence);
  }

  /** What this aggregation is, for machines. */
  statement(): LocalStatement {
    return localStatement(this.#settings, this.#core.name, this, this.#learning, this.#chosen);
  }

  /** The same, for people. */
  explain(): string {
    return explainLocal(this.statement());
  }

  /** Reads a batch before anything changes. A batch within a batch has no place in the order, so it is an error. */
  #read(call: "learn" | "release", batch: ReportBatch, channel: Channel | undefined): Intake {
    if (this.#reading)
      throw new Error(
        `${call}: expected no call while a batch is being read; take one batch after the other`,
      );
    const wanted = channel && { phase: call, grid: channel.grid, cells: channel.mechanism.cells };
    this.#reading = true;
    try {
      return readReports(batch, wanted);
    } finally {
      this.#reading = false;
    }
  }

  #reject(counts: RejectedCounts): void {
    for (const reason of Object.keys(counts) as (keyof RejectedCounts)[])
      this.#rejected[reason] += counts[reason];
  }
}

/** @param options own properties only */
function settingsOf(options: AggregatorOptions): LocalSettings {
  const tuning = ownOptions("tuning", options.tuning ?? {}, TUNING);
  const epsilon = checkLocalEpsilon("epsilon", options.epsilon);
  const maxRange = checkInteger("maxRange", options.maxRange ?? 2 ** 20, 1, 2 ** 40);
  return {
    epsilon,
    learnEpsilon: checkLocalEpsilon("learnEpsilon", tuning.learnEpsilon ?? epsilon),
    max: checkMax(options.max),
    holdout: checkInteger("holdout", options.holdout ?? 65_536, 1, 2 ** 40),
    maxRange,
    estimator: checkChoice("estimator", tuning.estimator ?? "em", ["em", "ems"]),
    tail: checkChoice("tail", tuning.tail ?? "models", ["models", "paper", "whole"]),
    objective: checkChoice("objective", tuning.objective ?? "exact", ["exact", "paper"]),
    history: checkInteger("history", options.history ?? Math.min(maxRange, 2 ** 27), 1, 2 ** 27),
  };
}

/** A server's aggregator: `aggregator({ epsilon: 1, max: 500 })`. */
export const aggregator = (options: AggregatorOptions): Aggregator => new Aggregator(options);

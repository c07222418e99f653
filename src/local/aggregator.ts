/**
 * The server's half of ToPL.
 *
 *     learn-reports ─▶ histogram ─▶ EM ─▶ θ, public ─▶ devices
 *     release-reports, in stream order ─▶ unbiased values ─▶ ranges
 *
 * All it ever sees is ε-LDP already: nothing here can spend privacy, and everything here may be published.
 */
import { checkChoice, checkInteger, checkPositive, checkRange, ownOptions } from "../core/checks.js";
import { chooseCore, type CoreChoice } from "../core/choose.js";
import type { Core } from "../core/core.js";
import { makeTransition } from "../core/tables/transition.js";
import { acceleratedEstimate } from "./accelerate.js";
import { explainLocal, type LocalStatement, localStatement } from "./statement.js";
import { type LocalAnswer, makeLocalAnswer } from "./answer.js";
import { type Estimate, estimate, type RunOptions } from "./em.js";
import { type ReportBatch, noRefusals, type RejectedCounts, takeReports } from "./batch.js";
import { BINS, checkLocalEpsilon } from "./mechanisms.js";
import { cellProbabilities, estimator, worstVariance } from "./moments.js";
import { type Channel, makeChannel } from "./reporter.js";
import { RecentSums } from "./sums.js";
import {
  bestThreshold,
  expectedExcess,
  noisePruning,
  type Objective,
  PAPER_PRUNING,
  prunedTail,
} from "./threshold.js";

export interface AggregatorOptions {
  /** ε of every report. */
  readonly epsilon: number;
  /** ε of the learn-reports, if they have another one. Default: `epsilon`. */
  readonly learnEpsilon?: number;
  /** Public upper bound of a value. */
  readonly max: number;
  /** Learn-reports wanted; θ is chosen from all of them. Default 65 536. */
  readonly holdout?: number;
  /** Longest range that queries are expected to span, r: θ is chosen for it. Default 2²⁰. */
  readonly maxRange?: number;
  /** "em": as it is. "ems": smoothed after every update. Default "em". */
  readonly estimator?: "em" | "ems";
  /**
   * Cut the tail of the estimate where it has died out: "noise" by what the reports can tell, "paper" at 5 shares below 0.01 %.
   * Default "noise".
   */
  readonly prune?: "noise" | "paper" | false;
  /** "exact" averages over random ranges; "paper" is Eq. 8 as printed. Default "exact". */
  readonly objective?: Objective;
  /** SQUAREM: sooner at a higher likelihood, with a rougher estimate. Default false. */
  readonly accelerate?: boolean;
  /** Published values that `range` can reach back to, 8 bytes each. Default `maxRange`. */
  readonly history?: number;
  readonly core?: CoreChoice;
}

const OPTIONS = [
  "epsilon",
  "learnEpsilon",
  "max",
  "holdout",
  "maxRange",
  "estimator",
  "prune",
  "objective",
  "accelerate",
  "history",
  "core",
] as const;

/** An estimated distribution of the values: bin j of n holds [j, j + 1)·max/n. */
export interface Distribution extends Estimate {
  /** Width of a bin, in units of the stream. */
  readonly binWidth: number;
}

/** θ and everything that follows from it. */
interface Chosen {
  readonly theta: number;
  /** E (v − θ)₊ by the estimate: what clamping hides of a value, on average. */
  readonly excess: number;
  readonly channel: Channel;
}

export class Aggregator {
  readonly #settings: Required<Omit<AggregatorOptions, "core">>;
  readonly #core: Core;
  readonly #learning: Channel;
  readonly #counts = new Float64Array(BINS);
  readonly #refused = noRefusals();
  readonly #sums: RecentSums;
  #learned = 0;
  #chosen: Chosen | undefined;

  constructor(asked: AggregatorOptions) {
    const options = ownOptions("aggregator", asked, OPTIONS);
    const s = (this.#settings = checked(options));
    this.#core = chooseCore(options.core);
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

  /** Reports refused so far, by reason. */
  get rejected(): Readonly<RejectedCounts> {
    return { ...this.#refused };
  }

  /** Takes learn-reports, in any order and any batches. Returns how many were taken. */
  learn(batch: ReportBatch): number {
    const { mechanism, grid } = this.#learning;
    const binCells = (mechanism.top + mechanism.width + 1) / BINS;
    const wanted = { phase: "learn", grid, cells: mechanism.cells } as const;
    const cells = takeReports(batch, wanted, this.#refused);
    const taken = Math.min(cells.length, this.#settings.holdout - this.#learned);
    for (let i = 0; i < taken; i++) this.#counts[Math.floor(cells[i]! / binCells)]!++;
    this.#refused.late += cells.length - taken;
    this.#learned += taken;
    return taken;
  }

  /** The distribution of the values, from the learn-reports so far. Lets other work run while it computes. */
  async distribution(watching: RunOptions = {}): Promise<Distribution> {
    if (this.#learned === 0) throw new RangeError("distribution: expected learn-reports, got none so far");
    const { estimator, prune, accelerate, max } = this.#settings;
    const { mechanism } = this.#learning;
    const { inside, outside } = cellProbabilities(mechanism);
    const transition = makeTransition(BINS, BINS, mechanism.width / BINS, inside, outside);
    const counts = this.#counts.slice();
    const run = accelerate ? acceleratedEstimate : estimate;
    const found = await run(
      (estimates, predicted) =>
        this.#core.emSteps(transition, counts, estimator === "ems", estimates, predicted),
      counts,
      watching,
    );
    const pruning =
      prune === "paper"
        ? PAPER_PRUNING
        : noisePruning(
            mechanism.epsilon,
            counts.reduce((a, b) => a + b, 0),
          );
    const shares = prune === false ? found.shares : prunedTail(found.shares, pruning);
    return { ...found, shares, binWidth: max / BINS };
  }

  /** θ, to be sent to the devices. Chosen once, when `holdout` learn-reports are in; the same ever after. */
  async threshold(watching: RunOptions = {}): Promise<number> {
    if (this.#chosen) return this.#chosen.theta;
    const { holdout, epsilon, maxRange, objective } = this.#settings;
    if (this.#learned < holdout)
      throw new RangeError(`threshold: expected ${holdout} learn-reports, got ${this.#learned} so far`);
    const { shares, binWidth } = await this.distribution(watching);
    const mechanism = makeChannel("release", epsilon, 1).mechanism;
    const bin = bestThreshold(shares, mechanism, maxRange, objective);
    const theta = bin * binWidth;
    const excess = expectedExcess(shares)[bin]! * binWidth;
    this.#chosen ??= { theta, excess, channel: makeChannel("release", epsilon, theta) };
    return this.#chosen.theta;
  }

  /**
   * Takes release-reports in stream order and publishes an unbiased value for each one taken: refused ones leave no
   * gap. Wrong by far one by one, right in sum.
   */
  release(batch: ReportBatch): Float64Array {
    const chosen = this.#chosen;
    const wanted = chosen && {
      phase: "release" as const,
      grid: chosen.channel.grid,
      cells: chosen.channel.mechanism.cells,
    };
    const cells = takeReports(batch, wanted, this.#refused);
    if (chosen === undefined) return new Float64Array(0); // all were refused
    const valueOf = estimator(chosen.channel.mechanism);
    const published = new Float64Array(cells.length);
    for (let i = 0; i < cells.length; i++)
      this.#sums.push((published[i] = valueOf(cells[i]!) * chosen.theta));
    return published;
  }

  /** Sum and mean of the values at positions [from, to) of the published stream, with error bars. O(1). */
  range(from: number, to: number): LocalAnswer {
    checkRange("range", from, to, { length: this.#sums.count, oldest: this.#sums.oldest }, "history");
    if (this.#chosen === undefined || from === to) return makeLocalAnswer(0, 0, 0, 0);
    const { theta, excess, channel } = this.#chosen;
    const length = to - from;
    const standardError = theta * Math.sqrt(length * worstVariance(channel.mechanism));
    return makeLocalAnswer(this.#sums.between(from, to), length, standardError, excess * length);
  }

  /** What this aggregation is, for machines. */
  statement(): LocalStatement {
    return localStatement(this.#settings, this.#core.name, this, this.#learning, this.#chosen);
  }

  /** The same, for people. */
  explain(): string {
    return explainLocal(this.statement());
  }
}

function checked(options: AggregatorOptions): Required<Omit<AggregatorOptions, "core">> {
  const epsilon = checkLocalEpsilon("epsilon", options.epsilon);
  const maxRange = checkInteger("maxRange", options.maxRange ?? 2 ** 20, 1, 2 ** 40);
  const { prune = "noise", accelerate = false } = options;
  if (prune !== false) checkChoice("prune", prune, ["noise", "paper"]);
  if (typeof accelerate !== "boolean")
    throw new TypeError(`accelerate: expected true or false, got ${String(accelerate)}`);
  return {
    epsilon,
    learnEpsilon: checkLocalEpsilon("learnEpsilon", options.learnEpsilon ?? epsilon),
    max: checkPositive("max", options.max),
    holdout: checkInteger("holdout", options.holdout ?? 65_536, 1, 2 ** 40),
    maxRange,
    estimator: checkChoice("estimator", options.estimator ?? "em", ["em", "ems"]),
    prune,
    objective: checkChoice("objective", options.objective ?? "exact", ["exact", "paper"]),
    accelerate,
    history: checkInteger("history", options.history ?? Math.min(maxRange, 2 ** 27), 1, 2 ** 27),
  };
}

/** A server's aggregator: `aggregator({ epsilon: 1, max: 500 })`. */
export const aggregator = (options: AggregatorOptions): Aggregator => new Aggregator(options);

/**
 * The paper's aggregator (`variant: "paper"`) of a store: a restart keeps its learn-reports, θ and its release-reports. A report is acknowledged, a number
 * published and θ told after the state behind them is stored, as for streams (durableStream.ts).
 */
import type { RunOptions } from "../local/em.js";
import type { DistributionOptions } from "../local/estimate.js";
import type { RejectedCounts, ReportBatch } from "../local/intake.js";
import type { PaperAnswer } from "../local/paper/answer.js";
import type { Distribution, PaperAggregator, PaperRangeOptions } from "../local/paper/paperAggregator.js";
import { type PaperOptions, settingsOf } from "../local/paper/settings.js";
import type { PaperStatement } from "../local/paper/statement.js";
import type { LocalQuantile, LocalShare, PercentileOptions } from "../local/percentiles.js";
import type { Parameters } from "../snapshot/snapshot.js";
import { Durable } from "./durable.js";
import type { WithSnapshots } from "./withSnapshots.js";

/** Parameters that a snapshot of a paper aggregator is bound to. θ is not among them: a snapshot has its own. */
export function paperParameters(name: string, options: PaperOptions): Parameters {
  const { threshold, ...settings } = settingsOf(options);
  const shown = Object.entries(settings).map(([setting, value]) => [setting, String(value)]);
  return { kind: "aggregator", name, ...(Object.fromEntries(shown) as Parameters) };
}

/**
 * A durable aggregator of the paper's two phases, made by `openAggregator` with `variant: "paper"`: each call resolves after
 * its state is stored.
 */
export class DurablePaperAggregator extends Durable<WithSnapshots<PaperAggregator>> {
  /** Learn-reports counted so far. */
  get learned(): number {
    return this.stream.inner.learned;
  }

  /** Values published so far. */
  get length(): number {
    return this.stream.inner.length;
  }

  /** Release-reports counted so far, merged ones included. */
  get released(): number {
    return this.stream.inner.released;
  }

  /** Reports rejected so far, by reason. */
  get rejected(): Readonly<RejectedCounts> {
    return this.stream.inner.rejected;
  }

  /** Takes learn-reports; resolves when they are stored. */
  learn(batch: ReportBatch): Promise<number> {
    return this.#ask((aggregator) => aggregator.learn(batch), true);
  }

  /** Takes release-reports, stores them, and publishes a value for each. */
  release(batch: ReportBatch): Promise<Float64Array> {
    return this.#ask((aggregator) => aggregator.release(batch), true);
  }

  /** Adds the tally of another aggregator; resolves when it is stored. */
  merge(other: PaperAggregator | DurablePaperAggregator | Uint8Array): Promise<void> {
    const tally = other instanceof DurablePaperAggregator ? other.stream.inner : other;
    return this.#ask((aggregator) => aggregator.merge(tally), true);
  }

  /** All that was counted and stored, for the `merge` of others. */
  tally(): Promise<Uint8Array> {
    return this.#ask((aggregator) => aggregator.tally());
  }

  /** θ. It is stored before it is told: every restart has the same one. */
  async threshold(run?: RunOptions): Promise<number> {
    const theta = await this.stream.inner.threshold(run);
    return this.#ask(() => theta, true);
  }

  async distribution(options?: DistributionOptions): Promise<Distribution> {
    return this.#stored(await this.stream.inner.distribution(options));
  }

  async quantile(p: number, options?: PercentileOptions): Promise<LocalQuantile> {
    return this.#stored(await this.stream.inner.quantile(p, options));
  }

  async cdf(x: number, options?: PercentileOptions): Promise<LocalShare> {
    return this.#stored(await this.stream.inner.cdf(x, options));
  }

  range(from: number, to: number, options?: PaperRangeOptions): Promise<PaperAnswer> {
    return this.#ask((aggregator) => aggregator.range(from, to, options));
  }

  total(options?: PaperRangeOptions): Promise<PaperAnswer> {
    return this.#ask((aggregator) => aggregator.total(options));
  }

  statement(): Promise<PaperStatement> {
    return this.#ask((aggregator) => aggregator.statement());
  }

  explain(): Promise<string> {
    return this.#ask((aggregator) => aggregator.explain());
  }

  #ask<A>(ask: (aggregator: PaperAggregator) => A, changes = false): Promise<A> {
    return this.answer(({ inner }) => ask(inner), changes);
  }

  /** Gives an answer once the reports behind it are stored. */
  #stored<A>(answer: A): Promise<A> {
    return this.#ask(() => answer);
  }
}

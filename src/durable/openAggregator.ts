/**
 * An aggregator of a store: a restart keeps its learn-reports, θ and its release-reports. A report is acknowledged, a number
 * published and θ told after the state behind them is stored, as for streams (openStream.ts).
 */
import { checkInteger, checkText, ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import { Snapshots } from "../events/snapshots.js";
import { Aggregator, type Distribution, type LocalRangeOptions } from "../local/aggregator.js";
import type { LocalAnswer } from "../local/answer.js";
import type { RunOptions } from "../local/em.js";
import type { DistributionOptions } from "../local/estimate.js";
import type { RejectedCounts, ReportBatch } from "../local/intake.js";
import type { LocalQuantile, LocalShare, PercentileOptions } from "../local/percentiles.js";
import { AGGREGATOR_OPTIONS, type AggregatorOptions, settingsOf } from "../local/settings.js";
import type { LocalStatement } from "../local/statement.js";
import { snapshotKey, type StreamCipher } from "../stream/sealing.js";
import { openSnapshot, type Parameters } from "../stream/snapshot.js";
import { CheckedStore, checkSequence } from "./checkedStore.js";
import { Committer } from "./committer.js";
import { Durable, type Sealed } from "./durable.js";
import { charge } from "./budget.js";
import type { Stored } from "./openEvents.js";

export interface OpenAggregatorOptions extends AggregatorOptions, Stored {}

/** Opens an aggregator of a store: continues its newest snapshot, or begins it. */
export async function openAggregator(asked: OpenAggregatorOptions): Promise<DurableAggregator> {
  const own = ownOptions("openAggregator", asked, [
    ...AGGREGATOR_OPTIONS,
    ...["name", "store", "key", "atLeast", "budget"],
  ]);
  const { name, atLeast = 0, budget } = own;
  checkText("name", name);
  checkInteger("atLeast", atLeast, 0, Number.MAX_SAFE_INTEGER);
  const options = given(own, AGGREGATOR_OPTIONS) as AggregatorOptions;
  const parameters = parametersOf(name, options);
  const store = new CheckedStore(own.store);
  const key = await snapshotKey(own.key);
  const found = await store.get(name, atLeast);
  try {
    const opened = found && (await openSnapshot(found.bytes, key, parameters));
    const aggregator =
      opened === undefined ? new Aggregator(options) : Aggregator.resume(options, opened.state.blob());
    const sealed = new SealedAggregator(aggregator, parameters);
    if (opened !== undefined) {
      checkSequence(name, found!.sequence, opened.sequence);
      sealed.snapshots.resume(opened.sequence, opened.salt);
    }
    await charge(budget, name, aggregator.statement(), found === undefined);
    const cipher = await sealed.snapshots.cipher(key);
    return new DurableAggregator(sealed, store, new Committer(store), cipher, name);
  } catch (reason) {
    await store.giveBack(name);
    throw reason;
  }
}

/** Every setting that answers depend on. θ is not one of them: a snapshot has its own. */
function parametersOf(name: string, options: AggregatorOptions): Parameters {
  const { threshold, ...settings } = settingsOf(options);
  const shown = Object.entries(settings).map(([setting, value]) => [setting, String(value)]);
  return { kind: "aggregator", name, ...(Object.fromEntries(shown) as Parameters) };
}

/** An aggregator as the part that stores it sees it. */
class SealedAggregator implements Sealed {
  readonly aggregator: Aggregator;
  readonly snapshots: Snapshots;

  constructor(aggregator: Aggregator, parameters: Parameters) {
    this.aggregator = aggregator;
    this.snapshots = new Snapshots(
      () => parameters,
      (writer) => writer.blob(aggregator.state),
    );
  }

  get sequence(): number {
    return this.snapshots.sequence;
  }

  seal(cipher: StreamCipher): Uint8Array | Promise<Uint8Array> {
    return this.snapshots.seal(cipher);
  }
}

/** What `openAggregator` gives: the methods of an aggregator, whose answers come after its state is stored. */
export class DurableAggregator extends Durable<SealedAggregator> {
  /** Learn-reports counted so far. */
  get learned(): number {
    return this.stream.aggregator.learned;
  }

  /** Values published so far. */
  get length(): number {
    return this.stream.aggregator.length;
  }

  /** Release-reports counted so far, merged ones included. */
  get released(): number {
    return this.stream.aggregator.released;
  }

  /** Reports rejected so far, by reason. */
  get rejected(): Readonly<RejectedCounts> {
    return this.stream.aggregator.rejected;
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
  merge(other: Aggregator | DurableAggregator | Uint8Array): Promise<void> {
    const tally = other instanceof DurableAggregator ? other.stream.aggregator : other;
    return this.#ask((aggregator) => aggregator.merge(tally), true);
  }

  /** All that was counted and stored, for the `merge` of others. */
  tally(): Promise<Uint8Array> {
    return this.#ask((aggregator) => aggregator.tally());
  }

  /** θ. It is stored before it is told: every restart has the same one. */
  async threshold(run?: RunOptions): Promise<number> {
    const theta = await this.stream.aggregator.threshold(run);
    return this.#ask(() => theta, true);
  }

  async distribution(options?: DistributionOptions): Promise<Distribution> {
    return this.#stored(await this.stream.aggregator.distribution(options));
  }

  async quantile(p: number, options?: PercentileOptions): Promise<LocalQuantile> {
    return this.#stored(await this.stream.aggregator.quantile(p, options));
  }

  async cdf(x: number, options?: PercentileOptions): Promise<LocalShare> {
    return this.#stored(await this.stream.aggregator.cdf(x, options));
  }

  range(from: number, to: number, options?: LocalRangeOptions): Promise<LocalAnswer> {
    return this.#ask((aggregator) => aggregator.range(from, to, options));
  }

  total(options?: LocalRangeOptions): Promise<LocalAnswer> {
    return this.#ask((aggregator) => aggregator.total(options));
  }

  statement(): Promise<LocalStatement> {
    return this.#ask((aggregator) => aggregator.statement());
  }

  explain(): Promise<string> {
    return this.#ask((aggregator) => aggregator.explain());
  }

  #ask<A>(ask: (aggregator: Aggregator) => A, changes = false): Promise<A> {
    return this.answer(({ aggregator }) => ask(aggregator), changes);
  }

  /** Gives an answer once the reports behind it are stored. */
  #stored<A>(answer: A): Promise<A> {
    return this.#ask(() => answer);
  }
}

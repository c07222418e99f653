/**
 * A metric of the local model, as a section of the hub. Values get noise on the devices; reports are public, so all of it
 * may be published. θ is told after it is stored: reports of a release that come again after a restart meet the same θ.
 */
import { type Aggregator, aggregator, type HubSection, type LocalQuantile } from "brume";
import type { Metric } from "./config/metrics.js";

/** What devices are asked for. */
export interface LocalTerms {
  readonly phase: "learn" | "release";
  readonly threshold?: number;
}

export interface LocalEstimate {
  readonly reports: number;
  readonly learned: number;
  /** The mean value, once θ is known. */
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
  readonly confidence: number;
  readonly quantiles: readonly LocalQuantile[];
}

export class LocalMetric implements HubSection {
  readonly name: string;
  readonly metric: Metric;
  readonly #onChosen: () => void;
  #aggregator: Aggregator;
  /** θ that the store has. */
  #told: number | undefined;
  /** θ that was chosen, on its way to the store. */
  #chosen: number | undefined;
  /** θ of the newest saved state. */
  #saved: number | undefined;
  #choosing = false;

  /** @param onChosen told that θ is to be stored */
  constructor(metric: Metric, onChosen: () => void) {
    this.metric = metric;
    this.name = metric.name;
    this.#onChosen = onChosen;
    this.#aggregator = this.#begin();
  }

  #begin(): Aggregator {
    const { max, holdout } = this.metric.local!;
    return aggregator({ epsilon: this.metric.epsilon, max, holdout });
  }

  take(packed: Uint8Array): void {
    if (this.#told === undefined) this.#aggregator.learn(packed);
    else this.#aggregator.release(packed);
    this.#chooseIfDue();
  }

  /** Chooses θ when enough reports are there, without holding up others. */
  #chooseIfDue(): void {
    const { holdout } = this.metric.local!;
    if (this.#choosing || this.#told !== undefined || this.#aggregator.learned < holdout) return;
    this.#choosing = true;
    const own = this.#aggregator;
    void own.threshold().then((theta) => {
      if (own !== this.#aggregator) return; // the state was read again
      this.#chosen = theta;
      this.#onChosen();
    });
  }

  get urgent(): boolean {
    return this.#chosen !== undefined && this.#told === undefined;
  }

  stored(): void {
    this.#told ??= this.#saved;
  }

  get terms(): LocalTerms {
    return this.#told === undefined ? { phase: "learn" } : { phase: "release", threshold: this.#told };
  }

  /** @param turn awaited before each quantile, so that others get their turn */
  async estimate(
    quantiles: readonly number[],
    confidence: number,
    turn: () => Promise<void>,
  ): Promise<LocalEstimate> {
    const { learned, released } = this.#aggregator;
    const { mean, low, high } = this.#aggregator.total({ confidence });
    const known = released > 0;
    const found: LocalQuantile[] = [];
    if (learned > 0)
      for (const p of quantiles) {
        await turn();
        found.push(await this.#aggregator.quantile(p, { confidence }));
      }
    return {
      ...{ reports: released, learned, confidence, quantiles: found },
      value: known ? mean : null,
      low: known ? low / released : null,
      high: known ? high / released : null,
    };
  }

  save(): Uint8Array {
    this.#saved = this.#chosen;
    return this.#aggregator.tally();
  }

  /** Begins from the stored state, or from nothing: the hub reads its store again after a failure. */
  async load(state: Uint8Array | undefined): Promise<void> {
    this.#aggregator = this.#begin();
    this.#told = this.#chosen = this.#saved = undefined;
    this.#choosing = false;
    if (state === undefined) return;
    this.#aggregator.merge(state);
    if (this.#aggregator.statement().threshold !== null)
      this.#told = this.#chosen = this.#saved = await this.#aggregator.threshold();
    this.#chooseIfDue();
  }
}

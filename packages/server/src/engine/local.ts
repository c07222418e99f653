/**
 * A metric of the local model, as a part of the state. Values get noise on the devices; reports are public, so all of it
 * may be published. θ is told after it is stored: release-reports of the journal are read again with the same θ.
 */
import { type Aggregator, aggregator, type LocalQuantile } from "brume";
import type { Metric } from "../config/metrics.js";
import type { Part } from "./part.js";

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

export class LocalMetric implements Part {
  readonly name: string;
  readonly metric: Metric;
  readonly #aggregator: Aggregator;
  /** θ that the store has. */
  #told: number | undefined;
  /** θ that was chosen, on its way to the store. */
  #chosen: number | undefined;
  #choosing = false;

  constructor(metric: Metric) {
    this.metric = metric;
    this.name = `local/${metric.name}`;
    this.#aggregator = aggregator({ epsilon: metric.epsilon, ...metric.local! });
  }

  /** Takes a packed report. */
  take(packed: Uint8Array): void {
    if (this.#told === undefined) this.#aggregator.learn(packed);
    else this.#aggregator.release(packed);
  }

  /** Chooses θ when enough reports are there, without holding up others. Calls back when it is to be stored. */
  chooseIfDue(chosen: () => void): void {
    const { holdout } = this.metric.local!;
    if (this.#choosing || this.#told !== undefined || this.#aggregator.learned < holdout) return;
    this.#choosing = true;
    void this.#aggregator.threshold().then((theta) => {
      this.#chosen = theta;
      chosen();
    });
  }

  /** Must be in the next commit. */
  get urgent(): boolean {
    return this.#chosen !== undefined && this.#told === undefined;
  }

  onStored(): void {
    this.#told ??= this.#chosen;
  }

  get terms(): LocalTerms {
    return this.#told === undefined ? { phase: "learn" } : { phase: "release", threshold: this.#told };
  }

  async estimate(quantiles: readonly number[], confidence: number): Promise<LocalEstimate> {
    const { learned, released } = this.#aggregator;
    const { mean, low, high } = this.#aggregator.total({ confidence });
    const known = released > 0;
    const found: LocalQuantile[] = [];
    if (learned > 0)
      for (const p of quantiles) found.push(await this.#aggregator.quantile(p, { confidence }));
    return {
      ...{ reports: released, learned, confidence, quantiles: found },
      value: known ? mean : null,
      low: known ? low / released : null,
      high: known ? high / released : null,
    };
  }

  save(): Uint8Array {
    return this.#aggregator.tally();
  }

  async load(bytes: Uint8Array): Promise<void> {
    this.#aggregator.merge(bytes);
    if (this.#aggregator.statement().threshold === null) return;
    this.#told = await this.#aggregator.threshold();
  }
}

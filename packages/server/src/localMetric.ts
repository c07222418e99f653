/**
 * A metric of the local model, as a section of the hub. Values get noise on the devices; reports are public, so all of it
 * may be published. θ of a day is told after it is stored: devices report to one grid a day, whatever happens to the process.
 */
import {
  type Duration,
  type Aggregator,
  aggregator,
  type DayQuantile,
  type HubSection,
  type LocalAnswer,
  type LocalHistogram,
  type LocalStatement,
  type LocalTerms,
  type Series,
} from "brume";
import type { ResolvedMetric } from "./config/metrics.js";

/** Which days a question is about. */
export type LocalQuestion =
  | { readonly last: Duration }
  | { readonly from: number; readonly to: number }
  | { readonly from: number; readonly to: number; readonly every: string };

/** A mean as other metrics have it, with what the reports say beside it. */
export interface LocalEstimate extends Omit<LocalAnswer, "mean"> {
  readonly value: number | null;
  readonly quantiles?: readonly DayQuantile[];
  readonly histogram?: LocalHistogram;
}

export class LocalMetric implements HubSection {
  readonly name: string;
  readonly config: ResolvedMetric;
  readonly #zone: string;
  readonly #now: () => number;
  readonly #onChosen: () => void;
  #aggregator: Aggregator;
  /** Terms that the store has, those that are on their way to it, and those of the newest saved state. */
  #told: LocalTerms | undefined;
  #chosen: LocalTerms | undefined;
  #saved: LocalTerms | undefined;
  #choosing = false;
  /** θ of the state as it was loaded: told until that of the day is stored. */
  #loaded: number;

  /**
   * @param now the time as the service goes by it
   * @param onChosen told that θ is to be stored
   */
  constructor(metric: ResolvedMetric, zone: string, now: () => number, onChosen: () => void) {
    this.config = metric;
    this.name = metric.name;
    this.#zone = zone;
    this.#now = now;
    this.#onChosen = onChosen;
    this.#aggregator = this.#begin();
    this.#loaded = this.#aggregator.statement().threshold;
  }

  #begin(): Aggregator {
    const { max, threshold } = this.config.local!;
    const zone = this.#zone;
    const start = threshold === undefined ? {} : { threshold };
    return aggregator({ epsilon: this.config.epsilon, max, ...start, zone, clock: this.#now });
  }

  take(packed: Uint8Array, at: number): void {
    this.#aggregator.add(packed, at);
  }

  /** Chooses θ of the day if that is not done, without holding up others. */
  #chooseIfDue(): void {
    if (this.#choosing || this.#now() < (this.#chosen?.until ?? -Infinity)) return;
    this.#choosing = true;
    const own = this.#aggregator;
    const settle = (terms?: LocalTerms): void => {
      if (own !== this.#aggregator) return; // the state was read again
      this.#choosing = false;
      if (terms === undefined) return; // it failed: the next question tries again
      this.#chosen = terms;
      this.#onChosen();
    };
    void own.terms().then(settle, () => settle());
  }

  get urgent(): boolean {
    return this.#chosen !== this.#told;
  }

  stored(): void {
    this.#told = this.#saved ?? this.#told;
  }

  /**
   * The terms for devices: θ of today, or of yesterday until today's is stored. Reports of both count. `until` is when to ask
   * again.
   */
  get terms(): LocalTerms {
    this.#chooseIfDue();
    return this.#told ?? { threshold: this.#loaded, until: this.#now(), chosen: false };
  }

  /** The statement of its reports, with θ as devices are told it. */
  statement(): LocalStatement {
    return { ...this.#aggregator.statement(), threshold: this.#told?.threshold ?? this.#loaded };
  }

  /** @param turn awaited before each piece of work, so that others get their turn */
  async estimate(
    question: LocalQuestion,
    quantiles: readonly number[],
    confidence: number,
    turn: () => Promise<void>,
  ): Promise<LocalEstimate | Series<LocalEstimate>> {
    const server = this.#aggregator;
    if ("every" in question) {
      const { every, from, to } = question;
      const { answers, ...series } = server.series(every, from, to, { confidence });
      return { ...series, answers: answers.map(estimateOf) };
    }
    const answer =
      "last" in question
        ? server.last(question.last, { confidence })
        : server.between(question.from, question.to, { confidence });
    if (quantiles.length === 0) return estimateOf(answer);
    const found: DayQuantile[] = [];
    const query = { from: answer.from, to: answer.to, confidence };
    for (const p of quantiles) {
      await turn();
      found.push(await server.quantile(p, query));
    }
    return { ...estimateOf(answer), quantiles: found, histogram: await server.histogram(query) };
  }

  save(): Uint8Array {
    this.#saved = this.#chosen;
    return this.#aggregator.tally();
  }

  /** Begins from the stored state, or from nothing: the hub reads its store again after a failure. */
  load(state: Uint8Array | undefined): void {
    this.#aggregator = this.#begin();
    this.#told = this.#chosen = this.#saved = undefined;
    this.#choosing = false;
    if (state !== undefined) this.#aggregator.merge(state);
    this.#loaded = this.#aggregator.statement().threshold;
  }
}

const estimateOf = ({ mean, ...answer }: LocalAnswer): LocalEstimate => ({ ...answer, value: mean });

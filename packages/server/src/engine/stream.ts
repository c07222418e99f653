/** The stream of one metric and key, as a part of the state. */
import {
  type Counter,
  type EventAnswer,
  type EventStatement,
  type EventStream,
  type EventStreamOptions,
  type Histogram,
  type HistogramAnswer,
  type HistogramQuery,
  privateCounter,
  privateHistogram,
  privateStream,
  restore,
} from "brume";
import type { Metric, StreamOptions } from "../config/metrics.js";
import { Refusal } from "../refusal.js";
import type { Part } from "./part.js";

/** What is published when ticks close. */
export interface Published {
  readonly metric: Metric;
  readonly key: string;
  /** The range of time that is new, in milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
}

/** Ticks that are closed in one call. */
const MOST_TICKS = 2 ** 20;

export class MetricStream implements Part {
  readonly name: string;
  readonly metric: Metric;
  readonly key: string;
  readonly #options: StreamOptions;
  readonly #sealing: Uint8Array;
  #stream: Histogram | Counter | EventStream;
  #clock: number;
  /** What was published last, since this process runs. */
  newest: Published | undefined;

  /**
   * @param sealing the key of snapshots
   * @param time when it begins, if the store does not have it
   */
  constructor(metric: Metric, key: string, sealing: Uint8Array, time: number) {
    this.metric = metric;
    this.key = key;
    this.name = `stream/${metric.name}/${key}`;
    this.#sealing = sealing;
    this.#clock = time;
    this.#options = { ...metric.options!, name: this.name, clock: () => this.#clock };
    this.#stream = begin(this.#options);
  }

  /** Takes an event of a tick that is open at `time`. */
  add(value: number, at: number, time: number): void {
    this.#clock = time;
    if (this.metric.type === "count") (this.#stream as Counter).add({ at });
    else (this.#stream as EventStream).add(value, { at });
  }

  /** Closes the ticks that are due at `time`; gives the range of time that this publishes. */
  advance(time: number): Published | undefined {
    let first: number | undefined;
    let last: number | undefined;
    do {
      this.#clock = Math.max(this.#clock, Math.min(time, this.#clock + MOST_TICKS * this.metric.every));
      const [from, to] = this.#close();
      first ??= from;
      last = to ?? last;
    } while (this.#clock < time);
    if (first === undefined || last === undefined) return undefined;
    return (this.newest = { metric: this.metric, key: this.key, from: first, to: last });
  }

  #close(): readonly [from: number, to: number] | readonly [] {
    const closed = this.#stream.advance(this.#clock);
    if (Array.isArray(closed)) return closed.length === 0 ? [] : [closed[0]!.from, closed.at(-1)!.to];
    const { from, every, values } = closed;
    return values.length === 0 ? [] : [from, from + every * values.length];
  }

  between(from: number, to: number, query: HistogramQuery = {}): EventAnswer | HistogramAnswer {
    return "edges" in this.#options
      ? (this.#stream as Histogram).between(from, to, query)
      : (this.#stream as EventStream).between(
          from,
          to,
          query.confidence === undefined ? {} : { confidence: query.confidence },
        );
  }

  /** The edges of a histogram's buckets. */
  get edges(): readonly number[] | undefined {
    return "edges" in this.#options ? (this.#stream as Histogram).edges : undefined;
  }

  statement(): EventStatement {
    return this.#stream.statement();
  }

  save(): Promise<Uint8Array> {
    return this.#stream.snapshot(this.#sealing);
  }

  async load(bytes: Uint8Array): Promise<void> {
    try {
      this.#stream = await restore(bytes, this.#sealing, this.#options as EventStreamOptions);
    } catch (cause) {
      throw new Refusal(
        `metrics.${this.metric.name}: ${(cause as Error).message}. The state has this metric with other settings: set them back, or give the metric a new name`,
        { cause },
      );
    }
  }
}

function begin(options: StreamOptions): Histogram | Counter | EventStream {
  if ("edges" in options) return privateHistogram(options);
  if (options.of !== "count") return privateStream(options);
  const { of: _, ...counter } = options;
  return privateCounter(counter);
}

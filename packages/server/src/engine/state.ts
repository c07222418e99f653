/** All parts of the state: made from the config, filled from the store, brought up to date from the journal. */
import type { Metric } from "../config/metrics.js";
import { Catalog } from "./catalog.js";
import type { Journal } from "./journal.js";
import { StoredPart } from "./part.js";
import { LocalMetric } from "./local.js";
import { MetricPeople } from "./people.js";
import { RecentKeys } from "./recentKeys.js";
import { Kind, readRow, type Row, type RowRecord } from "./row.js";
import type { Sealer } from "./seal.js";
import { MetricStream } from "./stream.js";

/** A metric with its number, its people, and its streams by key. */
export interface LiveMetric {
  readonly metric: Metric;
  readonly number: number;
  readonly people: MetricPeople | undefined;
  readonly local: LocalMetric | undefined;
  /** Key → the number of its stream. */
  readonly streams: ReadonlyMap<string, number>;
}

export class State {
  readonly metrics = new Map<string, LiveMetric>();
  readonly recent: RecentKeys;
  /** By number; numbers of streams that the config no longer has are empty. */
  readonly streams: (MetricStream | undefined)[] = [];
  readonly #journal: Journal;
  readonly #parts = new Map<object, StoredPart>();
  readonly #byNumber = new Map<number, LiveMetric>();
  /** The time of the newest row. */
  time = 0;
  /** Ticks that are due at this time are closed. It moves with the clock's beat, whether or not events come. */
  closed = 0;

  private constructor(journal: Journal, recent: RecentKeys) {
    this.#journal = journal;
    this.recent = recent;
  }

  /**
   * @param time now, where new streams begin
   * @param remember how long idempotency keys are known, in milliseconds
   */
  static async open(
    metrics: readonly Metric[],
    journal: Journal,
    sealer: Sealer,
    time: number,
    remember: number,
  ): Promise<State> {
    const state = new State(journal, new RecentKeys(remember));
    await state.#load(metrics, sealer, time);
    return state;
  }

  async #load(metrics: readonly Metric[], sealer: Sealer, time: number): Promise<void> {
    const catalog = new StoredPart(new Catalog());
    const isNew = !(await this.#journal.load(catalog));
    const known = isNew ? 0 : (catalog.part as Catalog).size;
    for (const metric of metrics) this.#make(metric, catalog.part as Catalog, sealer, time);
    for (const generation of this.recent.parts) this.#parts.set(generation, new StoredPart(generation));
    const fresh: StoredPart[] = [];
    for (const part of this.#parts.values()) if (!(await this.#journal.load(part))) fresh.push(part);
    for (const { number, bytes } of await this.#journal.rows()) this.apply(number, readRow(bytes), false);
    const changed = (catalog.part as Catalog).size > known;
    await this.#journal.begin(changed ? [catalog, ...fresh] : fresh);
  }

  #make(metric: Metric, catalog: Catalog, sealer: Sealer, time: number): void {
    const people =
      metric.perPerson === undefined || metric.local !== undefined
        ? undefined
        : new MetricPeople(metric, sealer.subkey("people", 16), time);
    const local = metric.local === undefined ? undefined : new LocalMetric(metric);
    if (local !== undefined) this.#parts.set(local, new StoredPart(local));
    const streams = new Map<string, number>();
    const live: LiveMetric = { metric, number: catalog.number(metric.name), people, local, streams };
    if (metric.options !== undefined)
      for (const key of metric.keys) {
        const stream = new MetricStream(metric, key, sealer.subkey("snapshots", 32), time);
        const number = catalog.number(stream.name);
        this.streams[number] = stream;
        streams.set(key, number);
        this.#parts.set(stream, new StoredPart(stream));
      }
    if (people !== undefined) this.#parts.set(people, new StoredPart(people));
    this.metrics.set(metric.name, live);
    this.#byNumber.set(live.number, live);
  }

  /**
   * Applies a row to the parts that do not have it.
   * @param counted the counters of people have its events: they decided which ones count
   */
  apply(number: number, row: Row, counted: boolean): void {
    this.time = Math.max(this.time, row.time);
    this.closed = Math.max(this.closed, row.closed);
    for (const key of row.keys) this.#applyKey(number, key, row.time);
    row.forEach((record) => this.#applyRecord(number, record, row.time, counted));
    this.recent.forgetBefore(row.time);
    for (const { people } of this.metrics.values()) people?.pass(row.time);
  }

  #applyKey(number: number, key: Uint8Array, time: number): void {
    const generation = this.recent.add(Buffer.from(key).toString("latin1"), time);
    this.#changed(generation, number);
  }

  #applyRecord(number: number, record: RowRecord, time: number, counted: boolean): void {
    const { kind, stream, metric, hash, value, at } = record;
    if (kind === Kind.report) this.#applyReport(number, this.#byNumber.get(metric)?.local, hash);
    if (kind !== Kind.taken) return;
    const people = this.#byNumber.get(metric)?.people;
    if (people !== undefined && this.#misses(people, number)) {
      if (!counted) people.contributions.admit(hash, at);
      this.#changed(people, number);
    }
    const target = this.streams[stream];
    if (target === undefined || !this.#misses(target, number)) return;
    target.add(value, at, time);
    this.#changed(target, number);
  }

  #applyReport(number: number, local: LocalMetric | undefined, words: Uint32Array): void {
    if (local === undefined || !this.#misses(local, number)) return;
    local.take(new Uint8Array(words.buffer.slice(0, 8)));
    this.#changed(local, number);
    local.chooseIfDue(() => this.#changed(local, this.#journal.next));
  }

  /** Whether the stored snapshot of a part lacks a row. */
  #misses(part: object, row: number): boolean {
    return this.#parts.get(part)!.position < row;
  }

  #changed(part: object, row: number): void {
    this.#journal.changed(this.#parts.get(part)!, row);
  }
}

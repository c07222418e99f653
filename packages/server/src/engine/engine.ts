/**
 * The engine of the service: events in, published numbers out.
 *
 *     submit ─▶ waiting ─▶ row of the journal ─▶ store ─▶ applied to the streams ─▶ acknowledged
 *
 * The store has a row before the streams see it, so everything that is published or acknowledged is stored. After a
 * kill, rows that the stored parts lack are applied again: noise is a function of stored keys, so the same numbers come.
 */
import type { Store } from "brume";
import type { Metric } from "../config/metrics.js";
import { Refusal } from "../refusal.js";
import { type Batch, type CheckedEvent, rowOf } from "./batch.js";
import { Clock, type ClockSource } from "./clock.js";
import { hashOf } from "./hash.js";
import { Fenced, Journal, type JournalStats, type PartSnapshot } from "./journal.js";
import { readRow } from "./row.js";
import { Sealer } from "./seal.js";
import { type LiveMetric, State } from "./state.js";
import type { MetricStream, Published } from "./stream.js";
import { Sweep } from "./sweep.js";

export interface EngineOptions {
  readonly metrics: readonly Metric[];
  readonly store: Store;
  /** 32 bytes. */
  readonly key: Uint8Array;
  readonly waiting: number;
  readonly commitEvery: number;
  readonly remember: number;
  readonly clock?: ClockSource;
  /** Called with the time of each beat, before its ticks are closed. Numbers wait for it. */
  readonly onBeat?: (time: number) => Promise<void>;
  /** Told what happens to the store; no message holds private data. */
  readonly onTrouble?: (message: string) => void;
}

/** Too many events wait: try again after `seconds`. */
export class Busy extends Error {
  readonly seconds = 1;
}

/** Nothing can be taken now; the message says why. */
export class Unavailable extends Error {}

interface Submission extends Batch {
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/** Milliseconds between two attempts on a store that fails. */
const RETRY = 250;
/** Ticks are closed at least this often, and not more often than that. */
const [SHORTEST_BEAT, LONGEST_BEAT] = [200, 1000];

export class Engine {
  readonly #options: EngineOptions;
  readonly #clock: Clock;
  readonly #journal: Journal;
  readonly #state: State;
  readonly #requestKey: Uint8Array;
  #waiting: Submission[] = [];
  #waitingEvents = 0;
  /** Requests with an idempotency key that are not stored yet. */
  readonly #pending = new Map<string, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;
  #beat: NodeJS.Timeout;
  /** The next row closes ticks. When numbers are published depends on the clock alone: events have no say. */
  #closing = true;
  #committing: Promise<void> | undefined;
  #trouble: string | undefined;
  #ended: Error | undefined;
  /** A row is half in the streams: nothing more may be published from them. */
  #halfway = false;
  #onEnd: ((reason: Error) => void) | undefined;
  readonly #sweep: Sweep<MetricStream>;
  readonly #listeners = new Set<(published: Published) => void>();

  private constructor(options: EngineOptions, clock: Clock, journal: Journal, sealer: Sealer, state: State) {
    this.#options = options;
    this.#clock = clock;
    this.#journal = journal;
    this.#state = state;
    this.#sweep = new Sweep(
      state.streams,
      (stream) => this.#advance(stream),
      (error) => this.#end(new Broken(HALFWAY, { cause: error })),
    );
    this.#requestKey = sealer.subkey("requests", 32);
    const shortest = Math.min(...options.metrics.map(({ every }) => every));
    const beat = Math.min(LONGEST_BEAT, Math.max(SHORTEST_BEAT, shortest));
    this.#beat = setInterval(() => {
      this.#closing = true;
      this.#schedule(0);
    }, beat);
    this.#beat.unref();
  }

  static async open(options: EngineOptions): Promise<Engine> {
    const clock = new Clock(options.clock);
    const sealer = new Sealer(options.key);
    const journal = new Journal(options.store, sealer);
    const now = clock.now() ?? Date.now();
    const state = await State.open(options.metrics, journal, sealer, now, options.remember);
    clock.startAfter(state.time);
    const engine = new Engine(options, clock, journal, sealer, state);
    await engine.#commit(); // of two services that start together, one is refused here
    return engine;
  }

  metric(name: string): LiveMetric | undefined {
    return this.#state.metrics.get(name);
  }

  get metrics(): Iterable<LiveMetric> {
    return this.#state.metrics.values();
  }

  /** The time that ticks are closed at. Public: it moves with the clock's beat, whether or not events come. */
  get time(): number {
    return this.#state.closed;
  }

  get stats(): JournalStats & { readonly streams: number } {
    return { ...this.#journal.stats, streams: this.#state.streams.length };
  }

  /** Why nothing can be taken, if so. */
  get trouble(): string | undefined {
    return this.#ended?.message ?? this.#trouble ?? this.#clockTrouble();
  }

  #clockTrouble(): string | undefined {
    if (this.#clock.now() === undefined)
      return "clock: the machine's clock jumped by more than a minute; set it right, or start the service again if it is right now";
    const { behind } = this.#clock;
    return behind < 60_000
      ? undefined
      : `clock: the machine's clock is ${Math.round(behind / 1000)} s behind the newest stored time; set it right, or wait`;
  }

  /** The stream of a key, with all ticks closed that are due. Undefined for a key that the config does not list. */
  stream({ streams }: LiveMetric, key: string): MetricStream | undefined {
    if (this.#halfway) throw new Unavailable(HALFWAY);
    const stream = this.#state.streams[streams.get(key) ?? -1];
    if (stream !== undefined) this.#advance(stream);
    return stream;
  }

  /** Calls back with each range of time that is published. Returns how to stop it. */
  listen(listener: (published: Published) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Takes events; resolves when they are stored. A repeated idempotency key counts once. */
  submit(events: readonly CheckedEvent[], requestKey?: string): Promise<void> {
    const trouble = this.trouble;
    if (trouble !== undefined) return Promise.reject(new Unavailable(trouble));
    if (requestKey === undefined) return this.#enqueue(events, undefined);
    const hash = hashOf(this.#requestKey, requestKey);
    const name = Buffer.from(hash).toString("latin1");
    if (this.#state.recent.has(name)) return Promise.resolve();
    const pending = this.#pending.get(name);
    if (pending !== undefined) return pending;
    const done = this.#enqueue(events, hash).finally(() => this.#pending.delete(name));
    this.#pending.set(name, done);
    return done;
  }

  #enqueue(events: readonly CheckedEvent[], key: Uint8Array | undefined): Promise<void> {
    if (this.#waitingEvents + events.length > this.#options.waiting) return Promise.reject(new Busy());
    this.#waitingEvents += events.length;
    const done = new Promise<void>((resolve, reject) => this.#waiting.push({ events, key, resolve, reject }));
    this.#schedule(this.#options.commitEvery);
    return done;
  }

  #schedule(delay: number): void {
    if (this.#timer !== undefined || this.#committing !== undefined || this.#ended !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#commit().catch(() => undefined); // those who wait are told
    }, delay);
  }

  /** One commit at a time; what came in the meantime is in the next one. */
  #commit(all = false): Promise<void> {
    return (this.#committing ??= this.#write(all).finally(() => {
      this.#committing = undefined;
      if (this.#waiting.length > 0) this.#schedule(this.#options.commitEvery);
    }));
  }

  async #write(all: boolean): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended;
    const time = this.#clock.now();
    if (time === undefined) return this.#refuseWaiting();
    const parts = await this.#journal.due(all); // before people are counted for the next row
    const closes = this.#closing && (await this.#beats(time));
    this.#closing &&= !closes;
    const batch = this.#waiting;
    this.#waiting = [];
    try {
      await this.#commitRow(time, closes ? time : this.#state.closed, batch, parts);
    } catch (error) {
      this.#end(error as Error);
      for (const { reject } of batch) reject(new Unavailable((error as Error).message));
      throw error;
    }
    for (const { events, resolve } of batch) {
      this.#waitingEvents -= events.length;
      resolve();
    }
    if (closes) this.#sweep.start();
  }

  /** People are counted as the row is made, and streams as it is applied: a failure in between cannot be taken back. */
  async #commitRow(
    time: number,
    closed: number,
    batch: readonly Submission[],
    parts: readonly PartSnapshot[],
  ): Promise<void> {
    this.#halfway = true;
    try {
      const row = rowOf(time, closed, batch);
      this.#halfway = false; // while it is being stored, streams answer as before it
      await this.#store(row, parts);
      this.#halfway = true;
      this.#state.apply(this.#journal.next - 1, readRow(row), true);
      this.#halfway = false;
    } catch (cause) {
      throw this.#halfway ? new Broken(HALFWAY, { cause }) : cause;
    }
  }

  /** Whether ticks may be closed now; if not, the next beat asks again. */
  #beats(time: number): Promise<boolean> {
    return (this.#options.onBeat?.(time) ?? Promise.resolve()).then(
      () => true,
      () => false,
    );
  }

  #refuseWaiting(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    this.#waitingEvents = 0;
    for (const { reject } of batch) reject(new Unavailable(this.trouble ?? "clock: try again"));
  }

  /** Stores a row; tries again until the store has it, or another service took over, or this one is stopped. */
  async #store(row: Uint8Array, parts: readonly PartSnapshot[]): Promise<void> {
    const sealed = this.#journal.seal(row);
    for (;;) {
      try {
        await this.#journal.commit(sealed, parts);
        if (this.#trouble !== undefined) this.#options.onTrouble?.("store: it works again");
        this.#trouble = undefined;
        return;
      } catch (error) {
        if (error instanceof Refusal || this.#ended !== undefined) throw error;
        if (this.#trouble === undefined) this.#options.onTrouble?.(`${TROUBLE} (${codeOf(error)})`);
        this.#trouble = TROUBLE;
        await new Promise((resolve) => setTimeout(resolve, RETRY));
      }
    }
  }

  /** Those who came during the commit that failed are told as well: no other commit comes. */
  #end(error: Error): void {
    this.#ended ??= error;
    clearInterval(this.#beat);
    this.#refuseWaiting();
    if (error instanceof Fenced || error instanceof Broken) this.#onEnd?.(error);
  }

  /** Calls back if another service takes the state over, or if this one fails halfway. */
  onEnd(listener: (reason: Error) => void): void {
    this.#onEnd = listener;
  }

  #advance(stream: MetricStream): void {
    const published = stream.advance(this.#state.closed);
    if (published !== undefined) for (const listener of this.#listeners) listener(published);
  }

  /** Stores what waits and closes the ticks that are due, now. */
  async flush(): Promise<void> {
    await this.#committing;
    this.#closing = true;
    await this.#commit();
  }

  /** Takes nothing more, stores everything, and ends. */
  async stop(): Promise<void> {
    clearInterval(this.#beat);
    clearTimeout(this.#timer);
    if (this.#ended !== undefined) return;
    if (this.#trouble !== undefined) this.#ended = new Unavailable("the service stops");
    await this.#committing?.catch(() => undefined);
    if (this.#ended === undefined) await this.#commit(true);
    this.#ended ??= new Unavailable("the service stops");
    this.#refuseWaiting();
  }
}

/** What is in memory is in doubt; what is stored is not. */
class Broken extends Error {}

const HALFWAY =
  "engine: memory ran out, or a kernel failed, halfway through a commit; start the service again, it continues from what is stored";
const TROUBLE =
  "store: it does not take anything; events are refused until it does. Check the disk and its permissions, or the database";

/** A code such as ENOSPC, which says nothing about data. */
function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | undefined)?.code;
  return typeof code === "string" && /^[A-Z_]{2,40}$/.test(code) ? code : "no code";
}

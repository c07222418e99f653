/** The open streams of a hub. A bounded number is open; the least recently used ones are stored and closed. */
import type { DurableStream } from "../durableStream.js";
import { isConflict } from "../stores/store.js";

/** How often a call is made when other processes store the same stream at the same time. */
const ATTEMPTS = 4;

interface Live {
  readonly stream: Promise<DurableStream>;
  /** The stream, once it is open. */
  open: DurableStream | undefined;
  /** Whether it could not be opened. */
  failed: boolean;
  /** Calls that wait for it to open: it is not closed before they have acted. */
  waiting: number;
}

/** Charges a stream that begins. */
export type Begins = (name: string) => Promise<void>;

export class LiveStreams {
  readonly #open: (name: string) => Promise<DurableStream>;
  readonly #most: number;
  readonly #begins: Begins | undefined;
  /** Charges of streams whose first values are not stored yet. */
  readonly #charged = new Map<string, Promise<void>>();
  /** Least recently used first. */
  readonly #live = new Map<string, Live>();
  /** Streams that are being closed, and those that could not be stored. */
  readonly #closing = new Map<string, Promise<void>>();
  #opened = 0;
  #closed = 0;
  #conflicts = 0;

  /** @param begins charges a stream before it gets its first value; undefined if nothing is charged */
  constructor(open: (name: string) => Promise<DurableStream>, most: number, begins?: Begins) {
    this.#open = open;
    this.#most = most;
    this.#begins = begins;
  }

  get size(): number {
    return this.#live.size;
  }

  names(): Iterable<string> {
    return this.#live.keys();
  }

  /** Public counters. */
  get stats(): {
    readonly live: number;
    readonly opened: number;
    readonly closed: number;
    readonly conflicts: number;
  } {
    return { live: this.size, opened: this.#opened, closed: this.#closed, conflicts: this.#conflicts };
  }

  /** A stream that is open, for a call that acts at once: it may be closed as soon as others run. */
  ready(name: string): DurableStream | undefined {
    const entry = this.#live.get(name);
    if (entry?.open === undefined || entry.open.ended || entry.waiting > 0) return undefined;
    if (this.#begins !== undefined && entry.open.received === 0) return undefined;
    this.#live.delete(name);
    this.#live.set(name, entry);
    return entry.open;
  }

  /**
   * Calls `act`, which adds values, with the stream. One that has none begins with them and is charged first; tried again
   * after a failure, it is not charged another time.
   */
  async add<T>(name: string, act: (stream: DurableStream) => Promise<T>): Promise<T> {
    if (this.#begins === undefined) return this.use(name, act);
    for (let charged = false; ; charged = true) {
      const done = await this.use(name, async (stream) =>
        charged || stream.received > 0 ? { answer: await act(stream) } : undefined,
      );
      if (done === undefined) {
        await this.#charge(name, this.#begins);
        continue;
      }
      this.#charged.delete(name);
      return done.answer;
    }
  }

  /** Calls that come while a stream is charged wait for the same charge, in their order. */
  #charge(name: string, begins: Begins): Promise<void> {
    const known = this.#charged.get(name);
    if (known !== undefined) return known;
    const charged = begins(name);
    this.#charged.set(name, charged);
    charged.catch(() => this.#charged.delete(name));
    return charged;
  }

  /** Whether a call that a stream refused is made again: nothing of it was stored or published. */
  countConflict(error: unknown): boolean {
    const again = isConflict(error);
    if (again) this.#conflicts++;
    return again;
  }

  /**
   * Calls `act` with the stream. After a conflict nothing of the call was stored or published: it is made again on the
   * newest state.
   */
  async use<T>(name: string, act: (stream: DurableStream) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const known = this.#live.get(name);
      // One that ended told the calls that it failed; this call is another one.
      const entry = known === undefined || known.open?.ended === true ? this.#begin(name) : known;
      this.#live.delete(name);
      this.#live.set(name, entry); // now the most recently used
      try {
        return await this.#act(entry, act);
      } catch (error) {
        if (!this.countConflict(error) || attempt === ATTEMPTS) throw error;
      } finally {
        // One that could not be opened or stored is opened again by the next call.
        if ((entry.open?.ended ?? true) && this.#live.get(name) === entry) this.#live.delete(name);
        if (this.#live.size > this.#most) await this.#shrinkTo(this.#most);
      }
    }
  }

  /** Stores and closes all streams. Rejects if one could not be stored, after all were tried. */
  async close(): Promise<void> {
    await this.#shrinkTo(0);
    await Promise.all(this.#closing.values()); // those that could not be stored
  }

  /** A call acts as soon as the stream is open; what it waits for afterwards is the store. */
  #act<T>(entry: Live, act: (stream: DurableStream) => Promise<T>): Promise<T> {
    if (entry.open !== undefined && entry.waiting === 0) return act(entry.open);
    entry.waiting++;
    return entry.stream.then(
      (stream) => {
        entry.waiting--;
        return act(stream);
      },
      (error: unknown) => {
        entry.waiting--;
        throw error;
      },
    );
  }

  #begin(name: string): Live {
    const entry: Live = { stream: this.#openAfterClosing(name), open: undefined, failed: false, waiting: 0 };
    entry.stream.then(
      (stream) => (entry.open = stream),
      () => (entry.failed = true),
    );
    return entry;
  }

  #openAfterClosing(name: string): Promise<DurableStream> {
    const closing = this.#closing.get(name);
    if (closing === undefined) return this.#openNow(name);
    this.#closing.delete(name);
    return closing.then(() => this.#openNow(name));
  }

  #openNow(name: string): Promise<DurableStream> {
    this.#opened++;
    return this.#open(name);
  }

  async #shrinkTo(most: number): Promise<void> {
    const closing: Promise<void>[] = [];
    for (const [name, { stream, open, failed, waiting }] of this.#live) {
      if (this.#live.size <= most) break;
      if (waiting > 0) continue;
      this.#live.delete(name);
      if (failed) continue; // its calls were told, and there is nothing to close
      const closed = open?.close() ?? stream.then((opened) => opened.close());
      this.#closed++;
      this.#closing.set(name, closed);
      closing.push(
        closed.then(
          () => void (this.#closing.get(name) === closed && this.#closing.delete(name)),
          () => undefined, // the next call for that stream rejects with it, not the call that closed it
        ),
      );
    }
    await Promise.all(closing);
  }
}

/**
 * Many streams in one process, each named by a key and made on first use with noise of its own. A bounded number
 * is live; the least recently used ones are sealed to the store and come back when they are asked for.
 */
import type { Statement } from "../stream/statement.js";
import type { RangeAnswer } from "../stream/answer.js";
import type { RangeOptions } from "../stream/system.js";
import { resolveSettings, STREAM_OPTIONS, type StreamOptions } from "../stream/options.js";
import { type SnapshotKey, snapshotKey } from "../stream/sealing.js";
import { HoldoutStream } from "../stream/stream.js";
import { checkInteger, checkText, ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import { CheckedStore } from "./checkedStore.js";
import { Committer } from "./committer.js";
import { openIn, type DurableStream, type Place } from "./openStream.js";
import type { Budget } from "./odometer.js";
import { memoryStore } from "./stores/memory.js";
import type { Store } from "./stores/store.js";

export interface HubOptions extends Omit<StreamOptions, "name"> {
  /** How many streams are live at once; others are sealed. Default 1024. */
  readonly live?: number;
  /** Where sealed streams are. Default: the memory of this process, out of reach once the hub is closed. */
  readonly store?: Store;
  /** Seals them. Needed with a store of your own; otherwise made here and forgotten with the process. */
  readonly key?: SnapshotKey;
  /** The lowest sequence number that the stored snapshot of a stream may have. Default: no check. */
  readonly atLeast?: (name: string) => number;
  /** The odometer that the hub is charged to, and the data. A value goes to one stream, so the hub costs ε once. */
  readonly budget?: Budget & { /** Of the release. */ readonly name: string };
}

/** Makes a hub; the options of `privateStream` hold for each of its streams. */
export function openHub(asked: HubOptions): Hub {
  const names = STREAM_OPTIONS.filter((name) => name !== "name");
  const own = ownOptions("openHub", asked, [...names, "live", "store", "key", "atLeast", "budget"]);
  const { live = 1024, store, key, atLeast = () => 0, budget } = own;
  const options = given(own, names) as Omit<StreamOptions, "name">;
  checkInteger("live", live, 1, 2 ** 24);
  if (typeof atLeast !== "function")
    throw new TypeError(`atLeast: expected a function, got a value of type ${typeof atLeast}`);
  if (store !== undefined && key === undefined)
    throw new TypeError("key: expected 32 bytes or a CryptoKey for the snapshots in your store, got none");
  resolveSettings(options); // wrong options fail here, not at the first value
  const secret = snapshotKey(key ?? crypto.getRandomValues(new Uint8Array(32)));
  return new Hub(options, live, new CheckedStore(store ?? memoryStore()), secret, atLeast, budget);
}

interface Live {
  readonly stream: Promise<DurableStream>;
  /** Calls that are using it: it is not put away under them. */
  users: number;
}

export class Hub {
  readonly #options: Omit<StreamOptions, "name">;
  readonly #most: number;
  readonly #store: CheckedStore;
  readonly #place: Promise<Place>;
  readonly #atLeast: (name: string) => number;
  /** Least recently used first. */
  readonly #live = new Map<string, Live>();
  /** Streams on their way to the store, and those that did not get there. */
  readonly #leaving = new Map<string, Promise<void>>();
  /** Calls that are running, and what to do when there are none left. */
  #calls = 0;
  #whenIdle: (() => void) | undefined;
  #closed: Promise<void> | undefined;

  constructor(
    options: Omit<StreamOptions, "name">,
    most: number,
    store: CheckedStore,
    key: Promise<CryptoKey>,
    atLeast: (name: string) => number,
    budget: HubOptions["budget"],
  ) {
    this.#options = options;
    this.#most = most;
    this.#store = store;
    this.#atLeast = atLeast;
    this.#place = this.#prepare(key, budget);
    this.#place.catch(() => undefined); // the first call that needs it rejects with the reason
  }

  async #prepare(key: Promise<CryptoKey>, budget: HubOptions["budget"]): Promise<Place> {
    const place = { store: this.#store, committer: new Committer(this.#store), key: await key };
    if (budget !== undefined)
      await budget.odometer.register(budget.name, HoldoutStream.begin(this.#options).statement(), budget);
    return place;
  }

  /** Streams live at the moment. */
  get live(): number {
    return this.#live.size;
  }

  /** Takes a value of one stream and gives the private number for its position, `undefined` during its hold-out. */
  push(name: string, value: number): Promise<number | undefined> {
    return this.#use(name, (stream) => stream.push(value));
  }

  /** The same for a batch of one stream. */
  pushMany(name: string, values: Float64Array | readonly number[]): Promise<Float64Array> {
    return this.#use(name, (stream) => stream.pushMany(values));
  }

  /** What positions [from, to) of one stream published, once more. */
  published(name: string, from: number, to: number): Promise<Float64Array> {
    return this.#use(name, (stream) => stream.published(from, to));
  }

  /** Sum and mean over published positions [from, to) of one stream. */
  range(name: string, from: number, to: number, options?: RangeOptions): Promise<RangeAnswer> {
    return this.#use(name, (stream) => stream.range(from, to, options));
  }

  /** How many values one stream has received, how many positions it has published, and its newest stored snapshot. */
  progress(name: string): Promise<{ received: number; length: number; sequence: number }> {
    return this.#use(name, ({ received, length, sequence }) =>
      Promise.resolve({ received, length, sequence }),
    );
  }

  /** The privacy statement of one stream; ε holds for each stream by itself. */
  statement(name: string): Promise<Statement> {
    return this.#use(name, (stream) => stream.statement());
  }

  /** The same as a short text. */
  explain(name: string): Promise<string> {
    return this.#use(name, (stream) => stream.explain());
  }

  /**
   * Ends this hub: waits for the calls that are running, then seals every stream to the store, from which another
   * hub goes on. Calls that come later are refused. Rejects if a stream could not be stored, after all had their turn.
   */
  close(): Promise<void> {
    return (this.#closed ??= this.#sealAll());
  }

  async #sealAll(): Promise<void> {
    if (this.#calls > 0) await new Promise<void>((resolve) => (this.#whenIdle = resolve));
    await this.#shrinkTo(0);
    await Promise.all(this.#leaving.values()); // by now only those that could not be stored
  }

  async #use<T>(name: string, act: (stream: DurableStream) => Promise<T>): Promise<T> {
    checkText("name", name);
    this.#store.checkOutside();
    if (this.#closed !== undefined)
      throw new Error("hub: closed; make another one on the same store to go on");
    this.#calls++;
    const entry = this.#live.get(name) ?? { stream: this.#open(name), users: 0 };
    this.#live.delete(name);
    this.#live.set(name, entry); // now the most recently used
    entry.users++;
    try {
      return await act(await entry.stream);
    } catch (error) {
      await this.#dropIfEnded(name, entry);
      throw error;
    } finally {
      entry.users--;
      if (this.#live.size > this.#most) await this.#shrinkTo(this.#most);
      if (--this.#calls === 0) this.#whenIdle?.();
    }
  }

  async #open(name: string): Promise<DurableStream> {
    const leaving = this.#leaving.get(name);
    this.#leaving.delete(name);
    await leaving;
    const { unsafeSeed } = this.#options;
    const options = {
      ...this.#options,
      ...(unsafeSeed === undefined ? {} : { unsafeSeed: `${unsafeSeed}/${name}` }), // noise of its own even then
      name,
    };
    const atLeast = checkInteger("atLeast", this.#atLeast(name), 0, Number.MAX_SAFE_INTEGER);
    return openIn(await this.#place, options, atLeast, undefined);
  }

  /** A stream that could not be opened or stored is opened anew by the next call. */
  async #dropIfEnded(name: string, entry: Live): Promise<void> {
    const ended = await entry.stream.then(
      (stream) => stream.ended,
      () => true,
    );
    if (ended && this.#live.get(name) === entry) this.#live.delete(name);
  }

  async #shrinkTo(most: number): Promise<void> {
    const leaving: Promise<void>[] = [];
    for (const [name, { stream, users }] of this.#live) {
      if (this.#live.size <= most) break;
      if (users > 0) continue;
      this.#live.delete(name);
      const closed = stream.then((open) => open.close());
      this.#leaving.set(name, closed);
      leaving.push(
        closed.then(
          () => void (this.#leaving.get(name) === closed && this.#leaving.delete(name)),
          () => undefined, // said to whoever asks for that stream next, not to who pushed it out
        ),
      );
    }
    await Promise.all(leaving);
  }
}

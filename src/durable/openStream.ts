/**
 * A stream that survives a restart. This rule makes it safe (docs/snapshots.md):
 *
 *     receive values ─▶ take a snapshot of the state after them ─▶ store it ─▶ publish their numbers
 *
 * So the stored state covers everything that was published. A process that opens the stream again, after a clean stop
 * or a kill, resumes after the last published position: no position is published twice, and no noise covers two values.
 */
import { checkInteger, checkText, ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import type { RangeAnswer } from "../stream/answer.js";
import { STREAM_OPTIONS, type StreamOptions } from "../stream/options.js";
import { type SnapshotKey, snapshotKey, type StreamCipher } from "../stream/sealing.js";
import type { Statement } from "../stream/statement.js";
import { HoldoutStream } from "../stream/stream.js";
import type { RangeOptions } from "../stream/system.js";
import { CheckedStore, checkSequence } from "./checkedStore.js";
import { Committer } from "./committer.js";
import type { Budget } from "./odometer.js";
import { type NamedSnapshot, type Store, StoreError, type StoredSnapshot } from "./stores/store.js";

interface NamedOptions extends StreamOptions {
  /** Which stream of the store. Public. */
  readonly name: string;
}

export interface OpenStreamOptions extends NamedOptions {
  readonly store: Store;
  /** Encrypts the snapshots; as secret as the data. */
  readonly key: SnapshotKey;
  /**
   * The lowest sequence number that the stored snapshot may have. Keep `stream.sequence` in a place that is not rolled
   * back together with the store, and give it here. Default 0: no check.
   */
  readonly atLeast?: number;
  /** The odometer that this stream is charged to, and the data that it reads. */
  readonly budget?: Budget;
}

/** Opens a stream of a store: continues its newest snapshot, or begins it. */
export async function openStream(asked: OpenStreamOptions): Promise<DurableStream> {
  const own = ownOptions("openStream", asked, [...STREAM_OPTIONS, "store", "key", "atLeast", "budget"]);
  const { store, key, atLeast = 0, budget } = own;
  const options = given(own, STREAM_OPTIONS) as NamedOptions;
  checkText("name", options.name);
  checkInteger("atLeast", atLeast, 0, Number.MAX_SAFE_INTEGER);
  const checked = new CheckedStore(store);
  const place = { store: checked, committer: new Committer(checked), key: await snapshotKey(key) };
  return openIn(place, options, atLeast, budget);
}

/** What the streams of one hub share. */
export interface Place {
  readonly store: CheckedStore;
  readonly committer: Committer;
  readonly key: CryptoKey;
}

export async function openIn(
  { store, committer, key }: Place,
  options: NamedOptions,
  atLeast: number,
  budget: Budget | undefined,
): Promise<DurableStream> {
  const { name } = options;
  const found = await store.get(name, atLeast);
  try {
    const stream = found === undefined ? HoldoutStream.begin(options) : await resume(found, key, options);
    await budget?.odometer.register(name, stream.statement(), budget, found === undefined);
    return new DurableStream(stream, store, committer, await stream.cipher(key), name);
  } catch (reason) {
    await store.giveBack(name);
    throw reason;
  }
}

async function resume(
  found: StoredSnapshot,
  key: SnapshotKey,
  options: NamedOptions,
): Promise<HoldoutStream> {
  const stream = await HoldoutStream.restore(found.bytes, key, options);
  checkSequence(options.name, found.sequence, stream.sequence);
  return stream;
}

/**
 * A stream that publishes a number after its state is stored; hence all answers are promises. Calls need not be awaited
 * one by one: those made while a snapshot is being stored share the next one.
 */
export class DurableStream {
  readonly #stream: HoldoutStream;
  readonly #store: CheckedStore;
  readonly #committer: Committer;
  readonly #cipher: StreamCipher;
  readonly name: string;
  /** Values were received that no snapshot covers yet. */
  #changed = false;
  /** The snapshot being stored, and the one that will cover everything received until now. */
  #storing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #sequence: number;
  #ended: Error | undefined;

  constructor(
    stream: HoldoutStream,
    store: CheckedStore,
    committer: Committer,
    cipher: StreamCipher,
    name: string,
  ) {
    this.#stream = stream;
    this.#store = store;
    this.#committer = committer;
    this.#cipher = cipher;
    this.name = name;
    this.#sequence = stream.sequence;
  }

  /** Values received so far, held-out ones included: where the source resumes after a restart. */
  get received(): number {
    return this.#stream.received;
  }

  /** Positions published so far. After a restart, `published` returns those that were stored but not sent. */
  get length(): number {
    return this.#stream.length;
  }

  /** The number of the newest stored snapshot: what `atLeast` takes when the stream is opened again. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Closed, or stopped because the store failed. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Receives a value and gives the private number for its position, or `undefined` during the hold-out. */
  push(value: number): Promise<number | undefined> {
    return this.#answer((stream) => stream.push(value), true);
  }

  /** The same for a batch: one snapshot for all of it. */
  pushMany(values: Float64Array | readonly number[]): Promise<Float64Array> {
    return this.#answer((stream) => stream.pushMany(values), true);
  }

  /** What positions [from, to) published, once more, in every bit. */
  published(from: number, to: number): Promise<Float64Array> {
    return this.#answer((stream) => stream.published(from, to));
  }

  /** Sum and mean over published positions [from, to), with error bars. */
  range(from: number, to: number, options?: RangeOptions): Promise<RangeAnswer> {
    return this.#answer((stream) => stream.range(from, to, options));
  }

  /** The machine-readable privacy statement. It contains θ, so it waits for the store like all other answers. */
  statement(): Promise<Statement> {
    return this.#answer((stream) => stream.statement());
  }

  /** The same as a short text. */
  explain(): Promise<string> {
    return this.#answer((stream) => stream.explain());
  }

  /** Stores what is not stored yet and ends this object; `openStream` opens the stream again. */
  async close(): Promise<void> {
    this.#store.checkOutside();
    if (this.#ended !== undefined) return;
    const [changed, stored] = [this.#changed, this.#stored()];
    this.#ended = new Error(
      `stream ${JSON.stringify(this.name)}: expected an open stream, got a closed one; open it again`,
    );
    await stored;
    if (!changed) await this.#store.giveBack(this.name);
  }

  /** One promise for the caller: hubs make many thousand calls a second. */
  #answer<T>(ask: (stream: HoldoutStream) => T, changes = false): Promise<T> {
    try {
      this.#store.checkOutside();
      if (this.#ended !== undefined) throw this.#ended;
      this.#changed ||= changes; // before it acts: a smoother of the caller's may throw halfway
      const answer = ask(this.#stream);
      return this.#store.durable ? this.#stored().then(() => answer) : Promise.resolve(answer);
    } catch (error) {
      return Promise.resolve().then(() => {
        throw error;
      });
    }
  }

  /** Resolves when everything received until now is in the store. */
  #stored(): Promise<void> {
    if (!this.#changed) return this.#storing;
    return (this.#next ??= this.#committer
      .commit(() => this.#seal())
      .then(
        (sequence) => void (this.#sequence = sequence),
        (cause: unknown) => this.#end(cause),
      ));
  }

  /** The state of this moment. */
  #seal(): NamedSnapshot | Promise<NamedSnapshot> {
    this.#storing = this.#next!;
    this.#next = undefined;
    this.#changed = false;
    const bytes = this.#stream.seal(this.#cipher);
    const { sequence } = this.#stream;
    const name = this.name;
    return bytes instanceof Uint8Array
      ? { name, sequence, bytes }
      : bytes.then((bytes) => ({ name, sequence, bytes }));
  }

  /** After a failure nobody knows what the store has: this object ends, and opening the stream again finds out. */
  #end(cause: unknown): never {
    const message = `stream ${JSON.stringify(this.name)}: its state could not be stored, so nothing more is published; open it again`;
    const code = cause instanceof StoreError ? cause.code : "unavailable";
    throw (this.#ended = new StoreError(code, message, { cause }));
  }
}

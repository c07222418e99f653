/**
 * A stream that survives a restart. The rule that makes it safe (docs/snapshots.md):
 *
 *     take values ─▶ seal the state after them ─▶ store it ─▶ only then let their numbers out
 *
 * So nothing is ever published that the stored state does not know of. Whoever goes on from the store, after a
 * clean stop or a kill, goes on behind everything published: no position twice, and no noise on other values.
 */
import type { Statement } from "../stream/statement.js";
import type { RangeAnswer } from "../stream/answer.js";
import type { RangeOptions, PrivateStream } from "../stream/system.js";
import { STREAM_OPTIONS, type StreamOptions } from "../stream/options.js";
import { type SnapshotKey, snapshotKey } from "../stream/sealing.js";
import { restore, privateStream } from "../stream/stream.js";
import { checkText, ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import type { Store, StoredSnapshot } from "./stores/store.js";

interface NamedOptions extends StreamOptions {
  /** Which stream of the store. */
  readonly name: string;
}

export interface OpenStreamOptions extends NamedOptions {
  readonly store: Store;
  /** Seals the snapshots; as secret as the data. */
  readonly key: SnapshotKey;
}

/** Opens a stream of a store: goes on from its newest snapshot, or begins it. */
export async function openStream(asked: OpenStreamOptions): Promise<DurableStream> {
  const own = ownOptions("openStream", asked, [...STREAM_OPTIONS, "store", "key"]);
  const { store, key } = own;
  const options = given(own, STREAM_OPTIONS) as NamedOptions;
  checkText("name", options.name);
  const secret = await snapshotKey(key);
  const found = await store.get(options.name);
  try {
    const publisher = found === undefined ? privateStream(options) : await goOn(found, secret, options);
    return new DurableStream(publisher, store, secret, options.name);
  } catch (reason) {
    await store.giveBack?.(options.name);
    throw reason;
  }
}

async function goOn({ sequence, bytes }: StoredSnapshot, key: SnapshotKey, options: NamedOptions) {
  const publisher = await restore(bytes, key, options);
  if (publisher.sequence !== sequence)
    throw new Error(
      `store: expected snapshot ${sequence} of stream ${JSON.stringify(options.name)}, got ${publisher.sequence}; an older one was put back, and continuing it would publish positions again`,
    );
  return publisher;
}

/**
 * A publisher whose numbers come out after the state behind them is stored, hence promises. Calls need not be
 * awaited one by one: those made while a snapshot is being stored share the next one.
 */
export class DurableStream {
  readonly #publisher: PrivateStream;
  readonly #store: Store;
  readonly #key: SnapshotKey;
  readonly #name: string;
  /** Something was taken that no snapshot has yet. */
  #changed = false;
  /** The snapshot being stored, and the one that will have everything taken until now. */
  #storing: Promise<void> = Promise.resolve();
  #next: Promise<void> | undefined;
  #ended: Error | undefined;

  constructor(publisher: PrivateStream, store: Store, key: SnapshotKey, name: string) {
    this.#publisher = publisher;
    this.#store = store;
    this.#key = key;
    this.#name = name;
  }

  /** Values taken so far, held-out ones included: where the source goes on after a restart. */
  get received(): number {
    return this.#publisher.received;
  }

  /** Positions published so far. After a restart, `published` gives those that were stored but did not get out. */
  get length(): number {
    return this.#publisher.length;
  }

  /** Closed, or stopped because the store failed. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Takes a value and gives the private number for its position, or `undefined` during the hold-out. */
  push(value: number): Promise<number | undefined> {
    return this.#take((publisher) => publisher.push(value));
  }

  /** The same for a batch: one snapshot for all of it. */
  pushMany(values: Float64Array | readonly number[]): Promise<Float64Array> {
    return this.#take((publisher) => publisher.pushMany(values));
  }

  /** What positions [from, to) published, once more, in every bit. */
  published(from: number, to: number): Promise<Float64Array> {
    return this.#say((publisher) => publisher.published(from, to));
  }

  /** Sum and mean over published positions [from, to), with error bars. */
  range(from: number, to: number, options?: RangeOptions): Promise<RangeAnswer> {
    return this.#say((publisher) => publisher.range(from, to, options));
  }

  /** The machine-readable privacy statement. It has θ in it, so it waits for the store like all else. */
  statement(): Promise<Statement> {
    return this.#say((publisher) => publisher.statement());
  }

  /** The same as a short text. */
  explain(): Promise<string> {
    return this.#say((publisher) => publisher.explain());
  }

  /** Stores whatever is not stored yet and ends this object; `keep` opens the stream again. */
  async close(): Promise<void> {
    if (this.#ended !== undefined) return;
    const [changed, stored] = [this.#changed, this.#stored()];
    this.#ended = new Error(`stream ${JSON.stringify(this.#name)}: closed; open it again to go on`);
    await stored;
    if (!changed) await this.#store.giveBack?.(this.#name);
  }

  async #take<T>(act: (publisher: PrivateStream) => T): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended;
    this.#changed = true; // before it acts: a smoother of the caller's may throw halfway
    const result = act(this.#publisher);
    if (this.#store.durable) await this.#stored();
    return result;
  }

  async #say<T>(ask: (publisher: PrivateStream) => T): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended;
    const answer = ask(this.#publisher);
    if (this.#store.durable) await this.#stored();
    return answer;
  }

  /** Resolves when everything taken until now is in the store. */
  #stored(): Promise<void> {
    if (!this.#changed) return this.#storing;
    this.#next ??= this.#storing.then(() => {
      this.#next = undefined;
      this.#changed = false;
      return (this.#storing = this.#write());
    });
    return this.#next;
  }

  /** After a failure nobody knows what the store has: this object ends, and opening the stream again finds out. */
  async #write(): Promise<void> {
    try {
      const bytes = await this.#publisher.snapshot(this.#key);
      await this.#store.put(this.#name, this.#publisher.sequence, bytes);
    } catch (cause) {
      const message = `stream ${JSON.stringify(this.#name)}: its state could not be stored, so nothing more is published; open it again`;
      throw (this.#ended = new Error(message, { cause }));
    }
  }
}

/**
 * A stream that survives a restart: its numbers come out after the state behind them is stored; hence all answers are promises.
 * Calls need not be awaited one by one: those made while a snapshot is being stored share the next one.
 */
import type { StreamCipher } from "../snapshot/streamCipher.js";
import type { Release } from "./budget/odometer.js";
import type { CheckedStore } from "./checkedStore.js";
import type { Committer } from "./journal/committer.js";
import { type NamedSnapshot, StoreError } from "./stores/store.js";

/** A state that is encrypted into snapshots by the cipher that is given to it. */
export interface Storable {
  /** The number of the newest snapshot. */
  readonly sequence: number;
  /** Makes the cipher of its snapshots. */
  cipher(key: CryptoKey): StreamCipher | Promise<StreamCipher>;
  encrypt(cipher: StreamCipher): Uint8Array | Promise<Uint8Array>;
  /** The privacy statement: a budget is charged with it. */
  statement(): Release;
}

/** A stream that was opened, and where it is stored under which name. */
export interface Opened<S extends Storable> {
  readonly stream: S;
  readonly store: CheckedStore;
  readonly committer: Committer;
  readonly cipher: StreamCipher;
  readonly name: string;
}

const NOTHING = Promise.resolve();

export class Durable<S extends Storable> {
  protected readonly stream: S;
  readonly #store: CheckedStore;
  readonly #committer: Committer;
  readonly #cipher: StreamCipher;
  /** The name of the stream in its store. */
  readonly name: string;
  /** Something was received that no snapshot covers yet. */
  #changed = false;
  /** The snapshot being stored, and the one that will cover everything received until now. */
  #storing = NOTHING;
  #next: Promise<void> | undefined;
  #sequence: number;
  /** Why it takes no more calls. */
  #ended: "closed" | Error | undefined;

  constructor({ stream, store, committer, cipher, name }: Opened<S>) {
    this.stream = stream;
    this.#store = store;
    this.#committer = committer;
    this.#cipher = cipher;
    this.name = name;
    this.#sequence = stream.sequence;
  }

  /** The number of the newest stored snapshot: what `atLeast` takes when the stream is opened again. */
  get sequence(): number {
    return this.#sequence;
  }

  /** Closed, or stopped because the store failed. */
  get ended(): boolean {
    return this.#ended !== undefined;
  }

  /** Stores what is not stored yet and ends this object; `openStream` opens the stream again. */
  async close(): Promise<void> {
    this.#store.checkOutside();
    if (this.#ended !== undefined) return;
    const [changed, stored] = [this.#changed, this.#stored()];
    this.#ended = "closed";
    await stored;
    if (!changed) await this.#store.giveBack(this.name);
  }

  /** One promise for the caller: hubs make many thousand calls a second. */
  protected answer<T>(ask: (stream: S) => T, changes = false): Promise<T> {
    try {
      this.#store.checkOutside();
      if (this.#ended !== undefined) this.#refuse(this.#ended);
      this.#changed ||= changes; // before it acts: a smoother of the caller's may throw halfway
      const answer = ask(this.stream);
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
      .commit(() => this.#encrypt())
      .then(
        (sequence) => void (this.#sequence = sequence),
        (cause: unknown) => this.#end(cause),
      ));
  }

  /** The state of this moment. */
  #encrypt(): NamedSnapshot | Promise<NamedSnapshot> {
    this.#storing = this.#next!;
    this.#next = undefined;
    this.#changed = false;
    const bytes = this.stream.encrypt(this.#cipher);
    const { sequence } = this.stream;
    const name = this.name;
    return bytes instanceof Uint8Array
      ? { name, sequence, bytes }
      : bytes.then((bytes) => ({ name, sequence, bytes }));
  }

  #refuse(ended: "closed" | Error): never {
    if (ended !== "closed") throw ended;
    throw new Error(
      `stream ${JSON.stringify(this.name)}: expected an open stream, got a closed one; open it again`,
    );
  }

  /** After a failure nobody knows what the store has: this object ends, and opening the stream again finds out. */
  #end(cause: unknown): never {
    const message = `stream ${JSON.stringify(this.name)}: its state could not be stored, so nothing more is published; open it again`;
    const code = cause instanceof StoreError ? cause.code : "unavailable";
    throw (this.#ended = new StoreError(code, message, { cause }));
  }
}

/**
 * Stores the states of many streams together (group commit): one call of the store at a time, and everything that
 * changed in the meantime is in the next one.
 */
import type { CheckedStore } from "../checkedStore.js";
import { conflict, type NamedSnapshot, sameBytes, StoreError } from "../stores/store.js";

/** How often a snapshot is offered to a store that fails. */
const ATTEMPTS = 3;

interface Waiting {
  readonly encrypt: () => NamedSnapshot | Promise<NamedSnapshot>;
  readonly resolve: (sequence: number) => void;
  readonly reject: (reason: unknown) => void;
}

export class Committer {
  readonly #store: CheckedStore;
  readonly #every: number;
  #waiting: Waiting[] = [];
  #running = false;
  #commits = 0;
  #snapshots = 0;
  #retries = 0;

  /** @param every milliseconds between the starts of two commits, at least */
  constructor(store: CheckedStore, every = 0) {
    this.#store = store;
    this.#every = every;
  }

  /** Public counters. */
  get stats(): { readonly commits: number; readonly snapshots: number; readonly retries: number } {
    return { commits: this.#commits, snapshots: this.#snapshots, retries: this.#retries };
  }

  /**
   * Stores the state that a stream has when its turn comes. Resolves to the snapshot's sequence number.
   * @param encrypt makes the snapshot; called once
   */
  commit(encrypt: Waiting["encrypt"]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ encrypt, resolve, reject });
      if (!this.#running) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#running = true;
    await Promise.resolve(); // calls that are made together are stored together
    while (this.#waiting.length > 0) {
      const turn = this.#waiting;
      this.#waiting = [];
      await this.#takeTurn(turn).catch((reason: unknown) => {
        for (const { reject } of turn) reject(reason); // nobody waits for ever
      });
    }
    this.#running = false;
  }

  async #takeTurn(turn: readonly Waiting[]): Promise<void> {
    const start = performance.now();
    await this.#commit(turn);
    const rest = this.#every - (performance.now() - start);
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
  }

  async #commit(turn: readonly Waiting[]): Promise<void> {
    const snapshots: NamedSnapshot[] = [];
    const members: Waiting[] = [];
    for (const member of turn)
      try {
        const encrypted = member.encrypt();
        snapshots.push(encrypted instanceof Promise ? await encrypted : encrypted);
        members.push(member);
      } catch (reason) {
        member.reject(reason);
      }
    if (snapshots.length === 0) return;
    this.#commits++;
    const errors = await this.#store.putMany(snapshots);
    for (let i = 0; i < members.length; i++) {
      const error = errors[i] && (await this.#retry(snapshots[i]!, errors[i]!));
      if (error === undefined) {
        this.#snapshots++;
        members[i]!.resolve(snapshots[i]!.sequence);
      } else members[i]!.reject(error);
    }
  }

  /**
   * After a failure nobody knows what the store has, and a store that repeats a call by itself calls its own snapshot a
   * conflict: so the snapshot is read back before any error is believed. Gives the error if it is not stored.
   */
  async #retry(snapshot: NamedSnapshot, first: StoreError): Promise<StoreError | undefined> {
    if (!this.#store.durable || (first.code === "conflict" && this.#store.hasFinalConflicts)) return first;
    let error = first;
    let lost = false; // an answer was lost: the snapshot may arrive late
    for (let attempt = 1; attempt <= ATTEMPTS && isFailure(error); attempt++)
      try {
        lost ||= error.code === "unavailable";
        this.#retries++;
        const found = await this.#find(snapshot);
        if (found === "stored") return undefined;
        if (found === "another") return conflict(snapshot.name, snapshot.sequence);
        if (found === "later") return inDoubt(snapshot.name, error);
        if (!lost) return error;
        if (attempt === ATTEMPTS) break;
        await this.#store.put(snapshot.name, snapshot.sequence, snapshot.bytes);
        return undefined;
      } catch (reason) {
        error = reason as StoreError;
      }
    return lost || error.code === "unavailable" ? inDoubt(snapshot.name, error) : error;
  }

  /** Asks what the store has: this snapshot, the one before, another one in its place, or a later one. */
  async #find({ name, sequence, bytes }: NamedSnapshot): Promise<"stored" | "before" | "another" | "later"> {
    const found = await this.#store.get(name);
    const newest = found?.sequence ?? 0;
    if (newest !== sequence) return newest > sequence ? "later" : "before";
    return sameBytes(found!.bytes, bytes) ? "stored" : "another";
  }
}

const isFailure = ({ code }: StoreError): boolean => code === "unavailable" || code === "conflict";

/** The snapshot may have been stored, and perhaps others continued it. */
function inDoubt(name: string, cause: StoreError): StoreError {
  return new StoreError(
    "in-doubt",
    `store: whether a snapshot of stream ${JSON.stringify(name)} is stored is not known; making the call again may count its values twice`,
    { cause },
  );
}

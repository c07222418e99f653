/**
 * Stores the states of many streams together (group commit): one call of the store at a time, and everything that
 * changed in the meantime is in the next one.
 */
import type { CheckedStore } from "./checkedStore.js";
import type { NamedSnapshot, StoreError } from "./stores/store.js";

/** How often a snapshot is offered to a store that fails. */
const ATTEMPTS = 3;

interface Waiting {
  readonly seal: () => NamedSnapshot | Promise<NamedSnapshot>;
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
   * @param seal takes the snapshot; called once
   */
  commit(seal: Waiting["seal"]): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ seal, resolve, reject });
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
        const sealed = member.seal();
        snapshots.push(sealed instanceof Promise ? await sealed : sealed);
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
   * After a failure nobody knows what the store has, so it is read back. The snapshot is there in every byte: it was
   * stored. The one before is there: it was not, and is offered again. If that is a conflict, the first offer may have
   * arrived late: it is read back once more. Gives the error if it cannot be stored.
   */
  async #retry(snapshot: NamedSnapshot, first: StoreError): Promise<StoreError | undefined> {
    let error = first;
    for (
      let attempt = 2;
      attempt <= ATTEMPTS && this.#store.durable && error.code === "unavailable";
      attempt++
    )
      try {
        this.#retries++;
        if (await this.#has(snapshot)) return undefined;
        await this.#store.put(snapshot.name, snapshot.sequence, snapshot.bytes);
        return undefined;
      } catch (reason) {
        error = reason as StoreError;
        if (error.code === "conflict") return this.#unlessStored(snapshot, error);
      }
    return error;
  }

  async #unlessStored(snapshot: NamedSnapshot, error: StoreError): Promise<StoreError | undefined> {
    try {
      return (await this.#has(snapshot)) ? undefined : error;
    } catch (reason) {
      return reason as StoreError;
    }
  }

  async #has({ name, sequence, bytes }: NamedSnapshot): Promise<boolean> {
    const found = await this.#store.get(name);
    return found?.sequence === sequence && sameBytes(found.bytes, bytes);
  }
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

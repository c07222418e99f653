/** Stores the states of streams: one `put` at a time, and calls that come in the meantime share the next one. */
import type { CheckedStore } from "./checkedStore.js";
import { StoreError } from "./stores/store.js";

/** A snapshot of one stream, on its way to the store. */
export interface NamedSnapshot {
  readonly name: string;
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

export class Committer {
  readonly #store: CheckedStore;
  /** Resolves when the `put` that is running has ended. */
  #running: Promise<void> = Promise.resolve();

  constructor(store: CheckedStore) {
    this.#store = store;
  }

  /**
   * Stores the state that a stream has when its turn comes. Resolves to the snapshot's sequence number.
   * @param seal takes the snapshot; called once
   */
  commit(seal: () => NamedSnapshot | Promise<NamedSnapshot>): Promise<number> {
    const turn = this.#running.then(async () => {
      const snapshot = await seal();
      await this.#put(snapshot);
      return snapshot.sequence;
    });
    this.#running = turn.then(
      () => undefined,
      () => undefined,
    );
    return turn;
  }

  /**
   * After a failure nobody knows what the store has, so it is read back. The snapshot is there in every byte: it was
   * stored. The one before is there: it was not, and is stored once more.
   */
  async #put({ name, sequence, bytes }: NamedSnapshot): Promise<void> {
    try {
      await this.#store.put(name, sequence, bytes);
    } catch (error) {
      if (!this.#store.durable || !(error instanceof StoreError && error.code === "unavailable")) throw error;
      const found = await this.#store.get(name).catch(() => {
        throw error;
      });
      if (found?.sequence === sequence && sameBytes(found.bytes, bytes)) return;
      await this.#store.put(name, sequence, bytes);
    }
  }
}

function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

/** Encrypted records of one journal in its store. One that cannot be decrypted, or is older than it says, is refused. */
import { openSnapshot, type OpenedSnapshot, type Parameters } from "../../snapshot/snapshot.js";
import { type CheckedStore, checkSequence } from "../checkedStore.js";
import { StoreError, type StoredSnapshot } from "../stores/store.js";

export class Records {
  readonly store: CheckedStore;
  readonly key: CryptoKey;
  /** The name of the journal: names of its records begin with it. */
  readonly journal: string;

  constructor(store: CheckedStore, key: CryptoKey, journal: string) {
    this.store = store;
    this.key = key;
    this.journal = journal;
  }

  /** The newest record of a name; undefined if there is none. */
  async read(name: string, parameters: Parameters): Promise<OpenedSnapshot | undefined> {
    const found = await this.store.getAgain(name);
    return found && this.open(name, found, parameters);
  }

  async open(name: string, stored: StoredSnapshot, parameters: Parameters): Promise<OpenedSnapshot> {
    let opened: OpenedSnapshot;
    try {
      opened = await openSnapshot(stored.bytes, this.key, { ...parameters, name });
    } catch (cause) {
      // Other parameters or another version are the caller's to know of: the bytes are what was stored.
      if (cause instanceof RangeError || cause instanceof TypeError) throw cause;
      throw this.refused(
        `${JSON.stringify(name)} cannot be decrypted: the key is another one, or it was altered`,
        cause,
      );
    }
    checkSequence(name, stored.sequence, opened.sequence);
    return opened;
  }

  refused(what: string, cause?: unknown): StoreError {
    return new StoreError(
      "rolled-back",
      `store: ${what} (journal ${JSON.stringify(this.journal)}); continuing would publish periods again. Restore a whole copy of the store, or begin with an empty one`,
      { cause },
    );
  }
}

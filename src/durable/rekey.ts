/** Changes the key that encrypts the snapshots of a store. */
import { checkText, ownOptions } from "../core/checks.js";
import { type SnapshotKey, snapshotKey } from "../snapshot/streamCipher.js";
import { reencryptSnapshot, snapshotBinding } from "../snapshot/snapshot.js";
import { CheckedStore, checkSequence } from "./checkedStore.js";
import { type Store, StoreError } from "./stores/store.js";

export interface RekeyOptions {
  /** The store whose snapshots are encrypted again. */
  readonly store: Store;
  /** The key that the snapshots have now. */
  readonly from: SnapshotKey;
  /** The key that they get. */
  readonly to: SnapshotKey;
  /** The streams, hubs and odometers whose snapshots are encrypted again. Default: all that the store has. */
  readonly names?: Iterable<string>;
}

/** How often the store is looked through while others write to it. */
const PASSES = 4;

/**
 * Encrypts the newest snapshot of each stream with another key, as the next snapshot of that stream. Stop the processes that
 * write to the store first. A stream that is open with the old key gets a conflict with its next value, publishes nothing of
 * it and ends. A hub of events may write records under names that are new: the store is looked through until nothing has
 * the old key, and if others keep writing, the call rejects with `code: "in-use"`. Snapshots that have the new key are left
 * alone: run it again after a failure, and after a process that was still writing has stopped.
 * @returns how many snapshots got the new key
 */
export async function rekey(options: RekeyOptions): Promise<number> {
  const { store, from, to, names } = ownOptions("rekey", options, ["store", "from", "to", "names"]);
  const checked = new CheckedStore(store);
  const [old, fresh] = [await snapshotKey(from), await snapshotKey(to)];
  const given = names === undefined ? undefined : Array.from(names, (name) => checkText("names", name));
  let changed = 0;
  for (let pass = 1; pass <= PASSES; pass++) {
    let found = 0;
    for (const name of given ?? (await checked.names()))
      if (await rekeyOne(checked, name, old, fresh)) found++;
    changed += found;
    if (found === 0) return changed;
  }
  throw new StoreError(
    "in-use",
    "rekey: another process keeps writing snapshots with the old key; stop it, then run rekey again: until then neither key opens all of the store",
  );
}

/** Whether the snapshot had the old key. */
async function rekeyOne(
  store: CheckedStore,
  name: string,
  old: CryptoKey,
  fresh: CryptoKey,
): Promise<boolean> {
  const found = await store.get(name);
  try {
    if (found === undefined || (await snapshotBinding(found.bytes, fresh)) !== undefined) {
      await store.giveBack(name);
      return false;
    }
    const { previous, bytes } = await reencryptSnapshot(found.bytes, old, fresh);
    checkSequence(name, found.sequence, previous);
    await store.put(name, previous + 1, bytes);
    return true;
  } catch (error) {
    await store.giveBack(name);
    throw error;
  }
}

/** Changes the key that encrypts the snapshots of a store. */
import { checkText, ownOptions } from "../core/checks.js";
import { type SnapshotKey, snapshotKey } from "../stream/sealing.js";
import { openableSnapshot, resealSnapshot } from "../stream/snapshot.js";
import { CheckedStore, checkSequence } from "./checkedStore.js";
import type { Store } from "./stores/store.js";

export interface RekeyOptions {
  readonly store: Store;
  /** The key that the snapshots have now. */
  readonly from: SnapshotKey;
  /** The key that they get. */
  readonly to: SnapshotKey;
  /** The streams, hubs and odometers whose snapshots are encrypted again. Default: all that the store has. */
  readonly names?: Iterable<string>;
}

/**
 * Encrypts the newest snapshot of each stream with another key, as the next snapshot of that stream. A process that
 * has one of the streams open with the old key gets a conflict with its next value, publishes nothing of it and ends the
 * stream. Snapshots that have the new key already are left alone: run it again after a failure.
 * @returns how many snapshots got the new key
 */
export async function rekey(options: RekeyOptions): Promise<number> {
  const { store, from, to, names } = ownOptions("rekey", options, ["store", "from", "to", "names"]);
  const checked = new CheckedStore(store);
  const [old, fresh] = [await snapshotKey(from), await snapshotKey(to)];
  let changed = 0;
  for (const name of names === undefined ? await checked.names() : Array.from(names)) {
    checkText("names", name);
    const found = await checked.get(name);
    try {
      if (found === undefined || (await openableSnapshot(found.bytes, fresh))) {
        await checked.giveBack(name);
        continue;
      }
      const { previous, bytes } = await resealSnapshot(found.bytes, old, fresh);
      checkSequence(name, found.sequence, previous);
      await checked.put(name, previous + 1, bytes);
      changed++;
    } catch (error) {
      await checked.giveBack(name);
      throw error;
    }
  }
  return changed;
}

import { conflict, sameBytes, type Store, StoreError, type StoredSnapshot } from "./store.js";

interface Entry {
  readonly sequence: number;
  /** Undefined before the first snapshot. */
  readonly bytes: Uint8Array | undefined;
  /** A stream object continues it at the moment. */
  readonly open: boolean;
}

/** Stores snapshots in this process, encrypted: smaller than live streams, and gone when the process ends. */
export function memoryStore(): Store {
  return keepInMemory((bytes) => bytes.slice());
}

/** @param own what is kept of a caller's bytes: a copy, where others may change them */
export function keepInMemory(own: (bytes: Uint8Array) => Uint8Array): Store {
  const entries = new Map<string, Entry>();
  return {
    durable: false,
    get(name): Promise<StoredSnapshot | undefined> {
      const { sequence, bytes, open } = entries.get(name) ?? { sequence: 0, bytes: undefined, open: false };
      if (open)
        return Promise.reject(
          new StoreError(
            "in-use",
            `store: stream ${JSON.stringify(name)} is open already, in another hub or by openStream; close it there first`,
          ),
        );
      entries.set(name, { sequence, bytes, open: true });
      return Promise.resolve(bytes && { sequence, bytes });
    },
    put(name, sequence, bytes) {
      const entry = entries.get(name);
      const isStored = entry?.sequence === sequence && sameBytes(entry.bytes!, bytes);
      if (sequence !== (entry?.sequence ?? 0) + 1 && !isStored)
        return Promise.reject(conflict(name, sequence));
      entries.set(name, { sequence, bytes: own(bytes), open: false });
      return Promise.resolve();
    },
    names() {
      return Promise.resolve(
        [...entries].flatMap(([name, { bytes }]) => (bytes === undefined ? [] : [name])),
      );
    },
    remove(name, sequence) {
      if (entries.get(name)?.sequence !== sequence) return Promise.reject(conflict(name, sequence));
      entries.delete(name);
      return Promise.resolve();
    },
    giveBack(name) {
      const entry = entries.get(name);
      if (entry?.bytes === undefined) entries.delete(name);
      else entries.set(name, { ...entry, open: false });
      return Promise.resolve();
    },
  };
}

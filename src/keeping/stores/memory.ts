import { notNext, type Store, type Stored } from "./store.js";

/** Keeps snapshots in this process, encrypted: smaller than live streams, and gone with it. */
export function memoryStore(): Store {
  /** Without bytes: handed out. */
  const snapshots = new Map<string, { sequence: number; bytes: Uint8Array | undefined }>();
  return {
    durable: false,
    get(name): Promise<Stored | undefined> {
      const found = snapshots.get(name);
      if (found === undefined) return Promise.resolve(undefined);
      const { sequence, bytes } = found;
      if (bytes === undefined)
        return Promise.reject(new Error(`store: stream ${JSON.stringify(name)} is in use elsewhere`));
      found.bytes = undefined;
      return Promise.resolve({ sequence, bytes });
    },
    put(name, sequence, bytes) {
      if (sequence !== (snapshots.get(name)?.sequence ?? 0) + 1)
        return Promise.reject(notNext(name, sequence));
      snapshots.set(name, { sequence, bytes });
      return Promise.resolve();
    },
  };
}

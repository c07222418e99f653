import { notNext, type Store, type StoredSnapshot } from "./store.js";

interface Place {
  sequence: number;
  /** Undefined before the first seal. */
  bytes: Uint8Array | undefined;
  /** Somebody goes on from it at the moment. */
  open: boolean;
}

/** Keeps snapshots in this process, encrypted: smaller than live streams, and gone with it. */
export function memoryStore(): Store {
  const places = new Map<string, Place>();
  return {
    durable: false,
    get(name): Promise<StoredSnapshot | undefined> {
      const place = places.get(name) ?? { sequence: 0, bytes: undefined, open: false };
      if (place.open)
        return Promise.reject(
          new Error(
            `store: stream ${JSON.stringify(name)} is open already, in another hub or by keep; close that one first`,
          ),
        );
      place.open = true;
      places.set(name, place);
      const { sequence, bytes } = place;
      return Promise.resolve(bytes && { sequence, bytes });
    },
    put(name, sequence, bytes) {
      if (sequence !== (places.get(name)?.sequence ?? 0) + 1) return Promise.reject(notNext(name, sequence));
      places.set(name, { sequence, bytes, open: false });
      return Promise.resolve();
    },
    giveBack(name) {
      const place = places.get(name);
      if (place?.bytes === undefined) places.delete(name);
      else place.open = false;
      return Promise.resolve();
    },
  };
}

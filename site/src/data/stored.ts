/** The visitor's stream, kept in this browser so that a reload still has it. It never leaves the browser. */
import type { Meaning } from "./meaning.js";

export interface StoredStream {
  /** Random: the address of the page has it, and says nothing of the file. */
  readonly id: string;
  readonly name: string;
  readonly values: Float64Array;
  readonly meaning: Meaning;
  /** Sentences about how it was read. */
  readonly notes: readonly string[];
}

const DATABASE = "brume";
const SHELF = "streams";
/** One stream at a time: the newest. */
const KEY = "latest";

export async function storeStream(stream: StoredStream): Promise<void> {
  await onShelf("readwrite", (shelf) => shelf.put(stream, KEY));
}

/** The stored stream, if it has this id; without an id, any. */
export async function storedStream(id?: string): Promise<StoredStream | undefined> {
  const found = (await onShelf("readonly", (shelf) => shelf.get(KEY))) as StoredStream | undefined;
  return found !== undefined && (id === undefined || found.id === id) ? found : undefined;
}

export async function forgetStream(): Promise<void> {
  await onShelf("readwrite", (shelf) => shelf.delete(KEY));
}

/** Gives `undefined` where the browser forbids storage: the stream then lasts as long as the page. */
async function onShelf(
  mode: IDBTransactionMode,
  work: (shelf: IDBObjectStore) => IDBRequest,
): Promise<unknown> {
  try {
    const database = await opened();
    try {
      return await settled(work(database.transaction(SHELF, mode).objectStore(SHELF)));
    } finally {
      database.close();
    }
  } catch {
    return undefined;
  }
}

function opened(): Promise<IDBDatabase> {
  const request = indexedDB.open(DATABASE, 1);
  request.addEventListener("upgradeneeded", () => request.result.createObjectStore(SHELF));
  return settled(request);
}

function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener("success", () => resolve(request.result));
    request.addEventListener("error", () => reject(request.error ?? new Error("storage failed")));
  });
}

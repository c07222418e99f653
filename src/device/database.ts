/**
 * A device's memory in IndexedDB: what was spent, the reports made for ids, and the reports that wait for the
 * server. A charge, its report and its place in the outbox are one transaction: all of it is stored before a report leaves,
 * and two tabs never spend the same allowance. No value and no id is stored.
 */
import { joinBytes } from "../core/bytes.js";
import { charge, type Limits, NOTHING_SPENT, type Spent } from "./budget.js";

/** Reports that are remembered by id. An id that comes back after this many later reports costs a new one. */
const REMEMBERED = 1024;
/** Reports that may wait for the server. */
const MOST_WAITING = 1024;

/** The state's two entries. */
const SPENT = "spent";
const SECRET = "secret";

/** A report made for an id; `order` is its number among all reports. */
interface Remembered {
  readonly key: string;
  readonly order: number;
  readonly report: Uint8Array;
}

/** A report of a batch that the server has not acknowledged. */
interface Waiting {
  readonly batch: string;
  readonly report: Uint8Array;
}

/** Outcome of an attempt to make a report. */
export type Outcome =
  /** The report is charged, and waits for the server. */
  | { readonly kind: "made" }
  /** The id has a report already: that one stands. */
  | { readonly kind: "known"; readonly report: Uint8Array }
  /** The budget is spent. */
  | { readonly kind: "spent" };

type StoreName = "state" | "remembered" | "outbox";

const result = <T>(request: IDBRequest<T>): Promise<T> =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error!);
  });

export class Database {
  readonly #database: IDBDatabase;
  readonly #hashing: CryptoKey;

  private constructor(database: IDBDatabase, hashing: CryptoKey) {
    this.#database = database;
    this.#hashing = hashing;
  }

  static async open(name: string): Promise<Database> {
    const request = indexedDB.open(`brume ${name}`, 1);
    request.onupgradeneeded = () => {
      const state = request.result.createObjectStore("state");
      state.put(crypto.getRandomValues(new Uint8Array(32)), SECRET);
      request.result.createObjectStore("remembered", { keyPath: "key" }).createIndex("order", "order");
      request.result.createObjectStore("outbox", { autoIncrement: true }).createIndex("batch", "batch");
    };
    const database = await result(request);
    database.onversionchange = () => database.close();
    const secret = (await result(
      database.transaction("state").objectStore("state").get(SECRET),
    )) as Uint8Array<ArrayBuffer>;
    const hash = { name: "HMAC", hash: "SHA-256" };
    return new Database(database, await crypto.subtle.importKey("raw", secret, hash, false, ["sign"]));
  }

  /** A keyed hash of an id, 128 bits: ids lie in no storage, and their lengths neither. */
  async keyOf(id: string): Promise<string> {
    const hash = await crypto.subtle.sign("HMAC", this.#hashing, new TextEncoder().encode(id));
    return hex(new Uint8Array(hash, 0, 16));
  }

  spent(): Promise<Spent> {
    return this.#transact("readonly", ["state"], spentIn);
  }

  /** The report that was made for an id. */
  report(key: string): Promise<Uint8Array | undefined> {
    return this.#transact("readonly", ["remembered"], ({ remembered }) => reportFor(remembered, key));
  }

  /** Charges one report and stores it, all or nothing; resolves when it is on disk. */
  charge(
    limits: Limits,
    now: number,
    report: Uint8Array,
    batch: string,
    key: string | undefined,
  ): Promise<Outcome> {
    return this.#transact("readwrite", ["state", "remembered", "outbox"], async (stores) => {
      const known = key === undefined ? undefined : await reportFor(stores.remembered, key);
      if (known !== undefined) return { kind: "known", report: known };
      const spent = charge(limits, await spentIn(stores), now);
      if (spent === undefined) return { kind: "spent" };
      if ((await result(stores.outbox.count())) >= MOST_WAITING)
        throw new RangeError(
          `outbox: expected room for a report, got ${MOST_WAITING} that wait for the server; nothing was spent, report again when it answers`,
        );
      stores.state.put(spent, SPENT);
      stores.outbox.add({ batch, report } satisfies Waiting);
      if (key !== undefined) await remember(stores.remembered, { key, order: spent.total, report });
      return { kind: "made" };
    });
  }

  /** Names of the batches that wait, oldest first. */
  batches(): Promise<string[]> {
    return this.#transact("readonly", ["outbox"], async ({ outbox }) => {
      const rows = (await result(outbox.getAll())) as Waiting[];
      return [...new Set(rows.map(({ batch }) => batch))];
    });
  }

  /** The reports of a batch, end to end. */
  batch(name: string): Promise<Uint8Array<ArrayBuffer>> {
    return this.#transact("readonly", ["outbox"], async ({ outbox }) => {
      const rows = (await result(outbox.index("batch").getAll(name))) as Waiting[];
      return joinBytes(rows.map(({ report }) => report));
    });
  }

  async remove(batch: string): Promise<void> {
    await this.#transact("readwrite", ["outbox"], async ({ outbox }) => {
      for (const key of await result(outbox.index("batch").getAllKeys(batch))) outbox.delete(key);
    });
  }

  close(): void {
    this.#database.close();
  }

  /** Resolves when the transaction is stored; if `act` fails, nothing of it is. */
  async #transact<T>(
    mode: "readonly" | "readwrite",
    names: readonly StoreName[],
    act: (stores: Record<StoreName, IDBObjectStore>) => Promise<T>,
  ): Promise<T> {
    const transaction = this.#database.transaction([...names], mode, { durability: "strict" });
    const complete = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve();
      transaction.onabort = () =>
        reject(transaction.error ?? new Error("storage: the transaction was aborted"));
    });
    complete.catch(() => undefined); // an error of `act` is the one to tell
    const stores = Object.fromEntries(names.map((name) => [name, transaction.objectStore(name)]));
    try {
      const answer = await act(stores as Record<StoreName, IDBObjectStore>);
      await complete;
      return answer;
    } catch (reason) {
      try {
        transaction.abort();
      } catch {
        // it has ended by itself
      }
      throw reason;
    }
  }
}

async function spentIn({ state }: Record<StoreName, IDBObjectStore>): Promise<Spent> {
  return ((await result(state.get(SPENT))) as Spent | undefined) ?? NOTHING_SPENT;
}

async function reportFor(remembered: IDBObjectStore, key: string): Promise<Uint8Array | undefined> {
  return ((await result(remembered.get(key))) as Remembered | undefined)?.report;
}

/** One in, at most one out: the oldest. */
async function remember(remembered: IDBObjectStore, row: Remembered): Promise<void> {
  remembered.put(row);
  if ((await result(remembered.count())) <= REMEMBERED) return;
  const oldest = await result(remembered.index("order").getKey(IDBKeyRange.lowerBound(0)));
  if (oldest !== undefined) remembered.delete(oldest);
}

export const hex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

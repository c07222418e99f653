/** As much of a browser as a device needs, for tests: IndexedDB per origin, locks, a page's address, and a server that takes all. */
import { vi } from "vitest";

/** Rows of an object store by key, in the order of their keys. */
type Rows = Map<IDBValidKey, unknown>;
interface Store {
  readonly keyPath: string | undefined;
  readonly rows: Rows;
  next: number;
}
type Stores = Map<string, Store>;

interface Request {
  result?: unknown;
  onsuccess?: () => void;
  onupgradeneeded?: () => void;
}

/** A request that is answered in a later task, as in a browser. */
function later(answer: () => unknown, done: () => void = () => undefined): Request {
  const request: Request = {};
  setTimeout(() => {
    request.result = answer();
    request.onsuccess?.();
    setTimeout(done);
  });
  return request;
}

/** @param ask makes a request of the transaction */
function objectStore(store: Store, ask: (answer: () => unknown) => Request) {
  const put = (value: unknown, key?: IDBValidKey) => {
    const field =
      store.keyPath === undefined ? undefined : (value as Record<string, IDBValidKey>)[store.keyPath];
    store.rows.set(key ?? field ?? store.next++, structuredClone(value));
  };
  const found = (field: string, value: unknown) =>
    [...store.rows].filter(([, row]) => (row as Record<string, unknown>)[field] === value);
  return {
    createIndex: () => undefined,
    get: (key: IDBValidKey) => ask(() => structuredClone(store.rows.get(key))),
    put: (value: unknown, key?: IDBValidKey) => ask(() => put(value, key)),
    add: (value: unknown) => ask(() => put(value)),
    delete: (key: IDBValidKey) => ask(() => store.rows.delete(key)),
    count: () => ask(() => store.rows.size),
    getAll: () => ask(() => [...store.rows.values()]),
    index: (field: string) => ({
      getAll: (value: unknown) => ask(() => found(field, value).map(([, row]) => row)),
      getAllKeys: (value: unknown) => ask(() => found(field, value).map(([key]) => key)),
    }),
  };
}

function database(stores: Stores) {
  return {
    close: () => undefined,
    createObjectStore: (name: string, { keyPath }: { keyPath?: string } = {}) => {
      stores.set(name, { keyPath, rows: new Map(), next: 1 });
      return objectStore(stores.get(name)!, (answer) => ({ result: answer() }));
    },
    transaction: () => {
      let open = 0;
      const transaction = {
        oncomplete: undefined as (() => void) | undefined,
        objectStore: (name: string) =>
          objectStore(stores.get(name)!, (answer) => {
            open++;
            return later(answer, () => void (--open === 0 && transaction.oncomplete?.()));
          }),
      };
      return transaction;
    },
  };
}

/** Storage of all origins of one browser; `visit` makes the globals those of a page at an origin. */
export class Browser {
  readonly #storage = new Map<string, Map<string, Stores>>();
  /** Bytes of all bodies that servers received. */
  received = 0;

  visit(origin: string): void {
    const databases = this.#storage.get(origin) ?? new Map<string, Stores>();
    this.#storage.set(origin, databases);
    const open = (name: string) => {
      const isNew = !databases.has(name);
      const stores = databases.get(name) ?? (new Map() as Stores);
      databases.set(name, stores);
      const request = later(() => {
        request.result = database(stores);
        if (isNew) request.onupgradeneeded?.();
        return request.result;
      });
      return request;
    };
    vi.stubGlobal("indexedDB", { open });
    vi.stubGlobal("location", new URL(`${origin}/page`));
    vi.stubGlobal("addEventListener", () => undefined);
    vi.stubGlobal("removeEventListener", () => undefined);
    vi.stubGlobal("fetch", (_: string, { body }: { body: Uint8Array }) => {
      this.received += body.length;
      return Promise.resolve(new Response(null, { status: 202 }));
    });
    const request = (_: string, ...rest: unknown[]) =>
      Promise.resolve((rest.at(-1) as (lock: object) => unknown)({}));
    vi.stubGlobal("navigator", { locks: { request } });
  }
}

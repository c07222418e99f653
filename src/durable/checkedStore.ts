/**
 * A store is the caller's code. It may throw, return anything, or call the stream that it stores. Here every answer is
 * checked before it is used, every failure becomes a StoreError, and a call from inside the store is an error.
 */
import {
  conflict,
  hasFinalConflicts,
  type NamedSnapshot,
  type Store,
  StoreError,
  type StoredSnapshot,
} from "./stores/store.js";

/** More bytes than any snapshot has: a hold-out of 2²⁷ values takes 4 bytes a value. */
const MOST_BYTES = 2 ** 30;
const GET_ATTEMPTS = 3;
/** Calls of `get` that run at once. */
const GETS = 64;
const MOST_NAMES = 2 ** 24;

type Method = "get" | "getMany" | "put" | "putMany" | "names" | "remove" | "giveBack";

export class CheckedStore {
  readonly durable: boolean;
  /** Whether a conflict needs no second look. */
  readonly hasFinalConflicts: boolean;
  readonly #store: Store;
  /** A method of the store has been called and has not returned yet. */
  #inside = false;

  constructor(store: Store) {
    if (typeof store !== "object" || (store as Store | null) === null)
      throw new TypeError(`store: expected an object with durable, get and put, got ${typeof store}`);
    const durable: unknown = member(store, "durable"); // read once: it decides when numbers come out
    if (typeof durable !== "boolean")
      throw new TypeError(
        `store: expected durable to be true or false, got a value of type ${typeof durable}`,
      );
    for (const method of ["get", "put"] as const) {
      const found = typeof member(store, method);
      if (found !== "function")
        throw new TypeError(`store: expected a method ${method}, got a value of type ${found}`);
    }
    this.durable = durable;
    this.hasFinalConflicts = hasFinalConflicts(store);
    this.#store = store;
  }

  /** Fails when the store itself is the caller: the state that it stores is not stored yet. */
  checkOutside(): void {
    if (this.#inside)
      throw new Error(
        "store: a method of the store called the stream or hub that it stores; this would never end",
      );
  }

  /** @param atLeast the lowest sequence number that the newest snapshot may have */
  async get(name: string, atLeast = 0): Promise<StoredSnapshot | undefined> {
    const found = checkStored(name, await this.#call("get", name, (store) => store.get(name)));
    const newest = found?.sequence ?? 0;
    if (newest >= atLeast) return found;
    await this.giveBack(name);
    throw new StoreError(
      "rolled-back",
      `store: expected snapshot ${atLeast} or a later one of stream ${JSON.stringify(name)}, got ${newest === 0 ? "none" : newest}; the store was rolled back, and continuing it would publish positions again`,
    );
  }

  /** Reads from a durable store, which a `get` does not change: asked again where it fails for a moment. */
  async getAgain(name: string): Promise<StoredSnapshot | undefined> {
    for (let attempt = 1; ; attempt++)
      try {
        return await this.get(name);
      } catch (error) {
        if (attempt === GET_ATTEMPTS || (error as StoreError).code !== "unavailable") throw error;
      }
  }

  /** Many at once, as of one moment if the store can. Of a durable store. */
  async getMany(names: readonly string[]): Promise<readonly (StoredSnapshot | undefined)[]> {
    if (!this.#has("getMany")) {
      const found: (StoredSnapshot | undefined)[] = [];
      for (let at = 0; at < names.length; at += GETS)
        found.push(...(await Promise.all(names.slice(at, at + GETS).map((name) => this.getAgain(name)))));
      return found;
    }
    for (let attempt = 1; ; attempt++)
      try {
        const found: unknown = await this.#call("getMany", names.length, (store) => store.getMany!(names));
        if (!Array.isArray(found) || found.length !== names.length)
          throw new StoreError(
            "invalid",
            `store: expected getMany to return ${names.length} answers of get, got something else`,
          );
        return names.map((name, i) => checkStored(name, found[i]));
      } catch (error) {
        if (attempt === GET_ATTEMPTS || (error as StoreError).code !== "unavailable") throw error;
      }
  }

  put(name: string, sequence: number, bytes: Uint8Array): Promise<void> {
    return this.#call("put", name, (store) => store.put(name, sequence, bytes));
  }

  /** Stores each snapshot or says why not, in the same order. */
  async putMany(snapshots: readonly NamedSnapshot[]): Promise<readonly (StoreError | undefined)[]> {
    if (snapshots.length === 1 || !this.#has("putMany"))
      return Promise.all(
        snapshots.map(({ name, sequence, bytes }) =>
          this.put(name, sequence, bytes).then(
            () => undefined,
            (error: StoreError) => error,
          ),
        ),
      );
    try {
      const stored = await this.#call("putMany", snapshots.length, (store) => store.putMany!(snapshots));
      return checkStoredMany(stored, snapshots);
    } catch (error) {
      return snapshots.map(() => error as StoreError);
    }
  }

  /** Whether the store can tell its names. */
  get listed(): boolean {
    return this.#has("names");
  }

  async names(): Promise<string[]> {
    this.#require("names");
    const names: unknown = await this.#call("names", undefined, (store) => store.names!());
    if (
      !Array.isArray(names) ||
      names.length > MOST_NAMES ||
      !names.every((name) => typeof name === "string")
    )
      throw new StoreError(
        "invalid",
        "store: expected names to return an array of strings, got something else",
      );
    return [...names];
  }

  async remove(name: string, sequence: number): Promise<void> {
    this.#require("remove");
    await this.#call("remove", name, (store) => store.remove!(name, sequence));
  }

  #require(method: Method): void {
    if (!this.#has(method))
      throw new StoreError(
        "unsupported",
        `store: expected a method ${method}, got none; this store does not have it`,
      );
  }

  /** Called after a failure too, so its own failure must not hide the first one. */
  async giveBack(name: string): Promise<void> {
    if (!this.#has("giveBack")) return;
    await this.#call("giveBack", name, (store) => store.giveBack!(name)).catch(() => undefined);
  }

  #has(method: Method): boolean {
    return typeof member(this.#store, method) === "function";
  }

  /** @param what the name of a stream, how many streams, or all of them */
  async #call<T>(
    method: Method,
    what: string | number | undefined,
    act: (store: Store) => Promise<T>,
  ): Promise<T> {
    this.checkOutside();
    this.#inside = true;
    try {
      let answer: Promise<T>;
      try {
        answer = act(this.#store);
      } finally {
        this.#inside = false;
      }
      return await answer;
    } catch (cause) {
      throw storeError(method, show(what), cause);
    }
  }
}

/** A member of the store or of its class. What somebody put on Object.prototype is not the store's. */
function member(store: Store, name: Method | "durable"): unknown {
  for (let at: object | null = store; at !== null && at !== Object.prototype; at = Reflect.getPrototypeOf(at))
    if (Object.hasOwn(at, name)) return Reflect.get(store, name);
  return undefined;
}

function show(what: string | number | undefined): string {
  if (what === undefined) return "all streams";
  return typeof what === "number" ? `${what} streams` : `stream ${JSON.stringify(what)}`;
}

/** A store of the caller's says "conflict" or "in-use" by the error's code. */
function storeError(method: Method, what: string, cause: unknown): StoreError {
  if (cause instanceof StoreError) return cause;
  const code = typeof cause === "object" && cause !== null ? (cause as { code?: unknown }).code : undefined;
  if (code === "conflict" || code === "in-use")
    return new StoreError(code, `store: ${method} of ${what} was refused (${code}); open it again`, {
      cause,
    });
  return new StoreError("unavailable", `store: ${method} of ${what} failed; try again`, { cause });
}

function checkStoredMany(stored: unknown, snapshots: readonly NamedSnapshot[]): (StoreError | undefined)[] {
  if (
    !Array.isArray(stored) ||
    stored.length !== snapshots.length ||
    !stored.every((one) => typeof one === "boolean")
  )
    throw new StoreError(
      "invalid",
      `store: expected putMany to return ${snapshots.length} times true or false, got something else`,
    );
  return snapshots.map(({ name, sequence }, i) =>
    stored[i] === true ? undefined : conflict(name, sequence),
  );
}

/** Copies what `get` returned field by field; each is read once. */
function checkStored(name: string, found: unknown): StoredSnapshot | undefined {
  if (found === undefined) return undefined;
  const { sequence, bytes } = (found ?? {}) as Partial<StoredSnapshot>;
  const valid =
    Number.isSafeInteger(sequence) &&
    sequence! >= 1 &&
    bytes instanceof Uint8Array &&
    bytes.length <= MOST_BYTES;
  if (!valid)
    throw new StoreError(
      "invalid",
      `store: expected get to return { sequence, bytes } or undefined for stream ${JSON.stringify(name)}, got something else; sequence is a whole number from 1 on, bytes is a Uint8Array of at most 2^30 bytes`,
    );
  return { sequence: sequence!, bytes: new Uint8Array(bytes) };
}

/** A snapshot says itself which one it is: a store that returns an older one under a newer number is refused. */
export function checkSequence(name: string, stored: number, own: number): void {
  if (own !== stored)
    throw new StoreError(
      "rolled-back",
      `store: expected snapshot ${stored} of stream ${JSON.stringify(name)}, got ${own}; the store returned an older one, and continuing it would publish positions again`,
    );
}

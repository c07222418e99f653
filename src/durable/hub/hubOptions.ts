/** Options of a hub, checked, with every default filled in. */
import { checkInteger, checkText, ownOptions } from "../../core/checks.js";
import { given } from "../../core/given.js";
import { STREAM_OPTIONS, type StreamOptions } from "../../stream/options.js";
import type { SnapshotKey } from "../../snapshot/streamCipher.js";
import { CheckedStore } from "../checkedStore.js";
import type { Budget } from "../budget/odometer.js";
import { keepInMemory } from "../stores/memory.js";
import type { Store } from "../stores/store.js";

export type EachOptions = Omit<StreamOptions, "name" | "threshold">;

export interface HubOptions extends EachOptions {
  /**
   * How θ is chosen: by each stream for itself ("noisy-max", the default), once for all streams from the first `holdout`
   * values of the hub ("shared": then every stream publishes from its first value), or a public number.
   */
  readonly threshold?: StreamOptions["threshold"] | "shared";
  /** The names that streams may have: a list, or a public rule. Values for other names are dropped. Default: any name. */
  readonly keys?: Iterable<string> | ((name: string) => boolean);
  /** How many streams are open at once; others are in the store. Default 1024. */
  readonly live?: number;
  /** Where streams are stored. Default: the memory of this process, out of reach once the hub is closed. */
  readonly store?: Store;
  /** Encrypts them. Needed with a store of your own; otherwise made here and forgotten with the process. */
  readonly key?: SnapshotKey;
  /**
   * Milliseconds between two commits, at least: all streams that changed in between are stored together. A number is
   * published after its commit. Larger is faster and later. Default 0: as soon as the commit before has ended.
   */
  readonly commitEvery?: number;
  /** The lowest sequence number that the stored snapshot of a stream may have. Default: no check. */
  readonly atLeast?: (name: string) => number;
  /** The odometer that the hub is charged to, and the data. A value goes to one stream, so the hub costs ε once. */
  readonly budget?: Budget & { /** Name of the release. */ readonly name: string };
}

/** Which names streams may have. */
export interface KeyRule {
  has(name: string): boolean;
  /** All of them, if they were given as a list. */
  readonly list: readonly string[] | undefined;
}

export interface HubSettings {
  readonly options: EachOptions;
  readonly threshold: StreamOptions["threshold"] | "shared";
  readonly keys: KeyRule;
  readonly live: number;
  readonly store: CheckedStore;
  readonly key: SnapshotKey;
  readonly commitEvery: number;
  readonly atLeast: (name: string) => number;
  readonly budget: HubOptions["budget"] | undefined;
}

const MOST_KEYS = 2 ** 24;
const HUB_OPTIONS = ["keys", "live", "store", "key", "commitEvery", "atLeast", "budget"];

export function resolveHub(asked: HubOptions): HubSettings {
  const names = STREAM_OPTIONS.filter((name) => name !== "name");
  const own = ownOptions("openHub", asked, [...names, ...HUB_OPTIONS]);
  const {
    threshold = "noisy-max",
    keys,
    live = 1024,
    store,
    key,
    commitEvery = 0,
    atLeast = () => 0,
    budget,
  } = own;
  if (typeof atLeast !== "function")
    throw new TypeError(`atLeast: expected a function, got a value of type ${typeof atLeast}`);
  if (store !== undefined && key === undefined)
    throw new TypeError("key: expected 32 bytes or a CryptoKey for the snapshots in your store, got none");
  return {
    options: given(
      own,
      names.filter((name) => name !== "threshold"),
    ) as EachOptions,
    threshold,
    keys: keyRule(keys),
    live: checkInteger("live", live, 1, 2 ** 24),
    store: new CheckedStore(store ?? keepInMemory((bytes) => bytes)), // nobody else has what the hub's own streams stored
    key: key === undefined ? crypto.getRandomValues(new Uint8Array(32)) : key,
    commitEvery: checkInteger("commitEvery", commitEvery, 0, 60_000),
    atLeast,
    budget,
  };
}

export function keyRule(keys: HubOptions["keys"], option = "keys"): KeyRule {
  if (keys === undefined) return { has: () => true, list: undefined };
  if (typeof keys === "function") return { has: (name) => keys(name) === true, list: undefined };
  if (
    typeof keys === "string" ||
    typeof (keys as Partial<Iterable<string>> | null)?.[Symbol.iterator] !== "function"
  )
    throw new TypeError(`${option}: expected a list of names or a function, got something else`);
  const set = new Set<string>();
  for (const name of keys) {
    set.add(checkText(option, name));
    if (set.size > MOST_KEYS)
      throw new RangeError(`${option}: expected at most ${MOST_KEYS} names, got more`);
  }
  return { has: (name) => set.has(name), list: [...set] };
}

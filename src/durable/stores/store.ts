/** Where snapshots are stored. A store sees names, sequence numbers and encrypted bytes. */

/** A snapshot as a store returns it. */
export interface StoredSnapshot {
  /** Which snapshot of its stream it is, from 1 on. */
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** A snapshot on its way to a store. */
export interface NamedSnapshot extends StoredSnapshot {
  readonly name: string;
}

/** Two methods and a flag make a store; the other methods are optional. */
export interface Store {
  /**
   * Whether snapshots outlive the process. If true, nothing is published before the state that published it is
   * stored. If false, a crash destroys the noise key as well, and there is no state to go back to.
   */
  readonly durable: boolean;
  /**
   * The newest snapshot of a stream; undefined if there is none. It changes nothing in a durable store. A store that is
   * not durable gives a stream to one caller at a time and rejects others, because the caller publishes before it stores.
   */
  get(name: string): Promise<StoredSnapshot | undefined>;
  /**
   * `get` for many streams at once, as of one moment: what another process stores meanwhile is seen in all answers or in
   * none. No name occurs twice. Without it a hub of events calls `get` for each. Only for durable stores.
   */
  getMany?(names: readonly string[]): Promise<readonly (StoredSnapshot | undefined)[]>;
  /**
   * Stores a snapshot in place of the one before. Rejects with an error that has `code: "conflict"`, and changes
   * nothing, unless `sequence` is one above the newest (1 for a new stream). So if two processes continue the same
   * snapshot, one of them succeeds. If the newest snapshot has this `sequence` and the same bytes, an earlier call stored
   * it and its answer was lost: resolves. When it resolves, the snapshot is as safe as this store can make it.
   */
  put(name: string, sequence: number, bytes: Uint8Array): Promise<void>;
  /**
   * `put` for many streams at once, with one flush or one transaction for all of them; no name occurs twice. Gives
   * true for each snapshot that is stored and false for each that does not follow the newest one of its stream. Rejects
   * if it does not know. Without it a hub calls `put` for each stream.
   */
  putMany?(snapshots: readonly NamedSnapshot[]): Promise<readonly boolean[]>;
  /** The names of all streams that have a snapshot. */
  names?(): Promise<readonly string[]>;
  /** Removes a stream. Rejects with `code: "conflict"`, and changes nothing, unless `sequence` is the newest. */
  remove?(name: string, sequence: number): Promise<void>;
  /**
   * Ends a `get` without a `put`: no value was added to the stream. For stores that are not durable; other stores have
   * nothing to do here.
   */
  giveBack?(name: string): Promise<void>;
}

/** Why a store refused, in a form that programs can read. */
export type StoreErrorCode =
  /** Another process stored this stream in the meantime. Open it again. */
  | "conflict"
  /** The stream is open elsewhere in this process. Close it there first. */
  | "in-use"
  /** The store failed while it was read. Nothing was changed. */
  | "unavailable"
  /** The store failed while it stored values or events. Whether they count is not known: adding them again may count them twice. */
  | "in-doubt"
  /** The store cannot do this: it lacks the method. */
  | "unsupported"
  /** The store returned something that it must not return. */
  | "invalid"
  /** The store has an older state than `atLeast` says. */
  | "rolled-back";

export class StoreError extends Error {
  /** The kind of failure; docs/restarts.md says for each whether to retry. */
  readonly code: StoreErrorCode;
  /** Whether the same call can succeed after the stream is opened again. */
  readonly retryable: boolean;

  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "StoreError";
    this.code = code;
    this.retryable = code === "conflict" || code === "in-use" || code === "unavailable";
  }
}

/** Whether another process wrote first: nothing of the call was stored. */
export const isConflict = (error: unknown): boolean =>
  error instanceof StoreError && error.code === "conflict";

/** Error with which `put` rejects a snapshot that does not follow the newest one. */
export function conflict(name: string, sequence: number): StoreError {
  return new StoreError(
    "conflict",
    `store: snapshot ${sequence} of stream ${JSON.stringify(name)} does not follow the newest one; another process continued the stream, open it again`,
  );
}

/** Whether two snapshots are one and the same: an encrypted snapshot has random bytes, so no two are equal by chance. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && one.every((byte, i) => byte === other[i]);
}

const final = new WeakSet<Store>();

/**
 * Marks a store that makes each call once, with no connection in between, or that knows its own snapshots when they arrive
 * a second time: if it says "conflict", the snapshot is not stored. Of any other store the library believes that only as far as the stored bytes show it.
 */
export function finalConflicts(store: Store): Store {
  final.add(store);
  return store;
}

export const hasFinalConflicts = (store: Store): boolean => final.has(store);

/** Where sealed snapshots are kept. A store sees names, sequence numbers and encrypted bytes. */

/** A snapshot as a store keeps it. */
export interface StoredSnapshot {
  /** Which seal of its stream it is, from 1 on. */
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** Three members make a store, and a fourth one that ends with the process. */
export interface Store {
  /**
   * Whether snapshots outlive the process. If so, nothing is published before the state that published it is
   * stored; if not, a crash takes the noise key with it and there is nothing to go back to.
   */
  readonly durable: boolean;
  /**
   * The newest snapshot of a stream; undefined if there never was one. A store that is not durable hands a stream
   * to one taker at a time and rejects others, because the taker publishes without storing first.
   */
  get(name: string): Promise<StoredSnapshot | undefined>;
  /**
   * Keeps a snapshot in place of the one before. Rejects, and changes nothing, unless `sequence` is one above the
   * newest (1 for a new stream): of two that go on from the same snapshot one wins, and an old one cannot return.
   * When it resolves, the snapshot is as safe as this store can make it.
   */
  put(name: string, sequence: number, bytes: Uint8Array): Promise<void>;
  /**
   * Takes a stream back as it was handed out, because no value was added to it: it could not be opened, or was only
   * asked. For stores that are not durable; with others nothing was taken away.
   */
  giveBack?(name: string): Promise<void>;
}

/** What `put` rejects with when its snapshot does not follow the newest one. */
export function notNext(name: string, sequence: number): Error {
  return new Error(
    `store: snapshot ${sequence} of stream ${JSON.stringify(name)} does not follow the newest one; the stream was continued elsewhere, open it again`,
  );
}

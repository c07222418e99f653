/** Where sealed snapshots are kept. A store sees names, sequence numbers and encrypted bytes. */

/** A snapshot as a store keeps it. */
export interface Stored {
  /** Which seal of its stream it is, from 1 on. */
  readonly sequence: number;
  readonly bytes: Uint8Array;
}

/** Three members make a store. */
export interface Store {
  /**
   * Whether snapshots outlive the process. If so, nothing is published before the state that published it is
   * stored; if not, a crash takes the noise key with it and there is nothing to go back to.
   */
  readonly durable: boolean;
  /**
   * The newest snapshot of a stream; undefined if there never was one. A store that is not durable hands each
   * snapshot out once, because its taker publishes without storing first.
   */
  get(name: string): Promise<Stored | undefined>;
  /**
   * Keeps a snapshot in place of the one before. Rejects, and changes nothing, unless `sequence` is one above the
   * newest (1 for a new stream): of two that go on from the same snapshot one wins, and an old one cannot return.
   * When it resolves, the snapshot is as safe as this store can make it.
   */
  put(name: string, sequence: number, bytes: Uint8Array): Promise<void>;
}

/** What `put` rejects with when its snapshot does not follow the newest one. */
export function notNext(name: string, sequence: number): Error {
  return new Error(
    `store: snapshot ${sequence} of stream ${JSON.stringify(name)} does not follow the newest one; the stream was continued elsewhere, open it again`,
  );
}

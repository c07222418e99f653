/** The snapshots of one stream of events, one after the other: encrypted, numbered, bound to its parameters. */
import type { Decoder, Encoder } from "../snapshot/codec.js";
import type { SnapshotKey } from "../snapshot/streamCipher.js";
import { encodeState, openSnapshot, type Parameters } from "../snapshot/snapshot.js";
import { SnapshotSequence } from "../snapshot/snapshotSequence.js";

/** A stream that can be saved into a snapshot and resumed from one. */
export interface Snapshotted {
  readonly snapshots: Snapshots;
  /** Resumes from what it wrote under the same settings, after the noise key. */
  load(state: Decoder): void;
}

export class Snapshots extends SnapshotSequence {
  readonly #save: (writer: Encoder) => void;

  /**
   * @param parameters what they are bound to, asked for when there is one
   * @param save writes the state: the noise key first
   */
  constructor(parameters: () => Parameters, save: (writer: Encoder) => void) {
    super(() => encodeState(parameters(), save));
    this.#save = save;
  }

  /** The state alone, for a caller who encrypts it with other things. */
  write(writer: Encoder): void {
    this.#save(writer);
  }
}

/**
 * A stream that resumes from a snapshot.
 * @param make makes it again, with the noise key of the snapshot
 */
export async function resume<T extends Snapshotted>(
  bytes: Uint8Array,
  key: SnapshotKey,
  parameters: Parameters,
  make: (noiseKey: Uint32Array) => T,
): Promise<T> {
  const { sequence, salt, state } = await openSnapshot(bytes, key, parameters);
  const stream = make(state.words(8));
  stream.snapshots.resume(sequence, salt);
  stream.load(state);
  if (!state.atEnd) throw new Error("snapshot: expected nothing after the state; made by another version?");
  return stream;
}

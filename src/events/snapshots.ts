/** The snapshots of one stream of events, one after the other: encrypted, numbered, bound to its parameters. */
import type { Decoder, Encoder } from "../stream/codec.js";
import type { SnapshotKey } from "../stream/sealing.js";
import { encodeState, openSnapshot, type Parameters } from "../stream/snapshot.js";
import { SnapshotSequence } from "../stream/snapshotSequence.js";
import { parseTime } from "./duration.js";
import type { EventOptions, TickSettings } from "./options.js";

/** What can be put into a snapshot and resumed from one. */
export interface Snapshotted {
  readonly snapshots: Snapshots;
  /** Resumes from what it wrote under the same settings, after key and origin. */
  load(state: Decoder): void;
}

export class Snapshots extends SnapshotSequence {
  readonly #save: (writer: Encoder) => void;

  /**
   * @param parameters what they are bound to, asked for when there is one
   * @param save writes the state: key and origin first
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
 * @param make makes it again, with the settings and the key of the snapshot
 */
export async function resume<S extends TickSettings, T extends Snapshotted>(
  bytes: Uint8Array,
  key: SnapshotKey,
  options: EventOptions,
  settings: S,
  parameters: Parameters,
  make: (settings: S, noiseKey: Uint32Array) => T,
): Promise<T> {
  const { sequence, salt, state } = await openSnapshot(bytes, key, parameters);
  const noiseKey = state.words(8);
  const stream = make(withOrigin(settings, options, state.double()), noiseKey);
  stream.snapshots.resume(sequence, salt);
  stream.load(state);
  if (!state.atEnd) throw new Error("snapshot: expected nothing after the state; made by another version?");
  return stream;
}

/** The origin that the snapshot has: the default one depends on when a stream was made. */
function withOrigin<S extends TickSettings>(settings: S, options: EventOptions, origin: number): S {
  if (options.origin !== undefined && parseTime("origin", options.origin) !== origin)
    throw new RangeError(
      `snapshot: expected one made with origin = ${settings.schedule.origin}, got ${origin}; restore it with the options it was made with`,
    );
  return { ...settings, schedule: { ...settings.schedule, origin } };
}

/** The snapshots of one stream of events, one after the other: encrypted, numbered, bound to its parameters. */
import type { Decoder, Encoder } from "../stream/codec.js";
import { checkSnapshotKey, SALT_LENGTH, type SnapshotKey, StreamCipher } from "../stream/sealing.js";
import {
  encodeParameters,
  encodeState,
  openSnapshot,
  type Parameters,
  sealSnapshot,
} from "../stream/snapshot.js";
import { parseTime } from "./duration.js";
import type { EventOptions, TickSettings } from "./options.js";

/** What can be put into a snapshot and resumed from one. */
export interface Snapshotted {
  readonly snapshots: Snapshots;
  /** Resumes from what it wrote under the same settings, after key and origin. */
  load(state: Decoder): void;
}

export class Snapshots {
  readonly #parameters: () => Parameters;
  readonly #save: (writer: Encoder) => void;
  #sequence = 0;
  /** The salt of the key that encrypts this stream's snapshots. */
  #salt: Uint8Array<ArrayBuffer> | undefined;

  /**
   * @param parameters what they are bound to, asked for when there is one
   * @param save writes the state: key and origin first
   */
  constructor(parameters: () => Parameters, save: (writer: Encoder) => void) {
    this.#parameters = parameters;
    this.#save = save;
  }

  /** How many there are. */
  get sequence(): number {
    return this.#sequence;
  }

  async take(key: SnapshotKey): Promise<Uint8Array> {
    checkSnapshotKey(key);
    const plain = this.#encode(); // before anything is awaited: a snapshot of this moment
    const sequence = ++this.#sequence;
    try {
      return await sealSnapshot(await this.cipher(key), sequence, plain);
    } catch (error) {
      if (this.#sequence === sequence) this.#sequence--; // no other snapshot has been taken since
      throw error;
    }
  }

  /** What encrypts them: made once by callers who take many. */
  cipher(key: SnapshotKey): Promise<StreamCipher> {
    this.#salt ??= crypto.getRandomValues(new Uint8Array(SALT_LENGTH));
    return StreamCipher.make(key, this.#salt);
  }

  /** A snapshot, at once where the platform's cipher allows. */
  seal(cipher: StreamCipher): Uint8Array | Promise<Uint8Array> {
    const sealed = sealSnapshot(cipher, this.#sequence + 1, this.#encode());
    this.#sequence++;
    return sealed;
  }

  /** The state alone, for a caller who encrypts it with other things. */
  write(writer: Encoder): void {
    this.#save(writer);
  }

  #encode(): Uint8Array<ArrayBuffer> {
    return encodeState(encodeParameters(this.#parameters()), this.#save);
  }

  resume(sequence: number, salt: Uint8Array<ArrayBuffer>): void {
    this.#sequence = sequence;
    this.#salt = salt;
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

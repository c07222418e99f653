/**
 * A stream's state as encrypted bytes (docs/snapshots.md, streamCipher.ts).
 *
 *     "brume" · format · noise · sequence (8 bytes) · salt (16) · IV (12) │ encrypted: parameters, state │ tag (16 bytes)
 *
 * The bytes before the first line are authenticated too. Inside are true partial sums, held-out values and the
 * noise key, so a snapshot is as secret as the data. It holds no noise: noise is made again from the key.
 */
import { NOISE_VERSION } from "../core/random.js";
import { Decoder, Encoder } from "./codec.js";
import {
  freshIv,
  IV_LENGTH,
  SALT_LENGTH,
  type SnapshotKey,
  StreamCipher,
  TAG_LENGTH,
} from "./streamCipher.js";

export interface OpenedSnapshot {
  /** Which snapshot of its stream this is, from 1 on. */
  readonly sequence: number;
  /** The salt of the stream's key: its next snapshots have the same one. */
  readonly salt: Uint8Array<ArrayBuffer>;
  /** State as its parts wrote it. */
  readonly state: Decoder;
}

/** Public settings as text, by name. `name` is the stream's. */
export type Parameters = Readonly<Record<string, string>>;

/** Raised whenever the meaning of the bytes changes. `test/golden.test.ts` pins it. */
export const FORMAT_VERSION = 2;
const MAGIC = new TextEncoder().encode("brume");
/** Two bytes after the magic: the format, and which noise follows from the key. */
const VERSIONS = { format: FORMAT_VERSION, noise: NOISE_VERSION };
const VERSION_BYTES = Object.values(VERSIONS);
const SEQUENCE_AT = MAGIC.length + Object.keys(VERSIONS).length;
const SALT_AT = SEQUENCE_AT + 8;
const BODY_AT = SALT_AT + SALT_LENGTH + IV_LENGTH;

/** Writes the next state: hubs take many thousand snapshots a second. */
let spare: Encoder | undefined;
/** More memory than this is not kept. */
const MOST_SPARE = 2 ** 16;

/** Serialises what `save` writes; the encoder's own memory is wiped. */
export function encode(save: (writer: Encoder) => void): Uint8Array<ArrayBuffer> {
  const writer = spare ?? new Encoder();
  spare = undefined;
  try {
    save(writer);
    return writer.bytes;
  } finally {
    writer.wipe();
    if (writer.room <= MOST_SPARE) spare = writer;
  }
}

/** Serialises the plaintext of a snapshot: the parameters, then what `save` writes. */
export function encodeState(
  parameters: Parameters,
  save: (writer: Encoder) => void,
): Uint8Array<ArrayBuffer> {
  return encode((writer) => {
    writer.text(JSON.stringify(parameters));
    save(writer);
  });
}

/** @param plain begins with what the snapshot is bound to: a text of parameters */
export function encryptSnapshot(
  cipher: StreamCipher,
  sequence: number,
  plain: Uint8Array<ArrayBuffer>,
): Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>> {
  const header = new Uint8Array(BODY_AT);
  header.set(MAGIC);
  header.set(VERSION_BYTES, MAGIC.length);
  new DataView(header.buffer).setFloat64(SEQUENCE_AT, sequence, true);
  header.set(cipher.salt, SALT_AT);
  header.set(freshIv(), BODY_AT - IV_LENGTH);
  return cipher.encrypt(header, plain);
}

/** Opens a snapshot that was made with this key and these parameters; refuses any other. */
export function openSnapshot(
  bytes: Uint8Array,
  key: SnapshotKey,
  parameters: Parameters,
): Promise<OpenedSnapshot> {
  return openBound(bytes, key, (bound) =>
    checkParameters(JSON.parse(new TextDecoder().decode(bound)) as Parameters, parameters),
  );
}

/** @param check refuses a text of parameters that is not the one wanted */
export async function openBound(
  bytes: Uint8Array,
  key: SnapshotKey,
  check: (bound: Uint8Array) => void,
): Promise<OpenedSnapshot> {
  const { sequence, salt, plain } = await decryptSnapshot(bytes, key);
  const state = new Decoder(plain);
  try {
    check(state.blob());
  } catch (error) {
    state.wipe();
    throw error;
  }
  return { sequence, salt, state };
}

/** Encrypts the state of a snapshot again, as the next one of its stream, under another key. No parameter is needed for that. */
export async function reencryptSnapshot(
  bytes: Uint8Array,
  from: SnapshotKey,
  to: SnapshotKey,
): Promise<{ readonly previous: number; readonly bytes: Uint8Array }> {
  const { sequence: previous, plain } = await decryptSnapshot(bytes, from);
  try {
    return { previous, bytes: await encryptSnapshot(await StreamCipher.make(to), previous + 1, plain) };
  } finally {
    plain.fill(0);
  }
}

/** Reads what a snapshot is bound to, and its number; undefined if the key does not open it. The state is wiped. */
export async function snapshotBinding(
  bytes: Uint8Array,
  key: SnapshotKey,
): Promise<{ readonly sequence: number; readonly parameters: Parameters } | undefined> {
  const opened = await decryptSnapshot(bytes, key).catch(() => undefined);
  if (opened === undefined) return undefined;
  const text = new TextDecoder().decode(new Decoder(opened.plain).blob());
  opened.plain.fill(0);
  return { sequence: opened.sequence, parameters: JSON.parse(text) as Parameters };
}

async function decryptSnapshot(bytes: Uint8Array, key: SnapshotKey) {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("snapshot: expected a Uint8Array");
  const own = new Uint8Array(bytes); // the caller may change his while we wait
  if (own.length < BODY_AT + TAG_LENGTH)
    throw new RangeError(
      `snapshot: expected at least ${BODY_AT + TAG_LENGTH} bytes, got ${own.length}; it is truncated`,
    );
  const header = own.subarray(0, BODY_AT);
  if (MAGIC.some((byte, i) => header[i] !== byte))
    throw new TypeError("snapshot: expected bytes made by snapshot(), got other or corrupt bytes");
  Object.entries(VERSIONS).forEach(([what, version], i) => {
    const got = header[MAGIC.length + i];
    if (got !== version)
      throw new TypeError(
        `snapshot: expected ${what} version ${version}, got ${got}; restore it with the version of the library that made it`,
      );
  });
  const salt = header.slice(SALT_AT, SALT_AT + SALT_LENGTH);
  const cipher = await StreamCipher.make(key, salt);
  const plain = await cipher.decrypt(header, own.subarray(BODY_AT)).catch(() => {
    throw new Error("snapshot: cannot decrypt it: wrong key, or corrupt or truncated data");
  });
  return { sequence: new DataView(own.buffer).getFloat64(SEQUENCE_AT, true), salt, plain };
}

/** Said first when it differs: a snapshot of another stream usually differs in other settings as well. */
const IDENTITY = "name";
/** Said second when they differ: other settings follow from them. */
const BOUNDS = ["min", "max"];

/** Refuses parameters that differ, and names the first one. */
export function checkParameters(bound: Parameters, wanted: Parameters): void {
  const names = [IDENTITY, ...BOUNDS, ...new Set([...Object.keys(wanted), ...Object.keys(bound)])];
  const different = names.find((name) => bound[name] !== wanted[name]);
  if (different === undefined) return;
  const [got, want] = [bound, wanted].map((from) => JSON.stringify(from[different] ?? "none"));
  throw new RangeError(
    different === IDENTITY
      ? `snapshot: expected one of the stream ${want}, got one of ${got}`
      : `snapshot: expected one made with ${different} = ${want}, got ${got}; restore it with the options it was made with`,
  );
}

/**
 * A publisher's state, sealed: AES-256-GCM under the caller's key (docs/snapshots.md).
 *
 *     "brume" · version · sequence (8 bytes) · IV (12 bytes) │ encrypted: parameters, state │ tag (16 bytes)
 *
 * Everything left of the first line is authenticated too. Inside are true partial sums, held-out values and the
 * noise key, so a snapshot is as secret as the data; no noise is in it, since noise is made again from the key.
 */
import { Decoder, Encoder } from "./codec.js";
import type { Settings } from "./options.js";
import { smootherName } from "./smoothers/index.js";

/** 32 secret bytes, or an AES-GCM key of 256 bits made with WebCrypto. */
export type SnapshotKey = Uint8Array | CryptoKey;

export interface Opened {
  /** Which seal of its stream this is, from 1 on. */
  readonly sequence: number;
  /** What the stages wrote. */
  readonly state: Decoder;
}

/** Changes whenever the meaning of the bytes does: a stage's state, or how noise follows from the key. */
const VERSION = 1;
const MAGIC = new TextEncoder().encode("brume");
const SEQUENCE_AT = MAGIC.length + 1;
const IV_AT = SEQUENCE_AT + 8;
const BODY_AT = IV_AT + 12;
const TAG = 16;

/** @param save writes the state; called before anything is awaited, so the snapshot is of this moment */
export async function sealSnapshot(
  key: SnapshotKey,
  sequence: number,
  settings: Settings,
  save: (writer: Encoder) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const writer = new Encoder();
  writer.text(JSON.stringify(parametersOf(settings)));
  save(writer);
  const plain = writer.bytes;
  const header = new Uint8Array(BODY_AT);
  header.set(MAGIC);
  header[MAGIC.length] = VERSION;
  new DataView(header.buffer).setFloat64(SEQUENCE_AT, sequence, true);
  const iv = crypto.getRandomValues(header.subarray(IV_AT));
  const secret = await snapshotKey(key);
  const sealed = await crypto.subtle.encrypt({ name: "AES-GCM", iv, additionalData: header }, secret, plain);
  const out = new Uint8Array(BODY_AT + sealed.byteLength);
  out.set(header);
  out.set(new Uint8Array(sealed), BODY_AT);
  return out;
}

/** Opens a snapshot that was sealed with this key for a stream with these settings; refuses any other. */
export async function openSnapshot(bytes: Uint8Array, key: SnapshotKey, settings: Settings): Promise<Opened> {
  if (!(bytes instanceof Uint8Array)) throw new TypeError("snapshot: expected a Uint8Array");
  const own = Uint8Array.from(bytes); // the caller may change his while we wait
  const header = own.subarray(0, BODY_AT);
  if (own.length < BODY_AT + TAG)
    throw new RangeError(
      `snapshot: expected at least ${BODY_AT + TAG} bytes, got ${own.length}; it is cut short`,
    );
  if (MAGIC.some((byte, i) => header[i] !== byte))
    throw new TypeError("snapshot: expected bytes made by seal(), got something else, or damaged bytes");
  if (header[MAGIC.length] !== VERSION)
    throw new TypeError(
      `snapshot: expected format version ${VERSION}, got ${header[MAGIC.length]}; restore it with the version of the library that made it`,
    );
  const secret = await snapshotKey(key);
  const reader = await decrypt(secret, header, own.subarray(BODY_AT));
  checkParameters(JSON.parse(reader.text()) as Record<string, string>, parametersOf(settings));
  return { sequence: new DataView(own.buffer).getFloat64(SEQUENCE_AT, true), state: reader };
}

/** The key in the form WebCrypto wants; made once by callers who seal often. */
export async function snapshotKey(key: SnapshotKey): Promise<CryptoKey> {
  if (typeof globalThis.crypto?.subtle === "undefined")
    throw new Error("crypto.subtle: expected WebCrypto, got none; browsers have it on https pages only");
  if (key instanceof Uint8Array) {
    if (key.length !== 32) throw new RangeError(`key: expected 32 bytes, got ${key.length}`);
    return crypto.subtle.importKey("raw", Uint8Array.from(key), "AES-GCM", false, ["encrypt", "decrypt"]);
  }
  const algorithm = (key as CryptoKey | undefined)?.algorithm as AesKeyAlgorithm | undefined;
  if (algorithm?.name !== "AES-GCM" || algorithm.length !== 256)
    throw new TypeError("key: expected 32 bytes or an AES-GCM CryptoKey of 256 bits");
  return key;
}

async function decrypt(
  key: CryptoKey,
  header: Uint8Array<ArrayBuffer>,
  sealed: Uint8Array<ArrayBuffer>,
): Promise<Decoder> {
  const iv = header.subarray(IV_AT);
  try {
    const plain = await crypto.subtle.decrypt({ name: "AES-GCM", iv, additionalData: header }, key, sealed);
    return new Decoder(new Uint8Array(plain));
  } catch {
    throw new Error("snapshot: it does not open; the key is another one, or the bytes were damaged or cut");
  }
}

/** Every setting that published numbers depend on, and the stream's name, as text; public. */
function parametersOf(settings: Settings): Record<string, string> {
  const shown = { ...settings, smoother: smootherName(settings.smoother), core: "any" }; // both give the same answers
  return Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, String(value)]));
}

/** Said first when it differs: a snapshot of another stream usually differs in other settings as well. */
const IDENTITY = "name";

function checkParameters(sealed: Record<string, string>, wanted: Record<string, string>): void {
  const names = [IDENTITY, ...new Set([...Object.keys(wanted), ...Object.keys(sealed)])];
  const different = names.find((name) => sealed[name] !== wanted[name]);
  if (different === undefined) return;
  const [got, want] = [sealed, wanted].map((from) => JSON.stringify(from[different] ?? "none"));
  throw new RangeError(
    different === IDENTITY
      ? `snapshot: expected one of the stream ${want}, got one of ${got}`
      : `snapshot: expected one made with ${different} = ${want}, got ${got}; restore it with the options it was made with`,
  );
}

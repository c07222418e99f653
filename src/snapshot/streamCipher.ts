/**
 * How snapshots are encrypted: AES-256-GCM, under a key of each stream's own.
 *
 *     stream key = HKDF-SHA-256(key, no salt, info = "brume snapshot" · salt of the stream)
 *
 * Random IVs are safe for 2³² messages under one AES key. With one key per stream this limit holds for each stream
 * by itself, and not for all streams of a store together.
 */

import type { KeyObject } from "node:crypto";
import { joinBytes } from "../core/bytes.js";

/** 32 secret bytes, or a WebCrypto key imported for "HKDF" with the usage "deriveBits". */
export type SnapshotKey = Uint8Array | CryptoKey;

export const SALT_LENGTH = 16;
export const IV_LENGTH = 12;
export const TAG_LENGTH = 16;

const INFO = new TextEncoder().encode("brume snapshot");
/** HKDF-Expand numbers its blocks; a key takes one. */
const FIRST_BLOCK = Uint8Array.of(1);
const OPTIONS = { authTagLength: TAG_LENGTH };

type Bytes = Uint8Array<ArrayBuffer>;

/** Node's own cipher answers at once and takes a fraction of WebCrypto's time for a small snapshot. */
const node = globalThis.process?.getBuiltinModule?.("node:crypto");

/**
 * An IV, straight from the platform when it is used. Bytes made ahead would repeat in two copies of a process that was frozen
 * and copied, under the same key: AES-GCM then reveals both texts.
 */
export const freshIv = (): Bytes => crypto.getRandomValues(new Uint8Array(IV_LENGTH));

/** A salt, straight from the platform, too. */
export const freshSalt = (): Bytes => crypto.getRandomValues(new Uint8Array(SALT_LENGTH));

/** Encrypts the snapshots of one stream. */
export class StreamCipher {
  /** Public; stands in every snapshot of the stream. */
  readonly salt: Bytes;
  /** 32 bytes where Node's cipher is there. */
  readonly #key: CryptoKey | Bytes;

  private constructor(salt: Bytes, key: CryptoKey | Bytes) {
    this.salt = salt;
    this.#key = key;
  }

  /**
   * Comes at once where Node's cipher is there and the key is a CryptoKey that was used before.
   * @param salt of a stream that has one already; a new stream gets a random one
   */
  static make(key: SnapshotKey, salt: Bytes = freshSalt()): StreamCipher | Promise<StreamCipher> {
    const known = extractedKeys.get(key as CryptoKey);
    return known === undefined ? StreamCipher.#make(key, salt) : StreamCipher.#expand(known, salt);
  }

  static async #make(key: SnapshotKey, salt: Bytes): Promise<StreamCipher> {
    const master = await snapshotKey(key);
    const extractedKey = extracted(master);
    if (extractedKey !== undefined) return StreamCipher.#expand(extractedKey, salt);
    const info = joinBytes([INFO, salt]);
    const derivation = { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(0), info };
    const secret = await crypto.subtle.deriveBits(derivation, master, 256);
    const usages: KeyUsage[] = ["encrypt", "decrypt"];
    return new StreamCipher(salt, await crypto.subtle.importKey("raw", secret, "AES-GCM", false, usages));
  }

  /** One HMAC per stream: the first of the two steps of HKDF depends on the key alone. */
  static #expand(extractedKey: KeyObject, salt: Bytes): StreamCipher {
    const hmac = node.createHmac("sha256", extractedKey).update(INFO).update(salt).update(FIRST_BLOCK);
    return new StreamCipher(salt, new Uint8Array(hmac.digest()));
  }

  /**
   * The message: header, encrypted text, tag. It comes at once where Node's cipher is there, else as a promise.
   * @param header its last 12 bytes are the IV; authenticated with the text
   */
  encrypt(header: Bytes, plain: Bytes): Bytes | Promise<Bytes> {
    const iv = header.subarray(-IV_LENGTH);
    if (this.#key instanceof CryptoKey)
      return crypto.subtle
        .encrypt(parameters(iv, header), this.#key, plain)
        .then((encrypted) => joinBytes([header, new Uint8Array(encrypted)]));
    const cipher = node.createCipheriv("aes-256-gcm", this.#key, iv, OPTIONS);
    cipher.setAAD(header);
    const text = cipher.update(plain);
    cipher.final();
    return joinBytes([header, text, cipher.getAuthTag()]);
  }

  /** The text of a message. Rejects unless it was encrypted by this key, with this header. */
  async decrypt(header: Bytes, encrypted: Bytes): Promise<Bytes> {
    const iv = header.subarray(-IV_LENGTH);
    if (this.#key instanceof CryptoKey)
      return new Uint8Array(await crypto.subtle.decrypt(parameters(iv, header), this.#key, encrypted));
    const end = encrypted.length - TAG_LENGTH;
    const decipher = node.createDecipheriv("aes-256-gcm", this.#key, iv, OPTIONS);
    decipher.setAAD(header);
    decipher.setAuthTag(encrypted.subarray(end));
    const text = decipher.update(encrypted.subarray(0, end));
    decipher.final(); // throws unless the tag is right: the text is not looked at before
    return joinBytes([text]);
  }
}

const extractedKeys = new WeakMap<CryptoKey, KeyObject>();

/** HKDF-Extract without a salt (RFC 5869, section 2.2), once per key; undefined where only WebCrypto can derive. */
function extracted(master: CryptoKey): KeyObject | undefined {
  if (typeof node?.KeyObject?.from !== "function") return undefined;
  let key = extractedKeys.get(master);
  if (key === undefined) {
    const secret = node.KeyObject.from(master).export();
    key = node.createSecretKey(node.createHmac("sha256", new Uint8Array(32)).update(secret).digest());
    extractedKeys.set(master, key);
  }
  return key;
}

/** The key in the form that WebCrypto derives from; made once by callers who open many streams. */
export async function snapshotKey(key: SnapshotKey): Promise<CryptoKey> {
  checkSnapshotKey(key);
  return key instanceof CryptoKey
    ? key
    : crypto.subtle.importKey("raw", Uint8Array.from(key), "HKDF", false, ["deriveBits"]);
}

export function checkSnapshotKey(key: SnapshotKey): void {
  if (typeof globalThis.crypto?.subtle === "undefined")
    throw new Error("crypto.subtle: expected WebCrypto, got none; browsers have it on https pages only");
  if (key instanceof Uint8Array) {
    if (key.length !== 32) throw new RangeError(`key: expected 32 bytes, got ${key.length}`);
  } else if (!(
    key instanceof CryptoKey &&
    key.algorithm.name === "HKDF" &&
    key.usages.includes("deriveBits")
  ))
    throw new TypeError('key: expected 32 bytes or a CryptoKey for "HKDF" with the usage "deriveBits"');
}

/** Names the tag's length too: WebCrypto would read a shorter one from a polluted Object.prototype. */
function parameters(iv: Bytes, additionalData: Bytes): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData, tagLength: 8 * TAG_LENGTH };
}

/**
 * Keys for what lies in the state topic, derived from a master key: one for each use and partition, from which each
 * stream derives one of its own. A single AES-GCM key must not encrypt more than 2³² times, which many streams would
 * reach within hours. Master keys have names, so that one can be replaced while records under the old one exist.
 */
import { Refusal } from "brume/node";
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes, webcrypto } from "node:crypto";

/** 32 secret bytes, or several by name, with the one that new records use. */
export type KeyOption =
  Uint8Array | { readonly current: string; readonly keys: Readonly<Record<string, Uint8Array>> };

const [IV, TAG] = [12, 16];

export class Keyring {
  /** Name of the key that encrypts; part of every record, public. */
  readonly current: string;
  readonly #keys: Map<string, Uint8Array>;
  readonly #imported = new Map<string, Promise<webcrypto.CryptoKey>>();

  constructor(option: KeyOption) {
    const isOne = option instanceof Uint8Array;
    this.current = isOne ? "1" : option.current;
    this.#keys = new Map(
      Object.entries(isOne ? { 1: option } : option.keys).map(([id, key]) => [id, key.slice()]),
    );
    for (const [id, key] of this.#keys)
      if (!(key instanceof Uint8Array) || key.length !== 32)
        throw new RangeError(`key ${id}: expected 32 bytes, got ${key?.length ?? "none"}`);
    if (!this.#keys.has(this.current))
      throw new RangeError(
        `key: expected the current key ${JSON.stringify(this.current)} among the keys, got none`,
      );
  }

  /** A key for one use: HKDF-SHA-256 with the use as its context. */
  derive(id: string, ...use: (string | number)[]): Buffer {
    const master = this.#keys.get(id);
    if (master === undefined)
      throw new Refusal(`key: expected the key named ${JSON.stringify(id)}, got none; add it to the keyring`);
    return Buffer.from(hkdfSync("sha256", master, "brume-kafka 1", JSON.stringify(use), 32));
  }

  /** A key in the form that snapshots of streams take: each stream then derives a key of its own from it. */
  snapshotKey(id: string, ...use: (string | number)[]): Promise<webcrypto.CryptoKey> {
    const name = JSON.stringify([id, ...use]);
    let key = this.#imported.get(name);
    if (key === undefined) {
      const bytes = Uint8Array.from(this.derive(id, "streams", ...use));
      key = webcrypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveBits"]);
      this.#imported.set(name, key);
    }
    return key;
  }
}

/** AES-256-GCM: IV, ciphertext, tag. */
export function encryptBytes(key: Buffer, plain: Buffer): Buffer {
  const iv = randomBytes(IV);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

export function openBytes(name: string, key: Buffer, encrypted: Buffer): Buffer {
  try {
    const decipher = createDecipheriv("aes-256-gcm", key, encrypted.subarray(0, IV));
    decipher.setAuthTag(encrypted.subarray(-TAG));
    return Buffer.concat([decipher.update(encrypted.subarray(IV, -TAG)), decipher.final()]);
  } catch {
    throw new Refusal(`${name}: cannot decrypt: wrong key, or corrupt or truncated data`);
  }
}

/** A sum of keyed hashes: a fingerprint of a set that changes with its members one by one. */
export class SetHash {
  readonly #key: Buffer;
  #sum = 0n;

  constructor(key: Buffer) {
    this.#key = key;
  }

  add(member: string): void {
    this.#sum = (this.#sum + this.#of(member)) & MASK;
  }

  remove(member: string): void {
    this.#sum = (this.#sum - this.#of(member)) & MASK;
  }

  get text(): string {
    return this.#sum.toString(16);
  }

  #of(member: string): bigint {
    return BigInt(`0x${createHmac("sha256", this.#key).update(member).digest("hex")}`);
  }
}

const MASK = 2n ** 256n - 1n;

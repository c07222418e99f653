/**
 * Encrypts what the service stores: AES-256-GCM. Every process derives a key of its own from the master key (HKDF with a
 * random salt) and counts its nonces, so no nonce is used twice under one key. The label says what the bytes are and is
 * authenticated: they cannot be put in another place.
 *
 *     sealed = salt (16 bytes) · nonce (12 bytes) · ciphertext · tag (16 bytes)
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const SALT = 16;
const NONCE = 12;
const TAG = 16;
const NOTHING = new Uint8Array(0);

export class Sealer {
  readonly #master: Uint8Array;
  readonly #salt = randomBytes(SALT);
  readonly #key: Uint8Array;
  /** Keys of other processes, by salt: there are as many as there were restarts since the oldest stored row. */
  readonly #keys = new Map<string, Uint8Array>();
  #count = 0;

  /** @param master 32 bytes */
  constructor(master: Uint8Array) {
    this.#master = master;
    this.#key = this.#derive("state", this.#salt, 32);
  }

  /** A key for another purpose, the same after every restart. */
  subkey(purpose: string, length: number): Uint8Array {
    return this.#derive(purpose, NOTHING, length);
  }

  seal(label: string, plain: Uint8Array): Uint8Array {
    const nonce = Buffer.alloc(NONCE);
    nonce.writeUIntBE(++this.#count, NONCE - 6, 6);
    const cipher = createCipheriv("aes-256-gcm", this.#key, nonce).setAAD(Buffer.from(label));
    return Buffer.concat([this.#salt, nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
  }

  /** Throws if the bytes were sealed under another key or label, or changed since. */
  open(label: string, sealed: Uint8Array): Uint8Array {
    if (sealed.length < SALT + NONCE + TAG) throw new Error("seal: expected more bytes");
    const salt = sealed.subarray(0, SALT);
    const name = Buffer.from(salt).toString("latin1");
    let key = this.#keys.get(name);
    if (key === undefined) this.#keys.set(name, (key = this.#derive("state", salt, 32)));
    const decipher = createDecipheriv("aes-256-gcm", key, sealed.subarray(SALT, SALT + NONCE));
    decipher.setAAD(Buffer.from(label)).setAuthTag(sealed.subarray(sealed.length - TAG));
    return Buffer.concat([
      decipher.update(sealed.subarray(SALT + NONCE, sealed.length - TAG)),
      decipher.final(),
    ]);
  }

  #derive(purpose: string, salt: Uint8Array, length: number): Uint8Array {
    return new Uint8Array(hkdfSync("sha256", this.#master, salt, `brume-server ${purpose}`, length));
  }
}

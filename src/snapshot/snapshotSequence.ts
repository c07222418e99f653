/** The snapshots of one stream, one after the other: numbered from 1 on, and encrypted under one salt. */
import { checkSnapshotKey, freshSalt, type SnapshotKey, StreamCipher } from "./streamCipher.js";
import { encryptSnapshot } from "./snapshot.js";

export class SnapshotSequence {
  readonly #encode: () => Uint8Array<ArrayBuffer>;
  #sequence = 0;
  /** The salt of the key that encrypts this stream's snapshots. */
  #salt: Uint8Array<ArrayBuffer> | undefined;

  /** @param encode what a snapshot of this moment encrypts */
  constructor(encode: () => Uint8Array<ArrayBuffer>) {
    this.#encode = encode;
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
      return await encryptSnapshot(await this.cipher(key), sequence, plain);
    } catch (error) {
      if (this.#sequence === sequence) this.#sequence--; // no other snapshot has been taken since
      throw error;
    } finally {
      plain.fill(0);
    }
  }

  /** Makes the cipher of the snapshots, once for callers who take many. */
  cipher(key: SnapshotKey): StreamCipher | Promise<StreamCipher> {
    this.#salt ??= freshSalt();
    return StreamCipher.make(key, this.#salt);
  }

  /** A snapshot, at once where the platform's cipher allows. */
  encrypt(cipher: StreamCipher): Uint8Array | Promise<Uint8Array> {
    const plain = this.#encode();
    const encrypted = encryptSnapshot(cipher, this.#sequence + 1, plain);
    this.#sequence++;
    if (encrypted instanceof Promise) return encrypted.finally(() => plain.fill(0));
    plain.fill(0);
    return encrypted;
  }

  /** Continues after the snapshot that had this number and salt. */
  resume(sequence: number, salt: Uint8Array<ArrayBuffer>): void {
    this.#sequence = sequence;
    this.#salt = salt;
  }
}

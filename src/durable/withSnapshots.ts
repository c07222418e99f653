import type { SnapshotSequence } from "../snapshot/snapshotSequence.js";
import type { StreamCipher } from "../snapshot/streamCipher.js";
import type { Release } from "./budget/odometer.js";
import type { Storable } from "./durable.js";

/** A stream of events or an aggregator, with its snapshots. */
export class WithSnapshots<T extends Pick<Storable, "statement">> implements Storable {
  readonly inner: T;
  readonly #snapshots: SnapshotSequence;

  constructor(inner: T, snapshots: SnapshotSequence) {
    this.inner = inner;
    this.#snapshots = snapshots;
  }

  get sequence(): number {
    return this.#snapshots.sequence;
  }

  cipher(key: CryptoKey): StreamCipher | Promise<StreamCipher> {
    return this.#snapshots.cipher(key);
  }

  encrypt(cipher: StreamCipher): Uint8Array | Promise<Uint8Array> {
    return this.#snapshots.encrypt(cipher);
  }

  statement(): Release {
    return this.inner.statement();
  }
}

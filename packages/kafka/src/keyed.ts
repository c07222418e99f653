/** One key's stream inside a task: its state, what of it is sealed, and what waits to be pushed. */
import type { webcrypto } from "node:crypto";

import { type Keyring, Refusal } from "./keys.js";
import type { Place, StateRecord } from "./manifest.js";
import {
  type KeyedStream,
  type KeyedStreamOptions,
  type LogClock,
  makeStream,
  type Output,
  restoreStream,
} from "./streams.js";

export interface KeyedSettings {
  readonly stream: KeyedStreamOptions;
  readonly keys: Keyring;
  readonly place: Place;
}

/**
 * A heartbeat moves a stream's clock by at most this many milliseconds, so that a clock that jumps cannot stop the
 * work; the next heartbeats move it further.
 */
const LONGEST_STEP = 3_600_000;

export class Keyed {
  readonly name: string;
  readonly key: Buffer;
  /** All records of `in` before this offset are in the newest snapshot. */
  sealedAt: number;
  /** Number of the newest snapshot. */
  sealedSequence = 0;
  /** Name of the key that sealed it. */
  keyId: string;
  /** First offset that the newest snapshot lacks. */
  dirtyFrom: number | undefined;
  /** Values since the newest snapshot. */
  unsealed = 0;
  readonly #stream: KeyedStream;
  readonly #settings: KeyedSettings;
  /** Time as the log told this stream; the newest snapshot was made at `#sealedNow`. */
  readonly #clock: LogClock;
  #sealedNow: number;

  private constructor(
    name: string,
    stream: KeyedStream,
    settings: KeyedSettings,
    clock: LogClock,
    sealedAt: number,
    keyId: string,
  ) {
    this.name = name;
    this.key = Buffer.from(name);
    this.sealedAt = sealedAt;
    this.keyId = keyId;
    this.#stream = stream;
    this.#settings = settings;
    this.#clock = clock;
    this.#sealedNow = clock.now;
  }

  /** A new stream, with a fresh noise key. Nothing of it may be published before its first snapshot is committed. */
  static make(name: string, settings: KeyedSettings, offset: number, now: number): Keyed {
    const clock = { now };
    const stream = makeStream(name, settings.stream, clock);
    return new Keyed(name, stream, settings, clock, offset, settings.keys.current);
  }

  static async restore(
    state: Extract<StateRecord, { kind: "stream" }>,
    settings: KeyedSettings,
  ): Promise<Keyed> {
    const { name, offset, keyId, bytes } = state;
    const clock = { now: bytes.readDoubleBE(0) };
    const secret = await secretOf(keyId, settings);
    const stream = await restoreStream(name, bytes.subarray(8), secret, settings.stream, clock).catch(
      (cause: unknown) => {
        throw new Refusal("state: a stream cannot be restored: wrong key, other options, or damaged bytes", {
          cause,
        });
      },
    );
    const keyed = new Keyed(name, stream, settings, clock, offset, keyId);
    keyed.sealedSequence = stream.sequence;
    return keyed;
  }

  /** What the manifest's hash covers. */
  get fingerprint(): string {
    return JSON.stringify([this.name, this.sealedSequence, this.sealedAt, this.#sealedNow, this.keyId]);
  }

  /** Takes a value into the next push, or an event into its tick. */
  take(value: number, time: number, person: string | undefined, offset: number): void {
    this.#stream.take(value, time, person);
    this.#touch(offset);
  }

  /** Pushes what waits; returns what may be published once the transaction commits. */
  push(): Output[] {
    return this.#stream.push();
  }

  /** Closes the ticks that are due. Time moves, so a replay needs every heartbeat that no snapshot has. */
  beat(time: number, offset: number): Output[] {
    if (time <= this.#clock.now) return [];
    this.#clock.now = Math.min(time, this.#clock.now + LONGEST_STEP);
    this.#touch(offset);
    return this.#stream.beat(this.#clock.now);
  }

  /** Seals the state under the current key. @param offset everything before it is in this state */
  async seal(offset: number): Promise<Uint8Array> {
    this.keyId = this.#settings.keys.current;
    this.#sealedNow = this.#clock.now;
    const secret = await secretOf(this.keyId, this.#settings);
    const snapshot = await this.#stream.snapshot(secret);
    this.sealedSequence = this.#stream.sequence;
    this.sealedAt = offset;
    this.dirtyFrom = undefined;
    this.unsealed = 0;
    const now = Buffer.alloc(8);
    now.writeDoubleBE(this.#sealedNow);
    return Buffer.concat([now, snapshot]);
  }

  #touch(offset: number): void {
    this.dirtyFrom ??= offset;
    this.unsealed++;
  }
}

function secretOf(keyId: string, { keys, place }: KeyedSettings): Promise<webcrypto.CryptoKey> {
  return keys.snapshotKey(keyId, place.group, place.partition);
}

/** One key's stream inside a task: its state, what of it is in a snapshot, and what waits to be pushed. */
import { Refusal } from "brume/node";
import type { webcrypto } from "node:crypto";

import { type Keyring } from "./keyring.js";
import type { Heartbeat } from "./clock.js";
import { LogClock } from "./logClock.js";
import type { Place, StateRecord } from "./manifest.js";
import {
  clockRules,
  type KeyedStream,
  type KeyedStreamOptions,
  makeStream,
  type Output,
  restoreStream,
  takesEvents,
} from "./streams.js";

export interface KeyedSettings {
  readonly stream: KeyedStreamOptions;
  readonly keys: Keyring;
  readonly place: Place;
}

export class Keyed {
  readonly name: string;
  readonly key: Buffer;
  /** All records of `in` before this offset are in the newest snapshot. */
  snapshotAt: number;
  /** Number of the newest snapshot. */
  snapshotSequence = 0;
  /** Name of the key that encrypted it. */
  keyId: string;
  /** First offset that the newest snapshot lacks. */
  dirtyFrom: number | undefined;
  /** Values since the newest snapshot. */
  sinceSnapshot = 0;
  readonly #stream: KeyedStream;
  readonly #settings: KeyedSettings;
  /** Time as the log told this stream. */
  readonly #clock: LogClock;
  /** Header of the record that holds the newest snapshot. */
  #header: Buffer;

  private constructor(
    name: string,
    stream: KeyedStream,
    settings: KeyedSettings,
    clock: LogClock,
    snapshotAt: number,
    keyId: string,
  ) {
    this.name = name;
    this.key = Buffer.from(name);
    this.snapshotAt = snapshotAt;
    this.keyId = keyId;
    this.#stream = stream;
    this.#settings = settings;
    this.#clock = clock;
    this.#header = this.#makeHeader();
  }

  /**
   * A new stream, with a fresh noise key. Nothing of it may be published before its first snapshot is committed.
   * @param clock time at the stream's first record
   */
  static make(name: string, settings: KeyedSettings, offset: number, clock: LogClock): Keyed {
    const own = clock.copy();
    const stream = makeStream(name, settings.stream, own);
    return new Keyed(name, stream, settings, own, offset, settings.keys.current);
  }

  static async restore(
    state: Extract<StateRecord, { kind: "stream" }>,
    settings: KeyedSettings,
  ): Promise<Keyed> {
    const { name, offset, keyId, bytes } = state;
    try {
      const [times, after] = readNumbers(bytes, 0);
      const [numbers, at] = readNumbers(bytes, after);
      const clock = new LogClock(clockRules(settings.stream), times.length === 0 ? undefined : times);
      const secret = await secretOf(keyId, settings);
      const snapshot = bytes.subarray(at);
      const stream = await restoreStream(name, snapshot, secret, settings.stream, clock, numbers);
      const keyed = new Keyed(name, stream, settings, clock, offset, keyId);
      keyed.snapshotSequence = stream.sequence;
      return keyed;
    } catch (cause) {
      if (cause instanceof Refusal) throw cause;
      throw new Refusal("state: a stream cannot be restored: wrong key, other options, or damaged bytes", {
        cause,
      });
    }
  }

  /** The text that the manifest's hash covers. */
  get fingerprint(): string {
    const header = this.#header.toString("base64");
    return JSON.stringify([this.name, this.snapshotSequence, this.snapshotAt, header, this.keyId]);
  }

  /** Takes a value into the next push, or an event into its period. */
  take(value: number, time: number, person: string | undefined, offset: number): void {
    this.#stream.take(value, time, person);
    this.#touch(offset);
  }

  /** Pushes what waits; returns what may be published once the transaction commits. */
  push(): Output[] {
    return this.#stream.push();
  }

  /** Closes the periods that are due. Time moves, so a replay needs every heartbeat that no snapshot has. */
  beat(heartbeat: Heartbeat, offset: number): Output[] {
    const moved = this.#clock.take(heartbeat, offset);
    this.#touch(offset);
    return moved === undefined ? [] : this.#stream.beat(moved.silence);
  }

  /** Encrypts the state under the current key. @param offset everything before it is in this state */
  async encrypt(offset: number): Promise<Uint8Array> {
    this.keyId = this.#settings.keys.current;
    const header = this.#makeHeader();
    const secret = await secretOf(this.keyId, this.#settings);
    const snapshot = await this.#stream.snapshot(secret);
    this.snapshotSequence = this.#stream.sequence;
    this.snapshotAt = offset;
    this.dirtyFrom = undefined;
    this.sinceSnapshot = 0;
    this.#header = header;
    return Buffer.concat([header, snapshot]);
  }

  #makeHeader(): Buffer {
    const times = takesEvents(this.#settings.stream) ? this.#clock.state : [];
    return Buffer.concat([times, this.#stream.state].map(writeNumbers));
  }

  #touch(offset: number): void {
    this.dirtyFrom ??= offset;
    this.sinceSnapshot++;
  }
}

/** How many there are, in two bytes, and the numbers. */
function writeNumbers(numbers: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 + 8 * numbers.length);
  bytes.writeUInt16BE(numbers.length);
  numbers.forEach((number, i) => bytes.writeDoubleBE(number, 2 + 8 * i));
  return bytes;
}

/** The numbers that stand at a place, and the place after them. */
function readNumbers(bytes: Buffer, at: number): readonly [numbers: number[], after: number] {
  const count = bytes.readUInt16BE(at);
  const numbers = Array.from({ length: count }, (_, i) => bytes.readDoubleBE(at + 2 + 8 * i));
  return [numbers, at + 2 + 8 * count];
}

function secretOf(keyId: string, { keys, place }: KeyedSettings): Promise<webcrypto.CryptoKey> {
  return keys.snapshotKey(keyId, place.group, place.partition);
}

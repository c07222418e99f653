/** One key's stream inside a task: its state, what of it is sealed, and what waits to be pushed. */
import type { webcrypto } from "node:crypto";

import { type Keyring, openBytes, Refusal, sealBytes } from "./keys.js";
import type { Place, StateRecord } from "./manifest.js";
import { type KeyedStream, type KeyedStreamOptions, makeStream, restoreStream } from "./streams.js";
import { OpenTicks, type TickSettings } from "./ticks.js";

export interface KeyedSettings {
  readonly stream: KeyedStreamOptions;
  readonly ticks: TickSettings | undefined;
  readonly keys: Keyring;
  readonly place: Place;
}

/** Numbers that became public: `values[i]` is position `from + i`, in tick `tick + i` if there are ticks. */
export interface Outputs {
  readonly keyed: Keyed;
  readonly from: number;
  readonly values: Float64Array;
  readonly tick: number;
}

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
  #ticks: OpenTicks | undefined;
  #waiting: number[] = [];

  private constructor(
    name: string,
    stream: KeyedStream,
    settings: KeyedSettings,
    sealedAt: number,
    keyId: string,
  ) {
    this.name = name;
    this.key = Buffer.from(name);
    this.sealedAt = sealedAt;
    this.keyId = keyId;
    this.#stream = stream;
    this.#settings = settings;
  }

  /** A new stream, with a fresh noise key. Nothing of it may be published before its first snapshot is committed. */
  static make(name: string, settings: KeyedSettings, offset: number, closed: number): Keyed {
    const keyed = new Keyed(name, makeStream(name, settings.stream), settings, offset, settings.keys.current);
    if (settings.ticks) keyed.#ticks = new OpenTicks(settings.ticks.slots, closed);
    return keyed;
  }

  static async restore(
    state: Extract<StateRecord, { kind: "stream" }>,
    settings: KeyedSettings,
  ): Promise<Keyed> {
    const { name, offset, keyId, bytes } = state;
    const split = 4 + bytes.readUInt32BE(0);
    const secret = await secretOf(keyId, settings);
    const stream = await restoreStream(name, bytes.subarray(4, split), secret, settings.stream).catch(
      (cause: unknown) => {
        throw new Refusal("state: a stream cannot be restored: wrong key, other options, or damaged bytes", {
          cause,
        });
      },
    );
    const keyed = new Keyed(name, stream, settings, offset, keyId);
    keyed.sealedSequence = stream.sequence;
    if (settings.ticks)
      keyed.#ticks = OpenTicks.from(
        openBytes("state", tickKey(name, keyId, settings), bytes.subarray(split)),
      );
    return keyed;
  }

  /** What the manifest's hash covers. */
  get fingerprint(): string {
    return JSON.stringify([this.name, this.sealedSequence, this.sealedAt, this.keyId]);
  }

  /** Takes a value into the next push, or an event into its tick. */
  take(value: number, time: number, offset: number): void {
    const { ticks } = this.#settings;
    if (ticks === undefined) this.#waiting.push(value);
    else this.#ticks!.add(Math.floor(time / ticks.every), ticks.of === "count" ? 1 : value);
    this.#touch(offset);
  }

  /** Pushes what waits; returns what may be published once the transaction commits. */
  push(): Outputs {
    const from = this.#stream.length;
    const values = this.#stream.pushMany(Float64Array.from(this.#waiting));
    this.#waiting = [];
    return { keyed: this, from, values, tick: 0 };
  }

  /** Closes ticks: each one is a value of the stream, 0 if nothing came. */
  close(last: number, offset: number): Outputs {
    const totals = this.#ticks!.close(last);
    if (totals.length > 0) this.#touch(offset);
    const from = this.#stream.length;
    const values = this.#stream.pushMany(totals);
    return { keyed: this, from, values, tick: this.#ticks!.closed - values.length + 1 };
  }

  /** Seals the state under the current key. @param offset everything before it is in this state */
  async seal(offset: number): Promise<Uint8Array> {
    const { keys, ticks } = this.#settings;
    this.keyId = keys.current;
    const open = ticks && sealBytes(tickKey(this.name, this.keyId, this.#settings), this.#ticks!.bytes);
    const secret = await secretOf(this.keyId, this.#settings);
    const snapshot = await this.#stream.snapshot(secret);
    this.sealedSequence = this.#stream.sequence;
    this.sealedAt = offset;
    this.dirtyFrom = undefined;
    this.unsealed = 0;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(snapshot.length);
    return Buffer.concat([length, snapshot, ...(open ? [open] : [])]);
  }

  #touch(offset: number): void {
    this.dirtyFrom ??= offset;
    this.unsealed++;
  }
}

function secretOf(keyId: string, { keys, place }: KeyedSettings): Promise<webcrypto.CryptoKey> {
  return keys.snapshotKey(keyId, place.group, place.partition);
}

function tickKey(name: string, keyId: string, { keys, place }: KeyedSettings): Buffer {
  return keys.derive(keyId, "ticks", place.group, place.partition, name);
}

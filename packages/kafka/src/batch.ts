/** From records of `in` to records of `out`, within one transaction. */
import { Keyed, type Outputs } from "./keyed.js";
import type { LogRecord, NewRecord } from "./port.js";
import type { PartitionState, StateSettings } from "./state.js";
import { heartbeatTime, lastClosed } from "./ticks.js";
import {
  type OutputFormat,
  publishedRecord,
  readName,
  readNumber,
  type Unreadable,
  type ValueFormat,
} from "./values.js";

export interface BatchSettings extends StateSettings {
  readonly values: ValueFormat;
  readonly format: OutputFormat;
  /** Topic for records that cannot be read, with its number of partitions. */
  readonly deadLetters: { readonly topic: string; readonly partitions: number } | undefined;
}

/** Records that are processed and not yet committed. */
export class Batch {
  readonly outputs: NewRecord[] = [];
  readonly unreadable: NewRecord[] = [];
  received = 0;
  unreadableCount = 0;
  readonly #settings: BatchSettings;
  readonly #state: PartitionState;
  #records = 0;
  #scratch = Buffer.allocUnsafe(1 << 16);
  #written = 0;

  constructor(settings: BatchSettings, state: PartitionState) {
    this.#settings = settings;
    this.#state = state;
  }

  get isEmpty(): boolean {
    return this.#records === 0;
  }

  get size(): number {
    return this.outputs.length + this.unreadable.length;
  }

  /** Streams that these records begin. */
  newcomers(records: readonly LogRecord[]): Keyed[] {
    const { ticks, values } = this.#settings;
    const found = new Map<string, Keyed>();
    let { clock } = this.#state;
    for (const record of records) {
      const time = heartbeatTime(record);
      if (time !== undefined && ticks !== undefined) clock = Math.max(clock, lastClosed(time, ticks));
      const raw = record.key?.toString("latin1") ?? "";
      if (time !== undefined || this.#state.streams.has(raw) || found.has(raw)) continue;
      if (ticks !== undefined && clock === -Infinity) continue; // before the first heartbeat there is no time
      const read = readName(record.key);
      if ("reason" in read || Number.isNaN(readNumber(record, values))) continue;
      found.set(raw, Keyed.make(read.name, this.#settings, this.#state.next, clock));
    }
    return [...found.values()];
  }

  /** Processes records in the order of the log. During a replay nothing comes out of it that is used. */
  take(records: readonly LogRecord[]): void {
    const touched = new Set<Keyed>();
    for (const record of records) {
      const time = heartbeatTime(record);
      if (time !== undefined) this.#beat(time, record.offset);
      else this.#value(record, touched);
    }
    for (const keyed of touched) this.#publish(keyed.push());
    this.#state.segments.add(this.#scratch.subarray(0, this.#written), records.length);
    this.#written = 0;
    this.#records += records.length;
  }

  #value(record: LogRecord, touched: Set<Keyed>): void {
    const keyed = this.#state.streams.get(record.key?.toString("latin1") ?? "");
    const value = readNumber(record, this.#settings.values);
    this.#hash(record.key, value, record.timestamp);
    const known = keyed !== undefined && !Number.isNaN(value);
    if (!known) return this.#refuse(record, value);
    if (record.offset < keyed.sealedAt) return; // a replay, and the snapshot has it
    this.received++;
    keyed.take(value, record.timestamp, record.offset);
    this.#state.touched(keyed);
    if (this.#settings.ticks === undefined) touched.add(keyed);
  }

  #beat(time: number, offset: number): void {
    const { ticks } = this.#settings;
    this.#hash(null, time, 0);
    if (ticks === undefined) return;
    const last = lastClosed(time, ticks);
    for (const keyed of this.#state.streams.values()) {
      if (offset < keyed.sealedAt) continue;
      this.#publish(keyed.close(last, offset));
      if (keyed.dirtyFrom !== undefined) this.#state.touched(keyed);
    }
    this.#state.clock = Math.max(this.#state.clock, last);
  }

  #publish({ keyed, from, values, tick }: Outputs): void {
    const { format, ticks } = this.#settings;
    for (let i = 0; i < values.length; i++) {
      const at = ticks === undefined ? {} : { at: (tick + i) * ticks.every };
      this.outputs.push(publishedRecord(keyed.key, { position: from + i, value: values[i]!, ...at }, format));
    }
  }

  /** Reports only the reason. The record itself goes to the topic of dead letters, which is as secret as `in`. */
  #refuse({ key, value, offset }: LogRecord, number: number): void {
    const read = readName(key);
    if (!("reason" in read) && !Number.isNaN(number)) return; // an event before the first heartbeat
    const reason: Unreadable = "reason" in read ? read.reason : "no number";
    this.unreadableCount++;
    if (this.#settings.deadLetters === undefined) return;
    const from = `${this.#settings.in}[${this.#settings.place.partition}]@${offset}`;
    this.unreadable.push({
      key,
      value,
      headers: [
        ["reason", Buffer.from(reason)],
        ["from", Buffer.from(from)],
      ],
    });
  }

  /** What was processed, as bytes: length of the key, key, number, time. */
  #hash(key: Buffer | null, value: number, time: number): void {
    const size = 20 + (key?.length ?? 0);
    if (this.#written + size > this.#scratch.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#written + size));
      this.#scratch.copy(larger, 0, 0, this.#written);
      this.#scratch = larger;
    }
    let at = this.#scratch.writeInt32BE(key?.length ?? -1, this.#written);
    if (key !== null) at += key.copy(this.#scratch, at);
    at = this.#scratch.writeDoubleBE(value, at);
    this.#written = this.#scratch.writeDoubleBE(time, at);
  }
}

/** From records of `in` to records of `out`, within one transaction. */
import { type Heartbeat, readHeartbeat } from "./clock.js";
import { Keyed } from "./keyed.js";
import type { LogRecord, NewRecord } from "./port.js";
import type { PartitionState, StateSettings } from "./partitionState.js";
import { needsPerson, type Output, takesEvents } from "./streams.js";
import {
  type OutputFormat,
  publishedRecord,
  readName,
  readNumber,
  readPerson,
  type Unreadable,
  type ValueFormat,
} from "./values.js";

export interface BatchSettings extends StateSettings {
  readonly values: ValueFormat;
  readonly format: OutputFormat;
  /** Topic for records that cannot be read, with its number of partitions. */
  readonly deadLetters: { readonly topic: string; readonly partitions: number } | undefined;
}

/** The last time that a Date can hold. */
const LAST_TIME = 8.64e15;

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
  /** The streams of the records that were looked at last, so that each key is looked up once. */
  #known: { readonly records: readonly LogRecord[]; readonly streams: (Keyed | undefined)[] } | undefined;

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
    const { stream, values } = this.#settings;
    const found = new Map<string, Keyed>();
    const clock = this.#state.clock.copy();
    const streams: (Keyed | undefined)[] = [];
    this.#known = { records, streams };
    for (const record of records) {
      const beat = this.#heartbeatIn(record);
      if (beat !== undefined) clock.take(beat, record.offset);
      const raw = rawKey(record);
      const known = this.#state.streams.get(raw);
      streams.push(known);
      if (beat !== undefined || known !== undefined || found.has(raw)) continue;
      if (takesEvents(stream) && clock.now === -Infinity) continue; // before the first heartbeat there is no time
      const read = readName(record.key);
      if ("reason" in read || this.#problem(record, readNumber(record, values)) !== undefined) continue;
      found.set(raw, Keyed.make(read.name, this.#settings, this.#state.next, clock));
    }
    return [...found.values()];
  }

  /** Processes records in the order of the log. During a replay nothing comes out of it that is used. */
  take(records: readonly LogRecord[]): void {
    const touched = new Set<Keyed>();
    const known = this.#known?.records === records ? this.#known.streams : undefined;
    this.#known = undefined;
    for (const [i, record] of records.entries()) {
      const beat = this.#heartbeatIn(record);
      if (beat !== undefined) this.#beat(beat, record.offset);
      else this.#value(record, known?.[i] ?? this.#state.streams.get(rawKey(record)), touched);
    }
    for (const keyed of touched) this.#publish(keyed, keyed.push());
    this.#state.segments.add(this.#scratch.subarray(0, this.#written), records.length);
    this.#written = 0;
    this.#records += records.length;
  }

  #value(record: LogRecord, keyed: Keyed | undefined, touched: Set<Keyed>): void {
    const { stream, values } = this.#settings;
    const value = readNumber(record, values);
    const person = needsPerson(stream) ? readPerson(record, values) : undefined;
    this.#hash(record.key, value, record.timestamp, person);
    if (keyed === undefined || this.#problem(record, value, person) !== undefined)
      return this.#refuse(record, value, person);
    if (record.offset < keyed.snapshotAt) return; // a replay, and the snapshot has it
    this.received++;
    keyed.take(value, record.timestamp, person, record.offset);
    this.#state.touched(keyed);
    if (!takesEvents(stream)) touched.add(keyed);
  }

  /** Why a record with a name cannot be used, if it cannot. */
  #problem(record: LogRecord, value: number, person?: string): Unreadable | undefined {
    const { stream, values } = this.#settings;
    if (Number.isNaN(value)) return "no number";
    if (takesEvents(stream) && !(record.timestamp >= 0 && record.timestamp <= LAST_TIME)) return "no time";
    if (needsPerson(stream) && (person ?? readPerson(record, values)) === undefined) return "no person";
    return undefined;
  }

  /** The heartbeat in a record, if it is one for these streams. */
  #heartbeatIn(record: LogRecord): Heartbeat | undefined {
    const beat = readHeartbeat(record);
    const isOurs = !takesEvents(this.#settings.stream) || beat?.zone === this.#state.clock.rules.zone;
    return isOurs ? beat : undefined;
  }

  #beat(beat: Heartbeat, offset: number): void {
    for (const number of [beat.time, ...beat.days]) this.#hash(null, number, 0, undefined);
    if (!takesEvents(this.#settings.stream)) return;
    for (const keyed of this.#state.streams.values()) {
      if (offset < keyed.snapshotAt) continue;
      this.#publish(keyed, keyed.beat(beat, offset));
      this.#state.touched(keyed);
    }
    this.#state.clock.take(beat, offset);
  }

  #publish({ key }: Keyed, outputs: readonly Output[]): void {
    for (const output of outputs) this.outputs.push(publishedRecord(key, output, this.#settings.format));
  }

  /** Reports only the reason. The record itself goes to the topic of dead letters, which is as secret as `in`. */
  #refuse(record: LogRecord, number: number, person: string | undefined): void {
    const { key, value, offset } = record;
    const read = readName(key);
    const reason =
      readHeartbeat(record) !== undefined
        ? "other zone"
        : "reason" in read
          ? read.reason
          : this.#problem(record, number, person);
    if (reason === undefined) return; // an event before the first heartbeat
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

  /** Bytes of what was processed: length of the key, key, number, time, person. */
  #hash(key: Buffer | null, value: number, time: number, person: string | undefined): void {
    const id = person === undefined ? undefined : Buffer.from(person);
    const size = 20 + (key?.length ?? 0) + (id === undefined ? 0 : 4 + id.length);
    if (this.#written + size > this.#scratch.length) {
      const larger = Buffer.allocUnsafe(2 * (this.#written + size));
      this.#scratch.copy(larger, 0, 0, this.#written);
      this.#scratch = larger;
    }
    let at = this.#scratch.writeInt32BE(key?.length ?? -1, this.#written);
    if (key !== null) at += key.copy(this.#scratch, at);
    at = this.#scratch.writeDoubleBE(value, at);
    at = this.#scratch.writeDoubleBE(time, at);
    if (id !== undefined) at = this.#scratch.writeInt32BE(id.length, at) + id.copy(this.#scratch, at + 4);
    this.#written = at;
  }
}

/** The key, byte for byte, as text. */
const rawKey = ({ key }: LogRecord): string => key?.toString("latin1") ?? "";

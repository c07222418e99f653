/**
 * Keys of a metric that are stored together, as a section of the journal: those that publish the running day and those that are to
 * come, the clock, and closed days that are no entries of the store yet.
 */
import { DayPeriods } from "../../events/days/dayPeriods.js";
import type { EventMetric } from "../../events/eventMetric.js";
import type { EventSettings } from "../../events/eventSettings.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { Parameters } from "../../snapshot/snapshot.js";
import type { Section } from "../journal/sections.js";
import {
  type ClosedDay,
  type KeyDay,
  readClosedDay,
  readDay,
  readRanges,
  writeClosedDay,
  writeDay,
  writeRanges,
} from "./closedDays.js";
import type { HubKeys, MetricRecord } from "./hubKeys.js";
import type { Lane } from "./lanes.js";

interface PendingDay {
  readonly day: ClosedDay;
  readonly keys: Map<number, KeyDay>;
}

/** Keys that are stored together. */
export class KeyChunk implements Section {
  readonly name: string;
  readonly parameters: Parameters;
  readonly index: number;
  /** Closed days that are not stored yet, by their start. */
  readonly pending = new Map<number, PendingDay>();
  lane: Lane | undefined;
  readonly #save: (writer: Encoder, chunk: KeyChunk) => void;

  constructor(
    prefix: string,
    parameters: Parameters,
    index: number,
    save: (writer: Encoder, chunk: KeyChunk) => void,
  ) {
    this.name = `${prefix}/keys/${index}`;
    this.parameters = parameters;
    this.index = index;
    this.#save = save;
  }

  save(writer: Encoder): void {
    this.#save(writer, this);
  }
}

/** A key by its number. */
interface Numbered {
  readonly number: number;
  readonly name: string;
}

/** Writes a chunk at a moment at which its keys go by the clock that all keys share. */
export function saveChunk(
  writer: Encoder,
  chunk: KeyChunk,
  hubKeys: HubKeys,
  { metric, missed }: Lane,
  { discovery }: EventSettings,
): void {
  const all = [...hubKeys.of(chunk)];
  const keys = all.filter(({ number }) => hubKeys.isJoined(number));
  const coming = all.filter(({ name }) => metric.isExpected(name));
  writeNumbers(writer, keys);
  if (discovery !== undefined) writeNumbers(writer, coming);
  metric.saveClock(writer);
  metric.saveKeys(writer, namesOf(discovery === undefined ? keys : [...keys, ...coming]));
  writer.count(chunk.pending.size);
  for (const { day, keys: own } of chunk.pending.values()) {
    writeClosedDay(writer, day);
    writeDay(writer, own);
  }
  writeRanges(writer, missed);
  if (discovery !== undefined || coming.length === 0) return;
  // Keys of a list whose first day is to come stand behind everything else: which ones these are is public.
  writeNumbers(writer, coming);
  metric.saveKeys(writer, namesOf(coming));
}

/** Reads a chunk. @param make a metric with these keys */
export function loadChunk(
  reader: Decoder,
  chunk: KeyChunk,
  record: MetricRecord,
  { discovery, schedule, columns }: EventSettings,
  make: (keys: readonly string[]) => EventMetric,
): Pick<Lane, "metric" | "missed"> {
  const names = () => Array.from({ length: reader.count() }, () => record.keys[reader.count()]!.name);
  const expectAll = (coming: readonly string[]): void => coming.forEach((name) => metric.expect(name));
  const keys = names();
  const found = discovery === undefined ? [] : names();
  const metric = make(keys);
  metric.loadClock(reader);
  expectAll(found);
  metric.loadKeys(reader, [...keys, ...found]);
  for (let left = reader.count(); left > 0; left--) {
    const day = readClosedDay(reader);
    const periods = new DayPeriods(day, schedule.levels, day.from);
    chunk.pending.set(day.start, { day, keys: new Map(readDay(reader, periods, 0, columns)) });
  }
  const missed = readRanges(reader);
  if (reader.rest.length > 0) {
    const coming = names();
    expectAll(coming);
    metric.loadKeys(reader, coming);
  }
  return { metric, missed };
}

function writeNumbers(writer: Encoder, keys: readonly Numbered[]): void {
  writer.count(keys.length);
  for (const { number } of keys) writer.count(number);
}

const namesOf = (keys: readonly Numbered[]): string[] => keys.map(({ name }) => name);

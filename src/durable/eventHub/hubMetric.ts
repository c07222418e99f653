/**
 * One metric of a hub: the clock, the people and the hold-out that its keys share, the keys in chunks, and the days that it
 * has closed. The shared part and every chunk are sections of the journal, each with a position of its own.
 *
 * While the journal is replayed, a chunk is behind or ahead of the shared part: it then has a clock of its own (a lane), and
 * the rows say which events counted. At the end all lanes have reached the same row, and their keys join the shared part.
 */
import type { Core } from "../../core/core.js";
import { type Day, DayPeriods, HOUR } from "../../events/days/calendar.js";
import { KeyDiscovery } from "../../events/keys/keyDiscovery.js";
import { EventMetric, type MetricKeys } from "../../events/eventMetric.js";
import { type EventSettings, eventParameters } from "../../events/eventSettings.js";
import type { DayCount, Published, Release } from "../../events/release.js";
import { Decoder, Encoder } from "../../snapshot/codec.js";
import type { Parameters } from "../../snapshot/snapshot.js";
import {
  type ClosedDay,
  ClosedDays,
  clippedOf,
  type KeyDay,
  readClosedDay,
  readDay,
  readRanges,
  writeClosedDay,
  writeDay,
  writeRanges,
} from "./closedDays.js";
import { DiscoveredKeys } from "./discoveredKeys.js";
import type { JournalEntry } from "../journal/entries.js";
import {
  Chunk,
  countKeys,
  KeyChunks,
  keysAt,
  type KeyRecord,
  type Lane,
  type MetricRecord,
  publishesOn,
} from "./keyChunks.js";
import type { Journal } from "../journal/journal.js";
import type { Section } from "../journal/sections.js";
import { eventOf, type FoundKeys, Kind, type RowHead, type RowRecord } from "./eventRow.js";

/** A range of time that has been published. Public. */
export interface ClosedSpan {
  readonly metric: string;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** Keys that became public with it, by the votes of a day. */
  readonly found?: readonly string[];
}

export class HubMetric {
  // Parameters
  readonly record: MetricRecord;
  readonly settings: EventSettings;
  /** Whether keys come and go by a rule. */
  readonly ruled: boolean;
  readonly #core: Core;
  readonly #secrets: MetricKeys;
  readonly #stored: boolean;
  readonly #parameters: Parameters;
  readonly #prefix: string;
  readonly shared: Section;
  /** Keys that votes make public; undefined if all keys are listed, or a rule says which ones there are. */
  readonly discovered: DiscoveredKeys | undefined;
  // State
  readonly closedDays: ClosedDays;
  readonly #main: Lane;
  readonly #keys: KeyChunks;
  /** Numbers of keys that publish the running day. */
  readonly #joined = new Set<number>();
  /** The row that chose θ, and the clock of that moment; 0 and nothing if there is none. */
  #chosen = { position: 0, clock: new Uint8Array(0) };
  /** θ was chosen, and the store still has the counts that chose it. */
  #wiped = false;

  /** @param stored whether closed days go to a store */
  constructor(
    record: MetricRecord,
    settings: EventSettings,
    core: Core,
    secrets: MetricKeys,
    ruled: boolean,
    stored: boolean,
  ) {
    this.record = record;
    this.settings = settings;
    this.ruled = ruled;
    this.#core = core;
    this.#secrets = secrets;
    this.#stored = stored;
    const { schedule, columns, keep } = settings;
    this.#prefix = `metrics/${record.number}.${record.generation}`;
    this.#parameters = eventParameters(settings);
    const leaves = (25 * HOUR) / schedule.levels[0]!;
    const bytes = Math.max(1, 8 * columns * leaves);
    this.#keys = new KeyChunks(
      record.keys,
      bytes,
      (index) =>
        new Chunk(this.#prefix, this.#parameters, index, (writer, chunk) => this.#saveChunk(writer, chunk)),
    );
    this.closedDays = new ClosedDays(this.#prefix, schedule.levels, columns, keep);
    this.#main = { metric: this.#makeMetric([]), covers: 0, missed: [] };
    const { discovery } = settings;
    if (discovery !== undefined) {
      const votes = new KeyDiscovery(discovery.rule, core, secrets.own, settings.limit!.people);
      this.discovered = new DiscoveredKeys(record, this.#keys, discovery, schedule, votes);
    }
    const isUrgent = (): boolean => this.#wiped;
    this.shared = {
      name: this.#prefix,
      parameters: this.#parameters,
      save: (writer) => this.#saveShared(writer),
      get urgent() {
        return isUrgent();
      },
      stored: () => (this.#wiped = false),
    };
  }

  #makeMetric(keys: readonly string[]): EventMetric {
    return new EventMetric(this.settings, this.#core, this.#secrets, this.record.began, keys);
  }

  /** Clock, people and hold-out: what all keys have in common. */
  get metric(): EventMetric {
    return this.#main.metric;
  }

  get name(): string {
    return this.record.name;
  }

  get sections(): readonly Section[] {
    return [this.shared, ...this.#keys.chunks];
  }

  /** The number of a key; undefined if it never was one. */
  numberOf(key: string): number | undefined {
    return this.#keys.numberOf(key);
  }

  isJoined(number: number): boolean {
    return this.#joined.has(number);
  }

  #publishes(key: KeyRecord, day: number): boolean {
    return publishesOn(key, day, this.record.began);
  }

  // Keys that votes make public

  /** Tests the votes of days that have ended; undefined if there are none. A row must say the outcome. */
  async testVotes(journal: Journal, told: number): Promise<FoundKeys | undefined> {
    return this.discovered?.test(told, this.metric, (key, from, to) =>
      this.published(journal, key, [from, to], false),
    );
  }

  /**
   * Acts on the outcome of votes that a row says. Gives sections that are new.
   * @param changes whether the records of keys lack what the row says
   */
  takeFound(found: FoundKeys, position: number, changes: boolean): Section[] {
    const sections = found.added.flatMap((name) => this.#addKey(name, NaN, position) ?? []);
    if (changes) this.discovered!.record(found);
    for (const name of found.added) {
      const lane = this.#laneOf(this.#keys.chunkOf(this.#keys.numberOf(name)!));
      if (lane.covers < position && !lane.metric.isExpected(name)) lane.metric.expect(name);
    }
    if (this.#main.covers < position) this.discovered!.endTest(this.metric.day.start);
    return sections;
  }

  /** Gives a key of a row its number, if it has none; returns its chunk if that is new, too. */
  #addKey(name: string, since: number, position: number): Chunk | undefined {
    if (this.#keys.numberOf(name) !== undefined) return undefined;
    const replays = this.#keys.chunks.some(({ lane }) => lane !== undefined);
    const chunk = this.#keys.add(name, since);
    countKeys(this.record, position);
    if (chunk !== undefined && replays)
      chunk.lane = { metric: this.#makeMetric([]), covers: position - 1, missed: [] };
    return chunk;
  }

  /** Keys whose first day is still to come take events of it already: they come while the day before is open. */
  #expectComing({ metric }: Lane, chunks: readonly Chunk[]): void {
    if (this.ruled || Number.isNaN(metric.units)) return;
    for (const chunk of chunks)
      for (const key of this.#keys.of(chunk))
        if (this.#comes(key, metric) && !metric.keys.includes(key.name) && !metric.isExpected(key.name))
          metric.expect(key.name);
  }

  /** Whether the first day of a key, or of another time that it is public, is still to come. */
  #comes({ since, spans }: KeyRecord, { day }: EventMetric): boolean {
    return since > day.start || spans?.some(([from]) => from > day.start) === true;
  }

  /** Whether events of a day count under a key. */
  takes(number: number, day: number): boolean {
    const key = this.record.keys[number]!;
    if (this.ruled) return this.#joined.has(number);
    return this.#publishes(key, day) && (this.#joined.has(number) || this.metric.isExpected(key.name));
  }

  // Opening

  async load(journal: Journal): Promise<void> {
    const shared = await journal.load(this.shared);
    if (shared !== undefined) this.#loadShared(shared);
    this.#main.covers = journal.covers(this.shared);
    for (const chunk of this.#keys.chunks) {
      const state = await journal.load(chunk);
      const metric = state === undefined ? this.#makeMetric([]) : this.#loadChunk(state, chunk);
      chunk.lane = { metric, covers: journal.covers(chunk), missed: [] };
      if (state === undefined) this.#joinDue(chunk.lane, [chunk]);
      else {
        chunk.lane.missed = readRanges(state);
        if (state.rest.length > 0) this.#loadComing(state, metric);
      }
      this.#expectComing(chunk.lane, [chunk]);
      if (this.#chosen.position > 0) this.#beginLane(chunk.lane);
    }
  }

  /** A lane without θ takes up the clock of the moment at which it was chosen. */
  #beginLane(lane: Lane): void {
    if (!Number.isNaN(lane.metric.units)) return;
    lane.metric.loadClock(new Decoder(this.#chosen.clock));
    const chunk = this.#keys.chunks.find((one) => one.lane === lane)!;
    for (const { name } of this.#keys.of(chunk)) lane.metric.leave(name);
    this.#joinDue(lane, [chunk]);
    lane.covers = Math.max(lane.covers, this.#chosen.position);
  }

  /** Ends the replay: the keys of all lanes join the shared part. */
  merge(): void {
    for (const chunk of this.#keys.chunks) {
      const { lane } = chunk;
      chunk.lane = undefined;
      if (lane === undefined) continue;
      const { metric } = lane;
      const known = !Number.isNaN(this.metric.units);
      if (known && metric.next !== this.metric.next)
        throw new Error(
          `metric ${this.name}: sections of the journal do not agree; restore a whole copy of the store`,
        );
      // A key that left may still be in a chunk that was stored before: how many rows came since must not decide it.
      for (const { number, ...key } of this.#keys.of(chunk)) {
        const { name } = key;
        if (metric.isExpected(name)) this.metric.expect(name, metric.takeExpected(name));
        else if (!this.#publishes(key, this.metric.day.start)) metric.leave(name);
        else if (metric.keys.includes(name)) {
          this.metric.join(name, metric.release(name));
          this.#joined.add(number);
        }
      }
    }
    this.#joinDue(this.#main, this.#keys.chunks);
  }

  /** Begins a metric that is not in the journal: its keys publish from the start. */
  begin(): void {
    this.#joinDue(this.#main, this.#keys.chunks);
  }

  /**
   * Follows the list of keys: those that are new publish from the next day on, those that are gone no more.
   * @param row that says so
   */
  follow(
    keys: readonly string[],
    from: number,
    row: number,
  ): { readonly added: readonly Section[]; readonly changed: boolean } {
    const added: Section[] = [];
    let changed = false;
    const listed = new Set(keys);
    for (const [number, key] of this.record.keys.entries()) {
      if (listed.has(key.name) === !Number.isNaN(key.since)) continue;
      changed = true;
      key.since = listed.has(key.name) ? from : NaN;
      if (!Number.isNaN(key.since) || this.#publishes(key, this.metric.day.start)) continue;
      if (this.#joined.delete(number)) {
        this.metric.leave(key.name);
        key.until = this.metric.day.start;
      } else if (!this.#comes(key, this.metric)) this.metric.leave(key.name); // what was taken ahead
    }
    for (const key of keys)
      if (this.#keys.numberOf(key) === undefined) {
        const chunk = this.#keys.add(key, from);
        changed = true;
        if (chunk !== undefined) added.push(chunk);
        countKeys(this.record, row);
      }
    this.#expectComing(this.#main, this.#keys.chunks);
    return { added, changed };
  }

  // Rows

  /** Acts on an event of a row. @param live it was admitted before the row was stored */
  takeEvent(record: RowRecord, position: number, live: boolean): void {
    const { kind, key, granted } = record;
    if (kind === Kind.dropped) return;
    const event = eventOf(record, this.record.keys[key]?.name ?? "");
    const { covers, metric } = this.#main;
    if (!live && covers < position) {
      if (record.voted !== undefined) this.discovered!.replayVote(record.voted, event);
      metric.intake.admit({ ...event, hash: event.hash.slice() });
    }
    if (kind === Kind.limited) return;
    const lane = kind === Kind.held ? this.#main : this.#laneOf(this.#keys.chunkOf(key));
    if (lane.covers < position) lane.metric.count(event, granted);
  }

  #laneOf(chunk: Chunk): Lane {
    return chunk.lane ?? this.#main;
  }

  /** Takes a key that a rule allows, in the middle of a day: it has the noise that it would have had from the start. */
  takeKey(name: string, position: number): Section | undefined {
    const added = this.#addKey(name, this.record.began, position);
    const number = this.#keys.numberOf(name)!;
    const lane = this.#laneOf(this.#keys.chunkOf(number));
    if (lane.covers >= position || lane.metric.keys.includes(name)) return added;
    lane.metric.join(name);
    this.#fill(lane.metric.release(name), lane.metric, lane.missed);
    if (lane === this.#main) this.#joined.add(number);
    return added;
  }

  /** Publishes the periods of the running day that were closed before a key came up: without events, it has their noise. */
  #fill(release: Release | undefined, { periods, next }: EventMetric, missed: Lane["missed"]): void {
    if (release === undefined || periods === undefined) return;
    fillDay(release, periods, next, missed);
  }

  /**
   * Closes the periods of a row, one step at a time: other work may run between two steps. Gives what is published.
   */
  *close(
    { closeAt, missedAt }: Pick<RowHead, "closeAt" | "missedAt">,
    position: number,
  ): Generator<void, ClosedSpan | undefined> {
    let span: ClosedSpan | undefined;
    for (const lane of this.#lanes()) {
      if (!this.#isMoved(lane, position)) continue;
      const { metric } = lane;
      this.#miss(lane, position, missedAt - this.settings.schedule.lateness, missedAt);
      if (Number.isNaN(closeAt)) continue;
      const until = metric.due(closeAt);
      const from = metric.next;
      let first = NaN;
      while (metric.next < until) {
        yield* metric.prepareNext(until);
        const closed = this.#step(lane, position, true, () => metric.closeNext(until, closeAt));
        if (closed === undefined) break;
        if (closed !== "held" && Number.isNaN(first)) first = closed.from;
        yield;
      }
      if (lane === this.#main && metric.next > from && !Number.isNaN(first))
        span = { metric: this.name, from: first, to: metric.next };
    }
    return span;
  }

  /** Publishes the periods that end by `to`, whatever their lateness: no event of them is left. */
  endPast(to: number, position: number): Generator<void, ClosedSpan | undefined> {
    return this.close({ closeAt: to + this.settings.schedule.lateness, missedAt: NaN }, position);
  }

  /** Passes over all periods that began before `now`: the first number is of a period that is listened to from its start. */
  beginPresent(now: number, position: number): void {
    for (const lane of this.#lanes())
      if (this.#isMoved(lane, position)) this.#miss(lane, position, lane.metric.periodFrom(now), now);
  }

  #lanes(): Lane[] {
    return [this.#main, ...this.#keys.chunks.flatMap(({ lane }) => lane ?? [])];
  }

  /** Whether a row moves the clock of a lane. */
  #isMoved(lane: Lane, position: number): boolean {
    return lane.covers < position && (lane === this.#main || !Number.isNaN(lane.metric.units));
  }

  #miss(lane: Lane, position: number, until: number, now: number): void {
    const { metric } = lane;
    if (!metric.misses(until)) return;
    const { next, day } = metric;
    if (until >= day.end) lane.missed.push([next, day.end]);
    this.#step(lane, position, false, () => metric.miss(until, now));
    const from = Math.max(next, metric.day.start);
    if (metric.next > from) lane.missed.push([from, metric.next]);
  }

  /** Runs what may end a day or choose θ, and does what follows from it. @param heard somebody listened to the end of the day */
  #step<T>(lane: Lane, position: number, heard: boolean, run: () => T): T {
    const { metric } = lane;
    const { day, periods, units } = metric;
    const result = run();
    if (metric.day.start !== day.start) {
      this.#endDay(lane, position, day, periods);
      if (lane === this.#main && heard) this.discovered?.endDay(day, metric.day.start);
      else if (lane === this.#main) this.discovered?.wipeVotes(metric.day.start);
    }
    if (lane === this.#main && Number.isNaN(units) && !Number.isNaN(metric.units)) {
      const writer = new Encoder();
      metric.saveClock(writer);
      this.#chosen = { position, clock: writer.bytes };
      this.#wiped = true;
      for (const chunk of this.#keys.chunks) if (chunk.lane !== undefined) this.#beginLane(chunk.lane);
    }
    return result;
  }

  #endDay(lane: Lane, position: number, day: Day, periods: DayPeriods | undefined): void {
    const chunks = lane === this.#main ? this.#keys.chunks.filter((chunk) => chunk.lane === undefined) : [];
    const own = lane === this.#main ? chunks : this.#keys.chunks.filter((chunk) => chunk.lane === lane);
    const closed: ClosedDay = {
      ...day,
      from: periods?.start ?? day.start,
      keys: keysAt(this.record, position),
      missed: lane.missed,
    };
    lane.missed = [];
    if (this.#stored && periods !== undefined) {
      for (const chunk of own) this.#takeDays(lane.metric, chunk, closed);
      if (lane === this.#main) this.closedDays.add(closed, this.#keys.chunks.length, lane.metric.day.start);
    }
    if (this.ruled)
      for (const chunk of own)
        for (const { number, name } of this.#keys.of(chunk)) {
          // It has events of the day that begins: they came while the day before was still open.
          if ((lane.metric.release(name)?.latest ?? -Infinity) >= lane.metric.day.start) continue;
          lane.metric.leave(name);
          this.#joined.delete(number);
        }
    this.#joinDue(lane, own);
  }

  /** Moves what the keys of a chunk published in a day out of live state. */
  #takeDays(metric: EventMetric, chunk: Chunk, day: ClosedDay): void {
    const keys = new Map<number, KeyDay>();
    for (const { number, ...key } of this.#keys.of(chunk)) {
      const { name, until } = key;
      const taken = metric.release(name)?.takeBefore(metric.day.start);
      // In a replay, a chunk of some rows ago still has keys that left since: how many rows came must not decide.
      if (!(day.start < until || this.#publishes(key, day.start))) continue;
      const kept = taken?.days.find(({ periods }) => periods.day.start === day.start);
      const clipped = taken?.clipped.find((count) => count.day === day.start)?.count;
      if (kept !== undefined) keys.set(number, { kept, clipped });
    }
    chunk.pending.set(day.start, { day, keys });
  }

  /** Keys whose first day has begun publish from now on, and found keys whose last day has ended no more. */
  #joinDue({ metric }: Lane, chunks: readonly Chunk[]): void {
    if (this.ruled) return;
    const own = new Set(metric.keys);
    for (const chunk of chunks)
      for (const { number, ...key } of this.#keys.of(chunk)) {
        const { name, spans } = key;
        const publishes = this.#publishes(key, metric.day.start);
        if (publishes && !own.has(name)) {
          metric.join(name);
          if (chunk.lane === undefined) this.#joined.add(number);
        } else if (!publishes && own.has(name) && spans !== undefined) {
          metric.leave(name);
          this.#joined.delete(number);
        }
      }
  }

  // Closed days

  /** Closed days that wait to be stored, some of them. */
  entries(most: number): JournalEntry[] {
    const entries: JournalEntry[] = [];
    for (const chunk of this.#keys.chunks)
      for (const { day, keys } of chunk.pending.values()) {
        if (entries.length >= most) return entries;
        entries.push(
          ...this.closedDays.entries(chunk.index, day, keys, () => chunk.pending.delete(day.start)),
        );
      }
    return entries;
  }

  /** Parts of closed days that wait to be stored. */
  get unstored(): number {
    return this.#keys.chunks.reduce((sum, { pending }) => sum + pending.size, 0);
  }

  /**
   * Everything that a key has published in a range of time.
   * @param parts whether parts of days are asked about too; if not, days inside the range are read as wholes
   */
  async published(
    journal: Journal,
    key: string,
    [from, to]: readonly [number, number],
    parts: boolean,
  ): Promise<Published | undefined> {
    if (Number.isNaN(this.metric.units)) return undefined;
    const live = this.metric.release(key) ?? this.metric.makeRelease(key);
    const { periods } = this.metric;
    if (this.ruled && this.metric.release(key) === undefined && periods !== undefined) {
      live.beginDay(periods);
      this.#fill(live, this.metric, this.#main.missed);
    }
    if (!this.#stored) return live;
    const days: KeyDay["kept"][] = [];
    const clipped: DayCount[] = [];
    for (const day of this.closedDays.in(from, to)) {
      const found = await this.#dayOf(journal, key, day, !parts && from <= day.from && to >= day.end);
      if (found === undefined) continue;
      days.push(found.kept);
      clipped.push(...clippedOf(day, found));
    }
    return live.after(days, clipped);
  }

  async #dayOf(journal: Journal, key: string, day: ClosedDay, whole: boolean): Promise<KeyDay | undefined> {
    const number = this.#keys.numberOf(key);
    if (number !== undefined && number < day.keys) {
      const chunk = this.#keys.chunkOf(number);
      const waiting = chunk.pending.get(day.start);
      const keys =
        waiting?.keys ??
        (await this.closedDays.read(journal, chunk.index, day, whole, this.metric.day.start));
      const found = keys.get(number);
      if (found !== undefined) return found;
    }
    if (!this.ruled) return undefined;
    const periods = new DayPeriods(day, this.settings.schedule.levels, day.from);
    const release = this.metric.makeRelease(key);
    release.beginDay(periods);
    fillDay(release, periods, day.end, day.missed);
    const clipped = release.clippedOf(periods);
    release.endDay(periods, clipped);
    return { kept: release.takeBefore(day.end).days[0]!, clipped };
  }

  // States

  #saveShared(writer: Encoder): void {
    this.metric.saveShared(writer);
    writer.count(this.#chosen.position);
    writer.blob(this.#chosen.clock);
    writeRanges(writer, this.#main.missed);
    this.closedDays.save(writer);
    this.discovered?.save(writer, this.metric.openDays);
  }

  #loadShared(reader: Decoder): void {
    this.metric.loadShared(reader);
    this.#chosen = { position: reader.count(), clock: reader.blob().slice() };
    this.#main.missed = readRanges(reader);
    this.closedDays.load(reader);
    this.discovered?.load(reader);
  }

  #saveChunk(writer: Encoder, chunk: Chunk): void {
    const all = [...this.#keys.of(chunk)];
    const keys = all.filter(({ number }) => this.#joined.has(number));
    const coming = all.filter(({ name }) => this.metric.isExpected(name));
    for (const list of this.discovered === undefined ? [keys] : [keys, coming]) {
      writer.count(list.length);
      for (const { number } of list) writer.count(number);
    }
    this.metric.saveClock(writer);
    const ahead = this.discovered === undefined ? [] : coming;
    this.metric.saveKeys(
      writer,
      [...keys, ...ahead].map(({ name }) => name),
    );
    writer.count(chunk.pending.size);
    for (const { day, keys: own } of chunk.pending.values()) {
      writeClosedDay(writer, day);
      writeDay(writer, own);
    }
    writeRanges(writer, this.#main.missed);
    if (this.discovered === undefined && coming.length > 0) this.#saveComing(writer, coming);
  }

  /** Writes keys whose first day is still to come, behind everything else: which ones these are is public. */
  #saveComing(writer: Encoder, coming: readonly { readonly number: number; readonly name: string }[]): void {
    writer.count(coming.length);
    for (const { number } of coming) writer.count(number);
    this.metric.saveKeys(
      writer,
      coming.map(({ name }) => name),
    );
  }

  #loadComing(reader: Decoder, metric: EventMetric): void {
    const names = Array.from({ length: reader.count() }, () => this.record.keys[reader.count()]!.name);
    for (const name of names) metric.expect(name);
    metric.loadKeys(reader, names);
  }

  #loadChunk(reader: Decoder, chunk: Chunk): EventMetric {
    const names = () => Array.from({ length: reader.count() }, () => this.record.keys[reader.count()]!.name);
    const keys = names();
    const coming = this.discovered === undefined ? [] : names();
    const metric = this.#makeMetric(keys);
    metric.loadClock(reader);
    for (const name of coming) metric.expect(name);
    metric.loadKeys(reader, [...keys, ...coming]);
    const { schedule, columns } = this.settings;
    for (let left = reader.count(); left > 0; left--) {
      const day = readClosedDay(reader);
      const periods = new DayPeriods(day, schedule.levels, day.from);
      chunk.pending.set(day.start, { day, keys: new Map(readDay(reader, periods, 0, columns)) });
    }
    return metric;
  }
}

/** Publishes the periods of a day before a time without events, but for those that were missed. */
function fillDay(release: Release, periods: DayPeriods, until: number, missed: Lane["missed"]): void {
  for (let leaf = 0; leaf < periods.leaves && periods.startOf(leaf) < until; leaf++) {
    const start = periods.startOf(leaf);
    if (missed.some(([from, to]) => start >= from && start < to)) continue;
    release.close(periods, leaf, release.estimate(periods, leaf));
  }
}

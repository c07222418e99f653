/**
 * One metric of a hub: the clock, the people and the hold-out that its keys share, the keys in chunks, and the days that it
 * has closed. What keys share and every chunk are sections of the journal, each with a position of its own.
 */
import type { NoiseCore } from "../../core/core.js";
import { type Day, HOUR } from "../../events/days/calendar.js";
import { DayPeriods } from "../../events/days/dayPeriods.js";
import { KeyDiscovery } from "../../events/keys/keyDiscovery.js";
import { EventMetric, type MetricKeys } from "../../events/eventMetric.js";
import { type EventSettings, eventParameters } from "../../events/eventSettings.js";
import type { DayCount, Published, Release } from "../../events/release.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import type { Parameters } from "../../snapshot/snapshot.js";
import { type ClosedDay, ClosedDays, clippedOf, type KeyDay } from "./closedDays.js";
import { HubDiscovery } from "./hubDiscovery.js";
import { HubKeys, keysAt, type MetricRecord } from "./hubKeys.js";
import { KeyChunk, loadChunk, saveChunk } from "./keyChunk.js";
import type { Journal } from "../journal/journal.js";
import { type Lane, Lanes } from "./lanes.js";
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
  readonly #core: NoiseCore;
  readonly #secrets: MetricKeys;
  readonly #stored: boolean;
  readonly #parameters: Parameters;
  readonly #prefix: string;
  readonly shared: Section;
  /** Keys that votes make public; undefined if all keys are listed, or a rule says which ones there are. */
  readonly discovered: HubDiscovery | undefined;
  // State
  readonly keys: HubKeys;
  readonly closedDays: ClosedDays;
  readonly #lanes: Lanes;
  /** θ was chosen, and the store still has the counts that chose it. */
  #wiped = false;

  /** @param stored whether closed days go to a store */
  constructor(
    record: MetricRecord,
    settings: EventSettings,
    core: NoiseCore,
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
    const { schedule, columns } = settings;
    this.#prefix = `metrics/${record.number}.${record.generation}`;
    this.#parameters = eventParameters(settings);
    const leaves = (25 * HOUR) / schedule.levels[0]!;
    const bytes = Math.max(1, 8 * columns * leaves);
    this.keys = new HubKeys(
      record,
      ruled,
      bytes,
      (index) =>
        new KeyChunk(this.#prefix, this.#parameters, index, (writer, chunk) =>
          saveChunk(writer, chunk, this.keys, this.#lanes.main, settings),
        ),
    );
    this.closedDays = new ClosedDays(this.#prefix, settings, this.keys);
    this.#lanes = new Lanes(this.keys, this.#makeMetric([]));
    const { discovery } = settings;
    if (discovery !== undefined) {
      const votes = new KeyDiscovery(discovery.rule, core, secrets.own, settings.limit!.people);
      this.discovered = new HubDiscovery(record, this.keys, discovery, schedule, votes);
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
  get events(): EventMetric {
    return this.#lanes.main.metric;
  }

  get name(): string {
    return this.record.name;
  }

  get sections(): readonly Section[] {
    return [this.shared, ...this.keys.chunks];
  }

  // Keys that votes make public

  /** Tests the votes of days that have ended; undefined if there are none. A row must say the outcome. */
  async testVotes(journal: Journal, told: number): Promise<FoundKeys | undefined> {
    return this.discovered?.test(told, this.events, (key, from, to) =>
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
      const lane = this.#laneOf(this.keys.numberOf(name)!);
      if (lane.covers < position && !lane.metric.isExpected(name)) lane.metric.expect(name);
    }
    if (this.#lanes.main.covers < position) this.discovered!.endTest(this.events.day.start);
    return sections;
  }

  /** Gives a key of a row its number, if it has none; returns its chunk if that is new, too. */
  #addKey(name: string, since: number, position: number): KeyChunk | undefined {
    if (this.keys.numberOf(name) !== undefined) return undefined;
    const chunk = this.keys.add(name, since, position);
    if (chunk !== undefined && this.#lanes.replays)
      this.#lanes.open(chunk, this.#makeMetric([]), position - 1, []);
    return chunk;
  }

  /** Whether events of a day count under a key. */
  takes(number: number, day: number): boolean {
    return this.keys.takes(number, day, this.events);
  }

  // Opening

  async load(journal: Journal): Promise<void> {
    const shared = await journal.load(this.shared);
    if (shared !== undefined) this.#loadShared(shared);
    this.#lanes.main.covers = journal.covers(this.shared);
    for (const chunk of this.keys.chunks) {
      const state = await journal.load(chunk);
      const { metric, missed } =
        state === undefined
          ? { metric: this.#makeMetric([]), missed: [] }
          : loadChunk(state, chunk, this.record, this.settings, (keys) => this.#makeMetric(keys));
      const lane = this.#lanes.open(chunk, metric, journal.covers(chunk), missed);
      if (state === undefined) this.keys.joinDue(lane, [chunk]);
      this.#lanes.begin(lane, chunk);
    }
  }

  /** Ends the replay: the keys of all lanes join what is shared. */
  merge(): void {
    this.#lanes.merge(this.name);
  }

  /** Begins a metric that is not in the journal: its keys publish from the start. */
  begin(): void {
    this.keys.joinDue(this.#lanes.main, this.keys.chunks);
  }

  /**
   * Follows the list of keys: those that are new publish from the next day on, those that are gone no more.
   * @param row that says so
   */
  follow(keys: readonly string[], from: number, row: number): ReturnType<HubKeys["follow"]> {
    return this.keys.follow(keys, from, row, this.#lanes.main);
  }

  // Rows

  /** Acts on an event of a row. @param live it was admitted before the row was stored */
  takeEvent(record: RowRecord, position: number, live: boolean): void {
    const { kind, key, granted } = record;
    if (kind === Kind.dropped) return;
    const event = eventOf(record, this.record.keys[key]?.name ?? "");
    const { main } = this.#lanes;
    const { covers, metric } = main;
    if (!live && covers < position) {
      if (record.voted !== undefined) this.discovered!.replayVote(record.voted, event);
      metric.intake.admit({ ...event, hash: event.hash.slice() });
    }
    if (kind === Kind.limited) return;
    const lane = kind === Kind.held ? main : this.#laneOf(key);
    if (lane.covers < position) lane.metric.count(event, granted);
  }

  #laneOf(number: number): Lane {
    return this.#lanes.of(this.keys.chunkOf(number));
  }

  /** Takes a key that a rule allows, in the middle of a day: it has the noise that it would have had from the start. */
  takeKey(name: string, position: number): Section | undefined {
    const added = this.#addKey(name, this.record.began, position);
    const number = this.keys.numberOf(name)!;
    const lane = this.#laneOf(number);
    if (lane.covers >= position || lane.metric.keys.includes(name)) return added;
    lane.metric.join(name);
    this.#fill(lane.metric.release(name), lane.metric, lane.missed);
    if (lane === this.#lanes.main) this.keys.join(number);
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
    for (const lane of this.#lanes.all()) {
      if (!this.#lanes.isMoved(lane, position)) continue;
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
      if (lane === this.#lanes.main && metric.next > from && !Number.isNaN(first))
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
    for (const lane of this.#lanes.all())
      if (this.#lanes.isMoved(lane, position)) this.#miss(lane, position, lane.metric.periodFrom(now), now);
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
    const isMain = lane === this.#lanes.main;
    const result = run();
    if (metric.day.start !== day.start) {
      this.#endDay(lane, position, day, periods);
      if (isMain && heard) this.discovered?.endDay(day, metric.day.start);
      else if (isMain) this.discovered?.wipeVotes(metric.day.start);
    }
    if (isMain && Number.isNaN(units) && !Number.isNaN(metric.units)) {
      this.#lanes.choose(position);
      this.#wiped = true;
    }
    return result;
  }

  #endDay(lane: Lane, position: number, day: Day, periods: DayPeriods | undefined): void {
    const own = this.#lanes.chunksOf(lane);
    const closed: ClosedDay = {
      ...day,
      from: periods?.start ?? day.start,
      keys: keysAt(this.record, position),
      missed: lane.missed,
    };
    lane.missed = [];
    if (this.#stored && periods !== undefined) {
      for (const chunk of own) this.closedDays.take(closed, chunk, lane.metric);
      if (lane === this.#lanes.main)
        this.closedDays.add(closed, this.keys.chunks.length, lane.metric.day.start);
    }
    this.keys.leaveRuled(lane, own);
    this.keys.joinDue(lane, own);
  }

  // Closed days

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
    if (Number.isNaN(this.events.units)) return undefined;
    const live = this.events.release(key) ?? this.events.makeRelease(key);
    const { periods } = this.events;
    if (this.ruled && this.events.release(key) === undefined && periods !== undefined) {
      live.beginDay(periods);
      this.#fill(live, this.events, this.#lanes.main.missed);
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
    const found = await this.closedDays.of(journal, key, day, whole, this.events.day.start);
    if (found !== undefined || !this.ruled) return found;
    const periods = new DayPeriods(day, this.settings.schedule.levels, day.from);
    const release = this.events.makeRelease(key);
    release.beginDay(periods);
    fillDay(release, periods, day.end, day.missed);
    const clipped = release.clippedOf(periods);
    release.endDay(periods, clipped);
    return { kept: release.takeBefore(day.end).days[0]!, clipped };
  }

  // States

  #saveShared(writer: Encoder): void {
    this.events.saveShared(writer);
    this.#lanes.save(writer);
    this.closedDays.save(writer);
    this.discovered?.save(writer, this.events.openDays);
  }

  #loadShared(reader: Decoder): void {
    this.events.loadShared(reader);
    this.#lanes.load(reader);
    this.closedDays.load(reader);
    this.discovered?.load(reader);
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

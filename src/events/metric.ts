/**
 * One metric of events: a clock of periods, the limits of people, a hold-out if θ is to be chosen, and one release per key.
 * A stream is a metric with one key; a hub has many of both.
 *
 *     event ─▶ read: period, day, person ─▶ take: limit ─▶ open period of its key
 *     close ─▶ periods that have ended, of all keys together ─▶ estimates in their histories
 *
 * The clock and the caller close periods; events never do. All decisions about an event are made from public settings, the
 * clock and the events of its own person.
 */
import { refuseValue } from "../core/checks.js";
import type { Core } from "../core/core.js";
import { quantise } from "../core/quantise.js";
import type { Scale } from "../core/tables/scale.js";
import type { Decoder, Encoder } from "../stream/codec.js";
import { laplaceVariance } from "../stream/variance.js";
import { bucketOf } from "./buckets.js";
import { type Day, DAY, DayPeriods, HOUR, periodLength } from "./calendar.js";
import { noisyDayCount } from "./dayNoise.js";
import { eventTime } from "./duration.js";
import { type DroppedEvents, type EventInfo, ownFields } from "./eventInfo.js";
import { spreadOf } from "./history.js";
import { countScale, type EventSettings, eventsPerPerson, releaseScale } from "./options.js";
import { checkPerson, People } from "./people.js";
import { Release, type ReleaseShape } from "./release.js";
import { SHARES } from "./shares.js";
import { ThresholdTally } from "./thresholdTally.js";

/** Secret words by purpose. */
export interface MetricKeys {
  /** 4 words that hash ids of people. */
  readonly people: Uint32Array;
  /** 8 words: the choice of θ, and counts of people. */
  readonly own: Uint32Array;
  /** 8 words for the noise of a key. */
  readonly release: (key: string) => Uint32Array;
}

/** An event that was read: everything about it that its release depends on. */
export interface ReadEvent {
  readonly key: string;
  readonly value: number;
  /** Start of its period, of its day and of its hour. */
  readonly start: number;
  readonly day: number;
  readonly hour: number;
  /** Of its person; empty if people are not limited. */
  readonly hash: Uint32Array;
}

/** Why an event is not counted. */
export type Dropped = "late" | "early";

/** A closed period with the estimates of every key. */
export interface ClosedPeriod {
  readonly from: number;
  readonly to: number;
}

/** Noisy numbers of people of a day who lost events to their limit, and who lost none. */
export interface LimitedDay {
  readonly day: number;
  readonly end: number;
  readonly lost: number;
  readonly whole: number;
}

/** Starts of periods that a snapshot writes, and of their days. */
interface Written {
  readonly starts: readonly number[];
  readonly days: readonly number[];
}

/** Sums of a period saturate at so many events, or grid units: far above anything real, and exact in a double. */
const COUNT_CAP = 2 ** 32;
const SUM_CAP = 2 ** 40;
/** More periods than this at a time: a clock that jumps by years is a mistake. */
const MOST_AT_ONCE = 2 ** 20;
/** A snapshot writes the open periods up to the clock as far as they take this many bytes, and at least so many of them. */
const MOST_BYTES = 2 ** 19;
const LEAST_PERIODS = 256;

const NOBODY = new Uint32Array(0);
const [LOST, WHOLE] = [1, 2];

export class EventMetric {
  // Parameters
  readonly settings: EventSettings;
  readonly core: Core;
  readonly #keys: MetricKeys;
  readonly #every: number;
  readonly #people: People | undefined;
  readonly #limitedScale: Scale | undefined;
  readonly #tally: ThresholdTally | undefined;
  // State
  /** The day of the next period to be closed. */
  #day: Day;
  /** Start of the next period to be closed. */
  #next: number;
  /** Start of the first period that is published; Infinity until θ is known. */
  #first: number;
  /** The midnight at which θ is chosen. */
  #heldUntil: number;
  /** Θ in grid units; NaN until it is known. 1 if events are only counted. */
  #theta: number;
  /** All keys; each has a release once θ is known. */
  readonly #names: string[];
  readonly #releases = new Map<string, Release>();
  #shape: ReleaseShape | undefined;
  #scale: Scale | undefined;
  #limited: LimitedDay[] = [];
  #made: { readonly day: Day; readonly from: number; readonly periods: DayPeriods } | undefined;
  #late = 0;
  #early = 0;
  #overLimit = 0;

  /**
   * @param began when the metric began: periods that began before are not published
   * @param keys of the releases that exist from the start
   */
  constructor(
    settings: EventSettings,
    core: Core,
    secrets: MetricKeys,
    began: number,
    keys: Iterable<string>,
  ) {
    const { schedule, limit, grid, shares } = settings;
    this.#names = [...keys];
    this.settings = settings;
    this.core = core;
    this.#keys = secrets;
    this.#every = schedule.levels[0]!;
    if (limit !== undefined) {
      const most = limit.sum === undefined ? limit.events! : unitsOf(limit.sum, grid!.resolution);
      this.#people = new People(secrets.people, limit, most);
      this.#limitedScale = shares.limited > 0 ? countScale(settings, 1) : undefined;
    }
    const { calendar } = schedule;
    this.#next = this.#periodFrom(began);
    this.#day = calendar.dayAt(this.#next);
    this.#first = this.#next;
    this.#heldUntil = -Infinity;
    this.#theta = grid === undefined ? 1 : grid.threshold === undefined ? NaN : this.#thetaOf(grid.threshold);
    if (Number.isNaN(this.#theta)) {
      this.#tally = new ThresholdTally(
        settings.epsilon,
        divisorOfChoice(settings),
        grid!.max,
        grid!.resolution,
        errorOfChoice(settings),
      );
      this.#first = Infinity;
      this.#heldUntil = settings.finished ? Infinity : calendar.dayAt(began + grid!.holdout - 1).end;
    } else this.#fixTheta();
    this.#beginDay();
  }

  #thetaOf(threshold: number): number {
    const { limit, grid } = this.settings;
    return unitsOf(limit?.sum ?? threshold, grid!.resolution);
  }

  /** Makes what follows from θ. */
  #fixTheta(): void {
    const { settings } = this;
    const counts = settings.grid === undefined;
    this.#scale = releaseScale(settings, this.#theta);
    this.#shape = {
      levels: settings.schedule.levels,
      keep: settings.keep,
      cap: counts ? COUNT_CAP : SUM_CAP,
      clippedScale: settings.shares.clipped > 0 ? countScale(settings, eventsPerPerson(settings)) : undefined,
    };
    for (const name of this.#names) this.#releases.set(name, this.makeRelease(name));
  }

  /** A release of a key that has published nothing. θ is known. */
  makeRelease(key: string): Release {
    const source = {
      core: this.core,
      columns: this.settings.columns,
      scale: this.#scale!,
      fraction: this.settings.grid === undefined ? 2 ** 16 : 2 ** 8,
      key: this.#keys.release(key),
    };
    return new Release(source, this.#shape!);
  }

  /** Takes another key. Call it when a day begins: the key then has all of that day's periods. */
  join(key: string, release?: Release): void {
    this.#names.push(key);
    if (Number.isNaN(this.#theta)) return;
    const made = release ?? this.makeRelease(key);
    if (release === undefined && this.#first < this.#day.end) made.beginDay(this.#periods());
    this.#releases.set(key, made);
  }

  /** Forgets a key and wipes what was taken for it. */
  leave(key: string): void {
    const at = this.#names.indexOf(key);
    if (at >= 0) this.#names.splice(at, 1);
    this.#releases.get(key)?.forgetBefore(Infinity);
    this.#releases.delete(key);
  }

  /** θ in units of the values; NaN until it is known. */
  get theta(): number {
    const { grid, limit } = this.settings;
    return grid === undefined ? NaN : limit?.sum !== undefined ? grid.max : this.#theta * grid.resolution;
  }

  /** Θ in grid units; NaN until it is known. */
  get units(): number {
    return this.#theta;
  }

  /** Variance of the noise on every node, and its fourth cumulant over 3; both NaN until θ is known. */
  get nodeNoise(): { readonly variance: number; readonly fourth: number } {
    return discreteNoise(this.#scale === undefined ? NaN : this.scale);
  }

  /** t of the noise on every node; NaN until θ is known. */
  get scale(): number {
    const { schedule, epsilon, shares, buckets } = this.settings;
    const moved =
      this.#theta * (buckets !== undefined && buckets.group > 1 ? 2 : 1) * eventsPerPerson(this.settings);
    return (schedule.levels.length * moved * SHARES) / (epsilon * shares.release);
  }

  /** The running day: that of the next period to be closed. */
  get day(): Day {
    return this.#day;
  }

  /** The periods of the running day; undefined if none of them is published. */
  get periods(): DayPeriods | undefined {
    return this.#first < this.#day.end ? this.#periods() : undefined;
  }

  /** Start of the next period to be closed: everything before it is closed. */
  get next(): number {
    return this.#next;
  }

  /** When the first number comes at the earliest. */
  get firstNumberAt(): number {
    const first = Number.isFinite(this.#first)
      ? this.#first
      : this.#heldUntil + this.settings.schedule.lateness;
    return first + this.#every + this.settings.schedule.lateness;
  }

  /** Start of the first period that is published; Infinity until it is known. */
  get first(): number {
    return this.#first;
  }

  get dropped(): DroppedEvents {
    return { late: this.#late, early: this.#early, overLimit: this.#overLimit };
  }

  get keys(): readonly string[] {
    return this.#names;
  }

  /** The release of a key; undefined if it has none, or before θ is known. */
  release(key: string): Release | undefined {
    return this.#releases.get(key);
  }

  /** Noisy numbers of limited people, by day. */
  get limitedDays(): readonly LimitedDay[] {
    return this.#limited;
  }

  /**
   * Reads an event: its period and its person, or why it is dropped. Throws if it is invalid. Changes nothing.
   * All code of the caller (the clock, getters of the event) runs before anything is decided.
   */
  read(key: string, asked: number | undefined, event: EventInfo | undefined): ReadEvent | Dropped {
    const value = this.settings.of === "count" ? 1 : asked!;
    if (!Number.isFinite(value)) refuseValue();
    const { at: time, person } = ownFields(event);
    if (this.#people !== undefined) checkPerson(person);
    else if (person !== undefined)
      throw new TypeError(
        "person: expected none without perPerson; set perPerson to protect people, or omit the id",
      );
    const { clock, skew } = this.settings.schedule;
    const now = clock();
    const at = time === undefined ? now : eventTime(time);
    if (at < this.#next) return "late";
    const day = this.#dayOf(at);
    const start = this.#startOf(at, day);
    if (start > now + skew) return "early";
    const hour = day.start + Math.floor((at - day.start) / HOUR) * HOUR;
    const hash = this.#people === undefined ? NOBODY : this.#people.hash(person as string).slice();
    return { key, value, start, day: day.start, hour, hash };
  }

  /** Counts events that `read` dropped. */
  countDropped(reason: Dropped): void {
    if (reason === "late") this.#late++;
    else this.#early++;
  }

  /** The running day as it was fixed when it began; later days by the calendar. */
  #dayOf(time: number): Day {
    return time < this.#day.end ? this.#day : this.settings.schedule.calendar.dayAt(time);
  }

  /** Takes an event that `read` gave. An event whose period was closed meanwhile counts as late. */
  take(event: ReadEvent): void {
    this.#releases.get(event.key)?.prepare(event.start);
    const granted = this.admit(event);
    if (granted !== undefined) this.count(event, granted);
  }

  /** Counts an event towards its person's limit. Returns how much of it counts; undefined if nothing does. */
  admit({ value, start, day, hour, hash }: ReadEvent): number | undefined {
    if (start < this.#next) {
      this.#late++;
      return undefined;
    }
    // A person's events of one day must not choose θ with all of ε and be counted as well, if only in `limited`.
    if (Number.isNaN(this.#theta) && start >= this.#heldUntil) return undefined;
    const { grid, limit } = this.settings;
    const amount = limit?.sum === undefined ? 1 : quantise(value, grid!.max, grid!.resolution);
    if (this.#people === undefined) return amount;
    const granted = this.#people.admit(hash, day, hour, amount);
    if (granted < amount) this.#overLimit++;
    return granted === 0 && (limit?.sum === undefined || amount > 0) ? undefined : granted;
  }

  /** Adds an event that was admitted to the hold-out, or to the open period of its key. @param granted what counts of it */
  count({ key, value, start, day }: ReadEvent, granted: number): void {
    if (Number.isNaN(this.#theta)) return this.#tally!.add(value);
    const release = this.#releases.get(key);
    if (release !== undefined) this.#count(release, start, day, value, granted);
  }

  /** Adds an event to its open period. Cannot fail. */
  #count(release: Release, start: number, day: number, value: number, granted: number): void {
    const { of, grid, limit, buckets } = this.settings;
    if (of === "count") return release.add(start, 0, 1);
    if (buckets !== undefined) {
      const bucket = bucketOf(buckets.edges, value);
      release.add(start, bucket, 1);
      if (buckets.group > 1)
        release.add(start, buckets.edges.length + 1 + Math.floor(bucket / buckets.group), 1);
      return;
    }
    if (limit?.sum !== undefined) return release.add(start, 0, granted);
    const theta = this.#theta;
    const units = quantise(value, theta * grid!.resolution, grid!.resolution);
    release.add(start, 0, units);
    if (of === "mean") release.add(start, 1, theta - units);
    if (value > theta * grid!.resolution && this.#shape!.clippedScale !== undefined) release.addClipped(day);
  }

  /** The end of the last period that is due at `now`: an event of it can no longer come. */
  due(now: number): number {
    const until = now - this.settings.schedule.lateness;
    if (until <= this.#next) return this.#next;
    if ((until - this.#next) / this.#every > MOST_AT_ONCE)
      throw new RangeError(
        `advance: expected at most 2^20 periods at a time, got ${Math.floor((until - this.#next) / this.#every)}; check the clock, or advance in steps`,
      );
    const day = this.#dayOf(until);
    return Math.max(this.#next, this.#startOf(until, day));
  }

  /**
   * Closes the next period if it ends by `until`, for all keys together, or chooses θ. Returns the period if it is published.
   * What can fail comes first and changes nothing.
   * @param missed nobody listened to the period to its end: it has no number
   */
  closeNext(until: number, now: number, missed = false): ClosedPeriod | "held" | undefined {
    if (this.#next >= until) return undefined;
    if (Number.isNaN(this.#theta)) return this.#holdOut(until, now);
    const periods = this.#periods();
    const leaf = periods.leafAt(this.#next);
    const [from, to] = [periods.startOf(leaf), periods.startOf(leaf + 1)];
    if (to > until) return undefined;
    const estimates = missed
      ? undefined
      : Array.from(this.#releases.values(), (release) => release.estimate(periods, leaf));
    const end = to === this.#day.end ? this.#prepareEnd(periods) : undefined;
    let i = 0;
    for (const release of this.#releases.values()) release.close(periods, leaf, estimates?.[i++]);
    this.#next = to;
    end?.();
    this.#forgetPeople();
    return { from, to };
  }

  /**
   * Passes over the periods that nobody listened to: their time, lateness included, was over when the process began at `now`.
   * They have no number, and events that were taken for them are not published.
   */
  miss(now: number): void {
    if (Number.isNaN(this.#theta)) return; // the hold-out has no numbers to miss
    const until = now - this.settings.schedule.lateness;
    while (this.closeNext(Math.min(until, this.#day.end), now, true) !== undefined)
      if (this.#next === this.#day.start) break;
    if (until < this.#day.end) return;
    const day = this.settings.schedule.calendar.dayAt(until);
    for (const release of this.#releases.values()) release.forgetBefore(day.start);
    this.#day = day;
    this.#next = day.start;
    this.#beginDay();
    this.miss(now);
  }

  /** Draws the noise of the running day for keys that do not have it: up to `most` of them. Returns whether all have it. */
  drawDay(most: number): boolean {
    if (Number.isNaN(this.#theta)) return true;
    const periods = this.#periods();
    for (const release of this.#releases.values()) {
      if (release.hasNoise(periods)) continue;
      if (most-- === 0) return false;
      release.draw(periods);
    }
    return true;
  }

  /** Computes all noisy numbers of a day that ends; returns what publishes them and begins the next day. */
  #prepareEnd(periods: DayPeriods): () => void {
    const { day } = periods;
    const clipped = Array.from(this.#releases.values(), (release) => release.clippedOf(periods));
    const limited = this.#limitedOf(day);
    const next = this.settings.schedule.calendar.dayAt(day.end);
    // A new time-zone database must not make days overlap.
    const begun = { start: day.end, end: next.end };
    const following = new DayPeriods(begun, this.settings.schedule.levels, this.#first);
    const room = Array.from(this.#releases.values(), (release) => release.prepareDay(following));
    return () => {
      let i = 0;
      for (const release of this.#releases.values()) release.endDay(periods, clipped[i++]);
      if (limited !== undefined) this.#limited.push(limited);
      this.#limited = this.#limited.filter(({ end }) => end > day.end - this.settings.keep.days);
      this.#day = begun;
      i = 0;
      for (const release of this.#releases.values()) release.beginDay(following, room[i++]);
    };
  }

  #limitedOf({ start, end }: Day): LimitedDay | undefined {
    const scale = this.#limitedScale;
    if (scale === undefined) return undefined;
    const { lost, whole } = this.#people!.limited(start);
    const noisy = (purpose: number, count: number) =>
      noisyDayCount(this.core, this.#keys.own, purpose, start, scale, count);
    return { day: start, end, lost: noisy(LOST, lost), whole: noisy(WHOLE, whole) };
  }

  #beginDay(): void {
    if (!(this.#first < this.#day.end)) return;
    const periods = this.#periods();
    for (const release of this.#releases.values()) release.beginDay(periods);
  }

  /** Passes the hold-out; at its last midnight chooses θ, or goes on for a day if there were too few events. */
  #holdOut(until: number, now: number): "held" {
    const { calendar } = this.settings.schedule;
    if (until < this.#heldUntil) {
      this.#next = until;
      this.#day = calendar.dayAt(until);
    } else {
      const { noisy, enough } = this.#tally!.countDay(this.core, this.#keys.own);
      if (enough) this.#choose(noisy, now);
      else {
        this.#day = calendar.dayAt(this.#heldUntil);
        this.#next = this.#heldUntil;
        this.#tally!.endDay(noisy);
        this.#heldUntil = this.#day.end;
      }
    }
    this.#forgetPeople();
    return "held";
  }

  /** Forgets people of days and hours that are closed. */
  #forgetPeople(): void {
    this.#people?.forgetBefore(this.#day.start, this.#next - HOUR + 1);
  }

  /** Chooses θ. The first period that begins from now on is the first that is published. */
  #choose(noisy: number, now: number): void {
    const theta = this.#tally!.choose(this.core, this.#keys.own, noisy);
    const [day, next, first] = [this.#day, this.#next, this.#first];
    this.#next = this.#periodFrom(now);
    this.#day = this.settings.schedule.calendar.dayAt(this.#next);
    this.#first = this.#next;
    this.#theta = theta;
    try {
      this.#fixTheta();
      this.#beginDay();
    } catch (error) {
      [this.#day, this.#next, this.#first, this.#theta] = [day, next, first, NaN];
      this.#releases.clear();
      this.#scale = undefined;
      throw error; // the counts are still there: the next call chooses the same θ
    }
    this.#tally!.wipe();
  }

  /**
   * Chooses θ of a finished file from the events that were taken so far, and forgets them: the caller gives all events
   * again. Returns whether a noisy count says that there are enough; if not, nothing changes.
   */
  chooseFinished(): boolean {
    const { noisy, enough } = this.#tally!.countDay(this.core, this.#keys.own);
    if (!enough) return false;
    this.#theta = this.#tally!.choose(this.core, this.#keys.own, noisy);
    this.#first = this.#next;
    this.#tally!.wipe();
    this.#people?.forgetBefore(Infinity, Infinity);
    [this.#late, this.#early, this.#overLimit] = [0, 0, 0];
    this.#fixTheta();
    this.#beginDay();
    return true;
  }

  /** The start of the first period that begins at or after a time. */
  #periodFrom(time: number): number {
    const day = this.settings.schedule.calendar.dayAt(time);
    const length = periodLength(day, this.#every);
    return Math.min(day.end, day.start + Math.ceil((time - day.start) / length) * length);
  }

  /** The start of the period that a time of a day lies in. */
  #startOf(time: number, day: Day): number {
    const length = periodLength(day, this.#every);
    return day.start + Math.floor((time - day.start) / length) * length;
  }

  /** The periods of the running day, made once for the day. */
  #periods(): DayPeriods {
    const { day, from } = this.#made ?? {};
    if (day !== this.#day || from !== this.#first) {
      const periods = new DayPeriods(this.#day, this.settings.schedule.levels, this.#first);
      this.#made = { day: this.#day, from: this.#first, periods };
    }
    return this.#made!.periods;
  }

  /** Start of the period after the one that starts at `start`. */
  #after(start: number): number {
    const day = this.#dayOf(start);
    return Math.min(day.end, start + periodLength(day, this.#every));
  }

  /** When a call for [from, to) will next give more: the first period in it that is not closed yet; null if none will come. */
  nextNumber(from: number, to: number): number | null {
    const first = Math.max(from, Number.isFinite(this.#first) ? this.#next : this.#heldUntil);
    if (first >= to) return null;
    const start = first <= this.#next ? this.#next : this.#periodFrom(first);
    const end = this.#after(start);
    return end > to ? null : end + this.settings.schedule.lateness;
  }

  /** Starts of the periods that a snapshot writes, whether or not they have events, and of their days. */
  #written(keys: readonly string[]): Written {
    const { clock, skew } = this.settings.schedule;
    const horizon = Math.max(this.#next, clock() + skew);
    const most = Math.max(LEAST_PERIODS, Math.floor(MOST_BYTES / (8 * this.settings.columns)));
    const latest = keys.reduce(
      (most, key) => Math.max(most, this.#releases.get(key)?.latest ?? most),
      -Infinity,
    );
    const starts: number[] = [];
    let count = most;
    for (let start = this.#next; start <= horizon || start <= latest; start = this.#after(start)) {
      if (starts.length === count) {
        if (start > latest) break;
        count *= 2;
      }
      starts.push(start);
    }
    const days = new Set([this.#day.start, ...starts.map((start) => this.#dayOf(start).start)]);
    return { starts, days: [...days] };
  }

  save(writer: Encoder): void {
    const written = this.#written(this.#names); // runs the caller's clock before anything is written
    this.#saveShared(writer, written);
    this.#saveKeys(writer, this.#names, written);
  }

  /** Writes what all keys have in common. */
  saveShared(writer: Encoder): void {
    this.#saveShared(writer, this.#written([]));
  }

  /** Writes the state of some keys. */
  saveKeys(writer: Encoder, keys: readonly string[]): void {
    this.#saveKeys(writer, keys, this.#written(keys));
  }

  /** Writes which period is the next one, of which day, and θ. */
  saveClock(writer: Encoder): void {
    const { start, end } = this.#day;
    for (const number of [start, end, this.#next, this.#first, this.#heldUntil, this.#theta])
      writer.double(number);
  }

  loadClock(reader: Decoder): void {
    this.#day = { start: reader.double(), end: reader.double() };
    this.#next = reader.double();
    this.#first = reader.double();
    this.#heldUntil = reader.double();
    this.#theta = reader.double();
    if (!Number.isNaN(this.#theta)) this.#fixTheta();
  }

  #saveShared(writer: Encoder, { starts, days }: Written): void {
    this.saveClock(writer);
    for (const count of [this.#late, this.#early, this.#overLimit]) writer.double(count);
    const hours = [...new Set(starts.map((start) => start - ((start - this.#dayOf(start).start) % HOUR)))];
    this.#people?.save(writer, days, hours);
    if (Number.isNaN(this.#theta)) this.#tally?.save(writer);
    writer.count(this.#limited.length);
    for (const { day, end, lost, whole } of this.#limited)
      for (const number of [day, end, lost, whole]) writer.double(number);
  }

  #saveKeys(writer: Encoder, keys: readonly string[], { starts, days }: Written): void {
    writer.count(days.length);
    for (const day of days) writer.double(day);
    for (const key of keys) this.#releases.get(key)?.save(writer, starts, days);
  }

  /** Resumes from what `save` wrote, under the same settings and keys. */
  load(reader: Decoder): void {
    this.loadShared(reader);
    this.loadKeys(reader, this.#names);
  }

  loadShared(reader: Decoder): void {
    this.loadClock(reader);
    this.#late = reader.double();
    this.#early = reader.double();
    this.#overLimit = reader.double();
    this.#people?.load(reader);
    if (Number.isNaN(this.#theta)) this.#tally?.load(reader);
    this.#limited = Array.from({ length: reader.count() }, () => ({
      day: reader.double(),
      end: reader.double(),
      lost: reader.double(),
      whole: reader.double(),
    }));
  }

  /** Resumes keys from what `saveKeys` wrote. */
  loadKeys(reader: Decoder, keys: readonly string[]): void {
    const days = Array.from({ length: reader.count() }, () => reader.double());
    for (const key of keys) this.#releases.get(key)?.load(reader, days);
  }
}

/** Θ in grid units. */
const unitsOf = (theta: number, resolution: number): number =>
  Math.max(1, Math.floor(theta / resolution + 0.5));

/** ε over this is what one event has for the choice of θ: all of it in a hold-out, a share in a finished file. */
const divisorOfChoice = (settings: EventSettings): number =>
  (settings.finished ? SHARES / settings.shares.threshold : 1) * eventsPerPerson(settings);

/** The standard error of a whole day in units of θ/ε, with the ε of the choice. */
const errorOfChoice = (settings: EventSettings): number =>
  dayError(settings) * (settings.finished ? settings.shares.threshold / settings.shares.release : 1);

/** The standard error of a whole day of 24 hours, in units of θ/ε. */
export function dayError(settings: EventSettings): number {
  const { shape } = new DayPeriods({ start: 0, end: DAY }, settings.schedule.levels);
  const { variance } = spreadOf(shape).of(0, shape.sizes[0]!);
  return settings.schedule.levels.length * Math.sqrt(2 * variance);
}

/** Variance v of discrete Laplace noise of scale t, and its fourth cumulant over 3: v² + v/3. */
export function discreteNoise(t: number): { readonly variance: number; readonly fourth: number } {
  const variance = laplaceVariance(t);
  return { variance, fourth: variance ** 2 + variance / 3 };
}

/**
 * One metric of events: a clock of periods, the limits of people, a hold-out if θ or k is to be chosen, and one release per key.
 * A stream is a metric with one key; a hub has many of both.
 *
 *     event ─▶ read: period, day, person ─▶ admit: limit ─▶ count: open period of its key
 *     close ─▶ periods that have ended, of all keys together ─▶ estimates in their histories
 *
 * The clock and the caller close periods; events never do. All decisions about an event are made from public settings, the
 * clock and the events of its own person.
 */
import type { NoiseCore } from "../core/core.js";
import { quantise } from "../core/quantise.js";
import type { Decoder, Encoder } from "../snapshot/codec.js";
import { bucketOf } from "./answer/buckets.js";
import { type Day, HOUR } from "./days/calendar.js";
import type { DayPeriods } from "./days/dayPeriods.js";
import { discreteNoise } from "./days/dayNoise.js";
import { eventTime } from "./days/duration.js";
import { type EventInfo, ownFields } from "./eventInfo.js";
import { Holdout } from "./holdout.js";
import { LimitChoice } from "./people/limitChoice.js";
import { type LimitedDay, LimitedDays } from "./people/limitedDays.js";
import {
  countScale,
  type EventSettings,
  movedBy,
  releaseScale,
  releaseSpread,
  unitsOf,
  withLimit,
} from "./eventSettings.js";
import { Intake, type ReadEvent } from "./intake.js";
import { type Dropped, PeriodClock } from "./days/periodClock.js";
import type { Release } from "./release.js";
import { Releases } from "./releases.js";

/** Secret words by purpose. */
export interface MetricKeys {
  /** 4 words that hash ids of people. */
  readonly people: Uint32Array;
  /** 8 words: the choice of θ, and counts of people. */
  readonly own: Uint32Array;
  /** 8 words for the noise of a key. */
  readonly release: (key: string) => Uint32Array;
}

/** A closed period with the estimates of every key. */
export interface ClosedPeriod {
  readonly from: number;
  readonly to: number;
}

/** Starts of periods that a snapshot writes, and of their days. */
interface Written {
  readonly starts: readonly number[];
  readonly days: readonly number[];
}

/** A snapshot writes the open periods up to the clock as far as they take this many bytes, and at least so many of them. */
const MOST_BYTES = 2 ** 19;
const LEAST_PERIODS = 256;

/** Inputs of `closeNext` whose making may fail: noisy numbers of a leaf, and what ends the day if it is the last one. */
interface Prepared {
  readonly periods: DayPeriods;
  readonly leaf: number;
  /** Undefined for a period that was missed. */
  readonly estimates: readonly Float64Array[] | undefined;
  readonly end: (() => void) | undefined;
}

export class EventMetric {
  // Parameters
  readonly core: NoiseCore;
  readonly #own: Uint32Array;
  // State
  /** As they were given, with the k that was chosen. */
  #settings: EventSettings;
  readonly #clock: PeriodClock;
  /** Reads events and decides of them. */
  readonly intake: Intake;
  readonly #limited: LimitedDays;
  readonly #holdout: Holdout | LimitChoice | undefined;
  readonly #releases: Releases;
  /** Θ: θ − min in grid units; 1 if events are only counted. NaN until it and k are known. */
  #theta: number;
  /** The result of `prepareNext`, for the next `closeNext`. */
  #prepared: Prepared | undefined;

  /**
   * @param began when the metric began: periods that began before are not published
   * @param keys of the releases that exist from the start
   */
  constructor(
    settings: EventSettings,
    core: NoiseCore,
    secrets: MetricKeys,
    began: number,
    keys: Iterable<string>,
  ) {
    const { limit, shares, keep } = settings;
    this.#settings = settings;
    this.core = core;
    this.#own = secrets.own;
    this.#clock = new PeriodClock(settings.schedule, began);
    this.#releases = new Releases(core, secrets.release, keys);
    this.intake = new Intake(settings, this.#clock, secrets.people);
    const scale = shares.limited > 0 ? countScale(settings, 1) : undefined;
    this.#limited = new LimitedDays(core, secrets.own, scale, keep.days);
    this.#theta = limit?.most === undefined ? this.#publicTheta : NaN;
    // A scale that no noise can have is refused now, not after the choice.
    for (const k of limit?.most === undefined ? [] : [limit.most, 1])
      releaseScale(withLimit(settings, k), this.#publicTheta);
    if (this.isHeldOut) {
      this.#holdout =
        limit?.most === undefined ? new Holdout(settings, began) : new LimitChoice(settings, began);
      this.intake.window = this.#holdout;
      this.#clock.publish(false);
    } else this.#begin();
  }

  get settings(): EventSettings {
    return this.#settings;
  }

  /** Θ if it is public, else NaN. */
  get #publicTheta(): number {
    const { limit, grid } = this.settings;
    if (grid === undefined) return 1;
    return grid.threshold === undefined
      ? NaN
      : unitsOf(limit?.sum ?? grid.threshold - grid.min, grid.resolution);
  }

  /** Makes the releases, and begins the running day. θ and k are known. */
  #begin(): void {
    this.intake.window = undefined;
    this.#releases.fix(this.#settings, this.#theta);
    this.#releases.beginDay(this.#clock.periods!);
  }

  /** Whether θ or k is not known yet. */
  get isHeldOut(): boolean {
    return Number.isNaN(this.#theta);
  }

  /** A release of a key that has published nothing. θ is known. */
  makeRelease(key: string): Release {
    return this.#releases.make(key);
  }

  /** Takes another key. Call it when a day begins: the key then has all of that day's periods. */
  join(key: string, release?: Release): void {
    if (this.isHeldOut) return this.#releases.join(key, undefined);
    const made = release ?? this.#releases.takeExpected(key) ?? this.makeRelease(key);
    if (release === undefined) {
      made.forgetBefore(this.day.start); // taken ahead for a day that it does not publish
      made.beginDay(this.#clock.periods!);
    }
    this.#releases.join(key, made);
  }

  /** Takes events of a key whose first day is still to come. θ is known. */
  expect(key: string, release?: Release): void {
    this.#releases.expect(key, release);
  }

  /** The release of a key that was expected, which is so no more. */
  takeExpected(key: string): Release | undefined {
    return this.#releases.takeExpected(key);
  }

  isExpected(key: string): boolean {
    return this.#releases.isExpected(key);
  }

  /** Forgets a key and wipes what was taken for it. */
  leave(key: string): void {
    this.#releases.leave(key);
  }

  /** θ in units of the values; NaN until it is known. */
  get theta(): number {
    const { grid, limit } = this.settings;
    if (grid === undefined) return NaN;
    const theta = Number.isNaN(this.#theta) ? this.#publicTheta : this.#theta;
    return limit?.sum !== undefined ? grid.max : grid.min + theta * grid.resolution;
  }

  /** Θ: θ − min in grid units; NaN until it and k are known. */
  get units(): number {
    return this.#theta;
  }

  /** Variance of the noise on every node, and its fourth cumulant over 3; both NaN until θ is known. */
  get nodeNoise(): { readonly variance: number; readonly fourth: number } {
    return discreteNoise(this.scale);
  }

  /** t of the noise on every node; NaN until θ is known. */
  get scale(): number {
    return releaseSpread(this.settings, this.moved);
  }

  /** Sensitivity of all columns together to one event, in grid units; NaN until θ and k are known. */
  get moved(): number {
    return this.isHeldOut ? NaN : movedBy(this.settings, this.#theta);
  }

  /** The running day: that of the next period to be closed. */
  get day(): Day {
    return this.#clock.day;
  }

  /** The periods of the running day; undefined if none of them is published. */
  get periods(): DayPeriods | undefined {
    return this.#clock.periods;
  }

  /** Start of the next period to be closed: everything before it is closed. */
  get next(): number {
    return this.#clock.next;
  }

  /** Start of the first period that is published; Infinity until it is known. */
  get first(): number {
    return this.#clock.first;
  }

  /** When the first number comes at the earliest. */
  get firstNumberAt(): number {
    const { levels, lateness } = this.settings.schedule;
    if (this.settings.distinct !== undefined) return this.#clock.after(this.first) + lateness;
    const first = Number.isFinite(this.first) ? this.first : this.#holdout!.until + lateness;
    return first + levels[0]! + lateness;
  }

  get keys(): readonly string[] {
    return this.#releases.names;
  }

  /** The release of a key; undefined if it has none, or before θ is known. */
  release(key: string): Release | undefined {
    return this.#releases.get(key);
  }

  /** Noisy numbers of limited people, by day. */
  get limitedDays(): readonly LimitedDay[] {
    return this.#limited.days;
  }

  /** Takes an event at once. Throws if it is invalid. */
  add(key: string, asked: number | undefined, event: EventInfo | undefined): void {
    const value = this.intake.checkValue(asked);
    const { at: time, person } = ownFields(event);
    const now = time === undefined ? this.settings.schedule.clock() : NaN;
    const at = time === undefined ? now : eventTime(time);
    const period = this.#clock.found(at);
    const release = this.#releases.get(key);
    // Most events: nothing is left to decide. Kept short, so that V8 inlines all of it (7 ns, else 20).
    if (period !== undefined && release !== undefined && !this.intake.limits && person === undefined)
      this.#count(release, value, period.start, period.day.start, 1);
    else this.#addRead(release, this.intake.readAt(key, value, at, now, person));
  }

  #addRead(release: Release | undefined, read: ReadEvent | Dropped): void {
    if (typeof read === "string") return this.intake.countDropped(read);
    release?.prepare(read.start); // may fail; nothing has changed
    const { kind, granted } = this.intake.admit(read);
    if (kind === "counted" || kind === "held") this.count(read, granted);
  }

  /** Adds an event that was admitted to the hold-out, or to the open period of its key. @param granted what counts of it */
  count({ key, value, start, day }: ReadEvent, granted: number): void {
    if (this.isHeldOut) return this.#holdout!.add(value);
    const release = this.#releases.get(key);
    if (release !== undefined) this.#count(release, value, start, day, granted);
  }

  #count(release: Release, value: number, start: number, day: number, granted: number): void {
    if (this.settings.of === "count") release.add(start, 0, 1);
    else this.#countValue(release, value, start, day, granted);
  }

  #countValue(release: Release, value: number, start: number, day: number, granted: number): void {
    const { of, grid, limit, buckets } = this.settings;
    if (buckets !== undefined) {
      const bucket = bucketOf(buckets.edges, value);
      release.add(start, bucket, 1);
      if (buckets.group > 1)
        release.add(start, buckets.edges.length + 1 + Math.floor(bucket / buckets.group), 1);
      return;
    }
    if (limit?.sum !== undefined) return release.add(start, 0, granted);
    const { min, resolution } = grid!;
    const theta = this.#theta;
    const units = quantise(value - min, theta * resolution, resolution);
    if (of === "mean") {
      release.add(start, 0, units);
      release.add(start, 1, theta - units);
    } else release.add(start, 0, Math.round(min / resolution) + units);
    if (value - min > theta * resolution) release.addClipped(day);
  }

  /** The end of the last period that is due at `now`: an event of it can no longer come. */
  due(now: number): number {
    return this.#clock.due(now);
  }

  /**
   * Closes the next period if it ends by `until`, for all keys together, or chooses θ or k. Returns the period if it is published.
   * What can fail comes first and changes nothing.
   * @param missed nobody listened to the period to its end: it has no number
   */
  closeNext(until: number, now: number, missed = false): ClosedPeriod | "held" | undefined {
    if (this.next >= until) return undefined;
    if (this.isHeldOut) return this.#holdOut(until, now);
    const periods = this.#clock.periods!;
    const leaf = periods.leafAt(this.next);
    const [from, to] = [periods.startOf(leaf), periods.startOf(leaf + 1)];
    if (to > until) return undefined;
    const { estimates, end } = this.#takePrepared(periods, leaf, missed);
    this.#releases.close(periods, leaf, estimates);
    this.#clock.turnTo(to);
    this.#clock.hear(now);
    end?.();
    this.#forgetPeople();
    return { from, to };
  }

  /**
   * Computes what `closeNext` publishes, key by key: other work may run between two steps, and no event is taken before
   * `closeNext`. Changes nothing that is published.
   */
  *prepareNext(until: number): Generator<void, void> {
    if (this.next >= until || this.isHeldOut) return;
    const periods = this.#clock.periods!;
    const leaf = periods.leafAt(this.next);
    if (periods.startOf(leaf + 1) > until) return;
    this.#prepared = yield* this.#prepare(periods, leaf, false);
  }

  *#prepare(periods: DayPeriods, leaf: number, missed: boolean): Generator<void, Prepared> {
    const estimates = missed ? undefined : yield* this.#releases.estimates(periods, leaf);
    const ends = periods.startOf(leaf + 1) === this.day.end;
    return { periods, leaf, estimates, end: ends ? yield* this.#prepareEnd(periods) : undefined };
  }

  /** Takes what `prepareNext` made for this leaf, or makes it now. */
  #takePrepared(periods: DayPeriods, leaf: number, missed: boolean): Prepared {
    const prepared = this.#prepared;
    this.#prepared = undefined;
    if (!missed && prepared?.periods === periods && prepared.leaf === leaf) return prepared;
    const preparing = this.#prepare(periods, leaf, missed);
    for (;;) {
      const step = preparing.next();
      if (step.done === true) return step.value;
    }
  }

  /** Whether `miss` passes over any period. */
  misses(until: number): boolean {
    return !this.isHeldOut && this.#clock.after(this.next) <= until;
  }

  /** Start of the first period that begins at or after a time. */
  periodFrom(time: number): number {
    return this.#clock.periodFrom(time);
  }

  /**
   * Passes over the periods that end by `until`, since nobody listened to all of them. They have no number, and events that
   * were taken for them are not published.
   * @param now what the clock says
   */
  miss(until: number, now: number): void {
    if (this.isHeldOut) return; // the hold-out has no numbers to miss
    const { end } = this.day;
    while (this.next < end && this.closeNext(Math.min(until, end), now, true) !== undefined);
    if (until < end) return;
    const day = this.settings.schedule.calendar.dayAt(until);
    if (day.start > this.day.start) {
      this.#releases.forgetBefore(day.start);
      this.#clock.turnTo(day.start, day);
      this.#releases.beginDay(this.#clock.periods!);
    }
    this.miss(until, now);
  }

  /** Draws the noise of the running day for keys that do not have it: up to `most` of them. Returns whether all have it. */
  drawDay(most: number): boolean {
    return this.isHeldOut || this.#releases.drawDay(most);
  }

  /** Computes all noisy numbers of a day that ends; returns what publishes them and begins the next day. */
  *#prepareEnd(periods: DayPeriods): Generator<void, () => void> {
    const { day } = periods;
    const following = this.#clock.followingDay;
    const releases = yield* this.#releases.prepareEnd(periods, following);
    const limited = this.#limited.prepareEnd(day, () => this.intake.limited(day.start));
    return () => {
      releases();
      limited();
      this.#clock.turnTo(following.day.start, following.day);
    };
  }

  /** Passes the hold-out; at its last midnight chooses θ or k, or goes on for a day if there were too few events. */
  #holdOut(until: number, now: number): "held" {
    const { calendar } = this.settings.schedule;
    const midnight = this.#holdout!.until;
    if (until < midnight) this.#clock.turnTo(until, calendar.dayAt(until));
    else {
      const chosen = this.#holdout!.choose(this.core, this.#own, this.intake.people!);
      if (typeof chosen === "number") this.#choose(chosen, now);
      else {
        const day = calendar.dayAt(midnight);
        this.#clock.turnTo(midnight, day);
        chosen(day.end);
      }
    }
    this.#forgetPeople();
    return "held";
  }

  /** Forgets people of days and hours that are closed. */
  #forgetPeople(): void {
    this.intake.forgetBefore(this.day.start, this.next - HOUR + 1);
  }

  /** Takes θ or k. The first period that begins from now on is the first that is published. */
  #choose(chosen: number, now: number): void {
    const takeBack = this.#clock.remember();
    const asked = this.#settings;
    const next = this.#clock.periodFrom(now);
    this.#clock.turnTo(next, this.settings.schedule.calendar.dayAt(next));
    this.#clock.publish(true);
    if (asked.limit?.most === undefined) this.#theta = chosen;
    else {
      this.#settings = withLimit(asked, chosen);
      this.#theta = this.#publicTheta;
    }
    try {
      this.#begin();
    } catch (error) {
      takeBack();
      [this.#settings, this.#theta] = [asked, NaN];
      this.intake.window = this.#holdout;
      this.#releases.unfix();
      throw error; // the counts are still there: the next call chooses the same
    }
    this.#holdout!.wipe();
    this.#limitPeople();
  }

  /** A chosen k is the limit from now on. */
  #limitPeople(): void {
    const { events, most } = this.#settings.limit ?? {};
    if (most !== undefined) this.intake.people!.most = events ?? most;
  }

  /**
   * Chooses θ of a finished file from the events that were taken so far, and forgets them: the caller gives all events
   * again. Returns whether a noisy count says that there are enough; if not, nothing changes.
   */
  chooseFinished(): boolean {
    const theta = this.#holdout!.choose(this.core, this.#own, this.intake.people!);
    if (typeof theta !== "number") return false;
    this.#theta = theta;
    this.#clock.publish(true);
    this.#holdout!.wipe();
    this.intake.restart();
    this.#begin();
    return true;
  }

  /** When a call for [from, to) will next give more: the first period in it that is not closed yet; null if none will come. */
  nextNumber(from: number, to: number): number | null {
    const first = Math.max(from, this.isHeldOut ? this.#holdout!.until : this.next);
    if (first >= to) return null;
    const start = first <= this.next ? this.next : this.#clock.periodFrom(first);
    const end = this.#clock.after(start);
    return end > to ? null : end + this.settings.schedule.lateness;
  }

  /** Starts of the periods that a snapshot writes, whether or not they have events, and of their days. */
  #written(keys: readonly string[]): Written {
    const { clock, skew } = this.settings.schedule;
    const horizon = Math.max(this.next, clock() + skew);
    const most = Math.max(LEAST_PERIODS, Math.floor(MOST_BYTES / (8 * this.settings.columns)));
    const latest = this.#releases.latest(keys);
    const starts: number[] = [];
    let count = most;
    for (let start = this.next; start <= horizon || start <= latest; start = this.#clock.after(start)) {
      if (starts.length === count) {
        if (start > latest) break;
        count *= 2;
      }
      starts.push(start);
    }
    const days = new Set([this.day.start, ...starts.map((start) => this.#clock.dayOf(start).start)]);
    return { starts, days: [...days] };
  }

  /** Starts of the days whose periods take events, by the clock. */
  get openDays(): readonly number[] {
    return this.#written([]).days;
  }

  save(writer: Encoder): void {
    const written = this.#written(this.keys); // runs the caller's clock before anything is written
    this.#saveShared(writer, written);
    this.#saveKeys(writer, this.keys, written);
  }

  /** Writes what all keys have in common. */
  saveShared(writer: Encoder): void {
    this.#saveShared(writer, this.#written([]));
  }

  /** Writes the state of some keys. */
  saveKeys(writer: Encoder, keys: readonly string[]): void {
    this.#saveKeys(writer, keys, this.#written(keys));
  }

  /** Writes which period is the next one, of which day, θ, and k if it is chosen. */
  saveClock(writer: Encoder): void {
    this.#clock.save(writer);
    writer.double(this.#holdout?.until ?? -Infinity);
    writer.double(this.#theta);
    const { events, most } = this.#settings.limit ?? {};
    if (most !== undefined) writer.double(events ?? NaN);
  }

  loadClock(reader: Decoder): void {
    this.#clock.load(reader);
    const until = reader.double();
    if (this.#holdout !== undefined) this.#holdout.until = until;
    this.#theta = reader.double();
    if (this.#settings.limit?.most !== undefined) {
      const k = reader.double();
      if (!Number.isNaN(k)) this.#settings = withLimit(this.#settings, k);
      this.#limitPeople();
    }
    this.intake.window = this.isHeldOut ? this.#holdout : undefined;
    if (!this.isHeldOut) this.#releases.fix(this.#settings, this.#theta);
  }

  #saveShared(writer: Encoder, { starts, days }: Written): void {
    this.saveClock(writer);
    const hours = starts.map((start) => start - ((start - this.#clock.dayOf(start).start) % HOUR));
    this.intake.save(writer, days, [...new Set(hours)]);
    if (this.isHeldOut) this.#holdout!.save(writer);
    this.#limited.save(writer);
  }

  #saveKeys(writer: Encoder, keys: readonly string[], { starts, days }: Written): void {
    this.#releases.save(writer, keys, starts, days);
  }

  /** Resumes from what `save` wrote, under the same settings and keys. */
  load(reader: Decoder): void {
    this.loadShared(reader);
    this.loadKeys(reader, this.keys);
  }

  loadShared(reader: Decoder): void {
    this.loadClock(reader);
    this.intake.load(reader);
    if (this.isHeldOut) this.#holdout!.load(reader);
    this.#limited.load(reader);
  }

  /** Resumes keys from what `saveKeys` wrote. */
  loadKeys(reader: Decoder, keys: readonly string[]): void {
    this.#releases.load(reader, keys);
  }
}

/**
 * The release of a finished file: one metric, a key of noise per group, all of it in one encrypted snapshot. The clock is
 * the log's: every event is older than --to, and what has ended by then is closed, day by day.
 */
import { chooseNoise } from "../core/choose.js";
import { secretKey, Purpose } from "../core/random.js";
import { unsafeKey } from "../core/unsafeKey.js";
import { eventAnswer, type EventAnswer } from "../events/answer/answers.js";
import { HOUR } from "../events/days/calendar.js";
import { periodLength } from "../events/days/dayPeriods.js";
import { derivedKey } from "../events/derivedKey.js";
import { checkQuery, type HistogramAnswer, histogramAnswer } from "../events/answer/histogramAnswers.js";
import { KeyDiscovery } from "../events/keys/keyDiscovery.js";
import { OTHER_KEYS } from "../events/keys/keyName.js";
import { EventMetric } from "../events/eventMetric.js";
import { eventParameters, type EventSettings } from "../events/eventSettings.js";
import { type AnyEventOptions, resolveEvents, withDiscovery } from "../events/options.js";
import { isShown, type Range } from "../events/answer/queries.js";
import { resume, Snapshots, type Snapshotted } from "../events/snapshots.js";
import type { Decoder } from "../snapshot/codec.js";
import { DataError } from "./command.js";
import type { EventRow } from "./eventRows.js";
import type { StoredRelease } from "./eventState.js";

/** Cells of votes of a day. Rows of a file are in any order, so all its days are in memory: fewer than a hub has. */
const CELLS = 2 ** 16;
/** The only key of a release without groups. */
const ALL = "all";
/** Fine periods are in the output of the run that published them; a release keeps hours and days for `brume query`. */
const HISTORY = { days: "3660d", hours: "3660d", finer: "35d" } as const;

export class EventFile implements Snapshotted {
  readonly metric: EventMetric;
  readonly snapshots: Snapshots;
  /** Start of the first period, at the earliest. */
  readonly from: number;
  /** Whether rows have a group. */
  readonly isGrouped: boolean;
  /** Groups that were listed; found ones come with time. */
  readonly listed: readonly string[];
  /** For groups that nobody listed. */
  readonly #votes: KeyDiscovery | undefined;
  /** Groups that votes made public, in the order in which they were found. */
  readonly #found: string[] = [];

  private constructor(stored: StoredRelease, to: number, key: Uint32Array) {
    const settings = settingsOf(stored, to);
    const core = chooseNoise(settings.core);
    this.from = stored.from;
    this.isGrouped = stored.keys !== undefined;
    this.listed = stored.keys ?? [ALL];
    const keys = {
      people: derivedKey(core, key, Purpose.people, 4),
      own: key,
      release: (group: string) => derivedKey(core, key, Purpose.groups, 8, this.#numberOf(group)),
    };
    this.metric = new EventMetric(settings, core, keys, stored.from, this.listed);
    if (settings.discovery !== undefined)
      this.#votes = new KeyDiscovery(settings.discovery.rule, core, key, settings.limit!.people);
    this.snapshots = new Snapshots(
      () => eventParameters(settings),
      (writer) => {
        writer.words(key);
        if (this.#votes !== undefined) writer.text(JSON.stringify(this.#found));
        this.metric.save(writer);
      },
    );
  }

  /** @param to the clock: milliseconds since 1970 */
  static begin(stored: StoredRelease, to: number): EventFile {
    const { unsafeSeed } = settingsOf(stored, to);
    return new EventFile(stored, to, unsafeSeed === undefined ? secretKey() : unsafeKey(unsafeSeed));
  }

  static async resume(
    bytes: Uint8Array,
    key: Uint8Array,
    stored: StoredRelease,
    to: number,
  ): Promise<EventFile> {
    const parameters = eventParameters(settingsOf(stored, to));
    return resume(bytes, key, parameters, (noiseKey) => new EventFile(stored, to, noiseKey)).catch(
      (reason: unknown) => {
        // Damaged snapshots and other keys; their messages are about public things.
        if (reason instanceof Error && reason.message.startsWith("snapshot:"))
          throw new DataError(`--state: ${reason.message}`);
        throw reason;
      },
    );
  }

  load(state: Decoder): void {
    if (this.#votes !== undefined) this.#join(JSON.parse(state.text()) as string[]);
    this.metric.load(state);
  }

  /** Whether θ is still to be chosen from all rows. */
  get choosesThreshold(): boolean {
    return Number.isNaN(this.metric.units);
  }

  /** The end of the last whole period by `to`, or the next period's start if there is none. */
  endBy(to: number): number {
    const { calendar, levels } = this.metric.settings.schedule;
    const day = calendar.dayAt(to);
    const length = periodLength(day, levels[0]!);
    return Math.max(this.metric.next, day.start + Math.floor((to - day.start) / length) * length);
  }

  /** Groups, or one that holds all; that of rows of all others comes last. */
  get groups(): readonly string[] {
    if (this.#found.length === 0) return this.listed;
    return [...this.listed.filter((group) => group !== OTHER_KEYS), ...this.#found, OTHER_KEYS];
  }

  /** The number of a group stays as it is when others are found: its noise follows from it. */
  #numberOf(group: string): number {
    const listed = this.listed.indexOf(group);
    return listed >= 0 ? listed : this.listed.length + this.#found.indexOf(group);
  }

  /** Publishes groups from the next period on. */
  #join(groups: readonly string[]): void {
    for (const group of groups) {
      this.#found.push(group);
      this.metric.join(group);
    }
  }

  /** Takes an event. Rows of groups that are not listed are dropped; if groups are found by votes, they count together. */
  take({ at, value, person, group }: EventRow): void {
    let key = this.isGrouped ? group! : ALL;
    if (this.isGrouped && this.metric.release(key) === undefined && !this.listed.includes(key)) {
      if (this.#votes === undefined) return;
      key = OTHER_KEYS;
    }
    this.metric.add(key, value, { at, ...(person === undefined ? {} : { person }) });
  }

  /** Votes for the group of an event, if it is not listed: one vote a person and day. Counts nothing. */
  vote({ at, value, person, group }: EventRow): void {
    if (this.metric.release(group!) !== undefined) return;
    const event = this.metric.intake.read(group!, value, { at, ...(person === undefined ? {} : { person }) });
    if (typeof event !== "string") this.#votes!.vote(group!, event.hash, event.day);
  }

  /** Whether rows vote for groups that nobody listed. */
  get findsGroups(): boolean {
    return this.#votes !== undefined;
  }

  /**
   * Takes up the groups that the votes of any day make public, those with most votes first: they publish from the next
   * period on. Call it once, before rows are taken, for days that have ended: a day is tested once.
   */
  findGroups(): void {
    const { most } = this.metric.settings.discovery!;
    const found = this.#votes!.testAll().sort((a, b) => b.votes - a.votes);
    const names = [...new Set(found.map(({ name }) => name))];
    this.#join(names.slice(0, Math.max(0, most - this.#found.length)));
  }

  /** Whether a range is of periods that were published and are finer than what is kept of their day by now. */
  isCompacted([from, to]: Range): boolean {
    const { next, settings } = this.metric;
    return from >= this.from && to <= next - settings.keep.finer && (to - from) % HOUR !== 0;
  }

  /** Closes all periods that end by `end`, day by day; calls back after each day, while its fine periods are kept. */
  close(end: number, closed: (range: Range) => void): void {
    const { calendar } = this.metric.settings.schedule;
    while (this.metric.next < end) {
      const from = this.metric.next;
      const until = Math.min(end, calendar.dayAt(from).end);
      while (this.metric.closeNext(until, end) !== undefined);
      closed([from, this.metric.next]);
    }
  }

  /** The answer of a group, and whether there is one for all of the range, or for all of the running period so far. */
  answer(
    group: string,
    range: Range,
    quantiles: readonly number[],
    confidence: number,
  ): { readonly found: EventAnswer | HistogramAnswer; readonly isShown: boolean } {
    const release = this.metric.release(group)!;
    const found =
      this.metric.settings.buckets === undefined
        ? eventAnswer(this.metric, release, range, confidence)
        : histogramAnswer(this.metric, release, range, checkQuery({ quantiles, confidence }));
    return { found, isShown: isShown(this.metric, range, found) };
  }
}

function settingsOf({ options, discover }: StoredRelease, to: number): EventSettings {
  const asked = { ...(options as unknown as AnyEventOptions), history: HISTORY, skew: 0, clock: () => to };
  const settings = resolveEvents(asked, true);
  if (discover === undefined) return settings;
  const found = withDiscovery({ ...settings, finished: true }, { delta: discover }, "--discover");
  const { discovery } = found;
  return { ...found, discovery: { ...discovery!, rule: { ...discovery!.rule, cells: CELLS } } };
}

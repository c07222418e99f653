/**
 * Everything that a hub of events has in memory, as of one row of its journal; `openHubState` makes it. A commit decides which
 * events count, stores the row, and only then acts on it: what is in memory is in the store, so answers may be given at once.
 * After a commit that failed the object is thrown away, and another one is made from the store.
 */
import { chooseNoise } from "../../core/choose.js";
import { unsafeKey } from "../../core/unsafeKey.js";
import { type Day, DAY } from "../../events/days/calendar.js";
import type { Catalogue } from "./catalogue.js";
import type { EventHubSettings, HubSection, MetricSettings } from "./eventHubOptions.js";
import { type FoundKeys, Kind, type Past, pastOf, readRow, type EventRow, rowAt } from "./eventRow.js";
import { type ClosedSpan, HubMetric } from "./hubMetric.js";
import type { MetricRecord } from "./hubKeys.js";
import type { JournalEntry } from "../journal/entries.js";
import type { Journal } from "../journal/journal.js";
import type { NoiseKeys } from "./noiseKeys.js";
import type { RequestIds } from "./requestIds.js";
import type { PreparedSection, Section } from "../journal/sections.js";
import { countOfRecords, keyId, type Submission, writeSubmissions } from "./submissions.js";
import { Turns } from "../turns.js";

export interface Committed {
  readonly closed: readonly ClosedSpan[];
  /** Per submission, why it was refused; undefined if it is stored. */
  readonly refused: readonly (Error | undefined)[];
}

/** Boundaries of days that one row fixes, at most. */
const MOST_DAYS = 32;
/** Entries of closed days that one commit stores, at most. */
const MOST_ENTRIES = 8;
/** Keys by a rule that one metric has in one day, at most; events of others are dropped. */
const MOST_RULED = 65_536;
/** Milliseconds before other work gets its turn. */
const SLICE = 4;
/** Records of a row that takes milliseconds to write and to act on: each of the two then has a turn to itself. */
const LONG_ROW = 1024;

/** A key that a row gives a number, or a place in the running day. */
interface NewKey {
  readonly metric: number;
  readonly key: string;
  readonly id: string;
}

/** A commit before anything changes. */
interface PreparedCommit {
  readonly submissions: readonly Submission[];
  readonly now: number;
  readonly fixed: readonly JournalEntry[];
  readonly sections: readonly PreparedSection[];
  readonly names: readonly NewKey[];
  /** Writing it and acting on it have a turn each. */
  readonly isLong: boolean;
}

/** A section of the caller. */
interface OwnSection {
  readonly section: Section;
  readonly own: HubSection;
}

/** A section of the caller, as the journal has it. */
export const sectionOf = (own: HubSection): Section => ({
  name: `sections/${own.name}`,
  save: (writer) => writer.blob(own.save()),
  get urgent() {
    return own.urgent === true;
  },
  stored: () => own.stored?.(),
});

export class HubState {
  // Parameters
  readonly #settings: EventHubSettings;
  readonly journal: Journal;
  readonly #catalogue: Catalogue;
  readonly #noise: NoiseKeys;
  readonly #requests: RequestIds;
  readonly #sections = new Map<string, OwnSection>();
  readonly #turns = new Turns();
  // State
  readonly metrics = new Map<string, HubMetric>();
  readonly #numbered = new Map<number, HubMetric>();
  /** The time of the newest row, when the hub was last opened or told to close periods, and the end of the last fixed day. */
  #time = -Infinity;
  #told = -Infinity;
  #fixedUntil = -Infinity;

  /** @param journal whose sections and rows are still to be read */
  constructor(
    settings: EventHubSettings,
    journal: Journal,
    catalogue: Catalogue,
    noise: NoiseKeys,
    requests: RequestIds,
  ) {
    this.#settings = settings;
    this.journal = journal;
    this.#catalogue = catalogue;
    this.#noise = noise;
    this.#requests = requests;
    if (journal.newest !== undefined) ({ time: this.#time, told: this.#told } = readRow(journal.newest));
  }

  // Opening

  /** Takes up a section of the caller, which is still to be read. */
  addSection(own: HubSection): Section {
    const section = sectionOf(own);
    this.#sections.set(own.name, { section, own });
    return section;
  }

  /** Takes up a metric of the catalogue. */
  async addMetric(record: MetricRecord, { events, keys }: MetricSettings): Promise<HubMetric> {
    const { name, generation } = record;
    const { unsafeSeed, core } = events;
    // A metric that begins anew holds events out again: the noise of the first choice of θ must not meet them.
    const begun = generation === 1 ? name : `${name}#${generation}`;
    const own =
      unsafeSeed === undefined
        ? await this.#noise.of("threshold", begun)
        : unsafeKey(`${unsafeSeed}/${begun}`);
    const secrets = {
      people: (await this.#noise.of("people", name)).slice(0, 4),
      own,
      release: (key: string) => this.#noise.release(name, key),
    };
    for (const { name: key } of record.keys) await this.#noise.ready(name, key, unsafeSeed);
    const ruled = keys.list === undefined;
    const stored = this.#settings.store !== undefined;
    const metric = new HubMetric(record, events, chooseNoise(core), secrets, ruled, stored);
    this.metrics.set(name, metric);
    this.#numbered.set(record.number, metric);
    return metric;
  }

  /** Acts on the rows that some section lacks. */
  async replay(): Promise<void> {
    for (const { position, body } of this.journal.rows()) {
      const row = readRow(body);
      for (const { key, metric } of row.names) await this.#readyKey(this.#numbered.get(metric), key);
      await this.#readyFound(row.found);
      const applying = this.#apply(row, position, false);
      while (applying.next().done !== true);
    }
    for (const metric of this.metrics.values()) {
      metric.merge();
      if (metric.settings.schedule.calendar !== this.#settings.calendar) continue; // its days are weeks or months
      this.#fix(metric.events.day); // as it was when it began
    }
    this.journal.begin();
  }

  /** Passes over the periods that were over at a time and that nobody listened to, in a row of its own. NaN for none. */
  async commitMissed(missedAt: number): Promise<void> {
    await this.#commit(await this.prepare([]), NaN, missedAt);
  }

  async #readyKey(metric: HubMetric | undefined, key: string): Promise<void> {
    if (metric !== undefined) await this.#noise.ready(metric.name, key, metric.settings.unsafeSeed);
  }

  async #readyFound(found: readonly FoundKeys[] = []): Promise<void> {
    for (const { metric, added } of found)
      for (const key of added) await this.#readyKey(this.#numbered.get(metric), key);
  }

  // Answers

  /** Makes an answer about a key possible that nobody has used yet. */
  ready(metric: HubMetric, key: string): Promise<void> {
    return this.#readyKey(metric, key);
  }

  /** The number of the newest row. */
  get position(): number {
    return this.journal.position;
  }

  /** The newest time at which the hub was opened, or told to close periods. */
  get told(): number {
    return this.#told;
  }

  metric(name: string): HubMetric {
    const metric = this.metrics.get(name);
    if (metric === undefined)
      throw new RangeError(
        `metric: expected ${[...this.metrics.keys()].join(", ")}, got ${JSON.stringify(String(name).slice(0, 40))}`,
      );
    return metric;
  }

  /** Whether the store has a section that takes reports. */
  checkSection(name: string): void {
    if (!this.#sections.has(name))
      throw new RangeError(
        `section: expected one of the hub's sections, got ${JSON.stringify(name.slice(0, 40))}`,
      );
  }

  // Commits

  /** Makes a commit of submissions ready. Nothing that is in memory changes. */
  async prepare(submissions: readonly Submission[]): Promise<PreparedCommit> {
    const now = this.#settings.clock();
    const fixed = [...this.metrics.values()]
      .flatMap(({ closedDays }) => closedDays.entries(MOST_ENTRIES))
      .slice(0, MOST_ENTRIES);
    const sections = await this.journal.prepare();
    const names = await this.#newKeys(submissions);
    const isLong = countOfRecords(submissions) > LONG_ROW;
    if (isLong) await this.#turns.next();
    return { submissions, now, fixed, sections, names, isLong };
  }

  /**
   * Stores submissions and closes periods. If that ended a day of votes, another row says which keys they made public.
   * @param closeAt periods that are due then are closed; NaN for none
   */
  async commit(prepared: PreparedCommit, closeAt: number): Promise<Committed> {
    const { closed, refused } = await this.#commit(prepared, closeAt, NaN);
    const found = await this.commitFound(this.#told);
    const named = (span: ClosedSpan): ClosedSpan => {
      const own = found.find(({ metric }) => metric === this.metric(span.metric).record.number);
      return own === undefined ? span : { ...span, found: own.added };
    };
    return { closed: closed.map(named), refused };
  }

  /**
   * Says which keys the votes of closed days made public, in a row of its own: it is there whether or not there are any.
   * @param told no event has a part in it
   */
  async commitFound(told: number): Promise<readonly FoundKeys[]> {
    const found: FoundKeys[] = [];
    for (const metric of this.metrics.values()) {
      const own = await metric.testVotes(this.journal, told);
      if (own !== undefined) found.push(own);
    }
    if (found.length === 0) return found;
    await this.#readyFound(found);
    await this.#commit(await this.prepare([]), NaN, NaN, found);
    return found;
  }

  /** @param missedAt periods that were over then were missed; NaN for none */
  async #commit(
    prepared: PreparedCommit,
    closeAt: number,
    missedAt: number,
    found?: readonly FoundKeys[],
  ): Promise<Committed> {
    const { submissions, now, fixed, sections, names, isLong } = prepared;
    const time = Math.max(now, this.#time, Number.isNaN(closeAt) ? -Infinity : closeAt);
    const newKeys = new Set(names.map(({ id }) => id));
    const { writer, refused } = writeSubmissions(submissions, newKeys, time, {
      metrics: this.metrics,
      requests: this.#requests,
      catalogue: this.#catalogue,
    });
    const present = submissions.map(({ past }) => past?.now ?? NaN);
    const told = [closeAt, missedAt, ...present].reduce((last, at) => (at > last ? at : last), this.#told);
    const bytes = writer.bytes({ time, told, closeAt, missedAt, days: this.#newDays(time), names, found });
    const position = await this.journal.commit(bytes, sections, fixed);
    if (isLong) await this.#turns.next();
    const closed = await this.#applySlowly(readRow(bytes), position);
    // Sections without the counts that chose θ replace those in the store. If that fails, the next commit does it.
    if ([...this.metrics.values()].some(({ shared }) => shared.urgent === true))
      await this.checkpoint().catch(() => undefined);
    return { closed, refused };
  }

  /** Keys that a rule allows and that have no number, or no place in the running day. */
  async #newKeys(submissions: readonly Submission[]): Promise<NewKey[]> {
    const names = new Map<string, NewKey>();
    for (const { entries } of submissions)
      for (const { metric: name, key, event } of entries) {
        const metric = this.metrics.get(name)!;
        if (!metric.ruled || typeof event === "string") continue;
        const { number } = metric.record;
        const id = keyId(number, key);
        const known = metric.keys.numberOf(key);
        if (names.has(id) || (known !== undefined && metric.keys.isJoined(known))) continue;
        if (metric.events.keys.length + names.size >= MOST_RULED) continue;
        if (!this.#settings.metrics.get(name)!.keys.has(key)) continue;
        await this.#readyKey(metric, key);
        names.set(id, { metric: number, key, id });
      }
    return [...names.values()];
  }

  /** Days that begin before the next row may come: their boundaries are fixed with this row. */
  #newDays(time: number): Day[] {
    const { calendar, metrics } = this.#settings;
    const skew = Math.max(...[...metrics.values()].map(({ events }) => events.schedule.skew));
    const days: Day[] = [];
    let at = Math.max(this.#fixedUntil, calendar.dayAt(time - MOST_DAYS * DAY).end);
    while (at <= time + skew && days.length <= MOST_DAYS) {
      const day = calendar.dayAt(at);
      days.push({ start: at, end: day.end });
      at = day.end;
    }
    return days;
  }

  /** Acts on a row that is stored. Other work gets its turn while many keys are closed. */
  async #applySlowly(row: EventRow, position: number): Promise<ClosedSpan[]> {
    const applying = this.#apply(row, position, true);
    let start = performance.now();
    for (;;) {
      const step = applying.next();
      if (step.done === true) return step.value;
      if (performance.now() - start < SLICE) continue;
      await new Promise((resolve) => setTimeout(resolve));
      start = performance.now();
    }
  }

  *#apply(row: EventRow, position: number, live: boolean): Generator<void, ClosedSpan[]> {
    for (const day of row.days) this.#fix(day);
    for (const { metric, key } of row.names) {
      const added = this.#metricAt(metric, position)?.takeKey(key, position);
      if (added !== undefined) this.journal.add(added, position);
    }
    this.#takeFound(row, position);
    let past: Past = { to: NaN, now: NaN };
    row.forEach((record) => {
      const { kind, metric, hash, more } = record;
      if (kind === Kind.past) past = pastOf(record);
      else if (kind === Kind.request) this.#requests.add(hash.slice(), more.slice(0, 4), row.time);
      else if (kind === Kind.report) this.#takeReport(metric, hash, position, row.time);
      else this.#metricAt(metric, position)?.takeEvent(record, position, live);
    });
    const closed: ClosedSpan[] = [];
    for (const metric of this.metrics.values()) {
      if (position < metric.record.row) continue;
      const ended = Number.isNaN(past.to) ? undefined : yield* metric.endPast(past.to, position);
      if (!Number.isNaN(past.now)) metric.beginPresent(past.now, position);
      const span = (yield* metric.close(row, position)) ?? ended;
      if (span !== undefined) closed.push(span);
      metric.discovered?.openDays(metric.events.day, row.time);
    }
    this.#requests.forgetBefore(row.time);
    this.#time = Math.max(this.#time, row.time);
    this.#told = Math.max(this.#told, row.told);
    this.journal.changedAll(position);
    return closed;
  }

  /** Fixes the boundaries of a day: a new time-zone database does not move them. */
  #fix(day: Day): void {
    this.#settings.calendar.fix(day);
    this.#fixedUntil = Math.max(this.#fixedUntil, day.end);
  }

  /** The metric of a number in a row; undefined if it is not listed, or began anew after that row. */
  #metricAt(number: number, position: number): HubMetric | undefined {
    const metric = this.#numbered.get(number);
    return metric !== undefined && position >= metric.record.row ? metric : undefined;
  }

  /** The catalogue is stored before anything that knows the numbers of found keys. */
  #takeFound({ found = [] }: EventRow, position: number): void {
    if (found.length === 0) return;
    const changes = this.journal.covers(this.#catalogue) < position;
    for (const one of found)
      for (const section of this.#metricAt(one.metric, position)?.takeFound(one, position, changes) ?? [])
        this.journal.add(section, position);
    if (changes) this.#catalogue.urgent = true;
  }

  #takeReport(number: number, words: Uint32Array, position: number, at: number): void {
    const known = this.#sections.get(this.#catalogue.sectionName(number) ?? "");
    if (known === undefined || this.journal.covers(known.section) >= position) return;
    known.own.take(new Uint8Array(words.slice(0, 2).buffer), at);
  }

  /** Draws the noise of the running day, one key at a time, while nobody waits. */
  drawSome(): boolean {
    for (const { events: metric } of this.metrics.values()) if (!metric.drawDay(1)) return false;
    return true;
  }

  /** Removes entries of closed days that are no longer kept. Not needed for any answer: a failure is tried never again. */
  async removeExpired(): Promise<void> {
    for (const metric of this.metrics.values())
      for (const name of metric.closedDays.takeExpired())
        await this.journal.removeEntry(name).catch(() => undefined);
  }

  /** Stores all sections: the rows are not needed then. */
  async checkpoint(): Promise<void> {
    if (this.#settings.store === undefined || this.position === 0) return;
    const prepared = await this.journal.prepare(true);
    if (prepared.length === 0) return;
    await this.journal.commit(rowAt(this.#time, this.#told), prepared);
  }
}

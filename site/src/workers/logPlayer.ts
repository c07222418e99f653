/**
 * A log that runs: events on one side, the library's event stream on the other, and the truth beside what it publishes. An
 * interval is about the events that count: those within the limit of their person and day, or all of them if single events
 * are protected.
 */
import { type Counter, type EventAnswer, type EventStream, plan, privateCounter, privateStream } from "brume";
import { indexAt, type Log, logBetween } from "../data/log.js";
import type { Run } from "../look/coverage.js";

export interface LogSettings {
  /** For one person and day, or for one event. */
  readonly epsilon: number;
  readonly of: "count" | "sum";
  /** The public bound of a value, for sums. */
  readonly max: number;
  readonly every: string;
  readonly levels: readonly string[];
  readonly zone: string;
  /** Events of a person that count in a day; undefined if single events are protected. */
  readonly limit: number | undefined;
  /** Seed of the noise; omitted for secret noise. */
  readonly seed?: string;
}

/** Milliseconds since 1970. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** A published number, and the truth beside it. Undefined where nothing is published. */
export interface LogAnswer extends Span {
  readonly value: number | undefined;
  readonly low: number;
  readonly high: number;
  /** True number of the events that count, which the interval is about. */
  readonly truth: number;
  /** True number of all events, with those beyond the limit. */
  readonly all: number;
}

/** One answer per period. */
export interface LogSeries {
  readonly period: string;
  /** Why this period was taken, if it is not the one that was asked for. */
  readonly why?: string;
  readonly answers: readonly LogAnswer[];
}

/** Which interval is asked for. */
export const QUESTIONS = ["total", "day", "period", "range", "limited"] as const;
export type Question = (typeof QUESTIONS)[number];
export type Answers = Readonly<Partial<Record<Question, LogAnswer>>>;

/** Events that a limit would leave out, by the visitor's own data, and the noise that it costs. */
export interface LimitCost {
  readonly limit: number;
  /** Events that would not count, as a share. */
  readonly dropped: number;
  /** People with more events, as a share of all people of all days. */
  readonly people: number;
  /** Half the width of the 95 % interval of a day. */
  readonly reach: number;
  /** Events of a day that would not count, on average, in the unit of the numbers. */
  readonly lost: number;
}

export const LIMITS = [1, 2, 3, 5, 10, 20, 50] as const;

/** All of it: a page asks about the beginning, too. */
const ALWAYS = { days: "36525d", hours: "36525d", finer: "36525d" } as const;
/** Days before the end of a range that the library takes the share of limited people from, at least. */
const LIMITED_DAYS = 7;
const WEEK = "1w";
/** Periods of a plot, and columns at most. */
const PERIODS = ["5m", "15m", "1h", "1d"] as const;
const MOST_COLUMNS = 4000;

export class LogPlayer {
  readonly log: Log;
  readonly settings: LogSettings;
  /** Days of the zone, from the one of the first event to the one of the last. */
  readonly days: readonly Span[];
  readonly #stream: Counter | EventStream;
  readonly #every: number;
  /** Resolution that the library rounds values to; 1 for counts. */
  readonly resolution: number;
  /** Running sums by event: of those that count, and of all. */
  readonly #counted: Float64Array;
  readonly #all: Float64Array;
  /** People by day: those who lost an event to the limit, and all of them. */
  readonly #lost: Float64Array;
  readonly #people: Float64Array;
  /** How many events are the first, second, … of their person and day, and what they sum to. */
  readonly #ordinals: number[] = [];
  readonly #amounts: number[] = [];
  #clock: number;
  #next = 0;
  /** Answers of closed days, which do not change any more. */
  #closed: { readonly period: string; readonly to: number; readonly answers: readonly LogAnswer[] } = {
    ...{ period: "", to: 0, answers: [] },
  };

  /** @param span whole days that the log is about, if they are not those of its events */
  constructor(log: Log, settings: LogSettings, span?: Span) {
    const { times } = log;
    this.log = log;
    this.settings = settings;
    this.days = daysOf(settings.zone, span?.from ?? times[0]!, span?.to ?? times.at(-1)! + 1);
    this.#clock = this.start;
    this.#stream = streamOf(settings, () => this.#clock);
    this.#every = durationOf(settings.every);
    this.resolution = this.#stream.statement().resolution ?? 1;
    this.#counted = new Float64Array(times.length + 1);
    this.#all = new Float64Array(times.length + 1);
    this.#lost = new Float64Array(this.days.length);
    this.#people = new Float64Array(this.days.length);
    this.#count();
  }

  get start(): number {
    return this.days[0]!.from;
  }
  get end(): number {
    return this.days.at(-1)!.to;
  }
  /** How far the log has run. */
  get at(): number {
    return this.#clock;
  }

  /** Lets events through up to a time, never back, and closes the periods that have ended. */
  advance(to: number): void {
    const { times, people, values } = this.log;
    const end = Math.min(to, this.end);
    const event: { at: number; person?: string } = { at: 0 };
    let due = this.#periodAt(this.#clock) + this.#every;
    for (; this.#next < times.length && times[this.#next]! < end; this.#next++) {
      event.at = times[this.#next]!;
      if (event.at >= due) {
        this.#close(this.#periodAt(event.at));
        due = this.#clock + this.#every;
      }
      if (this.settings.limit !== undefined) event.person = String(people![this.#next]!);
      if (this.settings.of === "sum")
        (this.#stream as EventStream).add(Math.max(0, values![this.#next]!), event);
      else (this.#stream as Counter).add(event);
    }
    this.#close(end === this.end ? end : Math.max(this.#clock, this.#periodAt(end)));
  }

  #close(now: number): void {
    this.#clock = now;
    this.#stream.advance(now);
  }

  #periodAt(time: number): number {
    return this.start + Math.floor((time - this.start) / this.#every) * this.#every;
  }

  /** One answer per period so far; "auto" is the finest that is not mostly noise. */
  series(asked: string): LogSeries {
    const running = this.days.findLast(({ from }) => from < this.#clock)?.from ?? this.start;
    const { period, why } = asked === "auto" ? this.#chosen(running) : this.#drawable(asked);
    const columns = (from: number, to: number) =>
      from >= to ? [] : this.#stream.series(period, from, to).answers.map((answer) => this.#whole(answer));
    const reason = why === undefined ? {} : { why };
    if (period === WEEK) return { period, ...reason, answers: columns(this.start, this.#clock) };
    if (this.#closed.period !== period) this.#closed = { period, to: this.start, answers: [] };
    const closed = this.days.filter(({ from }) => from >= this.#closed.to && from < running);
    const answers = [...this.#closed.answers, ...closed.flatMap(({ from, to }) => columns(from, to))];
    this.#closed = { period, to: running, answers };
    return { period, ...reason, answers: [...answers, ...columns(running, this.#clock)] };
  }

  /** A period that is not finer than the numbers are, and not too fine to draw. */
  #drawable(asked: string): Omit<LogSeries, "answers"> {
    if (asked === WEEK) return { period: WEEK };
    const fits = (period: string) => (this.end - this.start) / durationOf(period) <= MOST_COLUMNS;
    const least = Math.max(this.#every, durationOf(asked));
    const period = PERIODS.find((one) => durationOf(one) >= least && fits(one)) ?? WEEK;
    return period !== asked && durationOf(asked) >= this.#every
      ? { period, why: "finer ones are too many to draw" }
      : { period };
  }

  /** By the days that have ended: chosen once a day. */
  #chosen(running: number): Omit<LogSeries, "answers"> {
    if (this.#auto.at !== running) {
      const { period, why } = this.#stream.series("auto", this.start, Math.max(this.#clock, this.start + 1));
      this.#auto = {
        at: running,
        chosen: { ...(why === undefined ? {} : { why }), ...this.#drawable(period) },
      };
    }
    return this.#auto.chosen;
  }
  #auto: { readonly at: number; readonly chosen: Omit<LogSeries, "answers"> } = {
    ...{ at: NaN, chosen: { period: "" } },
  };

  /** The numbers of the cards. @param range a part that is asked for */
  answers(range: Span | undefined): Answers {
    const closed = this.days.findLast(({ to }) => to <= this.#clock);
    const total = this.#stream.between(this.start, this.#clock);
    const found: Partial<Record<Question, LogAnswer>> = { total: this.#shown(total) };
    if (closed !== undefined) found.day = this.#between(closed);
    if (this.#clock - this.start >= this.#every)
      found.period = this.#shown(this.#stream.last(this.settings.every));
    if (range !== undefined) found.range = this.#between(range);
    if (total.limited !== undefined) found.limited = this.#limited(total);
    return found;
  }

  /** Other releases of the same events, with fresh noise, up to the same time: one interval of each. */
  runs(question: Question, range: Span | undefined, count: number, seed?: string): Run[] {
    const found = this.answers(range)[question];
    if (found?.value === undefined) return [];
    // Days share no noise and no limit, so a question about some days needs no others.
    const whole = question === "total" || question === "limited";
    const span = whole ? { from: this.start, to: this.end } : this.#daysAround(found);
    const part = whole ? this.log : logBetween(this.log, span.from, span.to);
    const asked = question === "range" ? range : { from: found.from, to: found.to };
    const { seed: _, ...settings } = this.settings;
    return Array.from({ length: count }, (_, i) => {
      const key = seed === undefined ? {} : { seed: `${seed} ${i}` };
      const other = new LogPlayer(part, { ...settings, ...key }, span);
      other.advance(this.#clock);
      const answers = other.answers(asked);
      const {
        low = -Infinity,
        high = Infinity,
        truth = found.truth,
      } = answers[whole ? question : "range"] ?? {};
      return { low, high, truth };
    });
  }

  /** Costs of other limits; empty if the log names no people. */
  limits(): LimitCost[] {
    const { epsilon, of, max, every, levels, zone } = this.settings;
    if (this.log.people === undefined) return [];
    const beyond = (amounts: readonly number[], limit: number) =>
      amounts.slice(limit).reduce((sum, amount) => sum + amount, 0);
    return LIMITS.map((limit) => {
      const options = { epsilon, every, levels, zone, perPerson: limit };
      const { errors } = plan(of === "sum" ? { ...options, of, max, threshold: max } : { ...options, of });
      const { reach } = errors.find(({ period }) => period === "1d") ?? errors.at(-1)!;
      return {
        limit,
        dropped: beyond(this.#ordinals, limit) / this.log.times.length,
        people: (this.#ordinals[limit] ?? 0) / (this.#ordinals[0] ?? 1),
        reach: of === "sum" ? reach * max : reach,
        lost: beyond(this.#amounts, limit) / this.days.length,
      };
    });
  }

  /** The most events that anybody has on one day; undefined if nobody is known. */
  get mostOfOnePerson(): number | undefined {
    return this.log.people === undefined ? undefined : this.#ordinals.length;
  }

  explanation(): string {
    return this.#stream.explain();
  }

  #between({ from, to }: Span): LogAnswer {
    return this.#shown(this.#stream.between(from, to));
  }

  #daysAround({ from, to }: Span): Span {
    const touched = this.days.filter((day) => day.to > from && day.from < to);
    return { from: touched[0]!.from, to: touched.at(-1)!.to };
  }

  /** A period that has not ended has no number of its own. */
  #whole(answer: EventAnswer): LogAnswer {
    const shown = this.#shown(answer);
    return answer.complete ? shown : { ...shown, value: undefined };
  }

  #shown({ from, to, value, low, high }: EventAnswer): LogAnswer {
    const [first, last] = [indexAt(this.log.times, from), indexAt(this.log.times, to)];
    const sum = (sums: Float64Array) => sums[last]! - sums[first]!;
    return {
      ...{ from, to, value: value ?? undefined, low: low ?? NaN, high: high ?? NaN },
      ...{ truth: sum(this.#counted), all: sum(this.#all) },
    };
  }

  /** The share of people, by day, who lost events to the limit. */
  #limited({ from, to, limited }: EventAnswer): LogAnswer {
    const before = this.days.filter((day) => day.from < to && day.to <= this.#clock).length;
    const inside = this.days.filter((day) => day.from < to && day.to <= this.#clock && day.to > from).length;
    const first = Math.max(0, before - Math.max(inside, LIMITED_DAYS));
    const sum = (days: Float64Array) => days.subarray(first, before).reduce((a, b) => a + b, 0);
    const truth = sum(this.#lost) / sum(this.#people);
    const { share, low, high } = limited!;
    return { from, to, value: share, low, high, truth, all: truth };
  }

  /** Which events count, day by day, and whom the limit takes something from. */
  #count(): void {
    const { limit = Infinity } = this.settings;
    this.#eachOfPerson((i, ordinal, day) => {
      const amount = this.#amount(i);
      this.#all[i + 1] = this.#all[i]! + amount;
      this.#counted[i + 1] = this.#counted[i]! + (ordinal <= limit ? amount : 0);
      this.#ordinals[ordinal - 1] = (this.#ordinals[ordinal - 1] ?? 0) + 1;
      this.#amounts[ordinal - 1] = (this.#amounts[ordinal - 1] ?? 0) + amount;
      if (ordinal === 1) this.#people[day]!++;
      if (ordinal === limit + 1) this.#lost[day]!++;
    });
  }

  /** As the library takes it: clamped to the bound, and rounded. */
  #amount(i: number): number {
    if (this.settings.of === "count") return 1;
    const value = Math.min(this.settings.max, Math.max(0, this.log.values![i]!));
    return Math.round(value / this.resolution) * this.resolution;
  }

  /** Calls back for every event with which one of its person's on that day it is, from 1; always 1 if nobody is known. */
  #eachOfPerson(hear: (event: number, ordinal: number, day: number) => void): void {
    const { times, people } = this.log;
    const counts = new Map<number, number>();
    for (let i = 0, day = 0; i < times.length; i++) {
      if (times[i]! >= this.days[day]!.to) {
        while (times[i]! >= this.days[day]!.to) day++;
        counts.clear();
      }
      const ordinal = people === undefined ? 1 : (counts.get(people[i]!) ?? 0) + 1;
      if (people !== undefined) counts.set(people[i]!, ordinal);
      hear(i, ordinal, day);
    }
  }
}

function streamOf(settings: LogSettings, clock: () => number): Counter | EventStream {
  const { epsilon, of, max, every, levels, zone, limit, seed } = settings;
  const shared = {
    ...{ epsilon, every, levels, zone, clock, history: ALWAYS },
    ...(limit === undefined ? {} : { perPerson: limit }),
    ...(seed === undefined ? {} : { unsafeSeed: seed }),
  };
  return of === "count" ? privateCounter(shared) : privateStream({ ...shared, of, max, threshold: max });
}

/** The days of a zone that meet [from, to), by the library's calendar. */
function daysOf(zone: string, from: number, to: number): Span[] {
  const calendar = privateCounter({ epsilon: 1, every: "1d", zone, clock: () => from, history: ALWAYS });
  const starts = calendar.series("1d", from, to + 2 * UNITS["d"]!).answers.map((answer) => answer.from);
  return starts.slice(0, -1).flatMap((start, i) => (start < to ? [{ from: start, to: starts[i + 1]! }] : []));
}

const UNITS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of "15m", "1h", "1d". */
export const durationOf = (text: string): number => Number.parseInt(text) * UNITS[text.at(-1)!]!;

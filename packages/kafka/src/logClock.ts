/**
 * Time as the log tells it: only heartbeats move it. All of it follows from the records in their order, so every worker
 * that reads a partition has the same time at the same place, and the same days.
 */
import type { Day } from "brume";
import { DAY, HOUR } from "brume/node";

import type { Heartbeat } from "./clock.js";

/** A span between two known midnights that is longer than this has several days. */
const LONGEST_DAY = 36 * HOUR;
/** The longest day where the log does not say. */
const LONGEST_GUESS = 25 * HOUR;

/** Public settings of a clock that is driven by the log, in milliseconds. */
export interface ClockRules {
  readonly zone: string;
  readonly lateness: number;
  readonly skew: number;
  /** A heartbeat moves the clock by at most this much, so that a clock that jumps cannot stop the work. */
  readonly longestStep: number;
}

/**
 * Times during which the log had no clock: events of periods that start between them, both exclusive, came while
 * their period was too far ahead of the clock, and were dropped.
 */
export type Silence = readonly [after: number, before: number];

export class LogClock {
  // Parameters
  readonly rules: ClockRules;
  // State
  #now: number;
  /** Time and offset of the latest heartbeat, also of one that was not believed. */
  #last: number;
  #offset: number;
  /** Midnights that are known, in order. */
  #midnights: number[];

  /** @param state what `state` of another clock gave; default: no heartbeat yet */
  constructor(rules: ClockRules, state: readonly number[] = [-Infinity, -Infinity, -1]) {
    this.rules = rules;
    [this.#now, this.#last, this.#offset] = state as [number, number, number];
    this.#midnights = state.slice(3);
  }

  /** Milliseconds since 1970; −Infinity before the first heartbeat. */
  get now(): number {
    return this.#now;
  }

  get state(): number[] {
    return [this.#now, this.#last, this.#offset, ...this.#midnights];
  }

  /** A clock that shows the same and moves by itself. */
  copy(): LogClock {
    return new LogClock(this.rules, this.state);
  }

  /**
   * Takes a heartbeat. One that is more than an hour ahead is believed only if the heartbeat before it says the same,
   * within an hour: so a single wrong one moves nothing.
   * @returns whether the clock moved, and the silence that ended with it
   */
  take({ time, days }: Heartbeat, offset: number): { readonly silence?: Silence } | undefined {
    if (offset <= this.#offset) return undefined; // a replay
    const before = this.#last;
    this.#offset = offset;
    this.#last = time;
    const past = this.#now;
    if (!(time > past)) return undefined;
    if (past === -Infinity) {
      this.#now = time;
      this.#midnights = [...days];
      return {};
    }
    const confirmed = time >= before && time - before <= HOUR;
    if (time - past > HOUR && !confirmed) return undefined;
    this.#learn(days);
    this.#now = Math.min(time, past + this.rules.longestStep);
    const after = past + this.rules.skew;
    return time > after ? { silence: [after, time] } : {};
  }

  /** Keeps the running day as it is, and takes later midnights from a heartbeat. Forgets what no open period needs. */
  #learn(days: readonly number[]): void {
    const { end } = this.dayAt(this.#now);
    const known = this.#midnights.filter((midnight) => midnight < end);
    while (known.length > 1 && known[1]! <= this.#now - this.rules.lateness) known.shift();
    this.#midnights = [...known, end, ...days.filter((midnight) => midnight > end)];
  }

  /**
   * The day that a time lies in. Where the log does not say, because no heartbeat came for days or the time is far
   * ahead, days have 24 hours and the last one before a known midnight has what is left.
   */
  dayAt(time: number): Day {
    const midnights = this.#midnights;
    let next = midnights.findIndex((midnight) => midnight > time);
    if (next === -1) next = midnights.length;
    const from = midnights[next - 1] ?? midnights[0]!;
    const to = next === 0 ? Infinity : (midnights[next] ?? Infinity);
    if (to - from <= LONGEST_DAY) return { start: from, end: to };
    const start = from + Math.floor((time - from) / DAY) * DAY;
    if (to - start <= LONGEST_GUESS - DAY) return { start: start - DAY, end: to }; // too short for a day
    if (to - start <= LONGEST_GUESS) return { start, end: to };
    return { start, end: start + DAY };
  }
}

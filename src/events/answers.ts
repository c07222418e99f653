/** What streams of events give back, and the interfaces that they have in common. */
import type { SnapshotKey } from "../stream/sealing.js";
import { parseTime, type Time } from "./duration.js";
import type { DroppedEvents, EventInfo } from "./intake.js";
import type { EventStatement } from "./statement.js";
import { startOf, type Schedule } from "./ticks.js";

/** The part of a range of time that an answer is about. */
export interface Window {
  /** Milliseconds since 1970: what was asked for, cut to what is published and still kept. */
  readonly from: number;
  readonly to: number;
  /** Whether that is all that was asked for. */
  readonly complete: boolean;
}

export interface BetweenOptions {
  /** The probability that `low` and `high` hold the answer. Default 0.95. */
  readonly confidence?: number;
}

/** Numbers of closed ticks, one per tick. Plain data. */
export interface ClosedTicks {
  /** When the first of these ticks starts, in milliseconds since 1970; they follow each other every `every` ms. */
  readonly from: number;
  readonly every: number;
  /** What each tick publishes: its sum, or its count. */
  readonly values: Float64Array;
  /** Of a mean: how many events each tick has, as published. `values` are sums then. */
  readonly counts?: Float64Array;
}

/** An estimate over a range of time. Plain data. */
export interface EventAnswer extends Window {
  /** Sum of the events' values, count of events, or mean value of an event: what the stream is `of`. */
  readonly value: number;
  /** Standard deviation of the noise in `value`. Of a mean: half the width of its interval at one standard deviation. */
  readonly standardError: number;
  readonly low: number;
  readonly high: number;
  readonly confidence: number;
  /** Of a mean alone: the two numbers that it is made of. */
  readonly sum?: EventAnswer;
  readonly count?: EventAnswer;
}

/** What streams of events and counters have in common. */
export interface TickStream {
  /** Closes the ticks that are due at `now` (default: the clock) and gives what they publish. */
  advance(now?: Time): ClosedTicks;
  /** The estimate over [from, to). Parts that are not published, or no longer kept, are left out: see `complete`. */
  between(from: Time, to: Time, options?: BetweenOptions): EventAnswer;
  /** Ticks closed so far, those of the hold-out included. */
  readonly closed: number;
  /** Ticks published so far. */
  readonly length: number;
  /** Private: how many events were dropped, and why. For the operator's eyes. */
  readonly dropped: DroppedEvents;
  /** How often this stream has been put into a snapshot. */
  readonly sequence: number;
  statement(): EventStatement;
  explain(): string;
  /** The state of this moment, encrypted; `restore` resumes from it bit for bit (docs/snapshots.md). */
  snapshot(key: SnapshotKey): Promise<Uint8Array>;
}

/** Events with a value. */
export interface EventStream extends TickStream {
  /** Takes an event. It returns nothing, whatever happens to the event: what it returned might tell others about it. */
  add(value: number, event?: EventInfo): void;
}

/** Events that are only counted. */
export interface Counter extends TickStream {
  /** Counts an event. */
  add(event?: EventInfo): void;
}

/**
 * Cuts [from, to) to what is published and kept.
 * @param held ticks of the hold-out, which are never published
 * @returns positions in published ticks as well; fractions where an end lies inside a tick
 */
export function publishedWindow(
  schedule: Schedule,
  held: number,
  published: { readonly length: number; readonly oldest: number } | undefined,
  from: Time,
  to: Time,
): { window: Window; start: number; end: number } {
  const [asked, until] = [parseTime("from", from), parseTime("to", to)];
  if (until < asked) throw new RangeError(`to: expected a time from ${asked} on, got ${until}`);
  const { oldest, length } = published ?? { oldest: 0, length: 0 };
  const [first, last] = [startOf(schedule, held + oldest), startOf(schedule, held + length)];
  const cut = (time: number): number => Math.min(last, Math.max(first, time));
  const window = { from: cut(asked), to: cut(until), complete: asked >= first && until <= last };
  const position = (time: number): number => (time - startOf(schedule, held)) / schedule.every;
  return { window, start: position(window.from), end: position(window.to) };
}

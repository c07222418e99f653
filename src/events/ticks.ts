/**
 * Ticks: positions that a clock makes. Tick i covers [origin + i·every, origin + (i + 1)·every) and is due
 * `lateness` after its end, whether or not anything happened in it. All of it is public; no event has a say.
 */
import { shown } from "../core/checks.js";
import { FARTHEST, parseDuration, parseTime, type Duration, type Time } from "./duration.js";

export interface TickOptions {
  /** Length of a tick. One number is published per tick. Public. */
  readonly every: Duration;
  /** When the first tick starts: a whole number of ticks since 1970, UTC. Default: the running tick. Public. */
  readonly origin?: Time;
  /** How long after its end a tick still takes events. Default 0. Later events are dropped. Public. */
  readonly lateness?: Duration;
  /** How far ahead of the clock the time of an event may be. Default "1m". Events beyond it are dropped. Public. */
  readonly skew?: Duration;
  /** Milliseconds since 1970. Default `Date.now`. */
  readonly clock?: () => number;
}

export interface Schedule {
  readonly every: number;
  readonly lateness: number;
  readonly skew: number;
  readonly origin: number;
  readonly clock: () => number;
}

export function resolveSchedule(options: TickOptions): Schedule {
  const every = parseDuration("every", options.every);
  const clock = options.clock ?? Date.now;
  if (typeof clock !== "function")
    throw new TypeError(
      `clock: expected a function that gives milliseconds, got a value of type ${typeof clock}`,
    );
  const read = () => checkedClock(clock());
  const origin =
    options.origin === undefined ? Math.floor(read() / every) * every : parseTime("origin", options.origin);
  if (!(origin % every === 0))
    throw new RangeError(
      `origin: expected a whole number of ticks of ${every} ms since 1970, got ${origin}; ticks then begin at full seconds, minutes, hours or UTC days`,
    );
  return {
    every,
    lateness: parseDuration("lateness", options.lateness ?? 0, 0),
    skew: parseDuration("skew", options.skew ?? "1m", 0),
    origin,
    clock: read,
  };
}

/** What a caller's clock gave: a time that is none would close no tick, or every one. */
function checkedClock(now: unknown): number {
  if (typeof now === "number" && Math.abs(now) <= FARTHEST) return now;
  throw new TypeError(`clock: expected milliseconds since 1970, got ${shown(now)}; nothing was changed`);
}

/** The tick that a time lies in; negative before the origin. */
export const tickOf = ({ origin, every }: Schedule, time: number): number =>
  Math.floor((time - origin) / every);

/** When a tick starts. */
export const startOf = ({ origin, every }: Schedule, tick: number): number => origin + tick * every;

/** How many ticks are over, and their lateness with them, at a time. */
export const dueAt = (schedule: Schedule, now: number): number =>
  Math.max(0, tickOf(schedule, now - schedule.lateness));

/** The last tick whose events a clock at `now` lets in. */
export const horizonAt = (schedule: Schedule, now: number): number => tickOf(schedule, now + schedule.skew);

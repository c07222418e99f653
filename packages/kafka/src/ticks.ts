/**
 * Time as the log tells it. A clock writes heartbeats into every partition of `in`; a heartbeat closes the ticks
 * that ended at least `lateness` before it. Event times never close a tick, so no event decides whether another is
 * late, and a replay closes the same ticks at the same places.
 */
import type { LogRecord, NewRecord, Port } from "./port.js";

export interface TickOptions {
  /** Length of a tick in milliseconds; public. */
  readonly every: number;
  /** How long after its end a tick stays open for events that come late, in milliseconds. Public. Default 0. */
  readonly lateness?: number;
  /** How far ahead of the clock an event may be, in milliseconds; others are dropped. Public. Default `every`. */
  readonly ahead?: number;
  /** What a tick publishes: the sum of its values (default) or the number of its events. */
  readonly of?: "sum" | "count";
}

export interface TickSettings {
  readonly every: number;
  readonly lateness: number;
  readonly of: "sum" | "count";
  /** Ticks that can be open at the same time. */
  readonly slots: number;
}

/** Ticks that one heartbeat closes at most, so that a clock that jumps cannot stop the work; the next heartbeat closes the rest. */
const MOST_AT_ONCE = 10_000;
const HEARTBEAT = "brume-heartbeat";

export function resolveTicks({ every, lateness = 0, ahead = every, of = "sum" }: TickOptions): TickSettings {
  for (const [name, value, least] of [
    ["every", every, 1],
    ["lateness", lateness, 0],
    ["ahead", ahead, 0],
  ] as const)
    if (!Number.isSafeInteger(value) || value < least)
      throw new RangeError(`ticks.${name}: expected a whole number of milliseconds ≥ ${least}, got ${value}`);
  const slots = Math.ceil((lateness + ahead) / every) + 2;
  if (slots > 4096)
    throw new RangeError(`ticks: expected at most 4,096 open ticks, got ${slots}; raise every`);
  return { every, lateness, of, slots };
}

/** The last tick that a heartbeat at this time closes. Tick k covers [k·every, (k + 1)·every). */
export function lastClosed(time: number, { every, lateness }: TickSettings): number {
  return Math.floor((time - lateness) / every) - 1;
}

export function heartbeat(time: number): NewRecord {
  const value = Buffer.alloc(8);
  value.writeDoubleBE(time);
  return { key: null, value, headers: [[HEARTBEAT, Buffer.alloc(0)]] };
}

/** The time of a heartbeat, or undefined for any other record. */
export function heartbeatTime({ headers, value }: LogRecord): number | undefined {
  if (headers.length === 0 || headers[0]![0] !== HEARTBEAT || value?.length !== 8) return undefined;
  const time = value.readDoubleBE(0);
  return Number.isFinite(time) ? time : undefined;
}

/** What came into the open ticks of one stream. The size is fixed, whatever happened. */
export class OpenTicks {
  /** The last tick that was closed. */
  closed: number;
  readonly #sums: Float64Array;

  constructor(slots: number, closed: number) {
    this.closed = closed;
    this.#sums = new Float64Array(slots);
  }

  /** Late events, and those too far ahead, are dropped in silence: no message may depend on them. */
  add(tick: number, amount: number): void {
    if (tick > this.closed && tick <= this.closed + this.#sums.length)
      this.#sums[this.#slot(tick)]! += amount;
  }

  /** Totals of the ticks up to `last`, one for each, which are closed now. */
  close(last: number): Float64Array {
    const totals = new Float64Array(Math.max(0, Math.min(last - this.closed, MOST_AT_ONCE)));
    for (let i = 0; i < totals.length; i++) {
      const slot = this.#slot(++this.closed);
      if (i >= this.#sums.length) continue;
      totals[i] = this.#sums[slot]!;
      this.#sums[slot] = 0;
    }
    return totals;
  }

  get bytes(): Buffer {
    const out = Buffer.alloc(8 + 8 * this.#sums.length);
    out.writeDoubleBE(this.closed);
    this.#sums.forEach((sum, i) => out.writeDoubleBE(sum, 8 + 8 * i));
    return out;
  }

  static from(bytes: Buffer): OpenTicks {
    const ticks = new OpenTicks((bytes.length - 8) / 8, bytes.readDoubleBE(0));
    ticks.#sums.forEach((_, i) => (ticks.#sums[i] = bytes.readDoubleBE(8 + 8 * i)));
    return ticks;
  }

  #slot(tick: number): number {
    const count = this.#sums.length;
    return ((tick % count) + count) % count;
  }
}

/**
 * Writes a heartbeat into every partition of a topic, at every multiple of `every`, until it is stopped. Run one; two
 * do no harm, since a heartbeat that is not later than another closes nothing.
 */
export async function runClock(
  port: Port,
  topic: string,
  every: number,
  signal: AbortSignal,
  now: () => number = Date.now,
): Promise<void> {
  const { partitions } = (await port.describe([topic]))[0]!;
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, every - (now() % every));
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
    if (signal.aborted) return;
    const record = heartbeat(now());
    await port.send(
      Array.from({ length: partitions }, (_, partition) => ({ topic, partition, records: [record] })),
    );
  }
}

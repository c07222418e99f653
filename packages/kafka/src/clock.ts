/**
 * Heartbeats: how time gets into the log. A clock writes them into every partition of `in`. A heartbeat says what time
 * it is and where the days of its zone begin, so that workers need neither a clock nor a time-zone database, and a
 * replay closes the same periods at the same places.
 */
import { dayAt, HOUR } from "brume/node";

import type { LogRecord, NewRecord, Port } from "./port.js";

const HEARTBEAT = "brume-heartbeat";

/** A heartbeat, in milliseconds since 1970. */
export interface Heartbeat {
  readonly time: number;
  /** Whose days. */
  readonly zone: string;
  /** Start of the day that `time` lies in, of the next one, and of the one after it. */
  readonly days: readonly [start: number, end: number, next: number];
}

/** Milliseconds: a longer day is a mistake. */
const LONGEST_DAY = 36 * HOUR;
/** Times beyond this are mistakes. */
const FARTHEST = 2 ** 47;

/** A heartbeat as a record. @param zone the `zone` of the streams that read it */
export function heartbeat(time: number, zone = "UTC"): NewRecord {
  const today = dayAt(time, zone);
  const value = Buffer.alloc(32);
  [time, today.start, today.end, dayAt(today.end, zone).end].forEach((number, i) =>
    value.writeDoubleBE(number, 8 * i),
  );
  return { key: null, value, headers: [[HEARTBEAT, Buffer.from(zone)]] };
}

/** The heartbeat in a record, or undefined for any other record. */
export function readHeartbeat({ headers, value }: LogRecord): Heartbeat | undefined {
  if (headers.length === 0 || headers[0]![0] !== HEARTBEAT || value?.length !== 32) return undefined;
  const [time, start, end, next] = [0, 8, 16, 24].map((at) => value.readDoubleBE(at)) as [
    ...[number, number, number, number],
  ];
  const isDay = (from: number, to: number) => to > from && to - from <= LONGEST_DAY;
  if (!(Math.abs(time) < FARTHEST && start <= time && time < end && isDay(start, end) && isDay(end, next)))
    return undefined;
  return { time, zone: headers[0]![1].toString(), days: [start, end, next] };
}

/** Milliseconds between heartbeats, at most: well below the default `skew`, so that no event is ahead of the log's clock. */
const LONGEST_PAUSE = 20_000;

/**
 * Writes a heartbeat into every partition of a topic until it is stopped: at every multiple of `every`, and at least
 * every 20 seconds. Run one; two do no harm, since a heartbeat that is not later than another closes nothing.
 * @param zone the `zone` of the streams that read the topic
 */
export async function runClock(
  port: Port,
  topic: string,
  every: number,
  signal: AbortSignal,
  zone = "UTC",
  now: () => number = Date.now,
): Promise<void> {
  const { partitions } = (await port.describe([topic]))[0]!;
  const pause = every / Math.ceil(every / LONGEST_PAUSE);
  while (!signal.aborted) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, pause - (now() % pause));
      signal.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
    if (signal.aborted) return;
    // The multiple itself: a period that begins with it is then heard from its first moment on.
    const record = heartbeat(Math.floor(now() / pause) * pause, zone);
    await port.send(
      Array.from({ length: partitions }, (_, partition) => ({ topic, partition, records: [record] })),
    );
  }
}

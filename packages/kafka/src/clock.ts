/**
 * Time as the log tells it. A clock writes heartbeats into every partition of `in`; a heartbeat closes the ticks
 * that ended at least `lateness` before it. Event times never close a tick, so no event decides whether another is
 * late, and a replay closes the same ticks at the same places.
 */
import type { LogRecord, NewRecord, Port } from "./port.js";

const HEARTBEAT = "brume-heartbeat";

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

/** Turns what was received into a row of the journal. Which events count is decided here, once, and stands in the row. */
import type { Metric } from "../config/metrics.js";
import { Kind, NO_STREAM, RowWriter } from "./row.js";
import type { LiveMetric } from "./state.js";

/** An event whose form is checked. */
export interface CheckedEvent {
  readonly metric: LiveMetric;
  /** As it came: it may be one that the config does not list. */
  readonly key: string;
  readonly value: number;
  /** Milliseconds since 1970; undefined for now. */
  readonly at: number | undefined;
  readonly person: string | undefined;
  /** Of the local model: 8 bytes, in place of a value. */
  readonly report?: Uint8Array;
}

/** The events of one request. */
export interface Batch {
  readonly events: readonly CheckedEvent[];
  /** The keyed hash of its idempotency key. */
  readonly key: Uint8Array | undefined;
}

/** Counts people as it decides, so it must be called once for each row. */
export function rowOf(time: number, closed: number, batches: readonly Batch[]): Uint8Array {
  const keys = batches.flatMap(({ key }) => key ?? []);
  const count = batches.reduce((sum, { events }) => sum + events.length, 0);
  const row = new RowWriter(time, closed, keys, count);
  for (const { events } of batches)
    for (const event of events) {
      const { metric, streams, people, number } = event.metric;
      if (event.report !== undefined) {
        row.addReport(number, event.report);
        continue;
      }
      const at = event.at ?? time;
      const stream = streams.get(event.key) ?? NO_STREAM;
      const hash = people?.contributions.hash(event.person!);
      const open = stream !== NO_STREAM && isOpen(metric, at, time);
      const taken = open && (people === undefined || people.contributions.admit(hash!, at));
      row.add(stream, number, taken ? Kind.taken : Kind.dropped, event.value, at, hash);
    }
  return row.bytes;
}

/** Whether the tick of an event is open at `time`. All of it is public: no other event has a say. */
function isOpen({ every, lateness, skew }: Metric, at: number, time: number): boolean {
  const tick = Math.floor(at / every);
  return tick >= Math.floor((time - lateness) / every) && tick <= Math.floor((time + skew) / every);
}

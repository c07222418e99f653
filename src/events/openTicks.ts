/** The integer sums of the ticks that are still open: one row per tick, one column per thing that is summed. */
import type { Decoder, Encoder } from "../stream/codec.js";

/** Ticks between the oldest open one and the clock are written out up to so many bytes, and at least so many ticks. */
const MOST_BYTES = 2 ** 19;
const LEAST_TICKS = 256;

/**
 * How many ticks from `first` on a snapshot writes, in rows of `width` doubles: all up to `horizon`, whether or not they
 * had events. So its length depends on the clock, not on what happened. Where the clock is far ahead, as when old events
 * are read from a file, a power of two of ticks is written that holds all events (docs/limits.md).
 */
export function ticksWritten(
  rows: ReadonlyMap<number, Float64Array>,
  first: number,
  horizon: number,
  width: number,
): number {
  let used = 0;
  for (const tick of rows.keys()) used = Math.max(used, tick + 1 - first);
  const most = Math.max(LEAST_TICKS, Math.floor(MOST_BYTES / (8 * width)));
  const ahead = Math.max(used, horizon + 1 - first);
  if (ahead <= most) return ahead;
  let count = most;
  while (count < used) count *= 2;
  return count;
}

export class OpenTicks {
  readonly #width: number;
  readonly #rows = new Map<number, Float64Array>();
  /** The row that was used last: most events come in the order of time. */
  #last = -1;
  #row: Float64Array = new Float64Array(0);

  constructor(width: number) {
    this.#width = width;
  }

  /** The sums of one tick, to be added to. */
  row(tick: number): Float64Array {
    return tick === this.#last ? this.#row : this.#find(tick);
  }

  #find(tick: number): Float64Array {
    let row = this.#rows.get(tick);
    if (row === undefined) this.#rows.set(tick, (row = new Float64Array(this.#width)));
    this.#last = tick;
    this.#row = row;
    return row;
  }

  /** The sums of a tick; undefined if it had no event. */
  sums(tick: number): Float64Array | undefined {
    return this.#rows.get(tick);
  }

  /** Takes the sums of a tick that has none yet. */
  set(tick: number, row: Float64Array): void {
    this.#rows.set(tick, row);
  }

  /** Forgets the ticks in [from, to). */
  close(from: number, to: number): void {
    for (let tick = from; tick < to; tick++) this.#rows.delete(tick);
    this.#last = -1;
  }

  /** Each sum in 8 bytes. */
  save(writer: Encoder, first: number, horizon: number): void {
    const empty = new Float64Array(this.#width);
    const count = ticksWritten(this.#rows, first, horizon, this.#width);
    writer.count(count);
    for (let tick = first; tick < first + count; tick++)
      for (const sum of this.#rows.get(tick) ?? empty) writer.double(sum);
  }

  load(reader: Decoder, first: number): void {
    const count = reader.count();
    for (let tick = first; tick < first + count; tick++) {
      const row = Float64Array.from({ length: this.#width }, () => reader.double());
      if (row.some((sum) => sum !== 0)) this.#rows.set(tick, row);
    }
  }
}

/** The integer sums of the ticks that are still open: one row per tick, one column per thing that is summed. */
import type { Decoder, Encoder } from "../stream/codec.js";

/** More ticks than this between the oldest open one and the clock are not written out. */
const MOST_DENSE = 4096;

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
    if (tick === this.#last) return this.#row;
    let row = this.#rows.get(tick);
    if (row === undefined) this.#rows.set(tick, (row = new Float64Array(this.#width)));
    this.#last = tick;
    this.#row = row;
    return row;
  }

  /** Removes a tick and gives its sums; undefined if it had no event. */
  take(tick: number): Float64Array | undefined {
    const row = this.#rows.get(tick);
    this.#rows.delete(tick);
    if (tick === this.#last) this.#last = -1;
    return row;
  }

  /**
   * Writes every tick from `first` to `horizon`, whether or not it had events, each sum in 8 bytes: the length of a
   * snapshot depends on the clock, not on what happened. Where the clock is far ahead, as when old events are read
   * from a file, a power of two of ticks is written that holds all events.
   */
  save(writer: Encoder, first: number, horizon: number): void {
    const used = Math.max(-1, ...this.#rows.keys()) + 1 - first;
    let count = Math.max(horizon + 1 - first, used);
    if (count > MOST_DENSE) for (count = MOST_DENSE; count < used;) count *= 2;
    const empty = new Float64Array(this.#width);
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

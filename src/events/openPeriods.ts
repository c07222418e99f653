/** True sums of the periods that still take events: one row per period, by its start, one column per statistic. */
import type { Decoder, Encoder } from "../stream/codec.js";

export class OpenPeriods {
  readonly #columns: number;
  readonly #cap: number;
  readonly #rows = new Map<number, Float64Array>();
  /** The row that was used last: most events come in the order of time. */
  #last = NaN;
  #row: Float64Array = new Float64Array(0);

  /** @param cap sums saturate here, far above anything real, so that estimates stay exact */
  constructor(columns: number, cap: number) {
    this.#columns = columns;
    this.#cap = cap;
  }

  /** Start of the last period that has events; −Infinity if none has. */
  get latest(): number {
    return Math.max(-Infinity, ...this.#rows.keys());
  }

  /** Makes room for a period, so that `add` cannot fail. */
  prepare(start: number): void {
    if (start === this.#last) return;
    let row = this.#rows.get(start);
    if (row === undefined) this.#rows.set(start, (row = new Float64Array(this.#columns)));
    this.#last = start;
    this.#row = row;
  }

  add(start: number, column: number, amount: number): void {
    if (start !== this.#last) this.prepare(start);
    this.#row[column] = Math.min(this.#cap, this.#row[column]! + amount);
  }

  /** The sums of a period; zeros if it had no event. */
  sums(start: number): Float64Array {
    return this.#rows.get(start) ?? new Float64Array(this.#columns);
  }

  /** Wipes and forgets a period. */
  close(start: number): void {
    this.#rows.get(start)?.fill(0);
    this.#rows.delete(start);
    this.#last = NaN;
  }

  /** Wipes and forgets the periods before a time. */
  forgetBefore(time: number): void {
    for (const start of [...this.#rows.keys()]) if (start < time) this.close(start);
  }

  /** Writes these periods, whether or not they had events: the length tells nothing of them. */
  save(writer: Encoder, starts: readonly number[]): void {
    writer.count(starts.length);
    for (const start of starts) {
      writer.double(start);
      for (const sum of this.sums(start)) writer.double(sum);
    }
  }

  load(reader: Decoder): void {
    for (let left = reader.count(); left > 0; left--) {
      const start = reader.double();
      const row = Float64Array.from({ length: this.#columns }, () => reader.double());
      if (row.some((sum) => sum !== 0)) this.#rows.set(start, row);
    }
  }
}

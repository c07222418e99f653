/** True sums of the periods that still take events: one row per period, by its start, one column per statistic. */
import type { Decoder, Encoder } from "../../snapshot/codec.js";

export interface OpenShape {
  readonly columns: number;
  /** Sums saturate at ± this, far above anything real, so that estimates stay exact. */
  readonly cap: number;
}

// Plain arrays: the header of a typed one takes 200 bytes, and most keys have one column.
const NO_ROW: number[] = [];

export class OpenPeriods {
  // Parameters
  readonly #shape: OpenShape;
  // State
  /** The period that was used last: most events come in the order of time, and most streams have one open period. */
  #start = NaN;
  #row = NO_ROW;
  /** The others, by their starts. */
  #others: Map<number, number[]> | undefined;

  constructor(shape: OpenShape) {
    this.#shape = shape;
  }

  /** Start of the last period that has events; −Infinity if none has. */
  get latest(): number {
    const starts = [...(this.#others?.keys() ?? []), this.#start];
    return Math.max(-Infinity, ...starts.filter((start) => !Number.isNaN(start)));
  }

  /** Makes room for a period, so that `add` cannot fail. */
  prepare(start: number): void {
    if (start === this.#start) return;
    const row = this.#others?.get(start) ?? this.#zeros();
    if (!Number.isNaN(this.#start)) (this.#others ??= new Map()).set(this.#start, this.#row);
    this.#others?.delete(start);
    this.#start = start;
    this.#row = row;
  }

  add(start: number, column: number, amount: number): void {
    if (start !== this.#start) this.prepare(start);
    const { cap } = this.#shape;
    const row = this.#row;
    row[column] = Math.max(-cap, Math.min(cap, row[column]! + amount));
  }

  /** The sums of a period; zeros if it had no event. */
  sums(start: number): number[] {
    return this.#rowOf(start) ?? this.#zeros();
  }

  #rowOf(start: number): number[] | undefined {
    return start === this.#start ? this.#row : this.#others?.get(start);
  }

  #zeros(): number[] {
    return new Array<number>(this.#shape.columns).fill(0);
  }

  /** Wipes and forgets a period. Cannot fail. */
  close(start: number): void {
    this.#rowOf(start)?.fill(0);
    if (start === this.#start) [this.#start, this.#row] = [NaN, NO_ROW];
    else this.#others?.delete(start);
    if (this.#others?.size === 0) this.#others = undefined;
  }

  /** Wipes and forgets the periods before a time. */
  forgetBefore(time: number): void {
    for (const start of [...(this.#others?.keys() ?? []), this.#start]) if (start < time) this.close(start);
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
      const row = Array.from({ length: this.#shape.columns }, () => reader.double());
      if (!row.some((sum) => sum !== 0)) continue;
      this.prepare(start);
      this.#row = row;
    }
  }
}

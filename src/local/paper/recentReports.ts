/**
 * The last `history` release-reports in order, 4 bytes each, with sums over any range of them in O(1): a ring of cells,
 * and a ring of sums up to every 256th report. Sums wrap at 2⁵²; a difference of two is at most 2²⁷ cells below 2²², so it
 * does not.
 */
import type { Mechanism } from "../../core/tables/sectors.js";
import { roundedFrom } from "../moments.js";
import { addSums, type CellSums, NO_REPORTS, sumsOf } from "./sums.js";

const BLOCK = 256;
const WRAP = 2 ** 52;
/** Sums kept per block: windowed, cells, ones. */
const SUMS = 3;

export class RecentReports {
  readonly #history: number;
  readonly #mechanism: Mechanism;
  /** Report i is at i mod length; a multiple of BLOCK long. */
  #cells = new Uint32Array(4 * BLOCK);
  /** Sums over the first k·BLOCK reports, at k mod slots; slots = blocks + 2. */
  #sums = new Float64Array(SUMS * 6);
  /** Sums over all reports so far. */
  readonly #running = new Float64Array(SUMS);
  #count = 0;
  /** The first report that is known: not 0 after a restart. */
  #first = 0;

  constructor(history: number, mechanism: Mechanism) {
    this.#history = history;
    this.#mechanism = mechanism;
  }

  /** As it was after `count` reports, the last of them `kept`. Sums are differences, so they may begin anywhere. */
  static resume(history: number, mechanism: Mechanism, count: number, kept: Uint32Array): RecentReports {
    const recent = new RecentReports(history, mechanism);
    recent.#reserve(count);
    recent.#count = recent.#first = count - kept.length;
    recent.add(kept);
    return recent;
  }

  /** Reports added so far. */
  get count(): number {
    return this.#count;
  }

  /** The first position that can still be asked for. */
  get oldest(): number {
    return Math.max(this.#first, this.#count - this.#history);
  }

  /** Adds reports in order. Room is made first: if there is no memory for it, nothing changes. */
  add(cells: Uint32Array): void {
    this.#reserve(cells.length);
    const { length } = this.#cells;
    const slots = this.#sums.length / SUMS;
    const rounded = roundedFrom(this.#mechanism);
    const running = this.#running;
    for (const cell of cells) {
      this.#cells[this.#count % length] = cell;
      if (cell < rounded) {
        running[0]! += 1;
        running[1] = (running[1]! + cell) % WRAP;
      } else running[2]! += cell - rounded;
      if (++this.#count % BLOCK === 0) this.#sums.set(running, SUMS * ((this.#count / BLOCK) % slots));
    }
  }

  /** Sums of reports from … to − 1; oldest ≤ from ≤ to ≤ count, checked by the caller. */
  between(from: number, to: number): CellSums {
    const [a, b] = [Math.ceil(from / BLOCK), Math.floor(to / BLOCK)];
    if (a > b) return this.#added(from, to, NO_REPORTS);
    const slots = this.#sums.length / SUMS;
    const [low, high] = [a, b].map((block) =>
      this.#sums.subarray(SUMS * (block % slots), SUMS * (block % slots) + SUMS),
    );
    const [windowed, cells, ones] = [0, 1, 2].map((i) => (high![i]! - low![i]! + WRAP) % WRAP);
    const whole = { reports: BLOCK * (b - a), windowed: windowed!, cells: BigInt(cells!), ones: ones! };
    return this.#added(b * BLOCK, to, this.#added(from, a * BLOCK, whole));
  }

  /** The cells that are still kept: with `count`, all that a restart needs. */
  get kept(): Uint32Array {
    return this.#copy(this.oldest, this.#count);
  }

  #added(from: number, to: number, sums: CellSums): CellSums {
    return addSums(sums, sumsOf(this.#copy(from, to), this.#mechanism));
  }

  #copy(from: number, to: number): Uint32Array {
    const { length } = this.#cells;
    const copy = new Uint32Array(to - from);
    for (let i = from; i < to; i++) copy[i - from] = this.#cells[i % length]!;
    return copy;
  }

  /** A ring that is not at its full size has not wrapped, so it is copied as it is. */
  #reserve(more: number): void {
    const full = BLOCK * Math.ceil(this.#history / BLOCK);
    const needed = Math.min(this.#count + more, full);
    if (needed <= this.#cells.length) return;
    const length = BLOCK * Math.ceil(Math.max(needed, Math.min(2 * this.#cells.length, full)) / BLOCK);
    const cells = new Uint32Array(length);
    const sums = new Float64Array(SUMS * (length / BLOCK + 2));
    cells.set(this.#cells);
    sums.set(this.#sums);
    this.#cells = cells;
    this.#sums = sums;
  }
}

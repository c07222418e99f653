/**
 * Values of ticks after the hold-out that come before θ is known. For each tick there are the number and the sum of values
 * between two candidates: enough for the clamped sum at any θ, and as much memory whatever happened.
 */
import { binOf } from "../stream/choice.js";
import type { Decoder, Encoder } from "../stream/codec.js";
import { ticksWritten } from "./openTicks.js";

export class WaitingValues {
  readonly #candidates: Float64Array;
  /** Per tick: how many values lie above so many candidates, then their sums in grid units. */
  readonly #ticks = new Map<number, Float64Array>();

  /** @param candidates for Θ, ascending */
  constructor(candidates: Float64Array) {
    this.#candidates = candidates;
  }

  get #bins(): number {
    return this.#candidates.length + 1;
  }

  /** Makes room for a tick: `add` cannot fail then. */
  prepare(tick: number): void {
    if (!this.#ticks.has(tick)) this.#ticks.set(tick, new Float64Array(2 * this.#bins));
  }

  /** @param x a value in grid units, of a tick that is prepared */
  add(tick: number, x: number): void {
    const bins = this.#ticks.get(tick)!;
    const bin = binOf(this.#candidates, x);
    bins[bin]!++;
    bins[this.#bins + bin]! += x;
  }

  /** For every tick that has values: their number, and Σ min(x, Θ) for a Θ that is a candidate. */
  clamped(theta: number): { readonly tick: number; readonly count: number; readonly sum: number }[] {
    const below = binOf(this.#candidates, theta); // values up to Θ have at most so many candidates below them
    return [...this.#ticks].map(([tick, bins]) => {
      let [count, sum] = [0, 0];
      for (let bin = 0; bin < this.#bins; bin++) {
        count += bins[bin]!;
        sum += bin <= below ? bins[this.#bins + bin]! : theta * bins[bin]!;
      }
      return { tick, count, sum };
    });
  }

  /** Overwrites and forgets everything. */
  wipe(): void {
    for (const bins of this.#ticks.values()) bins.fill(0);
    this.#ticks.clear();
  }

  /** Every tick from `first` to `horizon` in the same number of bytes. */
  save(writer: Encoder, first: number, horizon: number): void {
    const empty = new Float64Array(2 * this.#bins);
    const count = ticksWritten(this.#ticks, first, horizon, empty.length);
    writer.count(count);
    for (let tick = first; tick < first + count; tick++)
      for (const x of this.#ticks.get(tick) ?? empty) writer.double(x);
  }

  load(reader: Decoder, first: number): void {
    const count = reader.count();
    for (let tick = first; tick < first + count; tick++) {
      const bins = Float64Array.from({ length: 2 * this.#bins }, () => reader.double());
      if (bins.some((x) => x !== 0)) this.#ticks.set(tick, bins);
    }
  }
}

/** Values of ticks after the hold-out that come before θ is known. */
import type { Decoder, Encoder } from "../stream/codec.js";

export class WaitingValues {
  readonly #ticks = new Map<number, number[]>();

  add(tick: number, value: number): void {
    const values = this.#ticks.get(tick);
    if (values === undefined) this.#ticks.set(tick, [value]);
    else values.push(value);
  }

  /** Gives every value once and forgets it. */
  drain(take: (tick: number, value: number) => void): void {
    for (const [tick, values] of this.#ticks) for (const value of values) take(tick, value);
    this.#ticks.clear();
  }

  /** Tick and value in 8 bytes each, padded to a power of two so that the length does not tell how many there were. */
  save(writer: Encoder): void {
    const pairs = [...this.#ticks].flatMap(([tick, values]) => values.flatMap((value) => [tick, value]));
    let room = 16;
    while (room < pairs.length) room *= 2;
    writer.count(pairs.length === 0 ? 0 : room);
    if (pairs.length > 0) for (let i = 0; i < room; i++) writer.double(pairs[i] ?? NaN);
  }

  load(reader: Decoder): void {
    for (let left = reader.count(); left > 0; left -= 2) {
      const [tick, value] = [reader.double(), reader.double()];
      if (!Number.isNaN(tick)) this.add(tick, value);
    }
  }
}

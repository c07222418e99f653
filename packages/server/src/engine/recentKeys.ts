/**
 * Idempotency keys of the last minutes, as keyed hashes: a request that is sent again counts once. They are kept in
 * generations; a generation is forgotten as a whole, and only the newest one changes.
 */
import type { Part } from "./part.js";

const GENERATIONS = 8;
const HASH = 16;

export class RecentKeys {
  readonly parts: readonly Generation[];
  readonly #length: number;

  /** @param remember milliseconds that a key is known, at least */
  constructor(remember: number) {
    this.#length = Math.max(1, Math.ceil(remember / (GENERATIONS - 1)));
    this.parts = Array.from({ length: GENERATIONS }, (_, i) => new Generation(i));
  }

  has(key: string): boolean {
    return this.parts.some((generation) => generation.keys.has(key));
  }

  /** Remembers a key; gives the generation that changed. */
  add(key: string, time: number): Generation {
    const number = Math.floor(time / this.#length);
    const generation = this.parts[number % GENERATIONS]!;
    if (generation.number < number) generation.restart(number);
    if (generation.number === number) generation.keys.add(key); // an older one is from a row that is read again
    return generation;
  }

  /** Forgets what is older than it must be. */
  forgetBefore(time: number): void {
    const oldest = Math.floor(time / this.#length) - GENERATIONS + 1;
    for (const generation of this.parts)
      if (generation.number < oldest && generation.keys.size > 0) generation.restart(generation.number);
  }
}

export class Generation implements Part {
  readonly name: string;
  number = -1;
  keys = new Set<string>();

  constructor(place: number) {
    this.name = `requests/${place}`;
  }

  restart(number: number): void {
    this.number = number;
    this.keys = new Set();
  }

  save(): Uint8Array {
    const bytes = Buffer.alloc(8 + HASH * this.keys.size);
    bytes.writeDoubleLE(this.number, 0);
    let at = 8;
    for (const key of this.keys) at += bytes.write(key, at, HASH, "latin1");
    return bytes;
  }

  load(saved: Uint8Array): void {
    const bytes = Buffer.from(saved);
    this.number = bytes.readDoubleLE(0);
    for (let at = 8; at < bytes.length; at += HASH) this.keys.add(bytes.toString("latin1", at, at + HASH));
  }
}

/**
 * Which keys become public: one vote a person and day, in cells of bounded number. A cell holds a name and a count. A vote
 * for its name adds 1, for another name takes 1 away, and a cell at 0 is empty (Boyer and Moore). So one vote, added
 * anywhere, moves one cell by 1 for the rest of the day, whatever the hash and the order:
 *
 *     (a, n) ↔ (a, n + 1), or ∅ ↔ (a, 1)
 *
 * At the day's end every cell, empty or not, gets truncated discrete Laplace noise X on [−k, k]. A name is published if
 * n + X > k: never without a vote, with probability δ = P(X = k) with one.
 */
import type { Core } from "../core/core.js";
import { type Random, subStream } from "../core/random.js";
import type { Scale } from "../core/tables/scale.js";
import type { Decoder, Encoder } from "../stream/codec.js";
import { digest, hashText } from "./siphash.js";

/** A key that was found, and its noisy number of votes. */
export interface FoundKey {
  readonly name: string;
  readonly votes: number;
}

export interface VoteRule {
  /** The threshold. */
  readonly k: number;
  /** A key with so many votes takes no more: its people keep theirs for another one. */
  readonly cap: number;
  /** A power of two. */
  readonly cells: number;
}

/** What becomes of a vote: it is used, or kept for a later event of the person. */
export type Vote = "used" | "kept";

export class KeyVotes {
  // Parameters
  readonly #rule: VoteRule;
  /** 4 secret words of the day. */
  readonly #key: Uint32Array;
  // State
  readonly #names: (string | undefined)[];
  readonly #counts: Uint32Array;

  constructor(rule: VoteRule, key: Uint32Array) {
    this.#rule = rule;
    this.#key = key;
    this.#names = new Array<string | undefined>(rule.cells).fill(undefined);
    this.#counts = new Uint32Array(rule.cells);
  }

  /** Votes for a key that is not public. The caller sees to it that a person's votes of a day are used once. */
  vote(name: string): Vote {
    hashText(this.#key, name);
    const cell = digest[0]! % this.#rule.cells;
    const own = this.#names[cell];
    if (own === name) {
      if (this.#counts[cell]! >= this.#rule.cap) return "kept";
      this.#counts[cell]!++;
    } else if (own === undefined) {
      this.#names[cell] = name;
      this.#counts[cell] = 1;
    } else if (--this.#counts[cell]! === 0) this.#names[cell] = undefined;
    return "used";
  }

  /** The cells that have a name. Private. */
  get candidates(): readonly FoundKey[] {
    return this.#names.flatMap((name, i) => (name === undefined ? [] : [{ name, votes: this.#counts[i]! }]));
  }

  /**
   * Adds noise to every cell and gives the names above the threshold, those with most votes first.
   * @param scale 1/ε
   * @param random of this day's test; used once
   */
  test(core: Core, scale: Scale, key: Uint32Array, stage: number, day: number): FoundKey[] {
    const noise = truncatedNoise(core, scale, this.#rule, (run) => subStream(key, stage, run, day));
    return this.#names
      .flatMap((name, i) => {
        const votes = this.#counts[i]! + noise[i]!;
        return name !== undefined && votes > this.#rule.k ? [{ name, votes }] : [];
      })
      .sort((a, b) => b.votes - a.votes || (a.name < b.name ? -1 : 1));
  }

  /** Forgets all votes. */
  wipe(): void {
    this.#names.fill(undefined);
    this.#counts.fill(0);
  }

  /** @param longest a name has at most so many characters: every cell takes the same room */
  save(writer: Encoder, longest: number): void {
    for (const [i, name = ""] of this.#names.entries()) {
      writer.double(this.#counts[i]!);
      writer.double(name.length);
      writer.words(Uint32Array.from({ length: longest }, (_, at) => name.charCodeAt(at) || 0));
    }
  }

  load(reader: Decoder, longest: number): void {
    for (let i = 0; i < this.#rule.cells; i++) {
      this.#counts[i] = reader.double();
      const length = reader.double();
      const name = String.fromCharCode(...reader.words(longest).subarray(0, length));
      this.#names[i] = this.#counts[i] === 0 ? undefined : name;
    }
  }
}

/** One draw for each cell; those beyond ±k are drawn again from further runs. */
export function truncatedNoise(
  core: Core,
  scale: Scale,
  { k, cells }: Pick<VoteRule, "k" | "cells">,
  runOf: (run: number) => Random,
): Float64Array {
  const noise = new Float64Array(cells);
  core.laplace(runOf(0), scale, noise);
  for (let run = 1, beyond = outside(noise, k); beyond.length > 0; run++, beyond = outside(noise, k)) {
    const again = new Float64Array(beyond.length);
    core.laplace(runOf(run), scale, again);
    beyond.forEach((cell, i) => (noise[cell] = again[i]!));
  }
  return noise;
}

const outside = (noise: Float64Array, k: number): number[] => {
  const found: number[] = [];
  noise.forEach((x, i) => Math.abs(x) > k && found.push(i));
  return found;
};

/**
 * Votes for keys, in cells of bounded number. A cell holds a name and a count. A vote for its name adds 1, for another name
 * takes 1 away, and a cell at 0 is empty (Boyer and Moore). So one vote, added anywhere, moves one cell by 1 for the rest of
 * the day, whatever the hash and the order:
 *
 *     (a, n) ↔ (a, n + 1), or ∅ ↔ (a, 1)
 *
 * At the day's end every cell, empty or not, gets truncated discrete Laplace noise X on [−k, k]. A name is published if
 * n + X > k: never without a vote, with probability δ = P(X = k) with one.
 */
import type { NoiseCore } from "../../core/core.js";
import { type Random, Purpose, subStream } from "../../core/random.js";
import type { Scale } from "../../core/tables/scale.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { NAME_WORDS, readName, writeName } from "./keyName.js";
import { digest, hashText } from "../people/siphash.js";

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

/** Decision about a vote: it is used, or kept for a later event of the person. */
export type Vote = "used" | "kept";

/** Words of a stored cell: its place, its count and its name. */
const ENTRY = 2 + NAME_WORDS;

export class KeyVotes {
  // Parameters
  readonly #rule: VoteRule;
  /** 4 secret words of the day. */
  readonly #key: Uint32Array;
  // State
  readonly #names: (string | undefined)[];
  readonly #counts: Uint32Array;
  #candidates = 0;

  constructor(rule: VoteRule, key: Uint32Array) {
    this.#rule = rule;
    this.#key = key;
    this.#names = new Array<string | undefined>(rule.cells).fill(undefined);
    this.#counts = new Uint32Array(rule.cells);
  }

  /** Votes for a key that is not public. The caller sees to it that a person's vote of a day is used once. */
  vote(name: string): Vote {
    hashText(this.#key, name);
    const cell = digest[0]! % this.#rule.cells;
    const own = this.#names[cell];
    if (own === name) {
      if (this.#counts[cell]! >= this.#rule.cap) return "kept";
      this.#counts[cell]!++;
    } else if (own === undefined) this.#put(cell, name, 1);
    else if (--this.#counts[cell]! === 0) {
      this.#names[cell] = undefined;
      this.#candidates--;
    }
    return "used";
  }

  #put(cell: number, name: string, count: number): void {
    this.#names[cell] = name;
    this.#counts[cell] = count;
    this.#candidates++;
  }

  /** The cells that have a name. Private. */
  get candidates(): readonly FoundKey[] {
    return this.#names.flatMap((name, i) => (name === undefined ? [] : [{ name, votes: this.#counts[i]! }]));
  }

  /**
   * Adds noise to every cell and gives the names above the threshold, those with most votes first.
   * @param scale 1/ε
   * @param key 8 secret words
   * @param day index of the day: its noise is used once
   */
  test(core: NoiseCore, scale: Scale, key: Uint32Array, day: number): FoundKey[] {
    const noise = truncatedNoise(core, scale, this.#rule, (run) =>
      subStream(key, Purpose.dayVotes, run, day),
    );
    const found: FoundKey[] = [];
    this.#names.forEach((name, i) => {
      const votes = this.#counts[i]! + noise[i]!;
      if (name !== undefined && votes > this.#rule.k) found.push({ name, votes });
    });
    return found.sort((a, b) => b.votes - a.votes || (a.name < b.name ? -1 : 1));
  }

  /** Forgets all votes. */
  wipe(): void {
    this.#names.fill(undefined);
    this.#counts.fill(0);
    this.#candidates = 0;
  }

  /** @param room for as many names, doubled as often as there are more: so its length tells no smaller number */
  save(writer: Encoder, room: number): void {
    while (room < this.#candidates) room *= 2;
    room = Math.min(room, this.#rule.cells);
    const words = new Uint32Array(ENTRY * room);
    let at = 0;
    this.#names.forEach((name, cell) => {
      if (name === undefined) return;
      words[at] = cell;
      words[at + 1] = this.#counts[cell]!;
      writeName(name, words, at + 2);
      at += ENTRY;
    });
    writer.count(room);
    writer.words(words);
    words.fill(0);
  }

  load(reader: Decoder): void {
    const words = reader.words(ENTRY * reader.count());
    for (let at = 0; at < words.length && words[at + 1] !== 0; at += ENTRY)
      this.#put(words[at]!, readName(words, at + 2), words[at + 1]!);
  }
}

/** One draw for each cell; those beyond ±k are drawn again from further runs. */
export function truncatedNoise(
  core: NoiseCore,
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

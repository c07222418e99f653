/**
 * Counts a person once in a period, or once under each of the person's first c keys. What counts of one person depends on
 * that person's events alone, so adding or removing all of a person's events of a period moves c counts by at most 1 each.
 */
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { type LimitedPeople, People } from "./people.js";
import { digest, hashText } from "./siphash.js";

/** Decision about an event: its person is new under its key, was counted there already, or has too many keys. */
export type Sighting = "new" | "again" | "over";

export class DistinctPeople {
  // Parameters
  readonly #key: Uint32Array;
  // State
  /** How many keys of a person count. */
  readonly #people: People;
  /** Pairs of person and key that count; undefined if a person has one key. */
  readonly #pairs: People | undefined;

  /**
   * @param key 4 secret words
   * @param keys c, or undefined if a person has one key
   * @param room for as many people in a snapshot
   */
  constructor(key: Uint32Array, keys: number | undefined, room: number) {
    this.#key = key;
    const limit = { events: keys ?? 1, perHour: undefined, sum: undefined };
    this.#people = new People(key, { ...limit, people: room }, keys ?? 1);
    if (keys !== undefined)
      this.#pairs = new People(key, { ...limit, people: Math.min(2 ** 24, room * Math.min(keys, 16)) }, 1);
  }

  /** The keyed hash that stands for a person in memory and in snapshots: 4 words, valid until the next call. */
  hash(person: string): Uint32Array {
    return this.#people.hash(person);
  }

  /**
   * @param hash may be what `hash` gave last
   * @param period start of the period
   */
  admit(hash: Uint32Array, key: string, period: number): Sighting {
    if (this.#pairs === undefined) {
      if (this.#people.amount(hash, period) > 0) return "again";
      this.#people.admit(hash, period, period, 1);
      return "new";
    }
    const person = hash.slice(); // the hash of the pair takes its place
    const pair = this.#pairOf(person, key);
    if (this.#pairs.amount(pair, period) > 0) return "again";
    if (this.#people.admit(person, period, period, 1) === 0) return "over";
    this.#pairs.admit(pair, period, period, 1);
    return "new";
  }

  #pairOf(hash: Uint32Array, key: string): Uint32Array {
    const halves = Array.from(hash, (word) => [word & 0xffff, word >>> 16]).flat();
    hashText(this.#key, String.fromCharCode(...halves) + key);
    return digest;
  }

  /** How many people of a period had more keys than count. */
  limited(period: number): LimitedPeople {
    return this.#people.limited(period);
  }

  forgetBefore(period: number): void {
    this.#people.forgetBefore(period, period);
    this.#pairs?.forgetBefore(period, period);
  }

  save(writer: Encoder, periods: readonly number[]): void {
    this.#people.save(writer, periods, []);
    this.#pairs?.save(writer, periods, []);
  }

  load(reader: Decoder): void {
    this.#people.load(reader);
    this.#pairs?.load(reader);
  }
}

/**
 * At most k events of each person count in a period, over many streams together. For programs that write events to a
 * log of their own: the decision is made once, stands in the log, and `admit` repeats it when the log is read again.
 */
import { Decoder, Encoder } from "../stream/codec.js";
import { checkPerson, People, type PerPerson, resolvePerPerson } from "./people.js";

export class Contributions {
  readonly #people: People;

  /** @param key 16 secret bytes; the same ones for as long as hashes are kept */
  constructor(key: Uint8Array, perPerson: PerPerson) {
    if (!(key instanceof Uint8Array) || key.length !== 16)
      throw new RangeError("key: expected 16 bytes of a secret key");
    const view = new DataView(key.buffer, key.byteOffset);
    const words = Uint32Array.from({ length: 4 }, (_, i) => view.getUint32(4 * i, true));
    this.#people = new People(words, resolvePerPerson(perPerson, 1)!);
  }

  /** The keyed hash of an id, 4 words: ids need not be kept. Valid until the next call. */
  hash(person: string): Uint32Array {
    checkPerson(person);
    return this.#people.hash(person);
  }

  /**
   * Counts an event; false if its person has had all events of the period.
   * @param hash what `hash` gave
   * @param at when it happened, in milliseconds since 1970
   */
  admit(hash: Uint32Array, at: number): boolean {
    return this.#people.admitHash(hash, at);
  }

  /** Forgets the periods that are over at `time`. */
  forgetBefore(time: number): void {
    this.#people.forgetBefore(time);
  }

  /** Bytes held: 27 to 40 for each person. */
  get bytes(): number {
    return this.#people.bytes;
  }

  /**
   * Who has had how many events, as bytes: hashes and counts, for every period that has a time in [from, to), padded so
   * that their length does not tell how many people there are. Not encrypted.
   */
  save(from: number, to: number): Uint8Array {
    const writer = new Encoder();
    this.#people.save(writer, from, to);
    return writer.bytes;
  }

  /** Takes up what `save` gave. */
  load(bytes: Uint8Array): void {
    this.#people.load(new Decoder(bytes));
  }
}

/**
 * Ids of requests that were taken, with a hash of what they held: a request that is sent again counts once, and another
 * one under its id is refused. Kept as keyed hashes, in generations; a generation is forgotten as a whole.
 */
import { digest, hashText } from "../../events/people/siphash.js";
import { Decoder, Encoder } from "../../snapshot/codec.js";
import { padded } from "../journal/ring.js";
import type { Section } from "../journal/sections.js";

/** A request of a caller who may send it again. */
export interface RequestId {
  /** Every attempt has this id. */
  readonly id: string;
  /** Stands for what the request holds: its text, or a hash of it. */
  readonly body: string;
}

const GENERATIONS = 8;
const SHORTEST = 4096;

/** Words of a hash, and of an id with its body. */
const HASH = 4;
const ENTRY = 2 * HASH;

/** The 4 words of a hash as 8 characters: a third of the memory of their digits. */
function textOf(words: Uint32Array, at = 0): string {
  const [a, b, c, d] = [words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!];
  return String.fromCharCode(
    a & 0xffff,
    a >>> 16,
    b & 0xffff,
    b >>> 16,
    c & 0xffff,
    c >>> 16,
    d & 0xffff,
    d >>> 16,
  );
}

/** An id came again, with another body. */
export class RequestConflict extends Error {
  readonly code = "request-conflict";
  constructor() {
    super("request: expected the body that this id was first sent with, got another one; take another id");
  }
}

export interface HashedRequest {
  readonly id: Uint32Array;
  readonly body: Uint32Array;
}

class Generation implements Section {
  readonly name: string;
  number = -1;
  /** Hashes of bodies by hashes of ids, as texts of 8 characters. */
  bodies = new Map<string, string>();

  constructor(place: number) {
    this.name = `requests/${place}`;
  }

  restart(number: number): void {
    this.number = number;
    this.bodies = new Map();
  }

  save(writer: Encoder): void {
    const own = new Encoder();
    own.double(this.number);
    own.count(this.bodies.size);
    // All words at once: a service remembers 10⁵ ids, and others wait while it writes them.
    const words = new Uint32Array(ENTRY * this.bodies.size);
    let at = 0;
    for (const entry of this.bodies)
      for (const text of entry)
        for (let i = 0; i < HASH; i++)
          words[at++] = text.charCodeAt(2 * i) | (text.charCodeAt(2 * i + 1) << 16);
    own.words(words);
    writer.blob(padded(SHORTEST, own.bytes));
    own.wipe();
  }

  load(reader: Decoder): void {
    const own = new Decoder(reader.blob());
    this.number = own.double();
    const words = own.words(ENTRY * own.count());
    for (let at = 0; at < words.length; at += ENTRY)
      this.bodies.set(textOf(words, at), textOf(words, at + HASH));
  }
}

export class RequestIds {
  readonly sections: readonly Generation[] = Array.from(
    { length: GENERATIONS },
    (_, place) => new Generation(place),
  );
  readonly #key: Uint32Array;
  readonly #length: number;

  /**
   * @param key 4 secret words
   * @param remember milliseconds that an id is known, at least
   */
  constructor(key: Uint32Array, remember: number) {
    this.#key = key;
    this.#length = Math.max(1, Math.ceil(remember / (GENERATIONS - 1)));
  }

  hash({ id, body }: RequestId): HashedRequest {
    const words = (text: string): Uint32Array => {
      hashText(this.#key, text);
      return digest.slice();
    };
    return { id: words(id), body: words(body) };
  }

  /**
   * Whether a request was taken. Throws if its id was taken with another body.
   * @param time decides which ids are still known, whether or not a row has come since they were taken
   */
  has({ id, body }: HashedRequest, time: number): boolean {
    const name = textOf(id);
    const oldest = this.#oldest(time);
    const known = this.sections
      .find(({ number, bodies }) => number >= oldest && bodies.has(name))
      ?.bodies.get(name);
    if (known === undefined) return false;
    if (known !== textOf(body)) throw new RequestConflict();
    return true;
  }

  /** Remembers a request; returns the section that changed. */
  add(id: Uint32Array, body: Uint32Array, time: number): Section {
    const number = Math.floor(time / this.#length);
    const generation = this.sections[number % GENERATIONS]!;
    if (generation.number < number) generation.restart(number);
    if (generation.number === number) generation.bodies.set(textOf(id), textOf(body));
    return generation;
  }

  /** Forgets what is older than it must be. */
  forgetBefore(time: number): void {
    const oldest = this.#oldest(time);
    for (const generation of this.sections)
      if (generation.number < oldest && generation.bodies.size > 0) generation.restart(generation.number);
  }

  /** The oldest generation that is known at a time. */
  #oldest(time: number): number {
    return Math.floor(time / this.#length) - GENERATIONS + 1;
  }
}

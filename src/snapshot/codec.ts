/**
 * How objects write down what they remember. Whole numbers take as few bytes as they need (7 bits a byte, lowest
 * first), doubles keep every bit, and a number that the reader can guess costs nothing.
 */

import { LOWEST_FIRST } from "../core/bytes.js";

/** Whole numbers from 0 on stand for whole numbers of both signs: 0, −1, 1, −2, 2, … */
const fold = (x: number): number => (x < 0 ? -2 * x - 1 : 2 * x);
const unfold = (x: number): number => (x % 2 === 1 ? -(x + 1) / 2 : x / 2);

/** Where the machine keeps words as they are written here, many are copied as bytes. Fewer words are written one by one: a view of them takes longer. */
const MANY_WORDS = 32;
const bytesOf = (words: Uint32Array): Uint8Array =>
  new Uint8Array(words.buffer, words.byteOffset, words.byteLength);

export class Encoder {
  #bytes = new Uint8Array(1024);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  /** Reads what was written so far, until more is written or it is wiped. */
  read(): Decoder {
    return new Decoder(this.#bytes.subarray(0, this.#length));
  }

  /** Everything written so far. */
  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#bytes.slice(0, this.#length);
  }

  /** A whole number from 0 to 2⁵³ − 1. */
  count(value: number): void {
    if (!(value >= 0 && value <= Number.MAX_SAFE_INTEGER && Number.isInteger(value)))
      throw new RangeError("snapshot: expected whole numbers below 2^53 in the state of a stream");
    this.#reserve(8);
    while (value >= 128) {
      this.#bytes[this.#length++] = (value % 128) + 128;
      value = Math.floor(value / 128);
    }
    this.#bytes[this.#length++] = value;
  }

  double(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  words(values: Uint32Array): void {
    this.#reserve(4 * values.length);
    if (LOWEST_FIRST && values.length >= MANY_WORDS) {
      this.#bytes.set(bytesOf(values), this.#length);
      this.#length += values.byteLength;
      return;
    }
    for (let i = 0; i < values.length; i++, this.#length += 4)
      this.#view.setUint32(this.#length, values[i]!, true);
  }

  text(value: string): void {
    this.blob(new TextEncoder().encode(value));
  }

  /** Bytes, in one or two parts. */
  blob(bytes: Uint8Array, more?: Uint8Array): void {
    const length = bytes.length + (more?.length ?? 0);
    this.count(length);
    this.#reserve(length);
    this.#bytes.set(bytes, this.#length);
    if (more !== undefined) this.#bytes.set(more, this.#length + bytes.length);
    this.#length += length;
  }

  /** Overwrites everything written so far: states are secret. The next one is written into the same memory. */
  wipe(): void {
    this.#bytes.fill(0, 0, this.#length);
    this.#length = 0;
  }

  /** How many bytes there is memory for. */
  get room(): number {
    return this.#bytes.length;
  }

  /** Multiples of 1/fraction, as differences from one to the next. */
  multiples(values: Float64Array, fraction: number): void {
    this.count(values.length);
    let last = 0;
    for (const value of values) {
      const whole = value * fraction;
      this.count(fold(whole - last));
      last = whole;
    }
  }

  /** Doubles of which the reader can guess many: runs of good guesses, then runs of numbers written out. */
  guessed(values: Float64Array, guess: (i: number) => number): void {
    this.count(values.length);
    for (let i = 0; i < values.length;) {
      const start = i;
      while (i < values.length && Object.is(values[i], guess(i))) i++;
      this.count(i - start);
      const other = i;
      while (i < values.length && !Object.is(values[i], guess(i))) i++;
      this.count(i - other);
      for (let k = other; k < i; k++) this.double(values[k]!);
    }
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const grown = new Uint8Array(2 * (this.#length + more));
    grown.set(this.#bytes);
    this.#bytes.fill(0, 0, this.#length); // states are secret
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

/** Reads in the order in which it was written; running off the end is a RangeError. */
export class Decoder {
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get atEnd(): boolean {
    return this.#at === this.#view.byteLength;
  }

  /** A view of the bytes that are not read yet. */
  get rest(): Uint8Array {
    const { buffer, byteOffset, byteLength } = this.#view;
    return new Uint8Array(buffer, byteOffset + this.#at, byteLength - this.#at);
  }

  /** Overwrites the bytes, read or not: states are secret. */
  wipe(): void {
    const { buffer, byteOffset, byteLength } = this.#view;
    new Uint8Array(buffer, byteOffset, byteLength).fill(0);
  }

  count(): number {
    for (let value = 0, unit = 1; ; unit *= 128) {
      const byte = this.#view.getUint8(this.#at++);
      value += (byte % 128) * unit;
      if (byte < 128) return value;
    }
  }

  double(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  words(length: number): Uint32Array {
    if (!(4 * length <= this.#view.byteLength - this.#at))
      throw new RangeError("snapshot: expected more bytes, got its end");
    const words = new Uint32Array(length);
    if (LOWEST_FIRST && length >= MANY_WORDS) {
      const { buffer, byteOffset } = this.#view;
      bytesOf(words).set(new Uint8Array(buffer, byteOffset + this.#at, words.byteLength));
      this.#at += words.byteLength;
      return words;
    }
    for (let i = 0; i < length; i++, this.#at += 4) words[i] = this.#view.getUint32(this.#at, true);
    return words;
  }

  text(): string {
    return new TextDecoder().decode(this.blob());
  }

  /** A view of the bytes that `blob` wrote. */
  blob(): Uint8Array {
    const length = this.count();
    const start = this.#view.byteOffset + this.#at;
    this.#at += length;
    return new Uint8Array(this.#view.buffer, start, length);
  }

  multiples(fraction: number): Float64Array {
    const values = new Float64Array(this.count());
    for (let i = 0, last = 0; i < values.length; i++) {
      last += unfold(this.count());
      values[i] = last / fraction;
    }
    return values;
  }

  guessed(guess: (i: number) => number): Float64Array {
    const values = new Float64Array(this.count());
    for (let i = 0; i < values.length;) {
      for (let run = this.count(); run > 0; run--, i++) values[i] = guess(i);
      for (let run = this.count(); run > 0; run--) values[i++] = this.double();
    }
    return values;
  }
}

/** A list of integers in the narrowest typed array that holds all of them; a place that was never set has none. */
import { SmallArrays } from "../../core/smallArrays.js";

type Values = Int8Array | Int16Array | Int32Array | Float64Array;

/** From narrow to wide. The lowest number of a type stands for a place without an integer. */
const TYPES = [
  { Type: Int8Array, none: -(2 ** 7) },
  { Type: Int16Array, none: -(2 ** 15) },
  { Type: Int32Array, none: -(2 ** 31) },
  { Type: Float64Array, none: NaN },
] as const;

const NO_VALUES = new Int8Array(0);
/** Most lists are of a day: they end together. */
const small = new SmallArrays();

export class Packed {
  #type = 0;
  #values: Values = NO_VALUES;

  /** The integer at a place; NaN if it was never set. */
  at(place: number): number {
    const value = this.#values[place];
    return value === undefined || value === TYPES[this.#type]!.none ? NaN : value;
  }

  /** Makes room for these integers, at any place below `length`: `set` then cannot fail. */
  reserve(values: ArrayLike<number>, length: number): void {
    let type = this.#type;
    for (let i = 0; i < values.length; i++) {
      // Nothing is ever rounded here: a number that is no integer, which noise never is, would take eight bytes.
      if (!Number.isInteger(values[i])) type = TYPES.length - 1;
      while (Math.abs(values[i]!) >= -TYPES[type]!.none) type++;
    }
    if (type === this.#type && length <= this.#values.length) return;
    const { Type, none } = TYPES[type]!;
    const wider = small.zeros<Values>(Type, Math.max(length, this.#values.length)).fill(none);
    if (type === this.#type) wider.set(this.#values);
    else for (let i = 0; i < this.#values.length; i++) if (!Number.isNaN(this.at(i))) wider[i] = this.at(i);
    this.#values = wider;
    this.#type = type;
  }

  /** Sets the integer at a place. @param value `reserve` has made room for it */
  set(place: number, value: number): void {
    this.#values[place] = value;
  }

  /** Removes the integer at a place below the reserved length. */
  clear(place: number): void {
    this.#values[place] = TYPES[this.#type]!.none;
  }
}

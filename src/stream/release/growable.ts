/**
 * An array of doubles that grows in pieces. A piece is never copied once it is full, so growing takes no longer in a long
 * array than in a short one, and no push waits for it.
 */

const PIECE_BITS = 12;
const PIECE = 2 ** PIECE_BITS;
const WITHIN = PIECE - 1;
/**
 * Room of the first piece, which doubles until it is a whole one: most streams are short. Engines keep 64 bytes within the
 * object, and have to count and free what is larger.
 */
const FIRST = 8;

export class Growable {
  #pieces: Float64Array[] = [];
  readonly #most: number;
  #room = 0;

  /** @param most it never needs room for more numbers */
  constructor(most: number) {
    this.#most = most;
  }

  static of(numbers: Float64Array, most: number): Growable {
    const growable = new Growable(most);
    growable.setMany(numbers, 0);
    return growable;
  }

  /** How many numbers it can hold. */
  get room(): number {
    return this.#room;
  }

  at(index: number): number {
    return this.#pieces[index >>> PIECE_BITS]![index & WITHIN]!;
  }

  set(index: number, number: number): void {
    this.#pieces[index >>> PIECE_BITS]![index & WITHIN] = number;
  }

  setMany(numbers: Float64Array, index: number): void {
    this.reserve(index + numbers.length);
    for (let done = 0; done < numbers.length;) {
      const within = (index + done) & WITHIN;
      const part = numbers.subarray(done, done + PIECE - within);
      this.#pieces[(index + done) >>> PIECE_BITS]!.set(part, within);
      done += part.length;
    }
  }

  /** Makes room for `count` numbers in all. If there is no memory it fails, and all numbers are still there. */
  reserve(count: number): void {
    if (this.#room < Math.min(count, PIECE)) this.#growFirst(count);
    while (this.#room < count) {
      const piece = new Float64Array(Math.min(PIECE, this.#most - this.#room));
      this.#pieces.push(piece);
      this.#room += piece.length;
    }
  }

  #growFirst(count: number): void {
    const wanted = Math.max(FIRST, 2 * this.#room, count);
    const first = new Float64Array(Math.min(PIECE, this.#most, wanted));
    if (this.#room > 0) first.set(this.#pieces[0]!);
    this.#pieces = [first]; // an array that grows would get room for 17
    this.#room = first.length;
  }

  /** A copy of the first `count` numbers. */
  toArray(count: number): Float64Array {
    const numbers = new Float64Array(count);
    for (let done = 0; done < count; done += PIECE)
      numbers.set(this.#pieces[done >>> PIECE_BITS]!.subarray(0, count - done), done);
    return numbers;
  }
}

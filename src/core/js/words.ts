/** A keystream read word by word: all that a device needs of the reader. */
import { checkPosition, type Random } from "../random.js";
import { chachaBlock, initialState } from "./chacha.js";

/** Words made ahead, one block: many readers take few. Those not taken are made again by the next reader. */
const BUFFER_WORDS = 16;

/**
 * Reads the keystream of `random` word by word. `random.position` moves when the caller calls {@link finish}, so
 * a call that throws on the way changes nothing.
 */
export class Words {
  readonly #random: Random;
  readonly #state: Uint32Array;
  readonly #buffer = new Uint32Array(BUFFER_WORDS);
  #cursor = BUFFER_WORDS;
  #nextBlock: number;

  constructor(random: Random) {
    checkPosition(random.position);
    this.#random = random;
    this.#state = initialState(random);
    this.#nextBlock = Math.floor(random.position / 16);
    if (random.position % 16 > 0) {
      this.#refill();
      this.#cursor = random.position % 16;
    }
  }

  /** Words taken so far, from the beginning of the sub-stream. */
  get position(): number {
    return 16 * this.#nextBlock - (BUFFER_WORDS - this.#cursor);
  }

  /** Moves `random` behind the last word taken. */
  finish(): void {
    checkPosition(this.position);
    this.#random.position = this.position;
  }

  /** The next 32 bits. */
  next(): number {
    if (this.#cursor === BUFFER_WORDS) this.#refill();
    return this.#buffer[this.#cursor++]!;
  }

  #refill(): void {
    checkPosition(16 * this.#nextBlock + 1);
    chachaBlock(this.#state, this.#nextBlock++, this.#buffer, 0);
    this.#cursor = 0;
  }
}

/** Random words in order: twin of assembly/reader.ts. */
import type { Coin } from "../tables/coin.js";
import { Words } from "./words.js";

/** Words, and what is decided by them. */
export class WordReader extends Words {
  /** True with the coin's probability: 6 words, compared while they tie. */
  flip(coin: Coin): boolean {
    const word = this.next();
    const threshold = coin.words[0]!;
    return word === threshold ? this.tailBelow(coin.words, 1, 5, coin.words[6] === 1) : word < threshold;
  }

  /** Whether the next `count` words, as one number, are below the one at words[at…]; `tie` if they are equal. */
  tailBelow(words: Uint32Array, at: number, count: number, tie: boolean): boolean {
    for (let i = 0; i < count; i++) {
      const word = this.next();
      if (word !== words[at + i]!) return word < words[at + i]!;
    }
    return tie;
  }
}

/** Repeatable choices for the fuzzer: fast, and a function of (seed, episode) alone, so any episode can be run again. */
export class Dice {
  #state: Uint32Array;

  constructor(seed: number, episode: number) {
    this.#state = Uint32Array.of(seed, episode, 0x9e3779b9, 0x243f6a88);
    for (let i = 0; i < 16; i++) this.word();
  }

  /** xoshiro128++ (Blackman and Vigna 2019). */
  word(): number {
    const s = this.#state;
    const sum = (s[0]! + s[3]!) | 0;
    const result = (((sum << 7) | (sum >>> 25)) + s[0]!) >>> 0;
    const shifted = s[1]! << 9;
    s[2]! ^= s[0]!;
    s[3]! ^= s[1]!;
    s[1]! ^= s[2]!;
    s[0]! ^= s[3]!;
    s[2]! ^= shifted;
    s[3] = (s[3]! << 11) | (s[3]! >>> 21);
    return result;
  }

  /** 0 … n − 1. */
  below(n: number): number {
    return Math.floor((this.word() / 2 ** 32) * n);
  }

  /** In [0, 1). */
  unit(): number {
    return this.word() / 2 ** 32;
  }

  chance(probability: number): boolean {
    return this.unit() < probability;
  }

  pick<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Between low and high, evenly in the logarithm. */
  scaled(low: number, high: number): number {
    return low * (high / low) ** this.unit();
  }
}

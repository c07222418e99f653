/** Building blocks of the zoo's streams: random numbers of many distributions, and signals over time. */
import seedrandom from "seedrandom";

/** A source of random numbers, deterministic from its seed. */
export class Source {
  readonly uniform: () => number;
  #spare = NaN;

  constructor(seed: string) {
    this.uniform = seedrandom.alea(seed);
  }

  /** Mean 0, variance 1: Box and Muller's pair, one after the other. */
  normal(): number {
    if (!Number.isNaN(this.#spare)) {
      const spare = this.#spare;
      this.#spare = NaN;
      return spare;
    }
    const radius = Math.sqrt(-2 * Math.log(1 - this.uniform()));
    const angle = 2 * Math.PI * this.uniform();
    this.#spare = radius * Math.sin(angle);
    return radius * Math.cos(angle);
  }

  exponential(mean: number): number {
    return -mean * Math.log(1 - this.uniform());
  }

  lognormal(median: number, sigma: number): number {
    return median * Math.exp(sigma * this.normal());
  }

  /** Lomax: survival (1 + x/scale)^−shape. */
  pareto(scale: number, shape: number): number {
    return scale * ((1 - this.uniform()) ** (-1 / shape) - 1);
  }

  weibull(scale: number, shape: number): number {
    return scale * (-Math.log(1 - this.uniform())) ** (1 / shape);
  }

  /** Knuth's product of uniforms: for small means. */
  poisson(mean: number): number {
    const least = Math.exp(-mean);
    let count = 0;
    for (let product = this.uniform(); product > least; product *= this.uniform()) count++;
    return count;
  }

  chance(p: number): boolean {
    return this.uniform() < p;
  }
}

/** Length of a day, where a stream has days: a value a second. */
export const DAY = 86_400;

/** From 0 at night to 1 in the afternoon. */
export const daylight = (t: number): number => (1 - Math.cos((2 * Math.PI * t) / DAY)) / 2;

/** A signal that takes `step` to the next value at each position, from `start`. */
export function walk(start: number, step: (last: number) => number): () => number {
  let value = start;
  return () => (value = step(value));
}

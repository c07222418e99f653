/**
 * Budget distribution and budget absorption (Kellaris, Papadopoulos, Xiao and Papadias, VLDB 2014): ε for any w values in a row.
 *
 * Half of ε is for dissimilarity: at every value |x − last release| gets noise of scale 2wΘ/ε. A new noisy release is made
 * only if that is larger than λ, the scale of the noise a release would get now; otherwise the last one is published again.
 *
 * - BD (Algorithm 1): a release takes half of what is left of ε/2 within the last w values.
 * - BA (Algorithm 2): every value owns ε/(2w); a release absorbs what the values before it did not use, w of them at most,
 *   and as many values after it as it absorbed beyond its own are skipped.
 *
 * A window of w values spends at most ε/2 on each half. Numbers of state: w.
 *
 * Departures: one counter instead of a histogram (d = 1); before the first release 0 is published; BD's budgets are rounded
 * down to five binary digits of ε, and BD makes no release with less than ε·2⁻¹⁶, so that scales are exact and few.
 */
import type { Core } from "../../src/core/core.js";
import { type Draws, laplaceDraws, laplaceScale } from "./draws.js";
import { type Mechanism, UNKNOWN_SPREAD } from "./record.js";

/** w of the rows of comparison. */
export const WINDOW = 100;
/** BD's budgets are multiples of ε·2⁻²⁴. */
const UNITS = 2 ** 24;
const LEAST = 2 ** 8;
const DISSIMILARITY = 1;
const RELEASE = 2;

/** A share of ε, as a fraction. */
type Share = readonly [numerator: number, denominator: number];

/** When a release may be made, and what it costs. */
interface Budget {
  /** Offers what a release at this value may spend; undefined: none may be made. Called once per value. */
  offer(): Share | undefined;
  /** The release was made. */
  spend(): void;
}

export class Distribution implements Budget {
  /** Spent at each of the last w values, in units of ε/UNITS. */
  readonly #spent: Float64Array;
  #at = 0;
  #within = 0;
  #offered = 0;

  constructor(window: number) {
    this.#spent = new Float64Array(window);
  }

  offer(): Share | undefined {
    this.#at = (this.#at + 1) % this.#spent.length;
    this.#within -= this.#spent[this.#at]!;
    this.#spent[this.#at] = 0;
    this.#offered = fiveDigits(Math.floor((UNITS / 2 - this.#within) / 2));
    return this.#offered < LEAST ? undefined : [this.#offered, UNITS];
  }

  spend(): void {
    this.#spent[this.#at] = this.#offered;
    this.#within += this.#offered;
  }
}

/** The five leading binary digits, the others 0. */
function fiveDigits(n: number): number {
  let unit = 1;
  while (n / unit >= 32) unit *= 2;
  return Math.floor(n / unit) * unit;
}

export class Absorption implements Budget {
  readonly #window: number;
  /** Values whose budget is unused, this one included; negative while values after a release are skipped. */
  #free = 0;

  constructor(window: number) {
    this.#window = window;
  }

  offer(): Share | undefined {
    this.#free = Math.min(this.#window, this.#free + 1);
    return this.#free > 0 ? [this.#free, 2 * this.#window] : undefined;
  }

  /** As many values are skipped as were absorbed beyond this one. */
  spend(): void {
    this.#free = 1 - this.#free;
  }
}

export class EventWindow implements Mechanism {
  readonly #release: (share: Share) => Draws;
  readonly #theta: number;
  readonly #epsilon: number;
  readonly #budget: Budget;
  readonly #dissimilarity: Draws;
  /** Noise of releases, by share: few shares come again and again. */
  readonly #noise = new Map<number, Draws>();
  #last = 0;

  constructor(core: Core, key: Uint32Array, theta: number, epsilon: number, window: number, budget: Budget) {
    this.#theta = theta;
    this.#epsilon = epsilon;
    this.#budget = budget;
    this.#dissimilarity = laplaceDraws(core, key, laplaceScale(theta, epsilon, 2 * window), 0, DISSIMILARITY);
    this.#release = (share) =>
      laplaceDraws(core, key, laplaceScale(theta, epsilon, 1, share), 0, RELEASE, share[0]);
  }

  push(x: number): number {
    const share = this.#budget.offer();
    const dissimilarity = Math.abs(x - this.#last) + this.#dissimilarity.take();
    if (share === undefined) return this.#last;
    const [numerator, denominator] = share;
    if (dissimilarity <= (this.#theta * denominator) / (this.#epsilon * numerator)) return this.#last;
    this.#budget.spend();
    return (this.#last = x + this.#noiseOf(share).take());
  }

  #noiseOf(share: Share): Draws {
    let noise = this.#noise.get(share[0]);
    if (noise === undefined) this.#noise.set(share[0], (noise = this.#release(share)));
    return noise;
  }

  spread() {
    return UNKNOWN_SPREAD;
  }
}

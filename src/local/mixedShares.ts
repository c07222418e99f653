/**
 * The share of values below x, over days with several θ: F(x) = Σ n_g·F_g(x)/n, each F_g bounded from its own reports. The groups
 * are independent, so distances of their bounds from their estimates add up as squares do (MOVER, Zou and Donner 2008); one
 * group alone has its own bound. Values clamped to a θ lie anywhere from it to `max`.
 */
import type { Mechanism } from "../core/tables/sectors.js";
import type { ReportCounts } from "./dayTally.js";
import { BINS } from "./mechanisms.js";
import { inUnit, type ShareBound, SharesBelow } from "./sharesBelow.js";

/** Reports of one θ, with what the estimate expects of them. */
export interface SharedGroup extends ReportCounts {
  /** Shares of reports per output bin by the estimate: they choose windows. */
  readonly predicted: Float64Array;
}

interface Part {
  readonly theta: number;
  readonly weight: number;
  readonly shares: SharesBelow;
}

export class MixedShares {
  readonly #parts: readonly Part[];
  readonly #max: number;
  readonly #inputs: number;

  /** @param groups at least one report */
  constructor(groups: readonly SharedGroup[], mechanism: Mechanism, max: number, confidence: number) {
    const total = groups.reduce((sum, { reports }) => sum + reports, 0);
    this.#max = max;
    this.#inputs = mechanism.top + 1;
    this.#parts = groups.map(({ theta, reports, counts, predicted }) => ({
      theta,
      weight: reports / total,
      shares: new SharesBelow({ mechanism, counts, predicted }, confidence),
    }));
  }

  /** At most this share of the values is below x. */
  upper(x: number): number {
    const bounds = this.#parts.map(({ theta, shares }): ShareBound =>
      x >= theta ? { estimate: 1, bound: 1 } : shares.above(Math.ceil((x / theta) * this.#inputs)),
    );
    return this.#mixed(bounds);
  }

  /** At least this share of the values is below x. */
  lower(x: number): number {
    if (x > this.#max) return 1;
    const bounds = this.#parts.map(({ theta, shares }) =>
      shares.below(Math.min(Math.floor((x / theta) * this.#inputs), this.#inputs - 1)),
    );
    return this.#mixed(bounds);
  }

  /** The share of values that were clamped, or as good as: those of their θ's last bin, θ/1024 wide, and above. */
  clipped(): ShareBound & { readonly least: number } {
    const edge = this.#inputs - this.#inputs / BINS;
    const isClipped = ({ theta }: Part): boolean => theta < this.#max;
    const whole: ShareBound = { estimate: 1, bound: 1 };
    const below = this.#parts.map((part) => (isClipped(part) ? part.shares.below(edge) : whole));
    const above = this.#parts.map((part) => (isClipped(part) ? part.shares.above(edge) : whole));
    const estimate = below.reduce((sum, one, i) => sum + this.#parts[i]!.weight * one.estimate, 0);
    const [least, bound] = [1 - this.#mixed(above), 1 - this.#mixed(below)];
    return { estimate: Math.min(bound, Math.max(least, 1 - estimate)), bound, least };
  }

  #mixed(bounds: readonly ShareBound[]): number {
    if (bounds.length === 1) return inUnit(bounds[0]!.bound);
    let [sum, squares, sign] = [0, 0, 0];
    bounds.forEach(({ estimate, bound }, i) => {
      const { weight } = this.#parts[i]!;
      sum += weight * estimate;
      squares += (weight * (bound - estimate)) ** 2;
      sign += bound - estimate;
    });
    return inUnit(sum + Math.sign(sign) * Math.sqrt(squares));
  }
}

/**
 * How far θ may go from the paper's choice (SW-W) on the word of models. Where reports show little, models of the tail say more
 * than anybody can know: at ε = 0.2 the reports cannot tell the upper half of a bell from an exponential tail, and the best θ of
 * the one is half of the other's. In a band around the paper's θ little can be lost against it, whatever the tail is:
 *
 *     0.9·p ≤ θ ≤ max(1.15·p, 1.3·u)      p: the paper's θ; u: EM has six times s above it
 *
 * Noise grows with θ², so 1.15·p costs at most 1.32 times the paper's error. Up to u the reports themselves show that values
 * lie there: EM hardly ever makes up a share of 6·s. There the paper's θ can be wrong by any factor, because it takes a gap for the
 * end. With more reports or a larger ε, s falls, u rises, and the band no longer binds. research/notes/local-threshold.md has how the four
 * numbers were chosen.
 */

const LEAST = 0.9;
const MOST = 1.15;
const BEYOND_SHOWN = 1.3;
const SHOWN = 6;

/**
 * The ends of the band, in bins.
 * @param shares EM's estimate
 * @param resolution s, the least share that reports can tell from 0
 * @param paper the paper's θ, in bins
 */
export function bandAround(
  paper: number,
  shares: Float64Array,
  resolution: number,
): { readonly least: number; readonly most: number } {
  const shown = shownUpTo(shares, SHOWN * resolution);
  return { least: LEAST * paper, most: Math.max(MOST * paper, BEYOND_SHOWN * shown) };
}

/** The place above which a share of `above` lies, in bins; the values of a bin are spread evenly over it. */
export function shownUpTo(shares: Float64Array, above: number): number {
  let rest = above;
  for (let bin = shares.length - 1; bin >= 0; bin--) {
    if (shares[bin]! >= rest) return bin + 1 - rest / shares[bin]!;
    rest -= shares[bin]!;
  }
  return 0;
}

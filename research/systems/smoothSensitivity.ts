/**
 * β-smooth sensitivity of a percentile (Nissim, Raskhodnikova and Smith 2007), as PAK uses it:
 *
 *     SS = max_{k = 0 … m+1} e^(−βk) · max_{t = 0 … k+1} [V(P+t) − V(P+t−k−1)]
 *
 * with V sorted, V(i) = 0 below rank 1 and `max` above rank m. Put j = P+t and i = P+t−k−1: then
 *
 *     SS = max_{i ≤ P ≤ j} f(i, j),   f(i, j) = e^(−β(j−i−1))·(V(j) − V(i)),   0 ≤ i, j ≤ m+1,
 *
 * because outside 0 … m+1 the difference stays and the factor shrinks (and f(P, P) = 0 does no harm). As written
 * that is O(m²). For i < i′ and j < j′
 *
 *     f(i, j)·f(i′, j′) − f(i, j′)·f(i′, j) = e^(…)·(V(j′) − V(j))·(V(i′) − V(i)) ≥ 0,
 *
 * so a best i for some j, with f > 0, bounds a best i for every other j: at most it for smaller j, at least it
 * for larger ones. Halving the j's and handing each half only its own i's takes O(m log m).
 */

/**
 * @param sorted the m values, ascending, in [0, max]
 * @param rank P, counted from 1
 */
export function smoothSensitivity(sorted: Float64Array, rank: number, max: number, beta: number): number {
  const m = sorted.length;
  const ranked = new Float64Array(m + 2); // V(0) … V(m+1)
  ranked.set(sorted, 1);
  ranked[m + 1] = max;
  const decay = new Float64Array(m + 1);
  for (let k = 0; k <= m; k++) decay[k] = Math.exp(-beta * k);

  // Of equal values only the one next to P can win: same difference, larger factor.
  const below: number[] = [];
  for (let i = 0; i <= rank; i++) if (i === rank || ranked[i]! < ranked[i + 1]!) below.push(i);
  const above: number[] = [];
  for (let j = rank; j <= m + 1; j++) if (j === rank || ranked[j]! > ranked[j - 1]!) above.push(j);

  let best = 0;
  /** Rows `above[top … bottom]`, each with a best column in `below[left … right]`. */
  const search = (top: number, bottom: number, left: number, right: number): void => {
    if (top > bottom) return;
    const middle = (top + bottom) >> 1;
    const j = above[middle]!;
    const upper = ranked[j]!;
    let row = 0;
    // A row that is 0 throughout has j = P and all its V(i) equal to V(P): the last i is best for every larger j.
    let choice = right;
    for (let column = right; column >= left; column--) {
      const i = below[column]!;
      if (i === j) continue;
      const value = decay[j - i - 1]! * (upper - ranked[i]!);
      if (value > row) {
        row = value;
        choice = column;
      }
    }
    best = Math.max(best, row);
    search(top, middle - 1, left, choice);
    search(middle + 1, bottom, choice, right);
  };
  search(0, above.length - 1, 0, below.length - 1);
  return best;
}

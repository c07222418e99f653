import { remember, remembered, remembers, type Smoother } from "./smoother.js";

/** Blocks the median looks back on, so that its memory stays bounded on endless streams. */
export const MEDIAN_BLOCKS = 4096;

/** p_(t+1) = median of û_1 … û_t, of the last 4096 when there are more. */
export function median(): Smoother {
  const state = new Float64Array(1 + MEDIAN_BLOCKS);
  const sorted = new Float64Array(MEDIAN_BLOCKS);
  let known = NaN; // how many estimates `sorted` knows of; a restored state has more, and `sorted` is made again
  return {
    ...remembers(state),
    load(from) {
      state.set(from);
      known = NaN;
    },
    next(estimate) {
      const size = remembered(state);
      if (known !== state[0]) {
        sorted.fill(Infinity).set(state.subarray(1, 1 + size));
        sorted.sort();
      }
      const leaving = size === MEDIAN_BLOCKS ? state[1 + (state[0]! % MEDIAN_BLOCKS)]! : Infinity;
      remember(state, estimate);
      replace(sorted, leaving, estimate);
      known = state[0]!;
      const count = remembered(state);
      const upper = sorted[count >> 1]!;
      return count % 2 === 1 ? upper : (sorted[(count >> 1) - 1]! + upper) / 2;
    },
  };
}

/** Puts `value` into a sorted array in the place of one `gone`, moving only what lies between. */
function replace(sorted: Float64Array, gone: number, value: number): void {
  const from = lowerBound(sorted, gone);
  let to = lowerBound(sorted, value);
  if (to > from) sorted.copyWithin(from, from + 1, to--);
  else sorted.copyWithin(to + 1, to, from);
  sorted[to] = value;
}

function lowerBound(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

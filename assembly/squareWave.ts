/**
 * Expectation maximisation for the Square Wave mechanism, O(n) a step (src/core/tables/transition.ts has the tables).
 *
 *     predicted = M f,   f'_j ∝ f_j · (Mᵀ (counts / predicted))_j
 *
 * M is a constant plus a band. M f: sums of f over windows of k bins, resampled from input to output bins by four
 * taps; Mᵀ g: the same two passes, transposed. Windows are sums of two positive parts, never differences of
 * running sums, so nothing cancels at any ε.
 */

/**
 * Splits `source` into blocks of k: prefix[x] = sum of x's block before x, suffix[x] = sum of it from x on.
 * So the window [x, x + k) is suffix[x] + prefix[x + k]. Returns what the last block holds.
 */
function blockSums(source: usize, length: i32, k: i32, prefix: usize, suffix: usize): f64 {
  let before: f64 = 0;
  for (let start = 0; start < length; start += k) {
    const end = min(start + k, length);
    let from: f64 = 0;
    before = 0;
    // Both directions in one loop: two chains of additions instead of one after the other.
    for (
      let up = (<usize>start) << 3, down = (<usize>end - 1) << 3;
      up < (<usize>end) << 3;
      up += 8, down -= 8
    ) {
      store<f64>(prefix + up, before);
      before += load<f64>(source + up);
      from += load<f64>(source + down);
      store<f64>(suffix + down, from);
    }
  }
  return before;
}

/** Σ_e taps[e] · source[start + e] over four taps, for two rows at once. */
// @ts-ignore: decorator
@inline
function resample(source: usize, starts: usize, taps: usize): v128 {
  const a = source + ((<usize>load<u32>(starts)) << 3);
  const b = source + ((<usize>load<u32>(starts, 4)) << 3);
  const first = f64x2.add(
    f64x2.mul(v128.load(taps), v128.load(a)),
    f64x2.mul(v128.load(taps, 16), v128.load(a, 16)),
  );
  const second = f64x2.add(
    f64x2.mul(v128.load(taps, 32), v128.load(b)),
    f64x2.mul(v128.load(taps, 48), v128.load(b, 16)),
  );
  return f64x2.add(v128.shuffle<f64>(first, second, 0, 2), v128.shuffle<f64>(first, second, 1, 3));
}

// @ts-ignore: decorator
@inline
function lanes(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}

/** out[t] = sum of f over the k bins before t, for t = 0 … n + k; then three zeros for the taps that stick out. */
function windowsBefore(f: usize, n: i32, k: i32, prefix: usize, suffix: usize, out: usize): void {
  memory.fill(suffix, 0, (<usize>k) << 3);
  const rest = blockSums(f, n, k, prefix, suffix + ((<usize>k) << 3));
  store<f64>(suffix + ((<usize>(n + k)) << 3), 0);
  const blockEnd = ((n + k - 1) / k) * k;
  for (let x = n; x <= n + k; x++) store<f64>(prefix + ((<usize>x) << 3), x < blockEnd ? rest : 0);
  let at: usize = 0;
  for (const end = (<usize>(n + k + 1)) << 3; at < end; at += 16)
    v128.store(out + at, f64x2.add(v128.load(suffix + at), v128.load(prefix + at)));
  memory.fill(out + ((<usize>(n + k + 1)) << 3), 0, 24);
}

/** f ← [1, 2, 1]/4 f, with (2, 1)/3 and (1, 2)/3 at the borders, divided by its sum. */
function smoothen(f: usize, n: i32, scratch: usize): void {
  memory.copy(scratch, f, (<usize>n) << 3);
  const last = (<usize>(n - 1)) << 3;
  store<f64>(f, (2 * load<f64>(scratch) + load<f64>(scratch, 8)) / 3);
  store<f64>(f + last, (load<f64>(scratch + last - 8) + 2 * load<f64>(scratch + last)) / 3);
  for (let at: usize = 8; at < last; at += 8)
    store<f64>(
      f + at,
      (load<f64>(scratch + at - 8) + 2 * load<f64>(scratch + at) + load<f64>(scratch + at, 8)) / 4,
    );
  normalise(f, n);
}

function normalise(f: usize, n: i32): void {
  let sums = f64x2.splat(0);
  const end = (<usize>n) << 3;
  for (let at: usize = 0; at < end; at += 16) sums = f64x2.add(sums, v128.load(f + at));
  const sum = f64x2.splat(lanes(sums));
  for (let at: usize = 0; at < end; at += 16) v128.store(f + at, f64x2.div(v128.load(f + at), sum));
}

/**
 * Runs `steps` updates and keeps all of them.
 * @param n bins, even; k: width of the window in input bins
 * @param level n: what every input adds to an output bin
 * @param starts, taps rows of M f: n first places, n × 4 weights; backStarts, backTaps: rows of Mᵀ g, n + k of them, one more if odd
 * @param counts n: reports per output bin
 * @param estimates (steps + 1) × n, the first filled: each update writes the next
 * @param predicted steps × n: M f of the estimate that entered each update
 * @param work 4 × (n + k + 8) doubles, aligned to 16 bytes each
 */
export function emSteps(
  n: i32,
  k: i32,
  level: usize,
  starts: usize,
  taps: usize,
  backStarts: usize,
  backTaps: usize,
  counts: usize,
  smooth: bool,
  steps: i32,
  estimates: usize,
  predicted: usize,
  work: usize,
): void {
  const row = (<usize>n) << 3;
  const room = ((<usize>(n + k + 8)) << 3) & ~15;
  const windows = work,
    prefix = work + room,
    suffix = prefix + room,
    ratios = suffix + room;
  const backRows = <usize>((n + k + 1) & ~1);
  memory.fill(ratios + row, 0, 32);
  for (let step = 0; step < steps; step++, estimates += row, predicted += row) {
    windowsBefore(estimates, n, k, prefix, suffix, windows);
    let constants = f64x2.splat(0);
    for (let at: usize = 0; at < row; at += 16) {
      const l = v128.load(level + at);
      const p = f64x2.add(l, resample(windows, starts + (at >> 1), taps + (at << 2)));
      const ratio = f64x2.div(v128.load(counts + at), p);
      v128.store(predicted + at, p);
      v128.store(ratios + at, ratio);
      constants = f64x2.add(constants, f64x2.mul(l, ratio));
    }
    const constant = f64x2.splat(lanes(constants));
    for (let at: usize = 0; at < backRows << 3; at += 16)
      v128.store(windows + at, resample(ratios, backStarts + (at >> 1), backTaps + (at << 2)));
    blockSums(windows, n + k, k, prefix, suffix);
    const ahead = prefix + ((<usize>k) << 3);
    const next = estimates + row;
    for (let at: usize = 0; at < row; at += 16) {
      const gain = f64x2.add(constant, f64x2.add(v128.load(suffix + at), v128.load(ahead + at)));
      v128.store(next + at, f64x2.mul(v128.load(estimates + at), gain));
    }
    normalise(next, n);
    if (smooth) smoothen(next, n, windows);
  }
}

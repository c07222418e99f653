/**
 * Makes one tree of noisy counts consistent: the least-squares answer of Appendix C, Eq. 10–11, from integer
 * residuals. True counts T are consistent already, so noise N and noisy counts H = T + N have the same residuals,
 * exactly, and all that follows is the same bit for bit: it can run before the first value arrives.
 *
 * For a node x of level l (leaves: 1) above p = b^(l−1) leaves, with a_l = (bp − p)/(bp − 1) of Eq. 10:
 *     excess      D(x) = Σ_children (H(y) + e(y)) − H(x)
 *     upwards     e(x) = (1 − a_l)·D(x),   e(leaf) = 0
 *     downwards   f(x) = e(x) + w(parent of x),   w(above the top) = 0
 *     share       w(x) = (f(x) − D(x))/b = w(parent of x)/b − (a_l/b)·D(x)
 * A leaf moves by f(leaf) = w(its parent): one number that b siblings have in common.
 */

/**
 * @param nodes leaves first, top last (src/core/layout.ts)
 * @param leaves b^(L−1), L ≥ 2
 * @param excess one f64 per node above the leaves; the first leaves/b of them become the corrections f(leaf)
 */
export function makeConsistent(nodes: usize, leaves: i32, b: i32, excess: usize): void {
  const top = measureExcess(nodes, leaves, b, excess);
  shareDown(top, leaves, b);
}

/** D of every node above the leaves, upwards. Returns where the top's lies. */
function measureExcess(nodes: usize, leaves: i32, b: i32, excess: usize): usize {
  const family = (<usize>b) << 3;
  let size = leaves / b;
  let child = nodes;
  let node = nodes + ((<usize>leaves) << 3);
  let childExcess = excess;

  let x = 0;
  for (; x < size - 1; x += 2, child += 2 * family, node += 16, excess += 16) {
    const even = sumLanes(child, family),
      odd = sumLanes(child + family, family);
    const sums = f64x2.add(v128.shuffle<f64>(even, odd, 0, 2), v128.shuffle<f64>(even, odd, 1, 3));
    v128.store(excess, f64x2.sub(sums, v128.load(node)));
  }
  for (; x < size; x++, child += family, node += 8, excess += 8)
    store<f64>(excess, sumIntegers(child, family) - load<f64>(node));

  for (let p: f64 = b; size > 1; p *= b) {
    const c = (p - 1) / (p * b - 1); // 1 − a of the children's level
    size /= b;
    for (x = 0; x < size; x++, child += family, node += 8, excess += 8, childExcess += family)
      store<f64>(
        excess,
        c * sumInOrder(childExcess, family) + (sumIntegers(child, family) - load<f64>(node)),
      );
  }
  return excess - 8;
}

/** Each D becomes the share w in place, downwards, ending with the parents of the leaves. */
function shareDown(top: usize, leaves: i32, b: i32): void {
  const family = (<usize>b) << 3;
  let p: f64 = leaves;
  store<f64>(top, 0 - shareOfExcess(p, b) * load<f64>(top));

  let parent = top;
  for (let parents = 1; parents * b < leaves; parents *= b) {
    p /= b;
    const k = shareOfExcess(p, b);
    const first = parent - <usize>parents * family;
    let node = first;
    for (let x = 0; x < parents; x++, parent += 8) {
      const given = load<f64>(parent) / b;
      const end = node + family;
      for (; node + 16 <= end; node += 16)
        v128.store(node, f64x2.sub(f64x2.splat(given), f64x2.mul(f64x2.splat(k), v128.load(node))));
      for (; node < end; node += 8) store<f64>(node, given - k * load<f64>(node));
    }
    parent = first;
  }
}

/** a_l/b of a node above p leaves: quotient of two exact integers. */
// @ts-ignore: decorator
@inline
function shareOfExcess(p: f64, b: f64): f64 {
  return (p - p / b) / (p * b - 1);
}

/** Sum of `bytes` bytes of integers: below 2⁵³ it is exact, so lanes may share the work in any order. */
// @ts-ignore: decorator
@inline
export function sumIntegers(at: usize, bytes: usize): f64 {
  const lanes = sumLanes(at, bytes);
  return f64x2.extract_lane(lanes, 0) + f64x2.extract_lane(lanes, 1);
}

/** A sum that is left in two lanes. */
// @ts-ignore: decorator
@inline
function sumLanes(at: usize, bytes: usize): v128 {
  if (bytes == 128) return sumSixteen(at); // the default fan-out, without a loop
  const end = at + bytes;
  let sum = f64x2.splat(0);
  for (; at + 128 <= end; at += 128) sum = f64x2.add(sum, sumSixteen(at));
  for (; at + 16 <= end; at += 16) sum = f64x2.add(sum, v128.load(at));
  return at < end ? f64x2.add(sum, v128.load64_zero(at)) : sum;
}

// @ts-ignore: decorator
@inline
function sumSixteen(at: usize): v128 {
  const a = f64x2.add(v128.load(at), v128.load(at, 16));
  const b = f64x2.add(v128.load(at, 32), v128.load(at, 48));
  const c = f64x2.add(v128.load(at, 64), v128.load(at, 80));
  const d = f64x2.add(v128.load(at, 96), v128.load(at, 112));
  return f64x2.add(f64x2.add(a, b), f64x2.add(c, d));
}

/** Sum of `bytes` bytes of fractions from first to last: rounding makes the order part of the answer. */
// @ts-ignore: decorator
@inline
export function sumInOrder(at: usize, bytes: usize): f64 {
  let sum: f64 = 0;
  for (const end = at + bytes; at < end; at += 8) sum += load<f64>(at);
  return sum;
}

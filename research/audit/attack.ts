/**
 * The attack: a lower bound on ε from what a mechanism was seen to do on two neighbouring inputs.
 *
 * ε-differential privacy says P(E | x) ≤ e^ε·P(E | x′) for every event E. So any event gives a bound:
 * ε ≥ ln(P(E | x)/P(E | x′)). A training half of the runs finds a good event, and the other half, which had no
 * part in finding it, counts how often it happens: Clopper–Pearson bounds both probabilities, whatever E is.
 *
 * Two views of every number are tried: its value, and its lowest set bit, which is where floating-point noise
 * shows what it was added to. Each is cut into cells; the events tried are all values up to
 * an edge, all from an edge on, and the cells of highest likelihood ratio, as the lemma of Neyman and Pearson asks for.
 */
import { lowerBound, upperBound } from "./clopperPearson.js";

/** Runs on one input, one row per run. */
export interface Observations {
  /** Names of the numbers of a row. */
  readonly features: readonly string[];
  readonly rows: Float64Array;
}

export interface Finding {
  /** ε is at least this, with the confidence asked for; 0 if nothing can be said. */
  readonly lowerBound: number;
  /** The event, in words. */
  readonly event: string;
}

type View = "value" | "lowest set bit";

interface Event {
  readonly feature: number;
  readonly view: View;
  /** Cell i is [edges[i − 1], edges[i]). */
  readonly edges: Float64Array;
  readonly inside: Uint8Array;
  /** Whether the event is likelier on the second input. */
  readonly swapped: boolean;
}

const CELLS = 256;

/**
 * @param alpha probability that the bound is wrong
 * @param delta δ of the claim: P(E | x) ≤ e^ε·P(E | x′) + δ, so ε ≥ ln((P(E | x) − δ)/P(E | x′))
 */
export function attack(first: Observations, second: Observations, alpha: number, delta = 0): Finding {
  const width = first.features.length;
  const half = Math.floor(Math.min(first.rows.length, second.rows.length) / width / 2);
  if (half < 2) throw new RangeError("samples: expected at least 4 runs on each input");
  const training = [first, second].map(({ rows }) => rows.subarray(0, half * width));
  const holdout = [first, second].map(({ rows }) => rows.subarray(half * width, 2 * half * width));
  const event = bestEvent(training[0]!, training[1]!, width, alpha, delta);
  const [likely, unlikely] = event.swapped ? [1, 0] : [0, 1];
  const low = lowerBound(happens(event, holdout[likely]!, width), half, alpha / 2) - delta;
  const high = upperBound(happens(event, holdout[unlikely]!, width), half, alpha / 2);
  return {
    lowerBound: low > 0 ? Math.max(0, Math.log(low / high)) : 0,
    event: describe(event, first.features),
  };
}

/** A quarter of the runs puts cells in order, another chooses how many of them to take: no cell is taken for its luck. */
function bestEvent(
  first: Float64Array,
  second: Float64Array,
  width: number,
  alpha: number,
  delta: number,
): Event {
  let best: { event: Event; bound: number } | undefined;
  for (let feature = 0; feature < width; feature++)
    for (const view of ["value", "lowest set bit"] as const) {
      const [x, y] = [column(first, width, feature, view), column(second, width, feature, view)];
      const edges = quantiles(x, y);
      const quarter = x.length >> 1;
      const [orderA, orderB] = [x, y].map((values) => cellCounts(values.subarray(0, quarter), edges));
      const [a, b] = [x, y].map((values) => cellCounts(values.subarray(quarter), edges));
      for (const order of orders(orderA!, orderB!))
        for (const swapped of [false, true]) {
          const { inside, bound } = swapped
            ? bestCells(order, b!, a!, alpha, delta)
            : bestCells(order, a!, b!, alpha, delta);
          if (best === undefined || bound > best.bound)
            best = { event: { feature, view, edges, inside, swapped }, bound };
        }
    }
  return best!.event;
}

/** Ways to line up the cells so that the first so-and-so many make a good event: by likelihood ratio, and by value. */
function orders(a: Float64Array, b: Float64Array): number[][] {
  const ratio = (cell: number) => (a[cell]! + 0.5) / (b[cell]! + 0.5);
  const byValue = Array.from(a.keys());
  const byRatio = byValue.toSorted((c, d) => ratio(d) - ratio(c));
  return [byValue, byValue.toReversed(), byRatio, byRatio.toReversed()];
}

function column(rows: Float64Array, width: number, feature: number, view: View): Float64Array {
  const out = new Float64Array(rows.length / width);
  for (let i = 0; i < out.length; i++) out[i] = seen(rows[i * width + feature]!, view);
  return out;
}

const seen = (value: number, view: View): number => (view === "value" ? value : lowestBit(value));

const bits = new DataView(new ArrayBuffer(8));

/** The exponent of a double's lowest set bit: 3 for 24, −1 for 2.5. Zero has none and counts as 2000. */
export function lowestBit(value: number): number {
  if (value === 0) return 2000;
  bits.setFloat64(0, value);
  const [high, low] = [bits.getUint32(0), bits.getUint32(4)];
  const exponent = Math.max(1, (high >>> 20) & 0x7ff) - 1075; // subnormals: as if it were 1
  if (low !== 0) return exponent + trailingZeros(low);
  const upper = high & 0xfffff;
  return upper !== 0 ? exponent + 32 + trailingZeros(upper) : exponent + 52;
}

const trailingZeros = (word: number): number => 31 - Math.clz32(word & -word);

/** Values that cut both samples together into cells of about the same size; equal values share a cell. */
function quantiles(x: Float64Array, y: Float64Array): Float64Array {
  const pooled = new Float64Array(x.length + y.length);
  pooled.set(x);
  pooled.set(y, x.length);
  pooled.sort();
  const edges = new Set<number>();
  for (let k = 0; k < CELLS; k++) edges.add(pooled[Math.floor((k * pooled.length) / CELLS)]!);
  return Float64Array.from(edges);
}

/** How many edges are at most `value`. */
function cellOf(value: number, edges: Float64Array): number {
  let [low, high] = [0, edges.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (edges[middle]! <= value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function cellCounts(values: Float64Array, edges: Float64Array): Float64Array {
  const counts = new Float64Array(edges.length + 1);
  for (const value of values) counts[cellOf(value, edges)]!++;
  return counts;
}

/** The first so-and-so many cells of `order`, as many as give the best bound. */
function bestCells(
  order: readonly number[],
  likely: Float64Array,
  unlikely: Float64Array,
  alpha: number,
  delta: number,
): { inside: Uint8Array; bound: number } {
  const total = likely.reduce((sum, count) => sum + count, 0);
  let [hits, others, taken, bound] = [0, 0, 0, -Infinity];
  order.forEach((cell, i) => {
    hits += likely[cell]!;
    others += unlikely[cell]!;
    const at = roughBound(hits, others, total, alpha, delta);
    if (at > bound) [taken, bound] = [i + 1, at];
  });
  const inside = new Uint8Array(likely.length);
  for (const cell of order.slice(0, taken)) inside[cell] = 1;
  inside[0] = inside[1]!; // nothing of the training half is below its smallest value
  return { inside, bound };
}

/** The bound by Wilson's intervals: near to Clopper–Pearson's and quick, which is enough to choose by. */
function roughBound(hits: number, others: number, tries: number, alpha: number, delta: number): number {
  const z = Math.sqrt(-2 * Math.log(alpha));
  const wilson = (k: number, side: number) => {
    const p = k / tries;
    const spread = z * Math.sqrt((p * (1 - p)) / tries + (z * z) / (4 * tries * tries));
    return (p + (z * z) / (2 * tries) + side * spread) / (1 + (z * z) / tries);
  };
  const low = wilson(hits, -1) - delta;
  return low > 0 ? Math.log(low / wilson(others, 1)) : -Infinity;
}

function happens({ feature, view, edges, inside }: Event, rows: Float64Array, width: number): number {
  let count = 0;
  for (let at = feature; at < rows.length; at += width)
    count += inside[cellOf(seen(rows[at]!, view), edges)]!;
  return count;
}

/** "noisy value < 12", or how many cells where they are not at one end. */
function describe({ feature, view, edges, inside }: Event, features: readonly string[]): string {
  const name = view === "value" ? features[feature]! : `lowest set bit of ${features[feature]!}`;
  const number = (value: number) => String(Number(value.toPrecision(6)));
  const changes = Array.from(inside).flatMap((cell, i) => (i > 0 && cell !== inside[i - 1] ? [i] : []));
  if (changes.length !== 1) return `${name} in ${inside.filter(Boolean).length} of ${inside.length} cells`;
  return `${name} ${inside[0] === 1 ? "<" : "≥"} ${number(edges[changes[0]! - 1]!)}`;
}

/**
 * θ on a grid of integers. The thresholds compared with here have no upper bound, so the grid follows θ: as fine as
 * asked for, and coarser by powers of two where sums or noise would not stay exact. θ is public by then, and so is
 * the grid.
 */
import type { AnswerKind } from "../../src/stream/answer/answer.js";
import type { RawAnswer } from "../../src/stream/answer/rangeIndex.js";
import type { Publisher } from "../../src/stream/publisher.js";
import { checkFinite } from "../../src/core/checks.js";
import { quantise } from "../../src/core/quantise.js";

export interface Grid {
  /** Θ ≥ 1, the largest clamped value in grid units. */
  readonly theta: number;
  readonly resolution: number;
}

const MOST_SCALE = 2 ** 40;
const MOST_SUM = 2 ** 51;
/** P(|noise| > 100 t) < 2⁻¹⁴⁴. */
const MARGIN = 100;

/**
 * @param theta above 0, in units of the stream
 * @param noise the largest scale of the noise on a node for Θ = 1
 * @param values how many values are summed at most
 */
export function fitGrid(theta: number, resolution: number, noise: number, values: number): Grid {
  const fits = (units: number) =>
    units * noise <= MOST_SCALE && units * values + MARGIN * units * noise <= MOST_SUM;
  let unit = resolution;
  while (!fits(Math.ceil(theta / unit)) && theta > unit) unit *= 2;
  if (!fits(1))
    throw new RangeError(
      `epsilon: noise of scale ${noise.toPrecision(3)}·θ over ${values} values does not stay exact in a double; raise epsilon or lower maxRange`,
    );
  return { theta: Math.max(1, Math.floor(theta / unit + 0.5)), resolution: unit };
}

/** A way to publish integers: what it takes and gives is in grid units. */
export interface IntegerStream {
  readonly length: number;
  readonly oldest: number;
  push(x: number): number;
  /** Publishes many values, with the bits of one `push` each. */
  pushMany(xs: Float64Array): Float64Array;
  answer(from: number, to: number, kind: AnswerKind): RawAnswer;
}

/** Clamps to θ, rounds to the grid, and publishes by `inner`. */
export function onGrid(inner: IntegerStream, { theta, resolution }: Grid): Publisher {
  const largest = theta * resolution;
  return {
    get length() {
      return inner.length;
    },
    get oldest() {
      return inner.oldest;
    },
    resolution,
    push: (value) => inner.push(quantise(value, largest, resolution)) * resolution,
    pushMany(values) {
      checkFinite(values);
      const xs = new Float64Array(values.length);
      for (let i = 0; i < xs.length; i++) xs[i] = quantise(values[i]!, largest, resolution);
      const published = inner.pushMany(xs);
      if (resolution !== 1) for (let i = 0; i < published.length; i++) published[i]! *= resolution;
      return published;
    },
    answer: (from, to, kind) => inner.answer(from, to, kind),
  };
}

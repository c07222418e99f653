/**
 * Releases of one stream over and over, for coverage: reports are drawn by the kernel and added up as the aggregator does,
 * without wrapping and unwrapping them. θ, the error bars and what clamping hides come from the aggregator itself.
 */
import { Stage, subStream, unsafeKey } from "../../src/core/random.js";
import type { Core } from "../../src/core/core.js";
import type { Aggregator } from "../../src/local/aggregator.js";
import { type LocalAnswer, makeLocalAnswer } from "../../src/local/answer.js";
import { estimateOf } from "../../src/local/moments.js";
import { makeChannel, reporter } from "../../src/local/reporter.js";

/** Running sums: entry i is the sum of the first i numbers. */
export function running(values: Float64Array): Float64Array {
  const sums = new Float64Array(values.length + 1);
  for (let i = 0; i < values.length; i++) sums[i + 1] = sums[i]! + values[i]!;
  return sums;
}

/** Reports that are sent the long way too, to see that both ways agree. */
const CHECKED = 1000;

/** Gives a maker of releases: every seed answers ranges with other noise. */
export function releaser(
  core: Core,
  server: Aggregator,
  values: Float64Array,
  { epsilon, max }: { epsilon: number; max: number },
): (seed: string) => (from: number, to: number) => LocalAnswer {
  const { threshold: theta, noise, expectedClipping } = server.statement();
  const { mechanism, quantiser } = makeChannel("release", epsilon, theta!);
  const worth = cellValues(mechanism.cells, (cell) => estimateOf(mechanism, cell) * theta!);
  const cells = new Uint32Array(values.length);
  const sumsOf = (seed: string): Float64Array => {
    const random = subStream(unsafeKey(seed), Stage.reports, 1, 0); // as a reporter in phase "release"
    core.fillReports(random, mechanism, quantiser, values, cells);
    const sums = new Float64Array(cells.length + 1);
    for (let i = 0; i < cells.length; i++) sums[i + 1] = sums[i]! + worth(cells[i]!);
    return sums;
  };
  const device = reporter({
    epsilon,
    max,
    phase: "release",
    threshold: theta!,
    core,
    unsafeKey: unsafeKey("check"),
  });
  server.release(device.reportMany(values.subarray(0, CHECKED)));
  const drift = server.range(0, CHECKED).sum - sumsOf("check")[CHECKED]!;
  if (!(Math.abs(drift) < 1e-6 * theta!)) throw new Error("release: not what the aggregator publishes");
  return (seed) => {
    const sums = sumsOf(seed);
    return (from, to) =>
      makeLocalAnswer(
        sums[to]! - sums[from]!,
        to - from,
        noise! * Math.sqrt(to - from),
        expectedClipping! * (to - from),
      );
  };
}

/** `estimate` is affine over the window's cells and has two values besides: the last two cells. */
function cellValues(cells: number, estimate: (cell: number) => number): (cell: number) => number {
  const first = estimate(0);
  const step = (estimate(cells - 3) - first) / (cells - 3);
  const [low, high] = [estimate(cells - 2), estimate(cells - 1)];
  return (cell) => (cell < cells - 2 ? first + step * cell : cell === cells - 2 ? low : high);
}

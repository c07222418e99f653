/**
 * Releases of one stream over and over, for coverage: reports are drawn by the kernel and added up as the aggregator does,
 * without wrapping and unwrapping them. θ, the error bars and what clamping hides come from the aggregator itself.
 */
import { type Random, Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import type { Core } from "../../src/core/core.js";
import type { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { type PaperAnswer, makePaperAnswer } from "../../src/local/paper/answer.js";
import { estimateOf } from "../../src/local/moments.js";
import { unpackReport } from "../../src/local/report.js";
import { reporter } from "../../src/local/anyCoreReporter.js";
import { paperChannel } from "../../src/local/paper/paperChannel.js";

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
  server: PaperAggregator,
  values: Float64Array,
  { epsilon, max }: { epsilon: number; max: number },
): (seed: string) => (from: number, to: number) => PaperAnswer {
  const { threshold: theta, noise, expectedClipping } = server.statement();
  const { mechanism, quantiser } = paperChannel("release", epsilon, theta!);
  const worth = cellValues(mechanism.cells, (cell) => estimateOf(mechanism, cell) * theta!);
  const cells = new Uint32Array(values.length);
  const release = (random: Random): Float64Array => {
    core.fillReports(random, mechanism, quantiser, values, cells);
    const sums = new Float64Array(cells.length + 1);
    for (let i = 0; i < cells.length; i++) sums[i + 1] = sums[i]! + worth(cells[i]!);
    return sums;
  };
  // A reporter's own reports must be worth what the aggregator publishes for them.
  const device = reporter({
    variant: "paper",
    epsilon,
    max,
    phase: "release",
    threshold: theta!,
    unsafeSeed: "check",
  });
  const reports = device.reportMany(values.subarray(0, CHECKED));
  const published = server.release(reports);
  const drift = published.reduce(
    (sum, value, i) => sum + value - worth(unpackReport(reports, 8 * i)!.cell),
    0,
  );
  if (!(Math.abs(drift) < 1e-6 * theta!)) throw new Error("release: not what the aggregator publishes");
  return (seed) => {
    const sums = release(subStream(unsafeKey(seed), Purpose.reports, 1, 0));
    return (from, to) =>
      makePaperAnswer(
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

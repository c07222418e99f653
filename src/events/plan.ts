/** What a release of events will cost in error, before any data: everything follows from public parameters. */
import { errorOfLength, plan as planPositions, type Plan } from "../stream/plan.js";
import type { Settings, StreamOptions } from "../stream/options.js";
import { rankSpread } from "./buckets.js";
import { type Duration, durationText, parseDuration } from "./duration.js";
import { type HistogramOptions, resolveHistogram } from "./histogramOptions.js";
import { isEvents } from "./open.js";
import { type EventStreamOptions, resolveEventStream, type TickSettings } from "./options.js";

export interface EventPlan {
  readonly epsilon: number;
  /** What one event gets of ε. */
  readonly epsilonPerEvent: number;
  /** There is a new estimate this often. */
  readonly block: string;
  readonly holdoutTicks: number;
  /** What the errors are of: "count", "sum, in units of θ", or "count of a bucket". */
  readonly errorsOf: string;
  /** Noise in a range of this length, averaged over where it lies. */
  readonly errors: readonly {
    readonly range: string;
    readonly standardError: number;
    /** Of histograms alone: noise in the number of events below the median, which decides where a percentile is. */
    readonly rankError?: number;
  }[];
}

/** Error and memory of a release, from its options alone. */
export function plan(options: EventStreamOptions | HistogramOptions): EventPlan;
export function plan(options: StreamOptions): Plan;
export function plan(options: StreamOptions | EventStreamOptions | HistogramOptions): Plan | EventPlan {
  return isEvents(options) ? planEvents(options) : planPositions(options as StreamOptions);
}

const RANGES: readonly Duration[] = ["1m", "1h", "1d", "7d", "30d"];

/** @param ranges lengths of ranges that errors are told for */
export function planEvents(
  options: EventStreamOptions | HistogramOptions,
  ranges: readonly Duration[] = RANGES,
): EventPlan {
  if (Object.hasOwn(options, "edges")) {
    const settings = resolveHistogram(options as HistogramOptions);
    const { stream, perEvent, edges, group } = settings;
    const n = edges.length + 1;
    const rank = Math.sqrt(rankSpread(n, group, Math.floor(n / 2), 0.5).variance);
    const errors = errorsOf(stream, settings, ranges, perEvent).map((error) => ({
      ...error,
      rankError: error.standardError * rank,
    }));
    return { ...headOf(settings, stream, 0), errorsOf: "count of a bucket", errors };
  }
  const settings = resolveEventStream(options);
  const { stream } = settings.columns[0]!;
  return {
    ...headOf(settings, stream, settings.choosing + settings.warming),
    errorsOf: settings.of === "count" ? "count" : "sum, in units of θ",
    errors: errorsOf(stream, settings, ranges, 1),
  };
}

function headOf({ epsilon, eventEpsilon, schedule }: TickSettings, stream: Settings, holdoutTicks: number) {
  const block = durationText(stream.blockLength * schedule.every);
  return { epsilon, epsilonPerEvent: eventEpsilon, block, holdoutTicks };
}

function errorsOf(
  stream: Settings,
  { schedule }: TickSettings,
  ranges: readonly Duration[],
  perEvent: number,
) {
  return ranges
    .map((range) => parseDuration("range", range) / schedule.every)
    .filter((ticks) => ticks >= 1 && ticks <= stream.blocksPerForest * stream.blockLength)
    .map((ticks) => ({
      range: durationText(ticks * schedule.every),
      standardError: perEvent * errorOfLength(stream, ticks),
    }));
}

/** ε lies in here; beyond, a plan makes no sense. */
const [LEAST, MOST] = [1e-6, 64];

/**
 * The smallest ε from which on the error is at most `target`, to a thousandth; undefined if there is none up to 64. Blocks
 * get longer as ε falls, so an error may fall again further down: the search goes down step by step.
 */
export function solveEpsilon(target: number, errorAt: (epsilon: number) => number): number | undefined {
  let high = MOST;
  if (errorAt(high) > target) return undefined;
  while (high > LEAST && errorAt(high / 1.05) <= target) high /= 1.05;
  let low = high / 1.05;
  while (high / low > 1.001) {
    const middle = Math.sqrt(low * high);
    if (errorAt(middle) > target) low = middle;
    else high = middle;
  }
  return high;
}

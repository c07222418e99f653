/** Options of a histogram, checked, with every default filled in. */
import { ownOptions } from "../core/checks.js";
import type { Settings } from "../stream/options.js";
import type { Parameters } from "../stream/snapshot.js";
import { type Edges, groupSize, resolveEdges } from "./buckets.js";
import {
  EVENT_OPTIONS,
  type EventOptions,
  forestOf,
  resolveTicks,
  tickParameters,
  type TickSettings,
  withTuning,
} from "./options.js";

export interface HistogramOptions extends EventOptions {
  /** The public edges of the buckets, or `{ min, max, buckets }` for edges that grow by a factor. Default 64 buckets. */
  readonly edges: Edges;
}

export const HISTOGRAM_OPTIONS = [...EVENT_OPTIONS, "edges"];

export interface HistogramSettings extends TickSettings {
  readonly edges: Float64Array;
  /** How many buckets make a group; 1 for none. */
  readonly group: number;
  /** Δ: in how many columns an event counts. */
  readonly perEvent: 1 | 2;
  /** Settings of every column's forest. */
  readonly stream: Settings;
  /** t of the noise on every node. */
  readonly noiseScale: number;
  /** Corrections are rounded to multiples of 1/fraction. */
  readonly fraction: number;
}

/** A bucket has an eighth of the events, or so: what a guess of their number means for one bucket. */
const SHARE_OF_A_BUCKET = 1 / 8;
/** 8 bits after the binary point: beside noise of a scale above 1, less is not seen. */
const FRACTION = 2 ** 8;

export function resolveHistogram(asked: HistogramOptions): HistogramSettings {
  const options = withTuning(ownOptions("options", asked, HISTOGRAM_OPTIONS));
  const ticks = resolveTicks(options);
  const edges = resolveEdges(options.edges);
  const group = groupSize(edges.length + 1);
  const perEvent = group === 1 ? 1 : 2;
  const perBucket = { ...ticks, perTick: ticks.perTick * SHARE_OF_A_BUCKET };
  // Settings see an event that counts once: the block length of least error is that of ε/Δ.
  const tuning = { ...options.tuning, resolution: 1 };
  const { skipped } = forestOf(options, perBucket, ticks.eventEpsilon / perEvent, 1, 1, tuning);
  const stream = forestOf(options, perBucket, ticks.eventEpsilon, 1, 1, { ...tuning, skipLevels: skipped });
  return {
    ...ticks,
    edges,
    group,
    perEvent,
    stream,
    noiseScale: (stream.levels * perEvent) / ticks.eventEpsilon,
    fraction: FRACTION,
  };
}

/** What a snapshot is bound to. */
export function histogramParameters(settings: HistogramSettings): Parameters {
  return tickParameters(settings, settings.stream, { edges: Array.from(settings.edges).join(" ") });
}

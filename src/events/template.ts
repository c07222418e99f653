/** Many streams of events with the same options, each with a name and noise of its own: what a hub makes for its keys. */
import { chooseCore } from "../core/choose.js";
import type { Core } from "../core/core.js";
import type { Settings } from "../stream/options.js";
import type { Parameters } from "../stream/snapshot.js";
import { TickedHistogram } from "./histogram.js";
import { type HistogramOptions, histogramParameters, resolveHistogram } from "./histogramOptions.js";
import type { AnyEvents } from "./open.js";
import {
  type EventSettings,
  type EventStreamOptions,
  resolveEventStream,
  type TickSettings,
} from "./options.js";
import { CountedEvents, streamParameters, ValueEvents } from "./tickedStream.js";

/** What differs from stream to stream. */
export interface Own {
  readonly name: string;
  /** When its first tick starts, in milliseconds since 1970. */
  readonly origin: number;
}

export interface EventTemplate {
  readonly settings: TickSettings;
  /** Settings of its forest, or of the first of two. */
  readonly stream: Settings;
  readonly core: Core;
  make(own: Own, noiseKey: Uint32Array): AnyEvents;
  /** What the snapshots of a stream are bound to. */
  parameters(own: Own): Parameters;
}

/** The limit of a person is applied before events come to the streams. */
export function eventTemplate(options: EventStreamOptions | HistogramOptions): EventTemplate {
  return Object.hasOwn(options, "edges")
    ? histogramTemplate(options as HistogramOptions)
    : streamTemplate(resolveEventStream(options));
}

function streamTemplate(shared: EventSettings): EventTemplate {
  const { stream } = shared.columns[0]!;
  const core = chooseCore(stream.core);
  const Kind = shared.of === "count" ? CountedEvents : ValueEvents;
  const settingsOf = (own: Own): EventSettings => ({
    ...ownTicks(shared, own),
    columns: shared.columns.map((column) => ({ ...column, stream: { ...column.stream, name: own.name } })),
  });
  return {
    settings: shared,
    stream,
    core,
    make: (own, noiseKey) => new Kind(settingsOf(own), core, noiseKey),
    parameters: (own) => streamParameters(settingsOf(own)),
  };
}

function histogramTemplate(options: HistogramOptions): EventTemplate {
  const shared = resolveHistogram(options);
  const { stream } = shared;
  const core = chooseCore(stream.core);
  const settingsOf = (own: Own) => ({ ...ownTicks(shared, own), stream: { ...stream, name: own.name } });
  return {
    settings: shared,
    stream,
    core,
    make: (own, noiseKey) => new TickedHistogram(settingsOf(own), core, noiseKey),
    parameters: (own) => histogramParameters(settingsOf(own)),
  };
}

const ownTicks = <S extends TickSettings>(shared: S, { origin }: Own): S => ({
  ...shared,
  schedule: { ...shared.schedule, origin },
  limitedBefore: true,
});

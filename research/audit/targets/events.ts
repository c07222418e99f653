/**
 * Streams of events, end to end, through the code that publishes: one event more or less, or one person more or less.
 * Two ticks make a tree of two leaves and a top, so the likelihood of what is published is known.
 */
import { TickedHistogram } from "../../../src/events/histogram.js";
import { type HistogramOptions, resolveHistogram } from "../../../src/events/histogramOptions.js";
import { type EventStreamOptions, resolveEventStream } from "../../../src/events/options.js";
import { ValueEvents } from "../../../src/events/tickedStream.js";
import type { Core } from "../../../src/core/core.js";
import type { Random } from "../../../src/core/random.js";
import { type MakeTargets, type Target, THETA, type World } from "../target.js";
import { likelihood } from "./stream.js";

const START = Date.UTC(2026, 0, 1);
const LEVELS = 2;

const ticks = (epsilon: number) => ({
  epsilon,
  every: "1s",
  origin: START,
  maxRange: "4s",
  tuning: { fanout: 2, skipLevels: 0 },
  clock: () => START,
});

/** Publishes two ticks, with or without the event, and gives both numbers. */
type Publish = (world: World, key: Uint32Array) => readonly [number, number];

/** @param moved what the event or the person adds to the first number, and `t` the scale of a node's noise */
function target(name: string, core: Core, moved: number, t: number, publish: Publish): Target {
  return {
    name,
    features: ["likelihood ratio of the published numbers", "first published number"],
    effort: 1,
    observe(world: World, random: Random, rows: Float64Array) {
      const keys = new Uint32Array(4 * rows.length);
      core.keystream(random, keys);
      for (let row = 0; row < rows.length; row += 2) {
        const [first, second] = publish(world, keys.slice(4 * row, 4 * row + 8));
        rows[row] = Math.log(likelihood(first, second, t) / likelihood(first - moved, second, t));
        rows[row + 1] = first;
      }
    },
  };
}

/** @param add gives the stream what makes the difference */
function ofStream(core: Core, options: EventStreamOptions, add: (stream: ValueEvents) => void): Publish {
  const settings = resolveEventStream(options);
  return (world, key) => {
    const stream = new ValueEvents(settings, core, key);
    if (world === 1) add(stream);
    const { values } = stream.advance(START + 2000);
    return [values[0]!, values[1]!];
  };
}

export const counter: MakeTargets = (epsilon, core) => [
  target(
    "an event that is counted, or not there",
    core,
    1,
    LEVELS / epsilon,
    ofStream(core, { ...ticks(epsilon), of: "count" }, (stream) => stream.add(1, { at: START })),
  ),
];

export const events: MakeTargets = (epsilon, core) => [
  target(
    "an event of value max, or none",
    core,
    THETA,
    (LEVELS * THETA) / epsilon,
    ofStream(core, { ...ticks(epsilon), max: THETA, threshold: THETA }, (stream) =>
      stream.add(THETA, { at: START }),
    ),
  ),
];

/** A person with three events, of whom two count. */
export const perPerson: MakeTargets = (epsilon, core) => {
  const options = { ...ticks(epsilon), of: "count", perPerson: { events: 2, every: "1d" } } as const;
  const publish = ofStream(core, options, (stream) => {
    for (let event = 0; event < 3; event++) stream.add(1, { at: START, person: "one" });
  });
  return [target("a person with three events, or nobody", core, 2, (2 * LEVELS) / epsilon, publish)];
};

/** Three buckets; the event is in the second. */
export const histogram: MakeTargets = (epsilon, core) => {
  const options: HistogramOptions = { ...ticks(epsilon), edges: [1, 2] };
  const settings = resolveHistogram(options);
  const publish: Publish = (world, key) => {
    const stream = new TickedHistogram(settings, core, key);
    if (world === 1) stream.add(1.5, { at: START });
    const [first, second] = stream.advance(START + 2000);
    return [first!.counts[1]!, second!.counts[1]!];
  };
  return [target("an event in a bucket, or not there", core, 1, LEVELS / epsilon, publish)];
};

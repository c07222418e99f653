/**
 * A day of events, end to end, through the code that publishes: one event more or less, or one person's day more or less. A
 * release that begins at ten in the evening has a first day of two hours and their sum, so the likelihood of what is
 * published is known. The attacker also sees the day's correction, and so every node's noisy count: more than a release
 * publishes, and what the proof of ε is about.
 */
import type { Core } from "../../../src/core/core.js";
import type { Random } from "../../../src/core/random.js";
import { EventMetric } from "../../../src/events/eventMetric.js";
import type { EventSettings } from "../../../src/events/eventSettings.js";
import { resolveEventStream, resolveHistogram } from "../../../src/events/options.js";
import { SHARES } from "../../../src/events/shares.js";
import { type MakeTargets, type Target, THETA, type World } from "../target.js";
import { likelihood } from "./stream.js";

const HOUR = 3_600_000;
const MIDNIGHT = Date.UTC(2026, 0, 2);
const START = MIDNIGHT - 2 * HOUR;
const LEVELS = ["1h", "1d"] as const;
const NOBODY = new Uint32Array(4);

const day = (epsilon: number) => ({ epsilon, every: "1h", levels: LEVELS, clock: () => START });

/** Publishes the day. @param events values of the events of the first hour that world 1 has, dealt to the streams in turn */
function publish(
  { settings, person, streams = [""] }: Attacked,
  core: Core,
  key: Uint32Array,
  events: readonly number[],
): EventMetric {
  // A stream has a key of its own: words of the run's key that no other stream has.
  const release = (stream: string) => key.slice(8 * streams.indexOf(stream), 8 * streams.indexOf(stream) + 8);
  const keys = { people: NOBODY, own: key.slice(0, 8), release };
  const metric = new EventMetric(settings, core, keys, START, streams);
  for (const [i, value] of events.entries()) {
    const event = { at: START, ...(person === undefined ? {} : { person }) };
    metric.add(streams[i % streams.length]!, value, event);
  }
  while (metric.closeNext(MIDNIGHT, MIDNIGHT) !== undefined);
  return metric;
}

interface Attacked {
  readonly settings: EventSettings;
  /** Values of the events of the first hour that are there, or not. */
  readonly events: readonly number[];
  readonly person?: string;
  /** The keys of a hub's metric; one without a name if there are none. */
  readonly streams?: readonly string[];
  /** How far the events that differ move the columns of the first hour of each stream, together at most by Δ. */
  readonly moved: readonly number[];
  /** t of the noise of a node. */
  readonly t: number;
  /** The log-likelihood ratio of anything that is published beside the hours. */
  readonly beside?: (metric: EventMetric) => number;
}

const FEATURES = [
  "likelihood ratio of all counts",
  "noisy count of the first hour",
  "likelihood ratio of the published numbers",
  "first published number",
] as const;

function target(name: string, core: Core, attacked: Attacked): Target {
  const { events, moved, t, beside, streams = [""] } = attacked;
  const { recording, corrections } = recordCorrections(core);
  const marked = moved.findIndex((by) => by !== 0);
  /** ln of P(H = h | no events)/P(H = h | the events move it). */
  const evidence = (h: number, by: number): number => (Math.abs(h - by) - Math.abs(h)) / t;
  return {
    name,
    features: FEATURES,
    effort: 1,
    observe(world: World, random: Random, rows: Float64Array) {
      const width = FEATURES.length;
      const words = 8 * streams.length;
      const keys = new Uint32Array((words * rows.length) / width);
      core.keystream(random, keys);
      for (let run = 0; run < rows.length / width; run++) {
        corrections.length = 0;
        const key = keys.slice(words * run, words * (run + 1));
        const metric = publish(attacked, recording, key, world === 1 ? events : []);
        const row = rows.subarray(width * run, width * (run + 1));
        row.fill(0);
        row[0] = row[2] = beside?.(metric) ?? 0;
        for (const [at, stream] of streams.entries()) {
          const release = metric.release(stream)!;
          const first = release.measure(START, START + HOUR).sums;
          const second = release.measure(START + HOUR, MIDNIGHT).sums;
          for (const [i, by] of moved.entries()) {
            if (by === 0) continue;
            const [x, y] = [first[i]!, second[i]!];
            const correction = corrections[at * moved.length + i]![0]!;
            row[0] += evidence(x - correction, by) + evidence(x + y + correction, by);
            row[2] += Math.log(likelihood(x, y, t) / likelihood(x - by, y, t));
          }
          row[1]! += first[marked]! - corrections[at * moved.length + marked]![0]!;
          row[3]! += first[marked]!;
        }
      }
    },
  };
}

/**
 * A core that keeps the correction z of each day it grows: by stream, then by column. Two leaves x, y of one family are
 * released as H + z, and the sum of their noisy counts misses that of the day by 3z: the day's is x + y + z.
 */
function recordCorrections(core: Core): { readonly recording: Core; readonly corrections: Float64Array[] } {
  const corrections: Float64Array[] = [];
  const growDay: Core["growDay"] = (...day) => {
    const grown = core.growDay(...day);
    corrections.push(grown); // not a copy: the release rounds it in place
    return grown;
  };
  return { recording: { ...core, growDay }, corrections };
}

export const counter: MakeTargets = (epsilon, core) => [
  target("an event of a day that is counted, or not there", core, {
    settings: resolveEventStream({ ...day(epsilon), of: "count" }),
    events: [1],
    moved: [1],
    t: LEVELS.length / epsilon,
  }),
];

const values = (epsilon: number) => ({ ...day(epsilon), max: THETA, threshold: THETA, resolution: 1 });

export const events: MakeTargets = (epsilon, core) => [
  target("an event of value max, or none", core, {
    settings: resolveEventStream(values(epsilon)),
    events: [THETA],
    moved: [THETA],
    t: (LEVELS.length * THETA) / epsilon,
  }),
];

/** The columns Σ v and Σ (θ − v) of a mean, which one event moves by θ together: by a quarter and three quarters here. */
export const mean: MakeTargets = (epsilon, core) => [
  target("an event of a mean, or none", core, {
    settings: resolveEventStream({ ...values(epsilon), of: "mean" }),
    events: [THETA / 4],
    moved: [THETA / 4, (3 * THETA) / 4],
    t: (LEVELS.length * THETA) / epsilon,
  }),
];

/** A person's day: three events, of whom two count, and one person more among those who lost an event. */
function personsDay(
  name: string,
  epsilon: number,
  core: Core,
  dealt: Pick<Attacked, "moved" | "streams">,
): readonly Target[] {
  const settings = resolveEventStream({ ...day(epsilon), of: "count", perPerson: 2 });
  const { release, limited } = settings.shares;
  const own = (limited * epsilon) / SHARES;
  return [
    target(name, core, {
      settings,
      events: [1, 1, 1],
      person: "one",
      ...dealt,
      t: (2 * LEVELS.length * SHARES) / (release * epsilon),
      beside({ limitedDays }) {
        const { lost } = limitedDays[0]!;
        return own * (Math.abs(lost - 1) - Math.abs(lost));
      },
    }),
  ];
}

export const perPerson: MakeTargets = (epsilon, core) =>
  personsDay("a person with three events in a day, or nobody", epsilon, core, { moved: [2] });

/** In a hub: events with two keys, of whom the first two count, one with each key. */
export const hubPeople: MakeTargets = (epsilon, core) =>
  personsDay("a person with events of two keys of a hub in a day, or nobody", epsilon, core, {
    streams: ["a", "b"],
    moved: [1],
  });

/** Three buckets; the event is in the second. */
export const histogram: MakeTargets = (epsilon, core) => [
  target("an event in a bucket, or not there", core, {
    settings: resolveHistogram({ ...day(epsilon), edges: [1, 2] }),
    events: [1.5],
    moved: [0, 1, 0],
    t: LEVELS.length / epsilon,
  }),
];

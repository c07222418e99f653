/** What a release of events says about itself: for machines (`statement`) and for people (`explain`). */
import { RANDOMNESS } from "../stream/statement.js";
import { durationText, periodText, timeText } from "./duration.js";
import type { EventSettings, TickSettings } from "./options.js";

export interface EventStatement {
  readonly system: string;
  readonly definition: string;
  readonly neighbours: string;
  /** "one event", or "one person, per day". */
  readonly unit: string;
  readonly epsilon: number;
  readonly delta: 0;
  /** What one event gets of ε: all of it, or a k-th. */
  readonly epsilonPerEvent: number;
  /** False when anyone who knows the seed can remove the noise. */
  readonly private: boolean;
  readonly composition: string;
  readonly every: string;
  readonly origin: string;
  readonly lateness: string;
  readonly perPerson: { readonly events: number; readonly every: string } | null;
  /** θ, once it is known; null for counts. */
  readonly threshold: number | null;
  readonly holdoutTicks: number;
  readonly fanout: number;
  readonly levels: number;
  /** How long a block is: there is a new estimate this often. */
  readonly block: string;
  readonly noise: string;
  /** Scale of the noise on every node, by what is released, once it is known. */
  readonly noiseScales: Readonly<Record<string, number | null>>;
  readonly randomness: string;
  readonly core: "wasm" | "js";
  /** Ticks published so far. */
  readonly published: number;
  readonly notProtected: readonly string[];
}

const DISJOINT =
  "Every event is in one tick, ticks of the hold-out and published ticks are disjoint, and so are forests: ε in all.";

/** Why ε holds for all of it, by what is published. */
const COMPOSITION = {
  sum: DISJOINT,
  count: DISJOINT,
  mean: "Sums and counts are two releases of the same events, at half of ε each; hold-out and published ticks are disjoint: ε in all.",
} as const;

/** @param theta NaN until it is known */
export function streamStatement(
  settings: EventSettings,
  theta: number,
  core: "wasm" | "js",
  published: number,
): EventStatement {
  const { columns, of, schedule, choosing, warming } = settings;
  const { fanout, levels, blockLength, unsafeSeed } = columns[0]!.stream;
  const threshold = of === "count" || Number.isNaN(theta) ? null : theta;
  const scales = columns.map(({ counts, stream }) => {
    const largest = counts ? 1 : threshold;
    return [counts ? "counts" : "sums", largest === null ? null : (levels * largest) / stream.epsilon];
  });
  return {
    system: `ToPS over ticks, ${of}`,
    ...unitOf(settings),
    delta: 0,
    private: unsafeSeed === undefined,
    composition: COMPOSITION[of],
    threshold,
    holdoutTicks: choosing + warming,
    fanout,
    levels,
    block: durationText(blockLength * schedule.every),
    noise: "discrete Laplace, sampled exactly",
    noiseScales: Object.fromEntries(scales) as Record<string, number | null>,
    randomness: randomnessOf(unsafeSeed),
    core,
    published,
  };
}

/** The part that follows from ticks and people alone. */
export function unitOf({ schedule, limit, epsilon, eventEpsilon }: TickSettings) {
  const person = limit !== undefined;
  const period = person ? periodText(limit.every) : "";
  return {
    definition: person
      ? `person-level differential privacy, per ${period}`
      : "event-level differential privacy",
    neighbours: person
      ? `streams that differ in all events of one person within one ${period}, added or removed`
      : "streams that differ in one event, added or removed",
    unit: person ? `one person, per ${period}` : "one event",
    epsilon,
    epsilonPerEvent: eventEpsilon,
    every: durationText(schedule.every),
    origin: timeText(schedule.origin),
    lateness: durationText(schedule.lateness),
    perPerson: person ? { events: limit.events, every: durationText(limit.every) } : null,
    notProtected: notProtected(limit?.events, period),
  };
}

function notProtected(events: number | undefined, period: string): string[] {
  return [
    events === undefined
      ? "a person with many events: k events of one person are protected at kε; perPerson bounds k"
      : `a person over several periods: n periods (one ${period} each) are protected at nε`,
    ...(events === undefined ? ["an event that is moved or replaced: a removal and an addition, so 2ε"] : []),
    "against anyone who can read the memory of this process or its snapshots",
  ];
}

export const randomnessOf = (unsafeSeed: string | undefined): string =>
  unsafeSeed === undefined ? RANDOMNESS.secret : RANDOMNESS.unsafe;

const number = (value: number): string => String(Number(value.toPrecision(6)));

/** The statement as a short text that a person can read. */
export function explainEvents(statement: EventStatement): string {
  const { unit, epsilon, perPerson, noiseScales, threshold, holdoutTicks, block } = statement;
  const limit =
    perPerson === null
      ? []
      : [
          `The first ${perPerson.events} events of each person count in a period of ${perPerson.every}; later ones are dropped. Each event gets ε = ${number(statement.epsilonPerEvent)}.`,
        ];
  const scales = Object.entries(noiseScales).map(
    ([name, scale]) => `${name}: ${scale === null ? "θ is not chosen yet" : `scale ${number(scale)}`}`,
  );
  return [
    statement.private
      ? `This stream is published under ${statement.definition} with ε = ${epsilon}.`
      : "This stream is NOT PRIVATE (it was made from a seed).",
    ...(statement.private
      ? [
          `Protected: ${unit}. Adding or removing it changes the probability of any output by at most a factor e^ε = ${number(Math.exp(epsilon))}. How many events there were, and when within a tick, is protected too.`,
        ]
      : []),
    ...limit,
    `A tick is ${statement.every}, counted from ${statement.origin}; it takes events until ${statement.lateness} after its end.`,
    ...(holdoutTicks === 0 ? [] : [`The first ${holdoutTicks} ticks are held out and never published.`]),
    ...(threshold === null ? [] : [`Values above θ = ${number(threshold)} count as θ.`]),
    `There is a new estimate every ${block}; ${statement.levels} levels of fan-out ${statement.fanout} carry noise.`,
    `Noise on every node: ${statement.noise}; ${scales.join("; ")}.`,
    statement.composition,
    `Randomness: ${statement.randomness}. Core: ${statement.core}.`,
    "Not protected:",
    ...statement.notProtected.map((line) => `  - ${line}`),
  ].join("\n");
}

/** The statement of a release of events: for machines (`statement`) and for people (`explain`). */
import { boundAdvice, epsilonAdvice } from "../core/advice.js";
import { given } from "../core/given.js";
import { software, type Software, softwareText } from "../core/software.js";
import { RANDOMNESS } from "../stream/statement.js";
import { DAY } from "./days/calendar.js";
import { DayPeriods } from "./days/dayPeriods.js";
import { type Over, overWord } from "./people/distinct.js";
import { durationText, timeText } from "./days/duration.js";
import { spreadOf } from "./days/history.js";
import type { Discovery } from "./keys/keyDiscovery.js";
import type { EventMetric } from "./eventMetric.js";
import { epsilonPerEvent } from "./eventSettings.js";
import type { PersonLimit } from "./people/people.js";
import { SHARES, type Shares } from "./shares.js";

export interface EventStatement {
  readonly software: Software;
  readonly system: string;
  readonly definition: string;
  readonly neighbours: string;
  /** "one event", or "one person, per day". */
  readonly unit: string;
  readonly epsilon: number;
  /** 0, or the probability that a key that only one person used on a day becomes public, where votes make keys public. */
  readonly delta: number;
  /** ε of the sums per event; null before k is chosen. */
  readonly epsilonPerEvent: number | null;
  /** How ε is divided, in 32nds. */
  readonly shares: Shares;
  /** False when anyone who knows the seed can remove the noise. */
  readonly private: boolean;
  /** "own noise" if no two days share any. θ is chosen from several days together, so a metric that chooses it shares noise. */
  readonly periods: "own noise" | "shared noise";
  readonly composition: string;
  readonly every: string;
  readonly levels: readonly string[];
  readonly zone: string;
  readonly lateness: string;
  /** Where different people are counted: the period in which a person counts once, and under how many keys. */
  readonly people: { readonly over: Over; readonly keysPerPerson: number } | null;
  /** How keys that nobody listed become public; null if no votes do that. */
  readonly discovery: {
    /** The part of ε that chooses them. */
    readonly epsilon: number;
    readonly delta: number;
    /** A key is found on a day when its votes and noise exceed it. */
    readonly k: number;
    readonly votesPerPerson: 1;
    readonly cells: number;
    readonly most: number;
    /** Found in a finished file, all of whose rows count: nothing is forgotten. */
    readonly finished: boolean;
    readonly forget: string;
  } | null;
  /** Limits per person and day. With `most`, `events` is chosen privately, and missing until then. */
  readonly perPerson: {
    readonly events?: number;
    readonly most?: number;
    readonly perHour?: number;
    readonly sum?: number;
  } | null;
  /** Values are rounded to multiples of it; null for counts. */
  readonly resolution: number | null;
  /** Values below it are clamped to it; null for counts. */
  readonly min: number | null;
  /** The public upper bound of a value; null for counts. */
  readonly max: number | null;
  /** θ, once it is known; null for counts. */
  readonly threshold: number | null;
  /** When the first number is published, at the earliest. */
  readonly firstNumber: string;
  readonly noise: string;
  /** Scale of the noise on every node, in units of the values, once it is known. */
  readonly noiseScale: number | null;
  /** Standard error of one whole period of each level, once the noise is known. */
  readonly standardErrors: Readonly<Record<string, number>> | null;
  readonly randomness: string;
  readonly core: "wasm" | "js";
  readonly notProtected: readonly string[];
}

const COMPOSITION =
  "Every event is in one period of each level and in one day; levels share ε equally, days are disjoint and have noise of their own, and the parts beside the sums have shares of their own: ε in all.";

const peopleComposition = (keys: number): string =>
  `A person counts once in a period${keys === 1 ? "" : `, under each of at most ${keys} keys`}; periods are disjoint and have noise of their own.`;

/** Names of the systems of events in statements. */
export const SYSTEM = {
  sum: "sums of events by calendar periods",
  count: "counts of events by calendar periods",
  mean: "means of events by calendar periods, from Σ v and Σ (θ − v)",
  histogram: "histograms of events by calendar periods",
} as const;

export function eventStatement(metric: EventMetric): EventStatement {
  const { settings, core, theta, scale } = metric;
  const { of, epsilon, shares, schedule, limit, distinct, discovery, grid, unsafeSeed } = settings;
  const unit = grid?.resolution ?? 1;
  const known = !Number.isNaN(scale);
  const period = overWord(distinct?.over ?? "1d");
  return {
    software,
    system: distinct === undefined ? SYSTEM[of] : `different people by ${overWord(distinct.over)}s`,
    ...unitWords(limit !== undefined, period, schedule.calendar.zone),
    epsilon,
    delta: discovery?.rule.delta ?? 0,
    epsilonPerEvent:
      limit?.most !== undefined && limit.events === undefined ? null : epsilonPerEvent(settings),
    shares,
    private: unsafeSeed === undefined,
    periods: grid !== undefined && grid.threshold === undefined ? "shared noise" : "own noise",
    composition: distinct === undefined ? COMPOSITION : peopleComposition(distinct.keys ?? 1),
    every: distinct?.over ?? durationText(schedule.levels[0]!),
    levels: distinct === undefined ? schedule.levels.map(durationText) : [distinct.over],
    zone: schedule.calendar.zone,
    lateness: durationText(schedule.lateness),
    people: distinct === undefined ? null : { over: distinct.over, keysPerPerson: distinct.keys ?? 1 },
    discovery: discovery === undefined ? null : discoveryOf(discovery, settings.finished),
    perPerson: limit === undefined || distinct !== undefined ? null : limitText(limit),
    resolution: grid?.resolution ?? null,
    min: grid?.min ?? null,
    max: grid?.max ?? null,
    threshold: grid === undefined || Number.isNaN(theta) ? null : theta,
    firstNumber: timeText(metric.firstNumberAt),
    noise: "discrete Laplace, sampled exactly",
    noiseScale: known ? scale * unit : null,
    standardErrors: known
      ? distinct === undefined
        ? standardErrors(schedule.levels, Math.sqrt(metric.nodeNoise.variance) * unit)
        : { [distinct.over]: Math.sqrt(metric.nodeNoise.variance) }
      : null,
    randomness: unsafeSeed === undefined ? RANDOMNESS.secret : RANDOMNESS.unsafe,
    core: core.name,
    notProtected: notProtected(limit !== undefined, period, discovery !== undefined),
  };
}

const discoveryOf = (
  { rule, most, forget }: Discovery,
  finished: boolean,
): NonNullable<EventStatement["discovery"]> => ({
  epsilon: rule.epsilon,
  delta: rule.delta,
  k: rule.k,
  votesPerPerson: 1,
  cells: rule.cells,
  most,
  finished,
  forget: durationText(forget),
});

const limitText = ({
  events,
  most,
  perHour,
  sum,
}: PersonLimit): NonNullable<EventStatement["perPerson"]> => ({ ...given({ events, most, perHour, sum }) });

/** The standard error of the first whole period of each level, in a day of 24 hours. @param deviation of a node's noise */
export function standardErrors(levels: readonly number[], deviation: number): Record<string, number> {
  const { shape } = new DayPeriods({ start: 0, end: DAY }, levels);
  return Object.fromEntries(
    levels.map((level) => [
      durationText(level),
      Math.sqrt(spreadOf(shape).of(0, level / levels[0]!).variance) * deviation,
    ]),
  );
}

/** @param person whether events have a person @param period in which a person is protected: "day" */
export function unitWords(person: boolean, period: string, zone: string) {
  return {
    definition: person
      ? `person-level differential privacy, per ${period} (${zone})`
      : "event-level differential privacy",
    neighbours: person
      ? `streams that differ in all events of one person within one ${period} (${zone}), added or removed`
      : "streams that differ in one event, added or removed",
    unit: person ? `one person, per ${period} (${zone})` : "one event",
  };
}

function notProtected(person: boolean, period: string, votes: boolean): string[] {
  return [
    person
      ? `a person over several ${period}s: n ${period}s are protected at nε${votes ? " and nδ" : ""}`
      : "a person with many events: k events of one person are protected at kε; perPerson bounds k",
    ...(person ? [] : ["an event that is moved or replaced: a removal and an addition, so 2ε"]),
    "against anyone who can read the memory of this process or its snapshots",
  ];
}

const number = (value: number): string => String(Number(value.toPrecision(3)));

/** The statement as a short text that a person can read. */
export function explainEvents(statement: EventStatement): string {
  const {
    unit,
    epsilon,
    people,
    discovery,
    perPerson,
    min,
    max,
    threshold,
    resolution,
    standardErrors: errors,
    shares,
  } = statement;
  return [
    statement.private
      ? `This stream is published under ${statement.definition}${statement.definition.includes(",") ? "," : ""} with ε = ${epsilon}${statement.delta === 0 ? "" : ` and δ = ${number(statement.delta)}`}.`
      : "This stream is NOT PRIVATE (it was made from a seed).",
    ...(statement.private
      ? [
          `Protected: ${unit}. Adding or removing it changes the probability of any output by at most a factor e^ε = ${number(Math.exp(epsilon))}${statement.delta === 0 ? "" : ", but for δ"}. How many events there were, and when within a period, is protected too.`,
          ...epsilonAdvice(epsilon),
        ]
      : []),
    ...(perPerson === null ? [] : [limitSentence(perPerson)]),
    ...(people === null ? [] : [peopleSentence(people)]),
    ...(discovery === null ? [] : discoverySentences(discovery, statement.private)),
    `A number is published every ${statement.every} (time zone ${statement.zone}), ${statement.lateness === "0s" ? "when" : `${statement.lateness} after`} its period has ended; the first one at ${statement.firstNumber}.`,
    levelSentence(statement) +
      (errors === null
        ? ""
        : ` Standard errors: ${Object.entries(errors)
            .map(([level, error]) => `${periodWords(level)} ${number(error)}`)
            .join(", ")}.`),
    ...(min === null || min === 0 ? [] : [`Values below ${number(min)} are clamped to it.`]),
    ...(threshold === null ? [] : [`Values above θ = ${number(threshold)} are clamped to θ.`]),
    ...(resolution === null
      ? []
      : [`Values are rounded to multiples of ${resolution}: by at most ${resolution / 2} each.`]),
    ...(max === null ? [] : boundAdvice(min ?? 0, max, threshold)),
    ...(shares.limited > 0
      ? [
          `${shares.limited}/${SHARES} of ε counts people who had more ${people === null ? "events than their limit" : "keys than count"}.`,
        ]
      : []),
    ...(shares.threshold > 0 ? [`${shares.threshold}/${SHARES} of ε chose θ.`] : []),
    ...(shares.clipped > 0 ? [`${shares.clipped}/${SHARES} of ε counts events above θ.`] : []),
    statement.composition,
    `Noise: ${statement.noise}. Randomness: ${statement.randomness}. Core: ${statement.core}.`,
    "Not protected:",
    ...statement.notProtected.map((line) => `  - ${line}`),
    softwareText(statement.software),
  ].join("\n");
}

function levelSentence({ levels, noiseScale, perPerson }: EventStatement): string {
  const noise =
    noiseScale === null
      ? `noise whose scale follows from ${perPerson?.most === undefined ? "θ" : "k"}, which is not chosen yet`
      : `noise of scale ${number(noiseScale)}`;
  const [first, ...others] = levels;
  if (others.length === 0) return `Level ${first} carries ${noise}.`;
  return `Levels ${levels.join(", ")} carry ${noise}${noiseScale === null ? "" : " each"}.`;
}

const periodWords = (level: string): string =>
  ({ "1s": "a second", "1m": "a minute", "1h": "an hour", "1d": "a day", "1w": "a week", "1mo": "a month" })[
    level
  ] ?? level;

function peopleSentence({ over, keysPerPerson }: NonNullable<EventStatement["people"]>): string {
  const keys = keysPerPerson === 1 ? "" : `, under each of the first ${keysPerPerson} keys that they have`;
  return `Different people are counted: each once in a ${overWord(over)}${keys}.`;
}

function discoverySentences(
  { epsilon, delta, k, most, finished, forget }: NonNullable<EventStatement["discovery"]>,
  isPrivate: boolean,
): string[] {
  return [
    ...(isPrivate
      ? [
          `ε = ${number(epsilon)} of it chooses which keys are public. δ = ${number(delta)} is the probability that a key that only one person used on a day becomes public. Everything else is pure (δ = 0).`,
        ]
      : []),
    `A person votes once a day, for the first key of theirs that is not public. A key becomes public when about ${k + 1} people of one day vote for it${finished ? `; at most ${most} are` : `, with the second midnight after; at most ${most} are public at a time, and one whose numbers of ${forget} cannot be told from 0 is so no more`}.`,
  ];
}

function limitSentence({ events, most, perHour, sum }: NonNullable<EventStatement["perPerson"]>): string {
  if (sum !== undefined)
    return `A person's values of a day count until they sum to ${sum}; the rest is dropped.`;
  const hourly = perHour === undefined ? "" : `, at most ${perHour} of them in an hour`;
  if (events === undefined)
    return `The first k events of each person count in a day${hourly}; later ones are dropped. k, at most ${most}, will be chosen privately from the people of the first whole day: its events have all of ε for that, and are not published.`;
  const first =
    events === 1
      ? "The first event of each person counts"
      : `The first ${events} events of each person count`;
  const chosen =
    most === undefined
      ? ""
      : ` k = ${events} was chosen privately, at most ${most}, from the people of the first whole day: its events had all of ε for that, and are not published.`;
  return `${first} in a day${hourly}; later ones are dropped.${chosen}`;
}

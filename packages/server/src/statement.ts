/** The service's statement about its own privacy: for machines, and as a text for people. */
import type { EventStatement, LocalStatement, Software } from "brume";
import { eventMechanisms, registryRecord, type RegistryRecord, software, softwareText } from "brume/node";
import { type ResolvedMetric, personDelta, personEpsilon } from "./config/metrics.js";
import type { PerPersonConfig } from "./config/types.js";
import type { SettingsChange, Spending } from "./dayBudget.js";
import { personPlan, type PlannedDays } from "./personPlan.js";
import type { ServedMetric } from "./servedMetrics.js";
import type { Service } from "./service.js";

export interface MetricStatement {
  readonly name: string;
  readonly type: string;
  /** "one person, per day (UTC)", "one event" or "one report". */
  readonly unit: string;
  readonly epsilon: number;
  /** Limits of a person and day. */
  readonly perPerson: PerPersonConfig | null;
  readonly keys: number;
  /** Statement of the metric, for all keys together; null if devices perturb its values. */
  readonly stream: EventStatement | null;
  /** Statement of the reports of devices; null for events. */
  readonly devices: LocalStatement | null;
  readonly composition: string;
}

export interface ServiceStatement {
  readonly software: Software;
  readonly system: string;
  readonly definition: string;
  readonly unit: string;
  readonly zone: string;
  /** 0, or the probability that a key that only one person used on a day becomes public, where a metric discovers keys. */
  readonly delta: number;
  /** The budget of one person in a day of the zone, and how much of it the metrics spend. */
  readonly budget: Spending;
  /** The ε of a person who is there on every day from today on: for a day, a month and a year. */
  readonly plan: readonly PlannedDays[];
  readonly metrics: readonly MetricStatement[];
  /** Settings that decide what a person spends, as they changed on days that are kept (32): newest first. */
  readonly changes: readonly SettingsChange[];
  readonly composition: string;
  readonly notProtected: readonly string[];
}

export async function serviceStatement(service: Service): Promise<ServiceStatement> {
  const { zone, turns } = service;
  const metrics = await turns.read(() =>
    Promise.all([...service.metrics.values()].map((served) => metricStatement(service, served))),
  );
  const budget = service.budget();
  return {
    software,
    system: "Brume service",
    definition: `person-level differential privacy, per day (${zone})`,
    unit: `one person, per day (${zone})`,
    zone,
    delta: budget.delta,
    budget,
    plan: planOf(service, metrics, budget),
    metrics,
    changes: service.settingsChanges().map((change) => ({
      ...change,
      was: change.was === null ? null : settingsWords(change.was),
      now: change.now === null ? null : settingsWords(change.now),
    })),
    composition:
      "A person's events of one day go to several metrics: their ε add up. Within a metric every event has one key, and `perPerson` limits a person's day over all keys: ε once for the metric. Days have noise of their own.",
    notProtected: [
      `a person over several days: n days are protected at nε${budget.delta === 0 ? "" : " and nδ"}`,
      "a person who uses several ids",
      "that a request was sent, how long it was and when, from those who see the network",
      "against anyone who can read the memory of the service, or its state and its key",
      "metrics with protect: event protect one event, not a person; they are not part of the budget",
    ],
  };
}

function planOf(
  service: Service,
  metrics: readonly MetricStatement[],
  { spent }: Spending,
): readonly PlannedDays[] {
  const people = metrics.flatMap(({ name, stream }) => {
    const { config: metric } = service.metrics.get(name)!;
    if (metric.perPerson === undefined) return [];
    // θ was chosen from several days together; once it is known, no later day shares noise with another.
    const ownNoise = stream === null || stream.periods === "own noise" || stream.threshold !== null;
    const [epsilon, delta] = [personEpsilon(metric), personDelta(metric)];
    return [{ epsilon, ownNoise, over: metric.over, delta }];
  });
  return personPlan(people, spent);
}

async function metricStatement(
  service: Service,
  { config: metric, local }: ServedMetric,
): Promise<MetricStatement> {
  const { name, type, epsilon, perPerson, keys, hasKeys, over, options } = metric;
  const stream = options === undefined ? null : await service.statement(metric);
  return {
    name,
    type,
    unit: stream?.unit ?? "one report",
    epsilon,
    perPerson: over === undefined ? (perPerson ?? null) : null,
    keys: hasKeys ? keys.length : 0,
    stream,
    devices: local?.statement() ?? null,
    composition:
      stream === null
        ? `Values get noise on the device; ${perPerson!.events === 1 ? "one report" : `${perPerson!.events} reports`} a day: ε = ${personEpsilon(metric)} for a person and day.`
        : over !== undefined
          ? `${peopleWords(metric, stream)}${discoveryWords(stream)}`
          : perPerson === undefined
            ? "Every event is in one period of each level: ε for one event."
            : `${limitWords(stream.perPerson!)}, over all keys: ε for the person and day.${choiceWords(stream)}${discoveryWords(stream)}`,
  };
}

/** Says what keys that nobody listed cost, and what δ is. */
function discoveryWords({ discovery }: EventStatement): string {
  if (discovery === null) return "";
  const { epsilon, delta, k } = discovery;
  return ` ε = ${rounded(epsilon)} of it chooses which keys are public: those that about ${k + 1} people of one day vote for. δ = ${rounded(delta)} is the probability that a key that only one person used on a day becomes public.`;
}

function peopleWords(metric: ResolvedMetric, { unit }: EventStatement): string {
  const { epsilon, perPerson, hasKeys, over } = metric;
  const once = `A person counts once in a ${{ "1d": "day", "1w": "week", "1mo": "month" }[over!]}${hasKeys ? `, under each of at most ${perPerson!.events} keys` : ""}: ε for ${unit}.`;
  const cost = personEpsilon(metric);
  return cost === epsilon
    ? once
    : `${once} One day of it costs ε = ${cost}, since its events decide which later keys of the person count.`;
}

/** Says what a limit that is chosen privately costs. */
const choiceWords = ({ perPerson }: EventStatement): string =>
  perPerson?.most === undefined
    ? ""
    : ` How many count, at most ${perPerson.most}, ${perPerson.events === undefined ? "will be" : "was"} chosen privately from the people of the first whole day: its events have all of ε for that, and are not published.`;

/** The number of a limit that is chosen is k, in a config and before the choice. */
function limitWords({ events, perHour, sum }: PerPersonConfig): string {
  if (sum !== undefined) return `A person's values of a day count until they sum to ${sum}`;
  const hourly = perHour === undefined ? "" : `, at most ${perHour} of them in an hour`;
  const first =
    events === 1
      ? "The first event of a person and day counts"
      : `The first ${typeof events === "number" ? events : "k"} events of a person and day count`;
  return `${first}${hourly}`;
}

/** A metric that is gone, that is new, or that protects single events. */
const SPENDS_NOTHING = "spends nothing of a person's budget";

const SETTINGS = /^(\w+) ε=(\S+) limit=(\{.*?\})(?: over=(\S+))?(?: δ=(\S+) share=\S+)?$/;

/** Settings of a metric in words: "count, ε = 1. The first 5 events of a person and day count". */
function settingsWords(text: string): string {
  const found = SETTINGS.exec(text);
  if (found === null) return text;
  const [, type, epsilon, limit, over, delta] = found;
  const strength = `${type}, ε = ${epsilon}${delta === undefined ? "" : `, δ = ${delta}`}`;
  const counts =
    over === undefined
      ? limitWords(JSON.parse(limit!) as PerPersonConfig)
      : `A person counts once in ${over}`;
  return `${strength}. ${counts}`;
}

export function explainService(statement: ServiceStatement): string {
  const { software, zone, budget, plan, metrics, changes, composition, notProtected } = statement;
  return [
    "This service publishes under differential privacy.",
    `Protected: one person, per day (${zone}). Adding or removing all events of a person and day changes the probability of anything published by at most a factor e^ε, with ε = ${budget.spent} (limit ${budget.limit}, left ${budget.left})${budget.delta === 0 ? "" : `, but for δ = ${budget.delta}: the probability that a key that only this person used on that day becomes public`}.`,
    ...plan.filter(({ days }) => days > 1).map(planWords),
    "",
    ...metrics.map(
      ({ name, type, unit, epsilon, keys, stream, composition }) =>
        `${name} (${type}${keys === 0 ? "" : `, ${keys} keys`}): ε = ${epsilon} for ${unit}. ${composition}${periodWords(stream)}`,
    ),
    ...changes.map(
      ({ day, metric, was, now }) =>
        `Since ${day}, ${metric}: ${now ?? SPENDS_NOTHING} (before: ${was ?? SPENDS_NOTHING}).`,
    ),
    "",
    composition,
    "Not protected:",
    ...notProtected.map((line) => `  - ${line}`),
    softwareText(software),
    "",
  ].join("\n");
}

/** The second number is left out where it is no smaller. */
function planWords({ days, epsilon, delta, approximate }: PlannedDays): string {
  const sum = `A person who is there on each of ${days} days: ε = ${rounded(epsilon)}${delta === 0 ? "" : ` and δ = ${rounded(delta)}`}, the sum of the days`;
  return approximate.epsilon < epsilon
    ? `${sum}; ε = ${rounded(approximate.epsilon)} at δ = ${approximate.delta}, because no noise is shared between days and the metrics were not chosen by what they showed.`
    : `${sum}.`;
}

const rounded = (value: number): string => String(Number(value.toPrecision(3)));

function periodWords(stream: EventStatement | null): string {
  if (stream === null) return "";
  const errors = Object.entries(stream.standardErrors ?? {}).map(([level, x]) => `${level} ${rounded(x)}`);
  const { every, min } = stream;
  const clamped = min === null || min === 0 ? "" : ` Values below ${min} are clamped to it.`;
  return ` A number every ${every}${errors.length === 0 ? "" : `; standard errors: ${errors.join(", ")}`}.${clamped}`;
}

/** The service as a record for the public registry of deployments. */
export function serviceRecord(statement: ServiceStatement): RegistryRecord {
  const { software, zone, budget, metrics, composition, notProtected } = statement;
  const local = metrics.length > 0 && metrics.every(({ stream }) => stream === null);
  return registryRecord({
    software,
    model: local ? "Local" : "Central",
    ...(budget.spent > 0
      ? {
          unit: "User-day-level",
          neighbours: `Inputs that differ in all events of one person in one day of the zone ${zone}.`,
          epsilon: budget.spent,
        }
      : {
          unit: "Event-level",
          neighbours: "Inputs that differ in one event.",
          epsilon: Math.max(...metrics.map(({ epsilon }) => epsilon)),
        }),
    delta: statement.delta,
    parameters: metrics.map(({ name, epsilon, unit }) => `${name}: ε = ${epsilon} for ${unit}`).join("; "),
    domain: `Events with a time, a key and a person, by days of the zone ${zone}: ${metrics.map(({ name, type }) => `${name} (${type})`).join(", ")}.`,
    unprotected: notProtected,
    trust: local
      ? "Nobody is trusted: values are perturbed on the device, and only reports leave it."
      : "The operator's server sees the events; readers see published numbers alone.",
    releases: `Numbers of each period after it has ended. A person may spend ε = ${budget.limit} in a day of the zone; more is refused at the start.`,
    postProcessing:
      "Least-squares consistency of the noise, done before the day begins; answers, intervals and charts are functions of published numbers.",
    composition,
    preprocessing: metrics.map(({ name, composition }) => `${name}: ${composition}`).join(" "),
    mechanisms: metrics.flatMap(({ name, stream }) =>
      stream === null
        ? [`${name}: a window mechanism on the device, with integer weights.`]
        : eventMechanisms(stream).map((mechanism) => `${name}: ${mechanism}`),
    ),
  });
}

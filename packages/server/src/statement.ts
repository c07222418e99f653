/** What the service says about its own privacy: for machines, and as a text for people. */
import type { EventStatement } from "brume";
import { personEpsilon } from "./config/metrics.js";
import type { LiveMetric } from "./engine/state.js";
import type { Service } from "./service.js";

export interface MetricStatement {
  readonly name: string;
  readonly type: string;
  /** "one person, per day", "one event" or "one report". */
  readonly unit: string;
  readonly epsilon: number;
  /** How many events of a person and day count. */
  readonly perPerson: number | null;
  readonly keys: number;
  /** Of each key's stream, for one event. */
  readonly stream: EventStatement | null;
  readonly composition: string;
}

export interface ServiceStatement {
  readonly system: string;
  readonly definition: string;
  readonly unit: string;
  readonly delta: 0;
  /** What one person may spend in a UTC day, and what the metrics spend of it. */
  readonly budget: { readonly limit: number; readonly spent: number; readonly left: number };
  readonly metrics: readonly MetricStatement[];
  readonly composition: string;
  readonly notProtected: readonly string[];
}

export function serviceStatement({ engine, budget }: Service): ServiceStatement {
  return {
    system: "Brume service",
    definition: "person-level differential privacy, per UTC day",
    unit: "one person, per day",
    delta: 0,
    budget: budget(),
    metrics: [...engine.metrics].map((metric) => metricStatement(metric, engine)),
    composition:
      "A person's events of one day go to several metrics: their ε add up. Within a metric every event has one key, and at most `perPerson` events of a person and day count over all keys: ε once for the metric.",
    notProtected: [
      "a person over several days: n days are protected at nε",
      "a person who uses several ids",
      "that a request was sent, how long it was and when, from those who see the network",
      "against anyone who can read the memory of the service, or its state and its key",
      "metrics with protect: event protect one event, not a person; they are not part of the budget",
    ],
  };
}

function metricStatement(live: LiveMetric, engine: Service["engine"]): MetricStatement {
  const { metric } = live;
  const { name, type, epsilon, perPerson, keys } = metric;
  const local = type === "local";
  return {
    name,
    type,
    unit: local ? "one report" : perPerson === undefined ? "one event" : "one person, per day",
    epsilon,
    perPerson: perPerson ?? null,
    keys: metric.hasKeys ? keys.length : 0,
    stream: local ? null : (engine.stream(live, keys[0]!)?.statement() ?? null),
    composition: local
      ? `Values get noise on the device; ${perPerson} reports a day: ε = ${personEpsilon(metric)} for a person and day.`
      : perPerson === undefined
        ? "Every event is in one stream: ε for one event."
        : `The first ${perPerson} events of a person and day count, over all keys, at ε/${perPerson} each: ε for the person and day.`,
  };
}

export function explainService({ budget, metrics, composition, notProtected }: ServiceStatement): string {
  return [
    "This service publishes under differential privacy.",
    `Protected: one person, per UTC day. Adding or removing all events of a person and day changes the probability of anything published by at most a factor e^ε, with ε = ${budget.spent} (limit ${budget.limit}, left ${budget.left}).`,
    "",
    ...metrics.map(
      ({ name, type, unit, epsilon, keys, composition }) =>
        `${name} (${type}${keys === 0 ? "" : `, ${keys} keys`}): ε = ${epsilon} for ${unit}. ${composition}`,
    ),
    "",
    composition,
    "Not protected:",
    ...notProtected.map((line) => `  - ${line}`),
    "",
  ].join("\n");
}

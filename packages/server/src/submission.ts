/** Events on their way to the hub, or to a cluster: their form is checked. And what may become of them. */
import { createHash } from "node:crypto";
import type { ResolvedMetric } from "./config/metrics.js";

/** A metric as an intake looks it up. */
export interface Named {
  readonly config: ResolvedMetric;
}

/** An event whose form is checked, of a metric as the intake knows it. */
export interface CheckedEvent<M extends Named = Named> {
  readonly metric: M;
  /** As it came: it may be one that the config does not list. */
  readonly key: string;
  /** 1 where events are only counted. */
  readonly value: number;
  /** How many such events there are; only a count has more than one. */
  readonly count: number;
  /** Milliseconds since 1970; undefined for now. */
  readonly at: number | undefined;
  readonly person: string | undefined;
}

/** How many events a list stands for. */
export const eventCount = (events: readonly { readonly count: number }[]): number =>
  events.reduce((sum, { count }) => sum + count, 0);

/** Stands for what a request holds: other events have another one. */
export function fingerprintOf(events: readonly CheckedEvent[]): string {
  const fields = events.map(({ metric, key, value, count, at, person }) => [
    ...[metric.config.name, key, value, count, at, person],
  ]);
  return hashOf(JSON.stringify(fields));
}

export const hashOf = (content: string | Uint8Array): string =>
  createHash("sha256").update(content).digest("base64");

/** Too many events or reports wait: try again after `seconds`. */
export class Busy extends Error {
  readonly seconds = 1;
}

/** Nothing can be taken now; the message says why. */
export class Unavailable extends Error {}

/** A request key that came before with other events. */
export class KeyReused extends Error {}

/** Limits of a service, with every default filled in. */
import { milliseconds } from "./duration.js";
import type { Config } from "./types.js";

export interface Limits {
  readonly body: number;
  readonly batch: number;
  readonly waiting: number;
  readonly perMinute: number;
  readonly commitEvery: number;
  readonly remember: number;
  /** Milliseconds that a request waits for the store. */
  readonly timeout: number;
}

export function limitsOf({ limits = {} }: Config): Limits {
  return {
    body: limits.body ?? 1 << 20,
    batch: limits.batch ?? 2500,
    waiting: limits.waiting ?? 200_000,
    perMinute: limits.perMinute ?? 60_000,
    commitEvery: limits.commitEvery ?? 20,
    remember: milliseconds(limits.remember ?? "10m"),
    timeout: 10_000,
  };
}

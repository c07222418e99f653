/** The example's settings, for the script here and for the compose file beside it. */
import type { ClusterFile } from "../src/cli.js";

export const KEYS = 50;

export const example = {
  group: "example",
  in: "queries",
  state: "queries-state",
  out: "queries-private",
  deadLetters: "queries-unreadable",
  // θ is public and blocks are short, so that numbers come from the first value on and soon change.
  stream: { epsilon: 1, max: 1000, threshold: 400, tuning: { skipLevels: 1 } },
  commitInterval: 100,
  sessionTimeout: 3_000,
} satisfies Omit<ClusterFile, "brokers" | "keys">;

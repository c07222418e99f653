/**
 * Latency of the routes of a service, private and restart-safe. Nobody can tell from its numbers whether one user was
 * there on one day: the first 20 requests of each user and day count, and all of them together get ε.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openHub } from "brume";
import { fileStore } from "brume/node";

/** Known in advance: a route that appears with its first request would tell that there was one. */
export const ROUTES = ["/", "/search", "/checkout"] as const;
export type Route = (typeof ROUTES)[number];

export interface LatencyOptions {
  /** Where snapshots are stored. */
  readonly folder: string;
  /** A file with the key; made if it is missing. Keep it apart from the folder. */
  readonly keyFile: string;
  readonly epsilon: number;
  readonly every: string;
}

export function openLatency({ folder, keyFile, epsilon, every }: LatencyOptions) {
  mkdirSync(folder, { recursive: true });
  return openHub({
    store: fileStore(join(folder, "snapshots")),
    key: keyOf(keyFile),
    metrics: {
      latency: {
        epsilon,
        every,
        perPerson: 20,
        edges: { min: 1, max: 60_000 }, // milliseconds
        keys: ROUTES,
      },
    },
  });
}

export type Latency = ReturnType<typeof openLatency>;

/** Reads the key of the snapshots, or makes one at the first start. Without it the snapshots cannot be read. */
function keyOf(path: string): Uint8Array {
  try {
    writeFileSync(path, randomBytes(32), { flag: "wx", mode: 0o600 });
  } catch (reason) {
    if ((reason as NodeJS.ErrnoException).code !== "EEXIST") throw reason;
  }
  return Uint8Array.from(readFileSync(path));
}

/** Configuration of the measurements: a count and a histogram with the same keys. */
import type { Config } from "../src/index.js";

/** Events of a request. */
export const BATCH = 100;

export function loadConfig(folder: string, keys: number): Config {
  const list = { prefix: "k-", from: 1, to: keys };
  return {
    epsilon: 2,
    key: { env: "NOT_USED" },
    store: { sqlite: folder },
    limits: { perMinute: 0, commitEvery: 20 },
    metrics: {
      requests: { type: "count", epsilon: 1, every: "1m", perPerson: 10, keys: list },
      latency: { type: "histogram", epsilon: 1, every: "1h", perPerson: 10, min: 1, max: 10_000, keys: list },
    },
    log: "error",
  };
}

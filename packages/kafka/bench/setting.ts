/** Setting that bench and worker processes share. */
import type { WorkerOptions } from "../src/worker.js";

export interface BenchSetting {
  readonly name: string;
  /** Topic that holds the values; several cases read the same one. */
  readonly input: string;
  /** Milliseconds between transactions. */
  readonly commitInterval: number;
}

/** θ is public, so that the first value has its number at once. */
export function benchOptions({ name, input, commitInterval }: BenchSetting): WorkerOptions {
  return {
    ...{ group: name, in: input, state: `${name}-state`, out: `${name}-out`, development: true },
    key: new Uint8Array(32).fill(7),
    stream: { epsilon: 1, max: 1000, threshold: 1000, maxRange: 65_536 },
    ...{ commitInterval, values: "float64", format: "binary" },
  };
}

/** Reports of devices, and aggregators that have learned from them. */
import { uniformBelow } from "../../research/uniform.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { reporter } from "../../src/local/anyCoreReporter.js";
import { type Report, unpackReport } from "../../src/local/report.js";
import type { PaperOptions } from "../../src/local/paper/settings.js";

export const MAX = 1000;
export const HOLDOUT = 20_000;
export const OPTIONS = { epsilon: 1, max: MAX, holdout: HOLDOUT, maxRange: 2 ** 18 };

/** Skewed values: mean about 20, a few above 100. */
export function skewed(length: number, seed: string): Float64Array {
  const uniform = new Float64Array(length);
  uniformBelow(subStream(unsafeKey(seed), Purpose.baseline, 0, 0), 2 ** 32, uniform);
  return uniform.map((u) => -20 * Math.log((u + 0.5) / 2 ** 32));
}

export const device = (phase: "learn" | "release", seed: string, threshold?: number) =>
  reporter({
    variant: "paper",
    epsilon: 1,
    max: MAX,
    phase,
    unsafeSeed: seed,
    ...(threshold === undefined ? {} : { threshold }),
  });

export const unpacked = (bytes: Uint8Array): Report[] =>
  Array.from({ length: bytes.length / 8 }, (_, i) => unpackReport(bytes, 8 * i)!);

export const learnt = device("learn", "learn").reportMany(skewed(HOLDOUT, "held out"));

export async function ready(
  options: Partial<PaperOptions> = {},
): Promise<{ server: PaperAggregator; theta: number }> {
  const server = new PaperAggregator({ ...OPTIONS, ...options });
  server.learn(learnt);
  return { server, theta: await server.threshold() };
}

/** Is θ sensible for every hold-out m and range r? The θ that hold-outs choose, against the best one for the stream. */
import { geometricCandidates } from "../../src/stream/holdout/choice.js";
import { candidateGrid } from "../../src/stream/grid.js";
import { resolveSettings, type StreamOptions } from "../../src/stream/options.js";
import { valueStream } from "../../src/stream/holdoutStream.js";
import { meanVariance } from "../../src/stream/answer/variance.js";
import { median } from "../metrics.js";
import { zooMax, zooStream } from "./zoo.js";

export interface SweepCell {
  readonly stream: string;
  readonly epsilon: number;
  readonly holdout: number;
  readonly maxRange: number;
  /** Medians over runs: θ, and its expected error over that of the best candidate. */
  readonly theta: number;
  readonly loss: number;
  /** The largest loss of a run whose statement had no warning; 0 where all had one. */
  readonly unwarned: number;
  /** Share of runs with a warning. */
  readonly warned: number;
}

export interface SweepOptions {
  readonly streams: readonly string[];
  readonly epsilons: readonly number[];
  readonly holdouts: readonly number[];
  readonly maxRanges: readonly number[];
  readonly runs: number;
  readonly seed: string;
}

/** Hold-outs that are between 1/256 and 16 of the range. */
export const isUsual = (holdout: number, maxRange: number): boolean =>
  holdout * 256 >= maxRange && holdout <= 16 * maxRange;

/** Values that say what θ hides. */
const SAMPLE = 2 ** 17;

export function sweepZoo({ streams, epsilons, holdouts, maxRanges, runs, seed }: SweepOptions): SweepCell[] {
  const longest = Math.max(...holdouts);
  return streams.flatMap((stream) => {
    const values = zooStream(stream, longest + SAMPLE);
    const sample = values.slice(longest).sort();
    return epsilons.flatMap((epsilon) =>
      maxRanges.flatMap((maxRange) =>
        holdouts
          .filter((holdout) => isUsual(holdout, maxRange))
          .map((holdout) => {
            const options = { epsilon, max: zooMax(stream), holdout, maxRange };
            const lossOf = lossAgainstBest(options, sample);
            const all = Array.from({ length: runs }, (_, run) => {
              const release = valueStream({
                ...options,
                unsafeSeed: `${seed}, ${stream}, ${epsilon}, ${holdout}, ${maxRange}, run ${run}`,
              });
              release.pushMany(values.subarray(0, holdout));
              const { threshold, warnings } = release.statement();
              return { theta: threshold!, loss: lossOf(threshold!), warned: warnings.length > 0 };
            });
            const quiet = all.filter(({ warned }) => !warned).map(({ loss }) => loss);
            return {
              ...{ stream, epsilon, holdout, maxRange },
              theta: median(all.map(({ theta }) => theta)),
              loss: median(all.map(({ loss }) => loss)),
              unwarned: Math.max(0, ...quiet),
              warned: 1 - quiet.length / runs,
            };
          }),
      ),
    );
  });
}

/** E = (r²/6)·μ(θ)² + C_s·θ²/ε² for a random range: what θ hides of a value, and the noise. */
function lossAgainstBest(options: StreamOptions, sorted: Float64Array): (theta: number) => number {
  const settings = resolveSettings(options);
  const {
    privacy: { epsilon },
    grid: { resolution },
    tree: { maxRange, fanout, levels, skipped },
  } = settings;
  const noise = meanVariance(maxRange, fanout, levels, skipped) / epsilon ** 2;
  const above = new Float64Array(sorted.length + 1); // sums from the largest value down
  for (let i = sorted.length - 1; i >= 0; i--) above[i] = above[i + 1]! + sorted[i]!;
  const errorOf = (theta: number): number => {
    let [low, high] = [0, sorted.length]; // values up to θ
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! <= theta) low = middle + 1;
      else high = middle;
    }
    const hidden = (above[low]! - (sorted.length - low) * theta) / sorted.length;
    return (maxRange ** 2 / 6) * hidden ** 2 + noise * theta ** 2;
  };
  const { largest, step } = candidateGrid(settings.grid);
  const candidates = geometricCandidates(largest, step);
  const best = Math.min(...Array.from(candidates, (theta) => errorOf(theta * resolution)));
  return (theta) => errorOf(theta) / best;
}

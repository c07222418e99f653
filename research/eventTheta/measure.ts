/**
 * How good is θ of event streams? The error of a day's sum with the θ that n held-out events choose, over that with the best
 * θ, which nobody knows who has not seen the data. Two ways to choose: ε is split over three steps that read all events, as
 * event streams do, or the events are dealt to the steps (dealtTally.ts).
 */
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { dayError } from "../../src/events/holdout.js";
import { resolveEventStream } from "../../src/events/options.js";
import { SHARES } from "../../src/events/shares.js";
import { ThresholdTally } from "../../src/events/thresholdTally.js";
import { geometricCandidates } from "../../src/stream/holdout/choice.js";
import { namedStream } from "../localAccuracy/streams.js";
import { median } from "../metrics.js";
import { DealtTally } from "./dealtTally.js";

/** Independent values: light and heavy tails, two modes, and nothing near 0. */
export const DISTRIBUTIONS: readonly string[] = [
  ...["uniform", "exponential", "lognormal", "pareto", "bimodal", "narrow"],
];

/** Losses of ways to choose θ: root mean squared errors over that of the best θ, over many hold-outs. */
export interface Loss {
  readonly median: number;
  /** A tenth of the hold-outs lose more. */
  readonly worstDecile: number;
}

export interface ThetaCell {
  readonly distribution: string;
  readonly epsilon: number;
  /** Events held out, and events of the day that is summed. */
  readonly events: number;
  /** ε is split over the steps, or events are dealt to them. */
  readonly split: Loss;
  readonly dealt: Loss;
  /** The share of hold-outs whose noisy count says that they are enough; the others go on for a day. */
  readonly enough: number;
  /** The error of a day's sum with the best θ, over the sum: above 1 a day of zeros is as good. */
  readonly best: number;
}

export interface ThetaOptions {
  readonly distributions: readonly string[];
  readonly epsilons: readonly number[];
  readonly events: readonly number[];
  readonly runs: number;
  readonly seed: string;
}

/** Values that say what θ hides; those of the hold-outs come after them. */
const SAMPLE = 2 ** 20;

export function measureTheta(options: ThetaOptions): ThetaCell[] {
  return options.distributions.flatMap((distribution) => measureOne(distribution, options));
}

function measureOne(distribution: string, { epsilons, events, runs, seed }: ThetaOptions): ThetaCell[] {
  const core = chooseCore("auto");
  const stream = namedStream(distribution);
  const longest = Math.max(...events);
  const hidden = hiddenMoments(stream.values(0, SAMPLE));
  const cells = epsilons.flatMap((epsilon) =>
    events.map((count) => {
      const settings = resolveEventStream({ epsilon, every: "1h", max: stream.max, of: "sum" });
      const { resolution } = settings.grid!;
      const error = dayError(settings);
      const noise = (error * SHARES) / (settings.shares.release * epsilon);
      const errorOf = (theta: number) => {
        const { mean, square } = hidden(theta);
        const variance = count * (square - mean ** 2);
        return Math.sqrt((noise * theta) ** 2 + (count * mean) ** 2 + variance);
      };
      const candidates = geometricCandidates(Math.floor(stream.max / resolution));
      const best = Math.min(...Array.from(candidates, (theta) => errorOf(theta * resolution)));
      const losses = { split: [] as number[], dealt: [] as number[] };
      let enough = 0;
      const run = (values: Float64Array, name: string): void => {
        const key = unsafeKey(`${name}, ${epsilon}, ${count}`);
        const split = new ThresholdTally(epsilon, 1, stream.max, resolution, error);
        for (const value of values) split.add(value);
        const day = split.countDay(core, key);
        if (day.enough) enough++;
        losses.split.push(errorOf(split.choose(core, key, day.noisy) * resolution) / best);
        const dealt = new DealtTally(epsilon, stream.max, resolution, error);
        dealt.addMany(values, key);
        losses.dealt.push(errorOf(dealt.choose(core, key) * resolution) / best);
      };
      const finish = (): ThetaCell => ({
        ...{ distribution, epsilon, events: count },
        split: lossOf(losses.split),
        dealt: lossOf(losses.dealt),
        enough: enough / runs,
        best: best / (count * hidden(0).mean),
      });
      return { count, run, finish };
    }),
  );
  for (let k = 0; k < runs; k++) {
    const values = stream.values(SAMPLE + k * longest, longest);
    for (const { count, run } of cells) run(values.subarray(0, count), `${seed}, ${distribution}, run ${k}`);
  }
  return cells.map(({ finish }) => finish());
}

/** The loss of one value by clamping to θ, in the mean and squared. @param sample independent values */
function hiddenMoments(sample: Float64Array): (theta: number) => { mean: number; square: number } {
  const sorted = sample.slice().sort();
  const n = sorted.length;
  // Of values from k on: their sum, and that of their squares.
  const sums = new Float64Array(n + 1);
  const squares = new Float64Array(n + 1);
  for (let k = n - 1; k >= 0; k--) {
    sums[k] = sums[k + 1]! + sorted[k]!;
    squares[k] = squares[k + 1]! + sorted[k]! ** 2;
  }
  return (theta) => {
    let [low, high] = [0, n];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! <= theta) low = middle + 1;
      else high = middle;
    }
    const above = n - low;
    return {
      mean: (sums[low]! - above * theta) / n,
      square: (squares[low]! - 2 * theta * sums[low]! + above * theta ** 2) / n,
    };
  };
}

function lossOf(losses: number[]): Loss {
  const sorted = losses.sort((a, b) => a - b);
  return { median: median(sorted), worstDecile: sorted[Math.ceil(0.9 * sorted.length) - 1]! };
}

/**
 * Measures what a k that is chosen privately costs. People have a number of events a day; the choice of the library reads
 * one day, and the error of the totals of later days, events dropped and noise together, is compared with that of the best fixed
 * k, and of guesses that are 4 times too small and too large. Means over days, and over many keys of noise.
 *
 *     npx tsx research/limit/chosen.ts [ε] [β] [h]
 */
import { chooseCore } from "../../src/core/choose.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { dayError } from "../../src/events/holdout.js";
import { LIMIT_BETA, LIMIT_HINGE, limitChoice } from "../../src/events/people/limitChoice.js";
import type { EventSettings } from "../../src/events/eventSettings.js";
import { resolveEvents } from "../../src/events/options.js";
import { SHARES } from "../../src/events/shares.js";
import { binOf, chooseCandidate } from "../../src/stream/holdout/choice.js";
import { fastRandom } from "../fastRandom.js";

/** Events of a person and day. */
export const MODELS: Readonly<Record<string, (random: () => number) => number>> = {
  "geometric, mean 3": (random) => 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / 3)),
  "geometric, mean 12": (random) => 1 + Math.floor(Math.log(1 - random()) / Math.log(1 - 1 / 12)),
  "lognormal, median 4, σ 1": (random) =>
    Math.max(
      1,
      Math.round(4 * Math.exp(Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))),
    ),
  "Pareto 1.5": (random) => Math.floor((1 - random()) ** (-1 / 1.5)),
};

const MOST = 4096;
const KEYS = 200;
/** Days after the one that chooses. */
const DAYS = 5;

export interface Compared {
  readonly best: number;
  /** Relative errors of a day's total. */
  readonly bestError: number;
  readonly quarter: number;
  readonly fourfold: number;
  readonly chosen: number;
  /** The middle one of all k that were chosen. */
  readonly k: number;
}

/** @param beta steepness of the penalty, and `hinge`: the library's by default */
export function compare(
  epsilon: number,
  people: number,
  model: (random: () => number) => number,
  beta = LIMIT_BETA,
  hinge = LIMIT_HINGE,
): Compared {
  const settings = resolveEvents({
    ...{ of: "count", epsilon, every: "1m", unsafeSeed: "limit" },
    perPerson: { events: "choose", most: MOST },
  });
  const random = fastRandom(people);
  const day = (): Float64Array => Float64Array.from({ length: people }, () => model(random));
  const first = day();
  const later = Array.from({ length: DAYS }, () => errors(settings, day()));
  const errorOf = (k: number): number => later.reduce((sum, error) => sum + error(k), 0) / DAYS;
  const all = Array.from({ length: MOST }, (_, i) => errorOf(i + 1));
  const best = all.indexOf(Math.min(...all)) + 1;
  const choice = limitChoice(settings, hinge);
  const above = aboveEach(choice.candidates, first);
  const core = chooseCore();
  const chosen = Array.from({ length: KEYS }, (_, i) => {
    const noise = subStream(unsafeKey(`limit ${i}`), Purpose.holdout, 3, 0);
    return choice.candidates[chooseCandidate(core, noise, choice, above, beta, 0)]!;
  }).sort((a, b) => a - b);
  return {
    best,
    bestError: errorOf(best),
    quarter: errorOf(Math.max(1, Math.round(best / 4))),
    fourfold: errorOf(4 * best),
    chosen: chosen.reduce((sum, k) => sum + errorOf(k), 0) / KEYS,
    k: chosen[KEYS / 2]!,
  };
}

/** Per candidate, people with more events; those above the largest candidate count as it, as in the library. */
function aboveEach(candidates: Float64Array, day: Float64Array): Float64Array {
  const bins = new Float64Array(candidates.length + 1);
  for (const events of day) bins[binOf(candidates, Math.min(MOST, events))]!++;
  const above = new Float64Array(candidates.length);
  for (let i = above.length - 1, sum = 0; i >= 0; i--) above[i] = sum += bins[i + 1]!;
  return above;
}

/** The root mean square error of a day's total by k, as a share of it: what is dropped, and the noise. */
function errors(settings: EventSettings, day: Float64Array): (k: number) => number {
  const sorted = day.slice().sort();
  const sums = new Float64Array(sorted.length + 1);
  for (let i = 0; i < sorted.length; i++) sums[i + 1] = sums[i]! + sorted[i]!;
  const total = sums[sorted.length]!;
  const noise = (dayError(settings) * SHARES) / (settings.epsilon * settings.shares.release);
  return (k) => {
    const below = binOf(sorted, k + 0.5);
    const dropped = total - sums[below]! - k * (sorted.length - below);
    return Math.hypot(dropped, k * noise) / total;
  };
}

if (process.argv[1]?.endsWith("chosen.ts") === true) {
  const [epsilon = 1, beta = LIMIT_BETA, hinge = LIMIT_HINGE] = process.argv.slice(2).map(Number);
  console.log(`ε = ${epsilon}, β = ${beta}, h = ${hinge}, levels 1m · 1h · 1d; ${KEYS} choices each`);
  console.log("people | events a day | best k | error | k/4 | 4k | chosen | times best | its median k");
  const ratios: number[] = [];
  const percent = (share: number): string => `${Number((100 * share).toPrecision(2))} %`;
  for (const people of [500, 10_000, 1_000_000])
    for (const [name, model] of Object.entries(MODELS)) {
      const { best, bestError, quarter, fourfold, chosen, k } = compare(epsilon, people, model, beta, hinge);
      ratios.push(chosen / bestError);
      console.log(
        [
          ...[people, name, best, ...[bestError, quarter, fourfold, chosen].map(percent)],
          ...[(chosen / bestError).toFixed(2), k],
        ].join(" | "),
      );
    }
  const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / ratios.length;
  console.log(`times best: ${mean.toFixed(2)} in the mean, ${Math.max(...ratios).toFixed(2)} at most`);
}

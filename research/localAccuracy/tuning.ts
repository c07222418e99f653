/**
 * Streams that ToPL's rule may be decided on, besides the zoo's tuning group: many shapes at many scales of the bound, with
 * the kinds that are hard at small ε: zeros with a rest, several modes, narrow peaks, light and heavy tails, few outliers.
 */
import type { Source } from "../zoo/shapes.js";
import type { ZooStream } from "../zoo/zoo.js";

/** A sum of three exponentials. */
const gamma = (source: Source, scale: number): number =>
  source.exponential(scale) + source.exponential(scale) + source.exponential(scale);

/** One of some modes, each as likely, a tenth of itself wide. */
const mode = (source: Source, modes: readonly number[], width: number): number =>
  modes[Math.floor(source.uniform() * modes.length)]! * (1 + width * source.normal());

export const LOCAL_TUNING: Readonly<Record<string, ZooStream>> = {
  // Tails, light to heavy.
  rayleigh: { max: 600, value: (source) => source.weibull(60, 2) },
  "rayleigh, wide": { max: 1000, value: (source) => source.weibull(300, 2) },
  triangle: { max: 2000, value: (source) => 120 * (source.uniform() + source.uniform()) },
  gamma: { max: 1000, value: (source) => gamma(source, 12) },
  "gamma, wide": { max: 500, value: (source) => gamma(source, 25) },
  "exponential, small": { max: 5000, value: (source) => source.exponential(15) },
  "exponential, wide": { max: 1000, value: (source) => source.exponential(90) },
  "weibull 0.7": { max: 3000, value: (source) => source.weibull(30, 0.7) },
  "lognormal 0.6": { max: 1000, value: (source) => source.lognormal(40, 0.6) },
  "lognormal 1.4": { max: 20_000, value: (source) => source.lognormal(15, 1.4) },
  "pareto 2.5": { max: 5000, value: (source) => source.pareto(60, 2.5) },
  counts: { max: 1000, value: (source) => source.poisson(12) },
  // Zeros with a rest.
  "half exponential": { max: 1000, value: (source) => (source.chance(0.5) ? source.exponential(30) : 0) },
  "third lognormal": { max: 1500, value: (source) => (source.chance(0.35) ? source.lognormal(40, 0.9) : 0) },
  "tenth gamma": { max: 1000, value: (source) => (source.chance(0.1) ? gamma(source, 30) : 0) },
  "flags, often": { max: 1, value: (source) => (source.chance(0.2) ? 1 : 0) },
  "flags, seldom": { max: 10, value: (source) => (source.chance(0.01) ? 5 : 0) },
  "rare, large": { max: 10_000, value: (source) => (source.chance(0.003) ? source.exponential(2000) : 1) },
  "few outliers": { max: 50_000, value: (source) => (source.chance(3e-4) ? 30_000 : 20) },
  "noisy outliers": {
    max: 20_000,
    value: (source) => (source.chance(0.002) ? 20_000 * source.uniform() : source.exponential(60)),
  },
  // Modes and peaks.
  "two modes": { max: 1000, value: (source) => mode(source, [50, 250], 0.15) },
  "four modes": { max: 2000, value: (source) => mode(source, [10, 90, 250, 600], 0.08) },
  "mode far off": { max: 1000, value: (source) => (source.chance(0.03) ? 700 : source.exponential(25)) },
  "peak, low": { max: 1000, value: (source) => 150 + 12 * source.normal() },
  "peak, high": { max: 1000, value: (source) => 750 + 40 * source.normal() },
  "flat fares": { max: 10_000, value: (source) => (source.chance(0.05) ? 1800 : source.lognormal(500, 0.5)) },
};

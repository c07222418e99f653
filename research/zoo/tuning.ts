/** Streams that decisions may be made on. */
import { generate } from "../data/generate.js";
import { type DatasetName, TABLE1 } from "../data/datasets.js";
import { tile } from "../metrics.js";
import { DAY, daylight } from "./shapes.js";
import type { ZooStream } from "./zoo.js";

/** A stream with the statistics of the paper's Table 1, mirrored where it is too short. */
const table1 = (name: DatasetName): ZooStream => ({
  max: TABLE1[name].max,
  make: (length) => tile(generate(name), length).subarray(0, length),
});

export const TUNING: Readonly<Record<string, ZooStream>> = {
  "pos-like": table1("POS"),
  "dns-like": table1("DNS"),
  "fare-like": table1("Fare"),
  "kosarak-like": table1("Kosarak"),
  exponential: { max: 1000, value: (source) => source.exponential(20) },
  lognormal: { max: 5000, value: (source) => source.lognormal(20, 1) },
  // No variance above θ to speak of: the tail has an infinite second moment.
  pareto: { max: 100_000, value: (source) => source.pareto(10, 1.5) },
  uniform: { max: 1000, value: (source) => 1000 * source.uniform() },
  constant: { max: 1000, value: () => 5 },
  sparse: { max: 1000, value: (source) => (source.chance(0.01) ? source.exponential(50) : 0) },
  "zero-inflated": { max: 2000, value: (source) => (source.chance(0.2) ? source.lognormal(30, 0.8) : 0) },
  // Busy for ten hours a day, silent for the rest.
  "on-off daily": { max: 1000, value: (source, t) => (t % DAY < 36_000 ? source.exponential(40) : 0) },
  "daily wave": { max: 500, value: (source, t) => source.exponential(2 + 20 * daylight(t)) },
  drift: { max: 10_000, value: (source, _t, share) => source.exponential(5 + 95 * share) },
  shift: { max: 10_000, value: (source, _t, share) => source.exponential(share < 0.5 ? 10 : 80) },
  growth: { max: 10_000, value: (source, _t, share) => source.exponential(5 * 40 ** share) },
  burst: {
    max: 10_000,
    // Four short bursts, sixty times as large, in a quiet stream.
    value: (source, _t, share) => source.exponential((share * 4) % 1 > 0.97 ? 300 : 5),
  },
  bimodal: {
    max: 1000,
    value: (source) => (source.chance(0.9) ? 20 + 5 * source.normal() : 600 + 50 * source.normal()),
  },
  "small integers": { max: 20, value: (source) => source.poisson(0.3) },
  huge: { max: 1e9, value: (source) => source.lognormal(1e6, 1.2) },
};

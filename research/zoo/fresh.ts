/** Streams that no decision was made on: run once per candidate, and every run is logged (research/notes/zoo.md). */
import { DAY, daylight, walk } from "./shapes.js";
import type { ZooStream } from "./zoo.js";

const weekend = (t: number): boolean => Math.floor(t / DAY) % 7 >= 5;

export const FRESH: Readonly<Record<string, ZooStream>> = {
  // Basket sizes: one item at least, larger at weekends.
  baskets: {
    max: 2000,
    value: (source, t) => 1 + Math.floor(source.exponential(weekend(t) ? 9 : 5) + source.exponential(2)),
  },
  // Queries a second: a daily wave times a load that wanders, with flash crowds.
  resolver: {
    max: 2000,
    begin: (source) => {
      const load = walk(0, (last) => last * 0.9999 + 0.005 * source.normal());
      const crowd = walk(0, (last) => (source.chance(1 / 20_000) ? 1 + 4 * source.uniform() : last * 0.995));
      return (t) => source.poisson(Math.min(60, 8 * (0.3 + daylight(t)) * Math.exp(load()) * (1 + crowd())));
    },
  },
  // Taxi fares in cents: a base, a distance, and the flat fare of the airport.
  taxi: {
    max: 30_000,
    value: (source) => (source.chance(0.02) ? 5200 : 250 + 50 * Math.round(source.lognormal(8, 0.9))),
  },
  clicks: { max: 41_270, value: (source) => 1 + Math.floor(Math.min(2500, source.pareto(3, 1.3))) },
  weibull: { max: 20_000, value: (source) => source.weibull(10, 0.5) },
  "folded normal": { max: 400, value: (source) => Math.abs(50 * source.normal()) },
  "narrow peak": { max: 1000, value: (source) => 500 + 20 * source.normal() },
  "coin tosses": { max: 64, value: (source) => Math.floor(source.exponential(1.44)) },
  "yes or no": { max: 1, value: (source) => (source.chance(0.03) ? 1 : 0) },
  rare: { max: 5000, value: (source) => (source.chance(0.001) ? 5000 * source.uniform() : 0) },
  // Busy and silent spells of some thousand values.
  sessions: {
    max: 3000,
    begin: (source) => {
      const busy = walk(0, (last) => (source.chance(1 / 4000) ? 1 - last : last));
      return () => (busy() === 1 ? source.lognormal(25, 1) : 0);
    },
  },
  "office hours": {
    max: 1000,
    value: (source, t) =>
      !weekend(t) && t % DAY > 32_400 && t % DAY < 61_200 ? source.lognormal(12, 0.6) : 0.2,
  },
  "random walk": {
    max: 2000,
    begin: (source) => {
      const level = walk(100, (last) => Math.min(400, Math.abs(last + 0.4 * source.normal())));
      return () => level() + source.exponential(10);
    },
  },
  "up and down": {
    max: 8000,
    value: (source, _t, share) => source.exponential(share > 1 / 3 && share < 2 / 3 ? 120 : 15),
  },
  adoption: {
    max: 20_000,
    value: (source, _t, share) => source.lognormal(4 * (1 + 29 / (1 + Math.exp(10 - 20 * share))), 0.5),
  },
  "more often": {
    max: 2000,
    value: (source, _t, share) => (source.chance(0.02 + 0.5 * share) ? source.lognormal(40, 0.5) : 0),
  },
  decline: { max: 2000, value: (source, _t, share) => source.exponential(100 - 90 * share) },
  "flash crowds": {
    max: 50_000,
    begin: (source) => {
      const crowd = walk(0, (last) => (source.chance(1 / 100_000) ? 50 : last * 0.9995));
      return () => source.exponential(10 * (1 + crowd()));
    },
  },
  outliers: { max: 100_000, value: (source) => (source.chance(1e-4) ? 100_000 : 8) },
  trimodal: {
    max: 1000,
    value: (source) => [5, 80, 400][Math.floor(source.uniform() * 3)]! * (1 + 0.1 * source.normal()),
  },
  payments: { max: 1e9, value: (source) => source.pareto(20_000, 1.2) },
};

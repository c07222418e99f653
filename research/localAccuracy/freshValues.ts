/** Distributions that had no say in the constants of θ (src/local/dayThreshold.ts). */

/** A value for each uniform number in (0, 1). */
export const FRESH: Readonly<Record<string, (u: number) => number>> = {
  gamma: (u) => 40 * (-Math.log(u)) ** 0.7,
  logistic: (u) => Math.max(0, 100 + 15 * Math.log((1 - u) / u)),
  triangular: (u) => 60 * Math.sqrt(u),
  "three steps": (u) => (u < 0.2 ? 90 : u < 0.5 ? 30 : 10),
  Lomax: (u) => 50 * (u ** (-1 / 3) - 1),
  "half normal and a spike": (u) => (u < 0.3 ? 5 : 80 * Math.sqrt(-2 * Math.log((u - 0.3) / 0.7))),
  cubes: (u) => 200 * u ** 3,
  Rayleigh: (u) => 25 * Math.sqrt(-2 * Math.log(u)),
};

/** Populations that are hard for intervals, as shares of θ: the value of device i of n. */
export const HARD: Readonly<Record<string, (i: number, n: number) => number>> = {
  "all 0": () => 0,
  "all ½": () => 0.5,
  "all 1": () => 1,
  "half and half": (i) => i % 2,
  "a single 1": (i) => Number(i === 0),
  "all 0.1": () => 0.1,
  skewed: (i, n) => Math.min(1, -0.1 * Math.log((i + 0.5) / n)),
};

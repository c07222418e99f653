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

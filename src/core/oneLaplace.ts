import type { NoiseCore } from "./core.js";
import type { Random } from "./random.js";
import type { Scale } from "./tables/scale.js";

/** One sample of discrete Laplace noise of scale t, from where `random` stands. */
export function oneLaplace(core: NoiseCore, random: Random, scale: Scale): number {
  const noise = new Float64Array(1);
  core.laplace(random, scale, noise);
  return noise[0]!;
}

/** Settings of the page → a publisher of the library. */
import { type Publisher, type SmootherChoice, tops, type TopsOptions } from "brume";
import type { ReleaseSettings } from "./protocol.js";

export function makePublisher(settings: ReleaseSettings): Publisher {
  const { epsilon, max, holdout, maxRange, skip, variant, noise, seed } = settings;
  const options: TopsOptions = {
    epsilon,
    max,
    holdout,
    maxRange,
    smoother: smootherOf(settings),
    history: Infinity,
    ...(skip === "auto" ? {} : { skipLevels: skip === "paper" ? skip : Number(skip) }),
    ...(noise === "seed" ? { unsafeSeed: seed } : {}),
  };
  return tops(variant === "paper" ? { ...options, variant } : options);
}

function smootherOf({ smoother, blocks, alpha }: ReleaseSettings): SmootherChoice {
  if (smoother === "moving") return { moving: blocks };
  if (smoother === "exponential") return { exponential: alpha };
  return smoother;
}

/** Settings of the page → a publisher of the library. */
import { privateStream, type SmootherChoice, type System } from "brume";
import { comparison } from "brume/research";
import type { ReleaseSettings } from "./protocol.js";

export function makePublisher(settings: ReleaseSettings): System {
  const { epsilon, max, holdout, maxRange, skip, variant, noise, seed } = settings;
  const shared = {
    epsilon,
    max,
    holdout,
    maxRange,
    history: Infinity,
    ...(noise === "seed" ? { unsafeSeed: seed } : {}),
  };
  if (variant === "pak") return comparison({ ...shared, method: "pak" });
  return privateStream({
    ...shared,
    smoother: smootherOf(settings),
    ...(skip === "auto" ? {} : { tuning: { skipLevels: skip === "paper" ? skip : Number(skip) } }),
    ...(variant === "paper" ? { variant } : {}),
  });
}

function smootherOf({ smoother, blocks, alpha }: ReleaseSettings): SmootherChoice {
  if (smoother === "moving") return { moving: blocks };
  if (smoother === "exponential") return { exponential: alpha };
  return smoother;
}

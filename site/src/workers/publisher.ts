/** Settings of the lab → a system of the library. */
import { privateStream, type SmootherChoice, type System } from "brume";
import { comparison } from "brume-research";
import type { ReleaseSettings } from "../play/state.js";

export function makePublisher(settings: ReleaseSettings): System {
  const { epsilon, max, holdout, maxRange, skip, method, noise, seed } = settings;
  const shared = {
    epsilon,
    max,
    holdout,
    maxRange,
    history: Infinity,
    ...(noise === "seed" ? { unsafeSeed: seed } : {}),
  };
  if (method === "pak") return comparison({ ...shared, method });
  if (method === "naive") return comparison({ ...shared, method: "flat" });
  return privateStream({
    ...shared,
    smoother: smootherOf(settings),
    ...(skip === "auto" ? {} : { tuning: { skipLevels: skip === "paper" ? skip : Number(skip) } }),
    ...(method === "paper" ? { variant: method } : {}),
  });
}

function smootherOf({ smoother, blocks, alpha }: ReleaseSettings): SmootherChoice {
  if (smoother === "moving") return { moving: blocks };
  if (smoother === "exponential") return { exponential: alpha };
  return smoother;
}

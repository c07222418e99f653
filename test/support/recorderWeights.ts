/** Sensitivity of the choices of θ and k to one value, event or person, in the configurations of the recorder. */
import { divisorOfChoice } from "../../src/events/holdout.js";
import { limitChoice } from "../../src/events/people/limitChoice.js";
import type { EventSettings } from "../../src/events/eventSettings.js";
import { eventChoice, makeChoice } from "../../src/stream/holdout/choice.js";
import { candidateGrid } from "../../src/stream/grid.js";
import { heldOut, type Settings } from "../../src/stream/options.js";
import { refiningChoice } from "../../src/stream/release/refining.js";
import type { Weights } from "./recorderHooks.js";

/** Nothing is chosen. */
const NO_WEIGHTS: Weights = { holdout: 1, refining: 1, rough: 1, fine: 1, limit: 1 };

export function valueWeights(settings: Settings): Weights {
  if (settings.privacy.threshold !== "noisy-max" || settings.privacy.variant === "paper") return NO_WEIGHTS;
  const { largest, step } = candidateGrid(settings.grid);
  const choice = makeChoice(
    settings.privacy.epsilon,
    heldOut(settings),
    settings.tree.maxRange,
    largest,
    step,
  );
  const refining = settings.privacy.refine ? refiningChoice(settings).countWeight : 1;
  return { ...NO_WEIGHTS, holdout: choice.countWeight, refining };
}

export function eventWeights(settings: EventSettings): Weights {
  const { grid, epsilon, limit } = settings;
  if (limit?.most !== undefined) return { ...NO_WEIGHTS, limit: limitChoice(settings).countWeight };
  if (grid === undefined || grid.threshold !== undefined) return NO_WEIGHTS;
  const largest = Math.floor((grid.max - grid.min) / grid.resolution);
  const divisor = divisorOfChoice(settings);
  const weight = (share: number) => eventChoice(epsilon, divisor, share, 1, largest).countWeight;
  return { ...NO_WEIGHTS, rough: weight(1), fine: weight(6) };
}

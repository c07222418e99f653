/** The shape of most figures: systems as curves over ε, means over runs, and a panel per data set or length. */
import type { Axis, Panel } from "../chart/panel.js";
import { UNITS } from "../data/datasets.js";
import { given } from "../../src/core/given.js";
import { type Dataset, labelOf } from "../data/source.js";
import type { Errors } from "../metrics.js";
import { common, type Curve, type Figure, jobsOf, type Lab, seriesOf } from "./figure.js";
import type { Results } from "./allJobs.js";

/** Plan of a panel. */
export interface Plan {
  readonly title: string;
  /** Unit of a value. */
  readonly unit: string;
  readonly curves: readonly Curve[];
}

export interface Sweep extends Pick<Figure, "jobs"> {
  panels(lab: Lab, results: Results, metric?: keyof Errors): Panel[];
}

/** @param over where the budgets along x come from */
export function makeSweep(
  x: Axis,
  over: "epsilons" | "localEpsilons",
  plans: (lab: Lab) => readonly Plan[],
): Sweep {
  return {
    jobs: (lab) =>
      plans(lab).flatMap(({ curves }) => jobsOf(curves, lab.settings[over], lab.settings.repeat)),
    panels: (lab, results, metric = "mse") =>
      plans(lab).map(({ title, unit, curves }) => ({
        title,
        x,
        y: { label: `${metric.toUpperCase()}, ${unit}${metric.endsWith("mse") ? "²" : ""}`, log: true },
        series: seriesOf(
          curves,
          lab.settings[over],
          lab.settings.repeat,
          results,
          (result) => result[metric],
        ),
      })),
  };
}

export const perDataset =
  (curves: (lab: Lab, dataset: Dataset) => readonly Curve[]) =>
  (lab: Lab): Plan[] =>
    lab.datasets.map((dataset) => ({
      title: labelOf(dataset),
      unit: UNITS[dataset.name],
      curves: curves(lab, dataset),
    }));

export const BASE = "Base (all 0)";

/** Publishes 0: what no system should be worse than. The same at every ε. */
export function baseCurve(lab: Lab, dataset: Dataset, clamp?: number): Curve {
  return {
    name: BASE,
    look: "dashed",
    colour: 6,
    job: (_, run) => ({
      kind: "central",
      ...common(lab, dataset),
      method: "base",
      epsilon: 1,
      variant: "paper",
      answer: "published",
      run,
      ...given({ clamp }),
    }),
  };
}

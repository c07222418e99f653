/** Figures: the runs that one needs, how they become panels, and what to read from them. */
import type { Panel, Point, Series } from "../chart/panel.js";
import type { DatasetName } from "../data/datasets.js";
import type { Dataset } from "../data/source.js";
import { meanAndSd } from "../metrics.js";
import type { Job, JobResult } from "./job.js";
import type { Claim } from "./readings.js";
import type { Results } from "./allJobs.js";

export interface Settings {
  readonly seed: string;
  /** Runs per point, and random ranges per run. */
  readonly repeat: number;
  readonly queries: number;
  /** m. */
  readonly holdout: number;
  /** r. */
  readonly maxRange: number;
  /** Budgets in the central and in the local model. */
  readonly epsilons: readonly number[];
  readonly localEpsilons: readonly number[];
}

/** As in the paper. */
export const FULL: Settings = {
  seed: "paper",
  repeat: 100,
  queries: 200,
  holdout: 65_536,
  maxRange: 2 ** 20,
  epsilons: Array.from({ length: 10 }, (_, i) => (i + 1) / 100),
  localEpsilons: Array.from({ length: 10 }, (_, i) => (i + 1) / 5),
};

/** Fewer budgets and runs on the streams and ranges of `FULL`. */
export const QUICK: Settings = {
  ...FULL,
  repeat: 3,
  epsilons: [0.01, 0.02, 0.05, 0.1],
  localEpsilons: [0.2, 0.6, 1, 1.6, 2],
};

export interface Lab {
  readonly settings: Settings;
  readonly datasets: readonly Dataset[];
}

export interface Table {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface Figure {
  /** As in --figure. */
  readonly id: string;
  readonly title: string;
  /** The paper's finding. */
  readonly paper: string;
  /** Sentences of the paper that points can be held against. */
  claims?(panels: readonly Panel[]): Claim[];
  /** Why ours differs, whatever the numbers are. */
  why(lab: Lab): string;
  readonly columns?: number;
  jobs(lab: Lab): Job[];
  panels(lab: Lab, results: Results): Panel[];
  /** Numbers that are better read than drawn. */
  table?(lab: Lab): Table;
  /** Our finding, from the numbers themselves. */
  got(panels: readonly Panel[]): string;
}

/** The part of a job that is the same in all figures. */
export function common({ settings }: Lab, { id, max }: Dataset) {
  const { seed, queries, holdout, maxRange } = settings;
  return { data: id, max, seed, queries, holdout, maxRange };
}

export function datasetOf({ datasets }: Lab, name: DatasetName): Dataset {
  return datasets.find((dataset) => dataset.name === name)!;
}

/** A curve: one job per run at each x. */
export interface Curve extends Pick<Series, "name" | "look" | "colour"> {
  readonly job: (x: number, run: number) => Job;
}

export function jobsOf(curves: readonly Curve[], xs: readonly number[], repeat: number): Job[] {
  return curves.flatMap(({ job }) =>
    xs.flatMap((x) => Array.from({ length: repeat }, (_, run) => job(x, run))),
  );
}

/** Mean and standard deviation over runs of what `measure` picks. */
export function seriesOf(
  curves: readonly Curve[],
  xs: readonly number[],
  repeat: number,
  results: Results,
  measure: (result: JobResult) => number,
): Series[] {
  return curves.map(({ job, ...series }) => ({
    ...series,
    points: xs.map((x): Point => {
      const runs = Array.from({ length: repeat }, (_, run) => measure(results(job(x, run))));
      const { mean, sd } = meanAndSd(runs);
      return { x, y: mean, sd };
    }),
  }));
}

/** Figures 2 and 9: the released DNS stream beside the true one, as means over 120 intervals; one run each. */
import type { Panel, Series } from "../chart/panel.js";
import { UNITS } from "../data/datasets.js";
import { prefixSums, tile } from "../metrics.js";
import { labelOf } from "../data/source.js";
import { common, datasetOf, type Figure, type Lab } from "./figure.js";
import type { Job } from "./job.js";
import { aboutData, short } from "./readings.js";
import { meansOf } from "./runJob.js";
import type { Results } from "./allJobs.js";

const INTERVALS = 120;

/** A panel per job: the truth and what the job released. */
interface Shown {
  readonly title: string;
  readonly name: string;
  readonly colour: number;
  readonly job: Job;
}

function truth(lab: Lab): number[] {
  const { holdout, maxRange } = lab.settings;
  const sums = prefixSums(tile(datasetOf(lab, "DNS").values, holdout + maxRange).subarray(holdout));
  return meansOf((from, to) => sums[to]! - sums[from]!, maxRange, INTERVALS);
}

function panels(shown: readonly Shown[], lab: Lab, results: Results): Panel[] {
  const thousands = lab.settings.maxRange / 1000;
  const asSeries = (name: string, colour: number, means: readonly number[]): Series => ({
    name,
    colour,
    points: means.map((y, i) => ({ x: (thousands * (i + 0.5)) / INTERVALS, y })),
  });
  const label = labelOf(datasetOf(lab, "DNS"));
  const truthSeries = asSeries("truth", 7, truth(lab));
  return shown.map(({ title, name, colour, job }) => ({
    title,
    x: { label: `${label}: thousands of values` },
    y: { label: `mean, ${UNITS.DNS} a value` },
    series: [truthSeries, asSeries(name, colour, results(job).means!)],
  }));
}

/** Root mean squared distance of the second series from the first. */
function distance({ series: [a, b] }: Panel): number {
  const squares = a!.points.map(({ y }, i) => (y - b!.points[i]!.y) ** 2);
  return Math.sqrt(squares.reduce((sum, x) => sum + x, 0) / squares.length);
}

const distances = (all: readonly Panel[]): string =>
  `Root mean squared distance from the truth, in ${UNITS.DNS} a value: ${all.map((panel) => `${panel.title}: ${short(distance(panel))}`).join("; ")}.`;

function central(lab: Lab): Shown[] {
  const shared = {
    kind: "central",
    ...common(lab, datasetOf(lab, "DNS")),
    run: 0,
    intervals: INTERVALS,
  } as const;
  return [
    ...[0.01, 0.05, 0.1].map((epsilon): Shown => ({
      title: `our defaults, ε = ${epsilon}`,
      name: "ToPS, our defaults",
      colour: 0,
      job: { ...shared, method: "tops", variant: "default", answer: "best", epsilon },
    })),
    ...[0.01, 0.05, 0.1].map((epsilon): Shown => ({
      title: `the paper's ToPS, ε = ${epsilon}`,
      name: "ToPS, paper",
      colour: 1,
      job: { ...shared, method: "tops", variant: "paper", answer: "published", epsilon },
    })),
    ...[0.1, 0.5, 1].map((epsilon): Shown => ({
      title: `PAK, ε = ${epsilon}`,
      name: "PAK",
      colour: 4,
      job: { ...shared, method: "pak", variant: "paper", answer: "published", epsilon },
    })),
  ];
}

export const figure2: Figure = {
  id: "2",
  title: "Figure 2: the DNS stream as released, ToPS and PAK",
  paper: "ToPS at ε = 0.01 follows the truth closely; PAK is noisier even with a larger ε.",
  why: (lab) => `${aboutData(lab, ["DNS"])} The ε of the panels are ours. Mind the y-axis of PAK.`,
  columns: 3,
  jobs: (lab) => central(lab).map(({ job }) => job),
  panels: (lab, results) => panels(central(lab), lab, results),
  got(all) {
    const [paper, pak] = [all[3]!, all[6]!];
    return `${distances(all)} PAK is ${short(distance(pak) / distance(paper))} times as far off as the paper's ToPS, with ${pak.title.slice("PAK, ".length)} against ${paper.title.slice("the paper's ToPS, ".length)}.`;
  },
};

function local(lab: Lab): Shown[] {
  const shared = common(lab, datasetOf(lab, "DNS"));
  return (["default", "SW-W"] as const).map((method, i): Shown => ({
    title: method === "default" ? "our defaults, ε = 1" : "the paper's ToPL, ε = 1",
    name: method === "default" ? "ToPL, our defaults" : "ToPL, paper",
    colour: i,
    job: { kind: "local", ...shared, method, learnEpsilon: 1, epsilon: 1, run: 0, intervals: INTERVALS },
  }));
}

export const figure9: Figure = {
  id: "9",
  title: "Figure 9: the DNS stream as released in the local model, ε = 1",
  paper: "ToPL with ε = 1 and the truth are on similar paths.",
  why(lab) {
    const n = Math.round(lab.settings.maxRange / INTERVALS);
    return `${aboutData(lab, ["DNS"])} Every value is noisy by itself here, so each mean of about ${n} values carries an error of some θ/√${n}.`;
  },
  columns: 2,
  jobs: (lab) => local(lab).map(({ job }) => job),
  panels: (lab, results) => panels(local(lab), lab, results),
  got: distances,
};

/** Figures 6 and 7: ways to find θ, published by the paper's Ĥc16. */
import { UNITS } from "../data/datasets.js";
import type { Dataset } from "../data/source.js";
import {
  common,
  type Curve,
  datasetOf,
  factors,
  type Figure,
  jobsOf,
  type Lab,
  seriesOf,
  span,
  valueAt,
} from "./figure.js";
import type { CentralJob, Rule } from "./job.js";
import { baseCurve } from "./systems.js";

const PERCENTILES = [85, 90, 95, 99.5, 99.9];
/** ε of NM-E in Figure 6, and of the release in Figure 7. */
const FIXED_EPSILON = 0.05;

const job = (lab: Lab, dataset: Dataset, rule: Rule, epsilon: number, run: number): CentralJob => ({
  kind: "central",
  ...common(lab, dataset),
  method: "hhatc16",
  variant: "paper",
  answer: "published",
  rule,
  epsilon,
  run,
});

/** r/64, r/16, r/4 and r values, which choose θ and are released as well. */
const lengths = ({ settings }: Lab) => [64, 16, 4, 1].map((part) => Math.floor(settings.maxRange / part));

function percentileCurves(lab: Lab, m: number): Curve[] {
  const dataset = datasetOf(lab, "DNS");
  const same = { holdout: 0, maxRange: m };
  return [
    ...PERCENTILES.map((p): Curve => ({
      name: `p = ${p}`,
      job: (epsilon, run) => ({
        ...job(lab, dataset, { name: "percentile", percentile: p / 100 }, epsilon, run),
        ...same,
      }),
    })),
    {
      name: "NM-E",
      colour: 7,
      job: (epsilon, run) => ({
        ...job(lab, dataset, { name: "nm-e", epsilon: FIXED_EPSILON, noise: "laplace" }, epsilon, run),
        ...same,
      }),
    },
  ];
}

export const figure6: Figure = {
  id: "6",
  title: "Figure 6: true percentiles as θ, DNS, and NM-E with ε = 0.05 beside them",
  paper:
    "No single percentile is right everywhere: a low one stops improving with ε, because truncation rules its error, and a high one pays in noise. NM-E with ε = 0.05 comes close to the best percentile in each case.",
  why: "θ is read from the very values that are released, as in the paper (for study: that is not private). The numbers of values of its panels are not in the text we have; ours are r/64 to r.",
  jobs: (lab) =>
    lengths(lab).flatMap((m) => jobsOf(percentileCurves(lab, m), lab.settings.epsilons, lab.settings.repeat)),
  panels: (lab, results) =>
    lengths(lab).map((m) => ({
      title: `${m} values`,
      x: { label: "ε of the release", log: true },
      y: { label: `MSE, ${UNITS.DNS}²`, log: true },
      series: seriesOf(
        percentileCurves(lab, m),
        lab.settings.epsilons,
        lab.settings.repeat,
        results,
        ({ mse }) => mse,
      ),
    })),
  got: (panels) =>
    `NM-E over the best percentile at each ε: ${panels
      .map((panel) => {
        const ratios = panel.series[0]!.points.map(
          ({ x }) =>
            valueAt(panel, "NM-E", x) / Math.min(...PERCENTILES.map((p) => valueAt(panel, `p = ${p}`, x))),
        );
        return `${panel.title} ${span(ratios)}`;
      })
      .join(", ")}.`,
};

const RULES = [
  ["NM-E, our noise", (epsilon: number): Rule => ({ name: "nm-e", epsilon, noise: "exponential" })],
  ["NM-E, paper", (epsilon: number): Rule => ({ name: "nm-e", epsilon, noise: "laplace" })],
  ["S-PAK", (epsilon: number): Rule => ({ name: "s-pak", epsilon })],
  ["S-P", (epsilon: number): Rule => ({ name: "s-p", epsilon })],
] as const;

const ruleCurves = (lab: Lab, dataset: Dataset): Curve[] => [
  ...RULES.map(([name, rule]): Curve => ({
    name,
    job: (epsilon, run) => job(lab, dataset, rule(epsilon), FIXED_EPSILON, run),
  })),
  baseCurve(lab, dataset),
];

export const figure7: Figure = {
  id: "7",
  title: "Figure 7: ways to find θ privately; the release has ε = 0.05",
  paper:
    "NM-E is far better than S-PAK and S-P on all data sets and hardly depends on ε. S-PAK and S-P are worse than publishing zeros: their θ is too large.",
  why: "We choose θ from the hold-out and release the values after it; the paper releases the same values that chose θ. S-P's θ is below 0, and zeros are published, in about half of the runs; so few runs leave its mean to chance.",
  jobs: (lab) =>
    lab.datasets.flatMap((dataset) =>
      jobsOf(ruleCurves(lab, dataset), lab.settings.epsilons, lab.settings.repeat),
    ),
  panels: (lab, results) =>
    lab.datasets.map((dataset) => ({
      title: dataset.name,
      x: { label: "ε that finds θ", log: true },
      y: { label: `MSE, ${UNITS[dataset.name]}²`, log: true },
      series: seriesOf(
        ruleCurves(lab, dataset),
        lab.settings.epsilons,
        lab.settings.repeat,
        results,
        ({ mse }) => mse,
      ),
    })),
  got: (panels) =>
    `S-PAK over the paper's NM-E: ${factors(panels, "S-PAK", "NM-E, paper")}. S-PAK over Base: ${factors(panels, "S-PAK", "Base (all 0)")}. The paper's NM-E over ours: ${factors(panels, "NM-E, paper", "NM-E, our noise")}.`,
};

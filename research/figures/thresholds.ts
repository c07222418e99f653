/** Figures 6 and 7: ways to find θ, published by the paper's Ĥc16. */
import { UNITS } from "../data/datasets.js";
import { type Dataset, labelOf } from "../data/source.js";
import { common, type Curve, datasetOf, type Figure, type Lab } from "./figure.js";
import type { CentralJob, Rule } from "./job.js";
import { aboutData, claim, factors, short, span, valueAt } from "./readings.js";
import { BASE, baseCurve, makeSweep, perDataset } from "./sweep.js";

const PERCENTILES = [85, 90, 95, 99.5, 99.9];
const nameOf = (percentile: number) => `p = ${percentile}`;
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
  const curve = (rule: Rule): Curve["job"] => {
    return (epsilon, run) => ({ ...job(lab, dataset, rule, epsilon, run), holdout: 0, maxRange: m });
  };
  return [
    ...PERCENTILES.map((p): Curve => ({
      name: nameOf(p),
      job: curve({ name: "percentile", percentile: p / 100 }),
    })),
    { name: "NM-E", colour: 7, job: curve({ name: "nm-e", epsilon: FIXED_EPSILON, noise: "laplace" }) },
  ];
}

const bestPercentile = (y: (series: string) => number) => Math.min(...PERCENTILES.map((p) => y(nameOf(p))));

export const figure6: Figure = {
  id: "6",
  title: "Figure 6: true percentiles as θ, and NM-E with ε = 0.05 beside them",
  paper:
    "No single percentile is right everywhere: a low one stops improving with ε, because truncation rules its error, and a high one pays in noise. NM-E with ε = 0.05 comes close to the best percentile in each case.",
  claims: (panels) => [
    claim(
      "NM-E is close to the best of the percentiles (a factor of 2)",
      panels,
      (y) => y("NM-E") < 2 * bestPercentile(y),
    ),
  ],
  why: (lab) =>
    `${aboutData(lab, ["DNS"])} θ is read from the very values that are released, as in the paper (for study: that is not private). The numbers of values of its panels are not in the text we have; ours are r/64 to r.`,
  ...makeSweep({ label: "ε of the release", log: true }, "epsilons", (lab) =>
    lengths(lab).map((m) => ({
      title: `${labelOf(datasetOf(lab, "DNS"))}, ${m} values`,
      unit: UNITS.DNS,
      curves: percentileCurves(lab, m),
    })),
  ),
  got(panels) {
    const over = (panel: (typeof panels)[number]) =>
      panel.series[0]!.points.map(
        ({ x }) => valueAt(panel, "NM-E", x) / bestPercentile((name) => valueAt(panel, name, x)),
      );
    const gain = (panel: (typeof panels)[number], p: number) => {
      const { points } = panel.series.find(({ name }) => name === nameOf(p))!;
      return short(points[0]!.y / points.at(-1)!.y);
    };
    const last = panels.at(-1)!;
    return `NM-E over the best percentile at each ε: ${panels.map((panel) => `${panel.title} ${span(over(panel))}`).join("; ")}. From the smallest ε to the largest, with the most values, p = 85 gains a factor of ${gain(last, 85)} and p = 99.9 one of ${gain(last, 99.9)}.`;
  },
};

const OUR_NOISE = "NM-E, our noise";
const NM_E = "NM-E, paper";

const RULES = [
  [OUR_NOISE, (epsilon: number): Rule => ({ name: "nm-e", epsilon, noise: "exponential" })],
  [NM_E, (epsilon: number): Rule => ({ name: "nm-e", epsilon, noise: "laplace" })],
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
  claims: (panels) => [
    claim("NM-E is better than S-PAK and S-P", panels, (y) => y(NM_E) < Math.min(y("S-PAK"), y("S-P"))),
    claim("S-PAK is worse than zeros", panels, (y) => y("S-PAK") > y(BASE)),
    claim("S-P is worse than zeros", panels, (y) => y("S-P") > y(BASE)),
  ],
  why: (lab) =>
    `${aboutData(lab)} We choose θ from the hold-out and release the values after it; the paper releases the same values that chose θ. S-P's θ is below 0, and zeros are published, in about half of the runs; few runs leave its mean to chance.`,
  ...makeSweep({ label: "ε that finds θ", log: true }, "epsilons", perDataset(ruleCurves)),
  got: (panels) =>
    `S-PAK over the paper's NM-E: ${factors(panels, "S-PAK", NM_E)}. S-PAK over Base: ${factors(panels, "S-PAK", BASE)}. The paper's NM-E over ours: ${factors(panels, NM_E, OUR_NOISE)}.`,
};

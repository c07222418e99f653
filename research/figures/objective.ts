/** Figure 1: is Eq. 6, which noisy max maximises, a good stand-in for the error that is measured? */
import { UNITS } from "../data/datasets.js";
import { labelOf } from "../data/source.js";
import { tile } from "../metrics.js";
import { common, type Curve, datasetOf, type Figure, jobsOf, type Lab, seriesOf } from "./figure.js";
import { aboutData, short } from "./readings.js";

const EPSILON = 0.1;
const FANOUT = 16;
const C = 60;

/** Places of θ, in 27ths of the 99.5th percentile: where the curves have their minimum, and well beyond. */
const PLACES = [...Array.from({ length: 30 }, (_, i) => i + 1), 35, 40, 50, 60, 80];
/** Candidates whose error is measured. */
const MEASURED = PLACES.filter((place) => place % 5 === 0 || (place < 20 && place % 2 === 0));

function thetasOf(lab: Lab, places: readonly number[]): number[] {
  const unit = Math.max(1, Math.round(datasetOf(lab, "DNS").characteristics.p995 / 27));
  return places.map((place) => place * unit);
}

/** √ of the noise term of Eq. 4, for one unit of θ. */
const noisePerTheta = (r: number) =>
  Math.sqrt(2 * (FANOUT - 1) * (Math.log(r) / Math.log(FANOUT)) ** 3) / EPSILON;

/** All in units of a sum: Eq. 6 times −c·r/(3 m), and the square root of Eq. 4 and of what is measured. */
function curvesOf(lab: Lab) {
  const { holdout, maxRange } = lab.settings;
  const values = tile(datasetOf(lab, "DNS").values, holdout + maxRange);
  const held = values.subarray(0, holdout).slice().sort();
  const released = values.subarray(holdout);
  const points = thetasOf(lab, PLACES).map((theta) => {
    const above = held.reduce((count, value) => count + (value > theta ? 1 : 0), 0) / holdout;
    const hidden = released.reduce((sum, value) => sum + Math.max(0, value - theta), 0) / maxRange;
    const noise = noisePerTheta(maxRange) * theta;
    return { theta, noise, counted: (C * maxRange * above) / 3, bias: (maxRange * hidden) / 3 };
  });
  const series = (name: string, y: (point: (typeof points)[number]) => number, look: "line" | "dashed") => ({
    name,
    look,
    points: points.map((point) => ({ x: point.theta, y: y(point) })),
  });
  return [
    series("Eq. 6", ({ noise, counted }) => noise + counted, "line"),
    series("√ Eq. 4", ({ noise, bias }) => Math.hypot(noise, bias), "line"),
    series("its noise", ({ noise }) => noise, "dashed"),
    series("Eq. 6, its bias", ({ counted }) => counted, "dashed"),
  ];
}

const MEASURED_NAME = "measured (Ĥc16)";

const measured = (lab: Lab): Curve => ({
  name: MEASURED_NAME,
  look: "dots",
  colour: 5,
  job: (threshold, run) => ({
    kind: "central",
    ...common(lab, datasetOf(lab, "DNS")),
    method: "hhatc16",
    variant: "paper",
    answer: "published",
    epsilon: EPSILON,
    threshold,
    run,
  }),
});

const lowest = (points: readonly { x: number; y: number }[]) =>
  points.reduce((best, point) => (point.y < best.y ? point : best)).x;

export const figure1: Figure = {
  id: "1",
  title: "Figure 1: what noisy max looks at (Eq. 6) and the error it stands for, ε = 0.1",
  paper:
    "Eq. 6 and the measured error have much the same shape; their minima θ_q and θ_t are close, so that Eq. 6 finds a good θ with a sensitivity of only 1.",
  why: (lab) =>
    `${aboutData(lab, ["DNS"])} The paper's curves follow Eq. 4, whose noise term is three times that of the hierarchy with consistency, before prediction takes off more: where noise rules, the errors we measure lie below it, and a θ above the best one costs less.`,
  columns: 1,
  jobs: (lab) => jobsOf([measured(lab)], thetasOf(lab, MEASURED), lab.settings.repeat),
  panels(lab, results) {
    const series = [
      ...curvesOf(lab),
      ...seriesOf([measured(lab)], thetasOf(lab, MEASURED), lab.settings.repeat, results, ({ mse }) =>
        Math.sqrt(mse),
      ),
    ];
    return [
      {
        title: labelOf(datasetOf(lab, "DNS")),
        x: { label: `θ, ${UNITS.DNS}` },
        y: { label: `error of a sum, ${UNITS.DNS}`, log: true },
        series,
        marks: [
          { x: lowest(series[0]!.points), label: "θ_q (Eq. 6)" },
          { x: lowest(series[1]!.points), label: "θ_t (Eq. 4)" },
          { x: lowest(series[4]!.points), label: "measured" },
        ],
      },
    ];
  },
  got([panel]) {
    const at = (name: string) => lowest(panel!.series.find((series) => series.name === name)!.points);
    const errors = panel!.series.find(({ name }) => name === MEASURED_NAME)!.points;
    const least = Math.min(...errors.map(({ y }) => y));
    const nearest = errors.reduce((best, point) =>
      Math.abs(point.x - at("Eq. 6")) < Math.abs(best.x - at("Eq. 6")) ? point : best,
    );
    return `Lowest at θ = ${at("Eq. 6")} (Eq. 6), ${at("√ Eq. 4")} (Eq. 4) and ${at(MEASURED_NAME)} (measured, among ${errors.length} values of θ; there the error is ${short(least)}). At θ = ${nearest.x}, next to what Eq. 6 chooses, the measured error is ${short(nearest.y / least)} times the lowest.`;
  },
};

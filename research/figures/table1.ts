/** Table 1: what the paper says about its data sets, and what ours have. */
import { type Characteristics, TABLE1 } from "../data/datasets.js";
import { labelOf } from "../data/source.js";
import type { Figure } from "./figure.js";
import { aboutData, short } from "./readings.js";

const tailOf = ({ n, p85, p95, p995, p100 }: Characteristics) => [
  { x: 0.15, y: p85 },
  { x: 0.05, y: p95 },
  { x: 0.005, y: p995 },
  { x: 1 / n, y: p100 },
];

const COLUMNS = ["n", "max", "p85", "p95", "p995", "p100", "mean"] as const;

export const table1: Figure = {
  id: "table1",
  title: "Table 1: the data sets",
  paper: "Four data sets with a few values far above the rest: the reason to cut at a threshold at all.",
  why: (lab) =>
    `${aboutData(lab)} Built-in streams are drawn from a distribution made to have these percentiles and this mean; between the percentiles, and in what follows what in time, they are ours. Real files can be given with --data.`,
  jobs: () => [],
  panels: (lab) =>
    lab.datasets.map((dataset) => ({
      title: labelOf(dataset),
      x: { label: "share of values above", log: true },
      y: { label: "value", log: true },
      series: [
        { name: "our stream", points: tailOf(dataset.characteristics) },
        { name: "paper", look: "dots", points: tailOf(TABLE1[dataset.name]) },
      ],
    })),
  table: ({ datasets }) => ({
    head: ["data", "from", ...COLUMNS],
    rows: datasets.flatMap(({ name, origin, characteristics }) => [
      [name, "paper", ...COLUMNS.map((column) => String(TABLE1[name][column]))],
      [
        name,
        origin ?? "built in",
        ...COLUMNS.map((column) => String(Number(characteristics[column].toFixed(2)))),
      ],
    ]),
  }),
  got(panels) {
    const off = panels.map(({ title, series: [mine, theirs] }) => {
      const parts = mine!.points.map(({ y }, i) => Math.abs(y / theirs!.points[i]!.y - 1));
      return `${title} ${short(100 * Math.max(...parts))} %`;
    });
    return `The percentiles shown are off from the paper's by at most: ${off.join(", ")}.`;
  },
};

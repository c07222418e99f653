/** Readings of panels: factors between curves, and sentences of the paper held against the points measured. */
import type { Panel } from "../chart/panel.js";
import type { Lab } from "./figure.js";

/** y of a series at x. */
export function valueAt(panel: Panel, name: string, x: number): number {
  return panel.series.find((series) => series.name === name)!.points.find((point) => point.x === x)!.y;
}

/** The factors a/b over all x of each panel: "DNS 3.1–8.2, Fare …". */
export function factors(panels: readonly Panel[], a: string, b: string): string {
  return panels
    .map((panel) => {
      const ratios = placesOf(panel).map((x) => valueAt(panel, a, x) / valueAt(panel, b, x));
      return `${panel.title} ${span(ratios)}`;
    })
    .join(", ");
}

/** A sentence of the paper, and at how many points of each panel it is so here. */
export interface Claim {
  readonly paper: string;
  readonly found: readonly { readonly panel: string; readonly holds: number; readonly of: number }[];
}

/** @param holds whether it is so at an x, from y by the name of a series; undefined: no claim about that x */
export function claim(
  paper: string,
  panels: readonly Panel[],
  holds: (y: (series: string, at?: number) => number, x: number) => boolean | undefined,
): Claim {
  return {
    paper,
    found: panels.map((panel) => {
      const verdicts = placesOf(panel)
        .map((x) => holds((series, at = x) => valueAt(panel, series, at), x))
        .filter((verdict) => verdict !== undefined);
      return { panel: panel.title, holds: verdicts.filter(Boolean).length, of: verdicts.length };
    }),
  };
}

const placesOf = (panel: Panel): number[] => panel.series[0]!.points.map(({ x }) => x);

/** Panels of these data sets. */
export function panelsOf(panels: readonly Panel[], ...names: readonly string[]): Panel[] {
  return panels.filter(({ title }) => names.some((name) => title.startsWith(name)));
}

export const between = (least: number, value: number, most: number): boolean =>
  value >= least && value <= most;

/** Where the data come from, as the first reason why a figure differs. */
export function aboutData({ datasets }: Lab, names = datasets.map(({ name }) => name)): string {
  const used = datasets.filter(({ name }) => names.includes(name));
  const files = used.filter(({ origin }) => origin !== undefined);
  const made = used.filter(({ origin }) => origin === undefined).map(({ name }) => name);
  const read = files.map(
    ({ name, origin, characteristics: { n } }) => `${name} is read from ${origin} (${n} values)`,
  );
  const built =
    made.length === 0
      ? []
      : [`${listed(made)} ${made.length === 1 ? "is" : "are"} made to Table 1, not the paper's data`];
  return `${[...read, ...built].join("; ")}.`;
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** "0.8–12", in two digits. */
export function span(values: readonly number[]): string {
  const [low, high] = [Math.min(...values), Math.max(...values)].map(short);
  return low === high ? low! : `${low}–${high}`;
}

export function short(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e4 || size < 1e-3)) return value.toExponential(1).replace("e+", "e");
  return String(Number(value.toPrecision(size >= 100 ? 3 : 2)));
}

/** Panels of a chart before it is drawn: JSON, CSV and SVG have the same numbers. */

export interface Point {
  readonly x: number;
  readonly y: number;
  /** Standard deviation of y from run to run. */
  readonly sd?: number;
}

export interface Series {
  readonly name: string;
  readonly points: readonly Point[];
  /** Default "line". */
  readonly look?: "line" | "dashed" | "dots";
  /** Place in the list of colours, so that a system looks the same in all figures. Default: its place in the panel. */
  readonly colour?: number;
}

export interface Axis {
  /** With its unit. */
  readonly label: string;
  readonly log?: boolean;
}

export interface Panel {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly series: readonly Series[];
  /** Upright lines with a word. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[];
}

export function csvOf(panels: readonly Panel[]): string {
  const cell = (value: string | number | undefined) =>
    typeof value === "string" && /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : `${value ?? ""}`;
  const rows = panels.flatMap(({ title, series }) =>
    series.flatMap(({ name, points }) => points.map(({ x, y, sd }) => [title, name, x, y, sd])),
  );
  return [["panel", "series", "x", "y", "sd"], ...rows].map((row) => `${row.map(cell).join(",")}\n`).join("");
}

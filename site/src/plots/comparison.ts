/** Mean squared error against ε, both logarithmic, as an SVG that can be kept: colours and shapes are in it. */
import { svg } from "../look/dom.js";
import { theme } from "./theme.js";

export interface Point {
  readonly epsilon: number;
  readonly mean: number;
  /** Half the width of the 95 % interval of `mean`. */
  readonly error: number;
}

export interface Curve {
  readonly name: string;
  /** Which colour and shape: the same method looks the same in every picture. */
  readonly look: number;
  readonly points: readonly Point[];
}

/** Okabe and Ito's colours, which differ for colour-blind eyes as well; shapes and dashes differ too. */
const COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f7f7f"];
const DASHES = ["", "7 4", "2 3"];

const HEIGHT = 440;
const BOX = { left: 74, right: 16, top: 14, bottom: 52 };
const LEGEND_WIDTH = 250;

/** @param width in pixels: text keeps its size on small screens */
export function comparisonPlot(curves: readonly Curve[], yLabel: string, width = 860): SVGElement {
  const colours = theme();
  const points = curves.flatMap((curve) => curve.points);
  const x = logScale(
    points.map(({ epsilon }) => epsilon),
    BOX.left + 18,
    width - BOX.right - 18,
  );
  const y = logScale(
    points.map(({ mean }) => mean),
    HEIGHT - BOX.bottom,
    BOX.top,
    true,
  );
  const across = Math.max(1, Math.floor((width - BOX.left) / LEGEND_WIDTH));
  const legendRows = Math.ceil(curves.length / across);
  const height = HEIGHT + 24 * legendRows;
  const text = (at: Record<string, string | number>, words: string) =>
    svg("text", { fill: colours.quiet, "font-size": 13, ...at }, words);
  const bottom = HEIGHT - BOX.bottom;

  return svg(
    "svg",
    {
      viewBox: `0 0 ${width} ${height}`,
      xmlns: "http://www.w3.org/2000/svg",
      "font-family": "system-ui, sans-serif",
      role: "img",
      "aria-label": `${yLabel} against ε for ${curves.map(({ name }) => name).join(", ")}`,
    },
    ...y.ticks.map((tick) =>
      svg("line", {
        x1: BOX.left,
        x2: width - BOX.right,
        y1: y.at(tick),
        y2: y.at(tick),
        stroke: colours.grid,
      }),
    ),
    ...y.ticks.map((tick) =>
      svg(
        "text",
        { x: BOX.left - 8, y: y.at(tick) + 4, "text-anchor": "end", fill: colours.quiet, "font-size": 13 },
        "10",
        svg("tspan", { dy: -5, "font-size": 10 }, String(Math.round(Math.log10(tick)))),
      ),
    ),
    ...[...new Set(points.map(({ epsilon }) => epsilon))].map((epsilon) =>
      text({ x: x.at(epsilon), y: bottom + 20, "text-anchor": "middle" }, String(epsilon)),
    ),
    svg("line", { x1: BOX.left, x2: width - BOX.right, y1: bottom, y2: bottom, stroke: colours.quiet }),
    text(
      { x: (BOX.left + width - BOX.right) / 2, y: bottom + 42, "text-anchor": "middle" },
      "ε: privacy budget, smaller is more private",
    ),
    text({ x: -bottom / 2, y: 18, transform: "rotate(-90)", "text-anchor": "middle" }, yLabel),
    ...curves.map((curve) => drawCurve(curve, x, y)),
    ...curves.map((curve, i) => {
      const [left, top] = [BOX.left + (i % across) * LEGEND_WIDTH, HEIGHT + 14 + 24 * Math.floor(i / across)];
      const { colour, dash } = lookOf(curve.look);
      return svg(
        "g",
        {},
        svg("line", {
          x1: left,
          x2: left + 30,
          y1: top - 4,
          y2: top - 4,
          stroke: colour,
          "stroke-width": 2,
          "stroke-dasharray": dash,
        }),
        marker(curve.look, left + 15, top - 4),
        svg("text", { x: left + 38, y: top, fill: colours.ink, "font-size": 13 }, curve.name),
      );
    }),
  );
}

function drawCurve({ look, points }: Curve, x: Scale, y: Scale): SVGElement {
  const { colour, dash } = lookOf(look);
  const line = points.map(
    ({ epsilon, mean }, i) => `${i === 0 ? "M" : "L"}${x.at(epsilon).toFixed(1)} ${y.at(mean).toFixed(1)}`,
  );
  return svg(
    "g",
    {},
    svg("path", {
      d: line.join(""),
      fill: "none",
      stroke: colour,
      "stroke-width": 2,
      "stroke-dasharray": dash,
    }),
    ...points.map(({ epsilon, mean, error }) => {
      const [at, low, high] = [x.at(epsilon), y.within(mean - error), y.within(mean + error)];
      const d = `M${at} ${low}V${high}M${at - 4} ${low}h8M${at - 4} ${high}h8`;
      return svg("path", { d, stroke: colour, "stroke-width": 1.5, fill: "none" });
    }),
    ...points.map(({ epsilon, mean }) => marker(look, x.at(epsilon), y.at(mean))),
  );
}

const lookOf = (look: number) => ({
  colour: COLOURS[look % COLOURS.length]!,
  dash: DASHES[Math.floor(look / COLOURS.length) % DASHES.length]!,
});

/** Circle, square, triangle, diamond, in turn. */
function marker(look: number, x: number, y: number): SVGElement {
  const fill = lookOf(look).colour;
  switch (look % 4) {
    case 0:
      return svg("circle", { cx: x, cy: y, r: 4.5, fill });
    case 1:
      return svg("rect", { x: x - 4, y: y - 4, width: 8, height: 8, fill });
    case 2:
      return svg("path", { d: `M${x} ${y - 5.5}l5 9h-10z`, fill });
    default:
      return svg("path", { d: `M${x} ${y - 6}l6 6l-6 6l-6 -6z`, fill });
  }
}

interface Scale {
  at(value: number): number;
  /** The same, no further than the ends. */
  within(value: number): number;
  /** Powers of ten within. */
  readonly ticks: readonly number[];
}

/** @param rounded whether it ends at powers of ten */
function logScale(values: readonly number[], from: number, to: number, rounded = false): Scale {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  let [low, high] = [Math.min(...logs), Math.max(...logs)];
  if (rounded) [low, high] = [Math.floor(low - 0.05), Math.ceil(high + 0.05)];
  const ticks = [];
  for (let power = Math.ceil(low); power <= high; power++) ticks.push(10 ** power);
  const span = high - low;
  const place = (log: number) => (span > 0 ? from + ((log - low) / span) * (to - from) : (from + to) / 2);
  return {
    ticks,
    at: (value) => place(Math.log10(value)),
    within: (value) => place(Math.min(high, Math.max(low, value > 0 ? Math.log10(value) : -Infinity))),
  };
}

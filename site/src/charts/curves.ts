/** Curves over logarithmic axes, as an SVG that can be kept: colours and shapes are in it. */
import { svg } from "../look/dom.js";
import { type Colours, colours, FONT_FAMILY } from "./theme.js";

export interface Point {
  readonly x: number;
  readonly y: number;
  /** Ends of the interval of y, where there is one. */
  readonly low?: number;
  readonly high?: number;
}

export interface Curve {
  readonly name: string;
  /** Which colour, dash and shape: the same method looks the same in every picture. */
  readonly look: number;
  readonly points: readonly Point[];
  /** Dots without a line. */
  readonly loose?: boolean;
}

export interface CurvesOptions {
  readonly curves: readonly Curve[];
  readonly xLabel: string;
  readonly yLabel: string;
  readonly width: number;
  readonly height?: number;
  /** Where the horizontal axis has ticks; it reaches over all of them. Default: where the points are. */
  readonly xTicks?: readonly number[];
  readonly xText?: (x: number) => string;
  readonly yText?: (y: number) => string;
  /** Vertical lines with a name. */
  readonly marks?: readonly { readonly x: number; readonly name: string; readonly colour: keyof Colours }[];
  /** A level that should not be passed. */
  readonly level?: { readonly y: number; readonly name: string };
  /** Writes the curves' names beside them. */
  readonly named?: boolean;
  /** Leaves the vertical axis linear, from 0. */
  readonly linear?: boolean;
}

/** Okabe and Ito's colours, which differ for colour-blind eyes as well; shapes and dashes differ too. */
const COLOURS = ["#2a7fd4", "#d55e00", "#0a9a72", "#c8699a", "#c98a00", "#3fa7d6", "#8b8b8b"];
const DASHES = ["", "7 4", "2 3"];
const BOX = { left: 62, right: 14, top: 44, bottom: 54 };
/** Half the widest tick's text must fit beside the first and the last point. */
const SIDE = 26;

export const lookOf = (look: number) => ({
  colour: COLOURS[look % COLOURS.length]!,
  dash: DASHES[Math.floor(look / COLOURS.length) % DASHES.length]!,
});

export function curvesChart(options: CurvesOptions): SVGElement {
  const { curves, xLabel, yLabel, width, height = 420, marks = [], level, linear = false } = options;
  const look = colours();
  const points = curves.flatMap((curve) => curve.points);
  const xTicks = options.xTicks ?? [...new Set(points.map((point) => point.x))];
  const x = scale(
    [...[...points, ...marks].map((point) => point.x), ...xTicks],
    BOX.left + SIDE,
    width - BOX.right - SIDE,
    false,
  );
  const heights = [...points.flatMap(({ y, high }) => [y, high ?? y]), ...(level ? [level.y] : [])];
  const y = linear
    ? linearScale(heights, height - BOX.bottom, BOX.top)
    : scale(heights, height - BOX.bottom, BOX.top, true);
  const bottom = height - BOX.bottom;
  const { xText = String, yText = String } = options;
  const text = (at: Record<string, string | number>, words: string) =>
    svg("text", { fill: look.quiet, "font-size": 13, ...at }, words);
  const line = (at: Record<string, string | number>) => svg("line", { stroke: look.grid, ...at });
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${width} ${height}`,
      "font-family": FONT_FAMILY,
      role: "img",
      "aria-label": `${yLabel} against ${xLabel} for ${curves.map(({ name }) => name).join(", ")}`,
    },
    ...y.ticks.flatMap((tick) => [
      line({ x1: BOX.left, x2: width - BOX.right, y1: y.at(tick), y2: y.at(tick) }),
      text({ x: BOX.left - 10, y: y.at(tick) + 4, "text-anchor": "end" }, yText(tick)),
    ]),
    ...spaced(xTicks, x.at, 52).map((tick) =>
      text({ x: x.at(tick), y: bottom + 22, "text-anchor": "middle" }, xText(tick)),
    ),
    line({ x1: BOX.left, x2: width - BOX.right, y1: bottom, y2: bottom, stroke: look.quiet }),
    text({ x: (BOX.left + width - BOX.right) / 2, y: height - 8, "text-anchor": "middle" }, xLabel),
    text({ x: 4, y: 14 }, yLabel),
    ...(level
      ? [
          line({
            x1: BOX.left,
            x2: width - BOX.right,
            y1: y.at(level.y),
            y2: y.at(level.y),
            stroke: look.clamped,
            "stroke-dasharray": "5 4",
            "stroke-width": 1.5,
          }),
          text(
            {
              x: width - BOX.right,
              y: y.at(level.y) - 8,
              "text-anchor": "end",
              "font-weight": 600,
              fill: look.clamped,
            },
            level.name,
          ),
        ]
      : []),
    ...marks.flatMap((mark) => [
      line({
        x1: x.at(mark.x),
        x2: x.at(mark.x),
        y1: BOX.top,
        y2: bottom,
        stroke: look[mark.colour],
        "stroke-width": 2,
      }),
      text(
        {
          x: x.at(mark.x) + (x.at(mark.x) > width - 160 ? -8 : 8),
          y: BOX.top - 8 + 24 * marks.indexOf(mark),
          "text-anchor": x.at(mark.x) > width - 160 ? "end" : "start",
          fill: look[mark.colour],
          "font-weight": 600,
          ...halo(look),
        },
        mark.name,
      ),
    ]),
    ...curves.map((curve) => drawCurve(curve, x, y)),
    ...(options.named === true
      ? curves
          .filter(({ name, points: some }) => name !== "" && some.length > 0)
          .map((curve) => nameOf(curve, x, y, look))
      : []),
  );
}

/** Text that lines may cross. */
const halo = ({ card }: Colours) => ({ stroke: card, "stroke-width": 5, "paint-order": "stroke" });

function drawCurve(curve: Curve, x: Scale, y: Scale): SVGElement {
  const { name, look, points, loose = false } = curve;
  const { colour, dash } = lookOf(look);
  const path = points.map((p, i) => `${i === 0 ? "M" : "L"}${x.at(p.x).toFixed(1)} ${y.at(p.y).toFixed(1)}`);
  return svg(
    "g",
    { "data-curve": name },
    ...(loose
      ? []
      : [
          svg("path", {
            d: path.join(""),
            fill: "none",
            stroke: colour,
            "stroke-width": 2.2,
            "stroke-dasharray": dash,
          }),
        ]),
    ...points
      .filter((p) => p.low !== undefined && p.high !== undefined)
      .map((p) => {
        const [at, low, high] = [x.at(p.x), y.at(p.low!), y.at(p.high!)];
        const d = `M${at} ${low}V${high}M${at - 4} ${low}h8M${at - 4} ${high}h8`;
        return svg("path", { d, stroke: colour, "stroke-width": 1.4, fill: "none" });
      }),
    ...points.map((p) => marker(look, x.at(p.x), y.at(p.y))),
  );
}

/** Written above the curve, a third of the way from its end, on the side that it does not run to. */
function nameOf({ name, look, points }: Curve, x: Scale, y: Scale, colours: Colours): SVGElement {
  const { x: at, y: high } = points[Math.floor(0.62 * (points.length - 1))]!;
  const falls = points[points.length - 1]!.y < points[0]!.y;
  return svg(
    "text",
    {
      x: x.at(at) + (falls ? 10 : 0),
      y: y.at(high) - 14,
      "text-anchor": falls ? "start" : "end",
      fill: lookOf(look).colour,
      "font-size": 14,
      "font-weight": 650,
      ...halo(colours),
    },
    name,
  );
}

/** Circle, square, triangle, diamond, in turn. */
export function marker(look: number, x: number, y: number): SVGElement {
  const fill = lookOf(look).colour;
  switch (look % 4) {
    case 0:
      return svg("circle", { cx: x, cy: y, r: 4, fill });
    case 1:
      return svg("rect", { x: x - 3.6, y: y - 3.6, width: 7.2, height: 7.2, fill });
    case 2:
      return svg("path", { d: `M${x} ${y - 5}l4.600 8.400h-9.200z`, fill });
    default:
      return svg("path", { d: `M${x} ${y - 5.5}l5.500 5.500l-5.500 5.500l-5.500 -5.500z`, fill });
  }
}

interface Scale {
  readonly at: (value: number) => number;
  readonly ticks: readonly number[];
}

/** @param rounded whether it ends at 1, 2 or 5 times a power of ten */
function scale(values: readonly number[], from: number, to: number, rounded: boolean): Scale {
  const logs = values.filter((value) => value > 0).map(Math.log10);
  let [low, high] = logs.length === 0 ? [0, 1] : [Math.min(...logs), Math.max(...logs)];
  const round: number[] = [];
  for (let power = Math.floor(low) - 1; power <= high + 1; power++)
    for (const digit of [1, 2, 5]) round.push(Number(`${digit}e${power}`));
  if (rounded) {
    low = Math.log10(round.findLast((tick) => Math.log10(tick) < low - 0.05)!);
    high = Math.log10(round.find((tick) => Math.log10(tick) > high + 0.05)!);
  }
  const shown = round.filter((tick) => Math.log10(tick) >= low - 1e-9 && Math.log10(tick) <= high + 1e-9);
  const ticks = high - low > 2.4 ? shown.filter((tick) => Number.isInteger(Math.log10(tick))) : shown;
  const clamp = (log: number) => Math.min(high, Math.max(low, log));
  return {
    ticks,
    at(value) {
      const log = clamp(value > 0 ? Math.log10(value) : -Infinity);
      return high > low ? from + ((log - low) / (high - low)) * (to - from) : (from + to) / 2;
    },
  };
}

function linearScale(values: readonly number[], from: number, to: number): Scale {
  const most = 1.12 * Math.max(...values, 1e-9);
  const power = 10 ** Math.floor(Math.log10(most / 4));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((size) => most / size <= 6)!;
  const ticks = Array.from({ length: Math.floor(most / step) + 1 }, (_, i) =>
    Number((i * step).toPrecision(12)),
  );
  return { ticks, at: (value) => from + (Math.min(most, Math.max(0, value)) / most) * (to - from) };
}

/** Those ticks that stand at least `gap` pixels apart. */
function spaced(ticks: readonly number[], at: (tick: number) => number, gap: number): number[] {
  const kept: number[] = [];
  for (const tick of [...ticks].sort((a, b) => a - b))
    if (kept.length === 0 || at(tick) - at(kept[kept.length - 1]!) >= gap) kept.push(tick);
  return kept;
}

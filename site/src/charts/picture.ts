/** A stream's chart as an SVG that stands alone: colours, background and words are in it. */
import { svg, svgFile } from "../look/dom.js";
import { amount } from "../look/format.js";
import { heights, type Lines, type Words } from "./lines.js";
import { colours, FONT_FAMILY } from "./theme.js";

export interface PictureOptions {
  readonly title: string;
  readonly words: Words;
  readonly from: number;
  readonly to: number;
  readonly holdout: number;
  readonly lines: Lines;
}

const [WIDTH, HEIGHT] = [1200, 560];
const BOX = { left: 84, right: 96, top: 60, bottom: 50 };

export function picture({ title, words, from, to, holdout, lines }: PictureOptions): SVGElement {
  const look = colours();
  const [low, high] = heights(lines);
  const [inner, tall] = [WIDTH - BOX.left - BOX.right, HEIGHT - BOX.top - BOX.bottom];
  const x = (position: number) => BOX.left + ((position - from) / (to - from)) * inner;
  const y = (value: number) => BOX.top + (1 - Math.min(1, Math.max(0, (value - low) / (high - low)))) * tall;
  const path = (line: Float64Array) => {
    let d = "";
    line.forEach((value, j) => {
      if (Number.isNaN(value)) return;
      const move = j === 0 || Number.isNaN(line[j - 1]!) ? "M" : "L";
      d += `${move}${x(lines.x[j]!).toFixed(1)} ${y(value).toFixed(1)}`;
    });
    return d;
  };
  const stroke = (line: Float64Array, colour: string, width: number, dash = "") =>
    svg("path", {
      d: path(line),
      fill: "none",
      stroke: colour,
      "stroke-width": width,
      "stroke-dasharray": dash,
    });
  const text = (at: Record<string, string | number>, words: string) =>
    svg("text", { fill: look.quiet, "font-size": 15, ...at }, words);
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const middle = (line: Float64Array) => {
    const known = Array.from(line).filter((value) => !Number.isNaN(value));
    return known[known.length - 1];
  };
  const name = (line: Float64Array, words: string, colour: string, shift: number) => {
    const value = middle(line);
    return value === undefined
      ? []
      : [text({ x: WIDTH - BOX.right + 8, y: y(value) + shift, fill: colour, "font-weight": 600 }, words)];
  };
  return svg(
    "svg",
    {
      xmlns: "http://www.w3.org/2000/svg",
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      width: WIDTH,
      height: HEIGHT,
      "font-family": FONT_FAMILY,
    },
    svg("rect", { width: WIDTH, height: HEIGHT, fill: look.card }),
    text({ x: BOX.left, y: 34, fill: look.ink, "font-size": 20, "font-weight": 600 }, title),
    ...ticks.flatMap((share) => {
      const value = low + share * (high - low);
      return [
        svg("line", { x1: BOX.left, x2: WIDTH - BOX.right, y1: y(value), y2: y(value), stroke: look.grid }),
        text(
          { x: BOX.left - 10, y: y(value) + 5, "text-anchor": "end" },
          amount(Number(value.toPrecision(3))),
        ),
      ];
    }),
    ...ticks.map((share) => {
      const at = from + share * (to - from);
      return text({ x: x(at), y: HEIGHT - 20, "text-anchor": "middle" }, words.place(Math.round(at)));
    }),
    ...(holdout > from
      ? [
          svg("rect", {
            x: BOX.left,
            y: BOX.top,
            width: Math.min(inner, x(holdout) - BOX.left),
            height: tall,
            fill: look.held,
          }),
        ]
      : []),
    band(lines, x, y, look.privateSoft),
    ...(lines.secret ? [stroke(lines.secret, look.secret, 1.5)] : []),
    stroke(lines.private, look.private, 3),
    ...(lines.secret ? name(lines.secret, "secret", look.secret, -8) : []),
    ...name(lines.private, "private", look.private, 14),
  );
}

function band(
  { x: columns, low, high }: Lines,
  x: (position: number) => number,
  y: (value: number) => number,
  fill: string,
): SVGElement {
  const known = Array.from(columns.keys()).filter((j) => !Number.isNaN(low[j]!));
  const point = (line: Float64Array) => (j: number) =>
    `${x(columns[j]!).toFixed(1)} ${y(line[j]!).toFixed(1)}`;
  const outline = [...known.map(point(high)), ...known.toReversed().map(point(low))];
  return svg("path", { d: outline.length === 0 ? "" : `M${outline.join("L")}Z`, fill });
}

/** Renders a drawing as PNG, with two pixels per unit. */
export async function asPng(drawing: SVGElement): Promise<Blob> {
  const image = new Image();
  const url = URL.createObjectURL(svgFile(drawing));
  image.src = url;
  await image.decode();
  URL.revokeObjectURL(url);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [2 * WIDTH, 2 * HEIGHT];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"),
  );
}

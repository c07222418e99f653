/** Pictures of the game: the two worlds as bars, and the release as a mark between their two sums. */
import { svg } from "../look/dom.js";
import { amount } from "../look/format.js";
import { CHANGED, MAX, trueSum } from "./game.js";

const [WIDTH, HEIGHT] = [420, 120];

/** A world's values as bars; the one that differs stands out. */
export function worldPicture(values: Float64Array, name: string): SVGElement {
  const across = WIDTH / values.length;
  return svg(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT + 22}`, role: "img", "aria-label": name },
    ...Array.from(values, (value, i) =>
      svg("rect", {
        class: i === CHANGED ? "bar-changed" : "bar-secret",
        x: i * across + 3,
        y: HEIGHT - (value / MAX) * (HEIGHT - 8) - 2,
        width: across - 6,
        height: (value / MAX) * (HEIGHT - 8) + 2,
        rx: 2,
      }),
    ),
    svg(
      "text",
      { class: "bar-text", x: (CHANGED + 0.5) * across, y: HEIGHT + 18, "text-anchor": "middle" },
      `${amount(values[CHANGED]!)}`,
    ),
  );
}

/** A line of sums with both worlds on it, and what was published. */
export function releasePicture(sum: number, standardError: number, width: number, raw: boolean): SVGElement {
  const [a, b] = [trueSum(0), trueSum(1)];
  const reach = raw ? MAX : Math.max(1.6 * MAX, 4 * standardError);
  const [from, to] = [(a + b) / 2 - reach, (a + b) / 2 + reach];
  const at = (value: number) =>
    20 + ((Math.min(to, Math.max(from, value)) - from) / (to - from)) * (width - 40);
  const mark = (value: number, name: string) => [
    svg("line", {
      class: "bar-zero",
      x1: at(value),
      x2: at(value),
      y1: 62,
      y2: 118,
      "stroke-dasharray": "4 3",
    }),
    svg(
      "text",
      { class: "bar-text", x: at(value), y: 138, "text-anchor": value === a ? "end" : "start" },
      `${name}: ${amount(value)}`,
    ),
  ];
  return svg(
    "svg",
    { viewBox: `0 0 ${width} 148`, "aria-hidden": "true" },
    svg("line", { class: "bar-zero", x1: 10, x2: width - 10, y1: 90, y2: 90 }),
    ...mark(a, "sum of A"),
    ...mark(b, "sum of B"),
    svg("path", { class: "bar-value", d: `M${at(sum)} 78l10 -18h-20z` }),
    svg(
      "text",
      {
        x: Math.min(width - 70, Math.max(70, at(sum))),
        y: 46,
        "text-anchor": "middle",
        "font-size": 22,
        "font-weight": 650,
        fill: "var(--private)",
      },
      amount(sum),
    ),
    svg(
      "text",
      { class: "bar-text", x: width / 2, y: 14, "text-anchor": "middle" },
      raw ? "the raw sum" : "the published sum of all 16",
    ),
  );
}

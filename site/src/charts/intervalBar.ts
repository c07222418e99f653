/** An answer as a bar: what noise may have done, what clamping hides, and where the truth is. Every end has its number. */
import { svg } from "../look/dom.js";

export interface Interval {
  readonly sum: number;
  /** The ends of the noise. */
  readonly low: number;
  readonly high: number;
  /** Clipping, drawn above the sum; 0 for none. */
  readonly clamped?: number;
  /** The true sum, where the reader may know it. */
  readonly truth?: number;
}

const HEIGHT = 122;
const BAR = 46;
const THICK = 16;
/** Room for half a label on both sides. */
const SIDE = 58;

/** @param write a value as text */
export function intervalBar(interval: Interval, write: (value: number) => string, width: number): SVGElement {
  const { sum, low, high, clamped = 0, truth } = interval;
  const top = high + clamped;
  const [least, most] = [Math.min(low, truth ?? low), Math.max(top, truth ?? top)];
  const room = 0.06 * (most - least || 1);
  const at = (value: number) =>
    SIDE + ((value - least + room) / (most - least + 2 * room)) * (width - 2 * SIDE);
  const segment = (from: number, to: number, name: string, colour: string) => [
    svg("rect", {
      x: at(from),
      y: BAR,
      width: Math.max(1.5, at(to) - at(from)),
      height: THICK,
      rx: 3,
      fill: `var(--${colour}-soft)`,
      stroke: `var(--${colour})`,
      ...(colour === "clamped" ? { "stroke-dasharray": "3 3" } : {}),
      class: `segment-${name}`,
    }),
  ];
  const ends = [low, high, ...(clamped > 0 ? [top] : [])];
  return svg(
    "svg",
    {
      class: "interval",
      viewBox: `0 0 ${width} ${HEIGHT}`,
      width,
      height: HEIGHT,
      role: "img",
      "aria-label": inWords(interval, write),
    },
    ...segment(low, high, "noise", "private"),
    ...(clamped > 0 ? segment(high, top, "clamped", "clamped") : []),
    svg("circle", { cx: at(sum), cy: BAR + THICK / 2, r: 6, fill: "var(--private)" }),
    ...apart(ends.map(at), 92).flatMap((x, i) => [
      leader(at(ends[i]!), x),
      svg("text", { x, y: BAR + THICK + 30, "text-anchor": "middle" }, write(ends[i]!)),
    ]),
    ...names(at((low + high) / 2), clamped > 0 ? at(high + clamped / 2) : undefined),
    ...(truth === undefined ? [] : truthMark(at(truth), write(truth))),
  );
}

/** From an end of the bar to its number, which may have had to move aside. */
const leader = (from: number, to: number) =>
  svg("path", {
    d: `M${from} ${BAR + THICK + 3}v4L${to} ${BAR + THICK + 16}`,
    stroke: "var(--quiet)",
    fill: "none",
  });

function names(noise: number, clamped: number | undefined): SVGElement[] {
  const [a, b] = clamped === undefined ? [noise] : apart([noise, clamped], 110);
  const name = (x: number, text: string, colour: string) =>
    svg("text", { x, y: BAR + THICK + 50, "text-anchor": "middle", class: `name-${colour}` }, text);
  return [
    name(a!, "noise", "private"),
    ...(b === undefined ? [] : [name(b, "may be cut off by θ", "clamped")]),
  ];
}

/** A diamond above the bar, so that shape tells as well as colour. */
function truthMark(x: number, text: string): SVGElement[] {
  return [
    svg(
      "g",
      { class: "secret" },
      svg("path", { d: `M${x} ${BAR - 16}l6 7l-6 7l-6 -7z`, fill: "var(--secret)" }),
      svg("path", { d: `M${x} ${BAR - 4}v${THICK + 6}`, stroke: "var(--secret)", "stroke-width": 1.5 }),
      svg("text", { x, y: 18, "text-anchor": "middle" }, `true ${text}`),
    ),
  ];
}

function inWords({ sum, low, high, clamped = 0, truth }: Interval, write: (value: number) => string): string {
  const cut = clamped > 0 ? `, and up to ${write(high + clamped)} with what clamping hides` : "";
  const known = truth === undefined ? "" : `; the truth is ${write(truth)}`;
  return `Private sum ${write(sum)}, noise from ${write(low)} to ${write(high)}${cut}${known}`;
}

/** Moves places right and then left until no two are nearer than `gap`. */
function apart(places: readonly number[], gap: number): number[] {
  const moved = [...places];
  for (let i = 1; i < moved.length; i++) moved[i] = Math.max(moved[i]!, moved[i - 1]! + gap);
  const over = moved[moved.length - 1]! - places[places.length - 1]!;
  return moved.map((place) => place - over / 2);
}

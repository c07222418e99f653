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

/** A round that is over: what was published, where it came from, and whether the guess was right. */
export interface Past {
  readonly which: 0 | 1;
  readonly sum: number;
  readonly hit: boolean;
}

const AXIS = 150;
const TALL = 92;

/**
 * A line of sums with the two worlds' curves over it, as high as rounds were played in each; every round leaves a dot below.
 * @param sum published in this round; none when the game is over
 */
export function releasePicture(
  sum: number | undefined,
  past: readonly Past[],
  {
    standardError,
    width,
    raw,
  }: { readonly standardError: number; readonly width: number; readonly raw: boolean },
): SVGElement {
  const sums = [trueSum(0), trueSum(1)] as const;
  const middle = (sums[0] + sums[1]) / 2;
  const reach = raw ? MAX : Math.max(1.6 * MAX, 4 * standardError);
  const clamp = (value: number) => Math.min(middle + reach, Math.max(middle - reach, value));
  const at = (value: number) => 20 + ((clamp(value) - middle + reach) / (2 * reach)) * (width - 40);
  const text = (x: number, y: number, words: string, more: Record<string, string | number> = {}) =>
    svg("text", { class: "bar-text", x, y, "text-anchor": "middle", ...more }, words);
  const curve = (which: 0 | 1) => {
    const played = past.filter((round) => round.which === which).length;
    const most = Math.max(3, ...[0, 1].map((w) => past.filter((round) => round.which === w).length));
    const scale = standardError / Math.SQRT2;
    const points = Array.from({ length: 161 }, (_, i) => middle + reach * (i / 80 - 1));
    const y = (value: number) =>
      AXIS - TALL * (played / most) * Math.exp(-Math.abs(value - sums[which]) / scale);
    return svg("path", {
      class: `law law-${which}`,
      d: `M${points.map((value) => `${at(value).toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`,
    });
  };
  const label = (which: 0 | 1) => [
    svg("line", { class: "bar-zero", x1: at(sums[which]), x2: at(sums[which]), y1: AXIS - 8, y2: AXIS + 8 }),
    text(at(sums[which]), AXIS + 72, `${which === 0 ? "A" : "B"}: ${amount(sums[which])}`, {
      "text-anchor": which === 0 ? "end" : "start",
      class: `bar-text law-name-${which}`,
    }),
  ];
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${AXIS + 82}`, "aria-hidden": "true" },
    ...(raw ? [] : ([0, 1] as const).map(curve)),
    svg("line", { class: "bar-zero", x1: 10, x2: width - 10, y1: AXIS, y2: AXIS }),
    ...label(0),
    ...label(1),
    ...past.map(({ which, sum: published, hit }) =>
      svg("circle", {
        class: `dot dot-${which}${hit ? "" : " missed"}`,
        cx: at(published),
        cy: AXIS + (which === 0 ? 22 : 44),
        r: 6,
      }),
    ),
    ...(sum === undefined
      ? []
      : [
          svg("path", { class: "bar-value", d: `M${at(sum)} ${AXIS - 6}l10 -18h-20z` }),
          text(Math.min(width - 70, Math.max(70, at(sum))), 40, amount(Number(sum.toFixed(1))), {
            class: "seen-sum",
          }),
        ]),
    text(
      width / 2,
      14,
      raw ? "the raw sum of all 16, in minutes" : "the published sum of all 16, in minutes",
    ),
  );
}

/** The first picture of the site: a helpline's calls one by one and its minutes by day, secret beside published. */
import { byId, svg } from "../look/dom.js";
import { amount, percent } from "../look/format.js";
import { CALLS, MARKED } from "./calls.js";
import type { helplineDays } from "./questions.js";

type Days = ReturnType<typeof helplineDays>;

const HEIGHT = 300;
/** Two rows: calls, then days. */
const CALL_ROW = { top: 24, bottom: 122 };
const DAY_ROW = { top: 168, bottom: 280 };
const SIDE = 50;

export function drawFirstPicture(found: Days, epsilon: number): void {
  const { days, raw, published, block, off, reach } = found;
  const most = 1.35 * Math.max(...days.map(({ truth }) => truth));
  for (const [id, isSecret] of [
    ["panel-secret", true],
    ["panel-published", false],
  ] as const) {
    const place = byId(id);
    const width = Math.max(260, place.clientWidth);
    place.replaceChildren(
      svg(
        "svg",
        {
          viewBox: `0 0 ${width} ${HEIGHT}`,
          role: "img",
          "aria-label": isSecret
            ? `Secret: ${raw.length} calls, one of ${MARKED.minutes} minutes, and the minutes of ${days.length} days`
            : `Published: no single call, and the minutes of ${days.length} days with their 95 % intervals`,
        },
        ...callRow(isSecret ? raw : published, width, isSecret),
        ...dayRow(days, most, width, isSecret),
      ),
    );
  }
  byId("first-value").textContent = `ε = ${epsilon}`;
  byId("first-say").textContent =
    `At ε = ${epsilon} nothing that is published becomes more than ${amount(Number(Math.exp(epsilon).toPrecision(3)))} times as likely because of any one call. ` +
    `A day’s sum is ${percent(off)} off on average, and its 95 % interval is ± ${percent(reach)}. ` +
    `Single numbers are predictions; every ${amount(block)} calls one corrects the sum.`;
}

const text = (x: number, y: number, words: string, at: Record<string, string> = {}) =>
  svg("text", { x, y, class: "panel-text", ...at }, words);

/** Calls as bars; what is outside of 0 to an hour ends in an arrow. */
function callRow(values: Float64Array, width: number, isSecret: boolean): SVGElement[] {
  const { top, bottom } = CALL_ROW;
  const across = (width - SIDE) / values.length;
  const y = (minutes: number) =>
    bottom - (Math.min(CALLS.max, Math.max(0, minutes)) / CALLS.max) * (bottom - top);
  const bars = Array.from(values, (minutes, i) => {
    const x = SIDE + i * across;
    if (minutes < 0 || minutes > CALLS.max) {
      const [tip, foot] = minutes < 0 ? [bottom + 9, bottom + 2] : [top - 9, top - 2];
      return svg("path", {
        class: "panel-call published",
        d: `M${x + across / 2} ${tip}L${x} ${foot}h${across}z`,
      });
    }
    const marked = isSecret && i === MARKED.around;
    return svg("rect", {
      class: `panel-call ${marked ? "marked" : isSecret ? "" : "published"}`,
      x: x + 0.12 * across,
      y: y(minutes),
      width: 0.76 * across,
      height: Math.max(1, bottom - y(minutes)),
    });
  });
  const pointed = SIDE + (MARKED.around + 1.3) * across;
  return [
    line(SIDE, width, bottom),
    text(SIDE - 8, top + 5, `${CALLS.max} min`, { "text-anchor": "end" }),
    text(SIDE - 8, bottom + 4, "0", { "text-anchor": "end" }),
    ...bars,
    isSecret
      ? text(pointed, top + 10, `one person: ${MARKED.minutes} min`, { class: "panel-text strong-marked" })
      : text(width, top + 10, "which of them was long?", { "text-anchor": "end" }),
    text(SIDE, bottom + 22, `${values.length} calls, one after the other`),
  ];
}

/** Minutes by day; published with their intervals. */
function dayRow(days: Days["days"], most: number, width: number, isSecret: boolean): SVGElement[] {
  const { top, bottom } = DAY_ROW;
  const x = (day: number) => SIDE + ((day + 0.5) / days.length) * (width - SIDE);
  const y = (minutes: number) => bottom - (Math.min(most, Math.max(0, minutes)) / most) * (bottom - top);
  const points = (at: (day: Days["days"][number]) => number) =>
    days.map((day, i) => `${x(i).toFixed(1)} ${y(at(day)).toFixed(1)}`);
  const band = [...points(({ high }) => high), ...points(({ low }) => low).reverse()];
  const tick = 50_000;
  return [
    line(SIDE, width, bottom),
    line(SIDE, width, y(tick)),
    text(SIDE - 8, y(tick) + 4, "50,000", { "text-anchor": "end" }),
    text(SIDE - 8, bottom + 4, "0", { "text-anchor": "end" }),
    ...(isSecret ? [] : [svg("path", { class: "panel-band", d: `M${band.join("L")}Z` })]),
    svg("path", {
      class: `panel-line${isSecret ? "" : " published"}`,
      d: `M${points(isSecret ? ({ truth }) => truth : ({ sum }) => sum).join("L")}`,
    }),
    text(SIDE, bottom + 18, `minutes a day, ${days.length} days${isSecret ? "" : ", with 95 % intervals"}`),
  ];
}

const line = (from: number, to: number, y: number) =>
  svg("line", { class: "panel-axis", x1: from, x2: to, y1: y, y2: y });

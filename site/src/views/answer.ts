/** The answer to a range: truth beside the private sum and mean, with the 95 % error bar. */
import type { Meaning } from "../data/example.js";
import { h, svg } from "../look/dom.js";
import { amount, place, span, withUnit } from "../look/format.js";
import type { Answer } from "../workers/protocol.js";

/** @param width of the place it goes to, in pixels */
export function answerView(answer: Answer, meaning: Meaning, width: number): Node[] {
  const { from, to, truth, clamped, threshold, sum, low, high } = answer;
  const length = to - from;
  return [
    h("p", { class: "quiet" }, `${place(from, meaning)} to ${place(to, meaning)}: ${span(length, meaning)}`),
    answerTable(truth, sum, low, high, length, meaning),
    errorBar(
      [truth, sum, low, high].map((part) => part / length),
      meaning.unit,
      Math.min(600, width),
    ),
    h(
      "p",
      { class: "hint" },
      "The error is that of the noise. ",
      clamped > 0
        ? `Besides, values above θ = ${withUnit(threshold, meaning.unit)} count as θ, which hides ${Number(((100 * clamped) / truth).toPrecision(2))} % of this sum.`
        : "No value in this range is above θ.",
    ),
  ];
}

/** "± 12", or "−12, +30" when more may be missing than was added. */
function errorText(below: number, above: number): string {
  const [less, more] = [amount(below), amount(above)];
  return less === more ? `± ${less}` : `−${less}, +${more}`;
}

/** Sum and mean, each with truth, private answer and how far its 95 % interval reaches. */
export function answerTable(
  truth: number,
  sum: number,
  low: number,
  high: number,
  length: number,
  meaning: Meaning,
): HTMLTableElement {
  const row = (name: string, unit: string, scale: number) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, name, h("span", { class: "quiet" }, ` ${unit}`)),
      h("td", {}, amount(truth / scale)),
      h("td", { class: "private" }, amount(sum / scale)),
      h("td", {}, errorText((sum - low) / scale, (high - sum) / scale)),
    );
  const heading = (text: string) => h("th", { scope: "col" }, text);
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, heading(""), heading("Truth"), heading("Private"), heading("95 % error"))),
    h("tbody", {}, row("Sum", meaning.sumUnit, 1), row("Mean", meaning.unit, length)),
  );
}

/** A line from low to high with the private answer on it, and a tick where the truth lies. */
function errorBar(means: readonly number[], unit: string, width: number): SVGElement {
  const [truth, answer, low, high] = means as [number, number, number, number];
  const least = Math.min(low, truth);
  const most = Math.max(high, truth);
  const x = (value: number) => 70 + ((value - least) / (most - least || 1)) * (width - 140);
  const text = (value: number, anchor: string, at: number) =>
    svg("text", { x: at, y: 22, "text-anchor": anchor, class: "bar-text" }, amount(value));
  const stroke = { class: "bar" };
  return svg(
    "svg",
    {
      class: "errorbar",
      viewBox: `0 0 ${width} 46`,
      role: "img",
      "aria-label": `Mean: private ${withUnit(answer, unit)}, 95 % between ${amount(low)} and ${amount(high)}; truth ${amount(truth)}`,
    },
    svg("line", { x1: x(low), x2: x(high), y1: 18, y2: 18, ...stroke }),
    ...[low, high].map((end) => svg("line", { x1: x(end), x2: x(end), y1: 12, y2: 24, ...stroke })),
    svg("circle", { cx: x(answer), cy: 18, r: 5, class: "bar-dot" }),
    svg("line", { x1: x(truth), x2: x(truth), y1: 6, y2: 30, class: "bar-truth" }),
    svg("text", { x: x(truth), y: 43, "text-anchor": "middle", class: "bar-text" }, "truth"),
    text(low, "end", x(low) - 8),
    text(high, "start", x(high) + 8),
  );
}

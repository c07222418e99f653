/** The one plot of the story: five views, one of them at a time. */
import { type CurvesOptions, curvesChart } from "../charts/curves.js";
import type { Lines, Words } from "../charts/lines.js";
import { type StreamChart, streamChart } from "../charts/streamChart.js";
import { onColours } from "../charts/theme.js";
import { byId, h } from "../look/dom.js";
import { amount, withUnit } from "../look/format.js";

type View = "day" | "curves" | "tree" | "blocks" | "weeks";

const two = (n: number) => String(n).padStart(2, "0");
export const clock = (minute: number) =>
  `${two(Math.floor(minute / 60) % 24)}:${two(Math.round(minute) % 60)}`;

const watts = { value: (value: number) => withUnit(value, "W"), unit: "W" };
export const dayWords: Words = {
  ...watts,
  tick: clock,
  place: clock,
  steps: [60, 120, 180, 240, 360],
};
export const weekWords: Words = {
  ...watts,
  tick: (minute) => `day ${amount(Math.round(minute / 1440) + 1)}`,
  place: (minute) => `day ${Math.floor(minute / 1440) + 1}, ${clock(minute % 1440)}`,
  steps: [1440, 2 * 1440, 7 * 1440, 14 * 1440],
};

/** Labels of the weeks in kilowatt hours, added up from the first day. */
export const energyWords: Words = {
  ...weekWords,
  value: (value) => withUnit(value, "kWh"),
  unit: "kWh in all",
};

export class Stage {
  readonly #charts = new Map<View, StreamChart>();
  /** Draws what is shown again, if it is no stream's chart. */
  #draw: () => void = () => undefined;

  constructor() {
    const again = () => this.#draw();
    onColours(again);
    const watch = new ResizeObserver(again);
    for (const view of ["curves", "tree"]) watch.observe(byId(`view-${view}`));
  }

  /** Says which step is shown, for all who wait for it. */
  shows(step: number): void {
    byId("stage").dataset["shows"] = String(step);
  }

  note(words: string): void {
    byId("stage-note").textContent = words;
  }

  /** A stream's chart in one of the views. */
  lines(
    view: "day" | "blocks" | "weeks",
    lines: Lines,
    options: {
      readonly words: Words;
      readonly from: number;
      readonly to: number;
      readonly fogged: boolean;
      readonly top?: number;
    },
  ): void {
    this.#turnTo(view);
    let chart = this.#charts.get(view);
    if (chart === undefined) {
      const place = h("div", { class: "chart", role: "img", "aria-label": "The stream" });
      byId(`view-${view}`).append(place);
      chart = streamChart(place, options);
      this.#charts.set(view, chart);
    } else chart.change(options);
    chart.show(lines);
  }

  curves(options: (width: number, height: number) => CurvesOptions): void {
    this.#fill("curves", (width, height) => curvesChart(options(Math.max(300, width), height)));
  }

  tree(drawing: (width: number, height: number) => SVGElement): void {
    this.#fill("tree", drawing);
  }

  #fill(view: View, drawing: (width: number, height: number) => SVGElement): void {
    this.#turnTo(view);
    const place = byId(`view-${view}`);
    this.#draw = () => place.replaceChildren(drawing(place.clientWidth, Math.max(220, place.clientHeight)));
    this.#draw();
  }

  #turnTo(view: View): void {
    this.#draw = () => undefined;
    for (const element of document.querySelectorAll<HTMLElement>(".stage-view"))
      element.hidden = element.dataset["view"] !== view;
  }
}

/** The results as a table: a click on a heading sorts it. */
import { h } from "../look/dom.js";
import { amount, percent, powers } from "../look/format.js";
import { UNIT_TITLES } from "brume-research";
import { METHODS } from "./methods.js";
import type { Row } from "./runner.js";

interface Heading {
  readonly name: string;
  /** The field that rows are sorted by. */
  readonly key: keyof Row;
  text(row: Row): string;
}

const order = Object.keys(METHODS);
const unitOf = ({ method }: Row) => METHODS[method]!.unit;

export const headings = (unit: string, sumUnit: string): readonly Heading[] => [
  { name: "Method", key: "method", text: ({ method }) => METHODS[method]!.name },
  { name: "ε", key: "epsilon", text: ({ epsilon }) => String(epsilon) },
  { name: "Relative error", key: "relative", text: ({ relative }) => percent(relative) },
  { name: `Mean error, ${sumUnit}`, key: "mae", text: ({ mae }) => amount(mae) },
  { name: `MSE, ${sumUnit}²`, key: "mse", text: ({ mse }) => powers(mse) },
  { name: `θ, ${unit}`, key: "theta", text: ({ theta }) => amount(theta) },
  {
    name: "Time, s",
    key: "seconds",
    text: ({ seconds }) => (Number.isNaN(seconds) ? "–" : seconds.toFixed(3)),
  },
];

export class ResultTable {
  readonly #place: HTMLElement;
  readonly #onHover: (method: string | undefined) => void;
  #rows: readonly Row[] = [];
  #headings: readonly Heading[] = [];
  #sort: { readonly key: keyof Row; readonly down: boolean } = { key: "method", down: false };

  constructor(place: HTMLElement, onHover: (method: string | undefined) => void) {
    this.#place = place;
    this.#onHover = onHover;
  }

  show(rows: readonly Row[], unit: string, sumUnit: string): void {
    this.#rows = rows;
    this.#headings = headings(unit, sumUnit);
    this.#paint();
  }

  /** Unit by unit, sorted within each: what ε is for decides what can be ranked. */
  sorted(): Row[] {
    const { key, down } = this.#sort;
    const value = (row: Row) => (key === "method" ? order.indexOf(row.method) : row[key]);
    const rows = this.#rows.toSorted((a, b) => value(a) - value(b) || a.epsilon - b.epsilon);
    if (down) rows.reverse();
    return Object.keys(UNIT_TITLES).flatMap((unit) => rows.filter((row) => unitOf(row) === unit));
  }

  #paint(): void {
    if (this.#rows.length === 0) {
      this.#place.replaceChildren(h("p", { class: "quiet" }, "Results come in as the runs finish."));
      return;
    }
    const head = this.#headings.map(({ name, key }) => {
      const button = h("button", { type: "button" }, name);
      button.addEventListener("click", () => {
        this.#sort = { key, down: this.#sort.key === key && !this.#sort.down };
        this.#paint();
      });
      const direction = this.#sort.key !== key ? "none" : this.#sort.down ? "descending" : "ascending";
      return h("th", { scope: "col", "aria-sort": direction }, button);
    });
    const body = this.sorted().flatMap((row, i, all) => {
      const line = h(
        "tr",
        { "data-method": row.method },
        ...this.#headings.map((heading) => h("td", {}, heading.text(row))),
      );
      line.addEventListener("pointerenter", () => this.#onHover(row.method));
      line.addEventListener("pointerleave", () => this.#onHover(undefined));
      const first = i === 0 || unitOf(all[i - 1]!) !== unitOf(row);
      const span = String(this.#headings.length);
      const title = h("th", { colspan: span, scope: "rowgroup" }, UNIT_TITLES[unitOf(row)]);
      return first ? [h("tr", { class: "unit" }, title), line] : [line];
    });
    this.#place.replaceChildren(
      h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...body)),
    );
  }
}

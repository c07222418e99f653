/** The cards below the chart: percentiles, keys, budget. */
import { h } from "../../../../site/src/look/dom.js";
import { amount } from "../../../../site/src/look/format.js";
import type { Answer, Budget, Estimate, MetricInfo, PlannedDays } from "./api.js";
import { between, interval, known, percentile, plausible, withUnit } from "./words.js";

/** A row of a table. */
export const row = (...cells: readonly (string | Node)[]): HTMLElement =>
  h("tr", {}, ...cells.map((cell) => h("td", {}, cell)));

/** The names of a table's columns. */
export const head = (...names: readonly string[]): HTMLElement =>
  h("thead", {}, h("tr", {}, ...names.map((name) => h("th", { scope: "col" }, name))));

export function percentileRows({ quantiles = [] }: Pick<Answer, "quantiles">, metric: MetricInfo): Node[] {
  return [
    head("percentile", "estimate", "95 % interval"),
    h(
      "tbody",
      {},
      ...quantiles.map((answer) =>
        row(
          percentile(answer.p),
          answer.value === null ? "–" : withUnit(answer.value, metric),
          interval(answer, metric),
        ),
      ),
    ),
  ];
}

/** One row per key with a bar from 0, to the left for numbers below it: the estimate, and its margin around the bar's end. */
export function keyRows(
  answers: readonly (readonly [key: string, answer: Estimate])[],
  metric: MetricInfo,
): Node[] {
  const ends = answers.flatMap(([, { value, low, high }]) =>
    [value, low, high].map((end) => plausible(end ?? 0, metric)),
  );
  const [least, most] = [Math.min(0, ...ends), Math.max(1e-9, ...ends)];
  const part = (from: number, to: number): string =>
    `${((100 * Math.max(0, to - from)) / (most - least)).toFixed(2)}%`;
  const place = (element: HTMLElement, from: number, to: number): void => {
    element.style.left = part(least, from);
    element.style.width = part(from, to);
  };
  return [
    h(
      "tbody",
      {},
      ...answers.map(([key, answer]) => {
        const { value, low, high } = answer;
        const bar = h(
          "span",
          { class: "bar" },
          h("span", { class: "bar-value" }),
          h("span", { class: "bar-margin" }),
        );
        const [filled, margin] = bar.children as unknown as [HTMLElement, HTMLElement];
        const end = plausible(value ?? 0, metric);
        place(filled, Math.min(0, end), Math.max(0, end));
        place(margin, plausible(low ?? 0, metric), plausible(high ?? most, metric));
        const text = known(answer, metric);
        const cells = row(key, bar, text);
        cells.title = `${key}: ${between(answer, metric)}`;
        return cells;
      }),
    ),
  ];
}

const isLess = ({ epsilon, approximate }: PlannedDays): boolean => approximate.epsilon < epsilon * 0.995;

const planRow = (planned: PlannedDays): HTMLElement => {
  const { days, epsilon, delta, approximate } = planned;
  const words = { 1: "one day", 30: "every day of a month (30)", 365: "every day of a year" }[days];
  return row(
    words ?? `every one of ${days} days`,
    `ε = ${amount(epsilon)}${delta === 0 ? "" : `, δ = ${delta}`}`,
    isLess(planned) ? `ε = ${amount(approximate.epsilon)}, δ = ${approximate.delta}` : "",
  );
};

/** The budget as a plan: what a person is protected with in a day, a month and a year. It begins anew every day. */
export function budgetParts(
  { limit, left, delta }: Budget,
  plan: readonly PlannedDays[],
  zone: string,
  metrics: readonly { readonly name: string; readonly epsilon: number; readonly unit: string }[],
): Node[] {
  return [
    h("p", {}, "What all numbers together may tell about one person who is there on"),
    h("table", { id: "plan" }, h("tbody", {}, ...plan.map(planRow))),
    ...(plan.some(isLess)
      ? [
          h(
            "p",
            { class: "hint" },
            `The first number adds up the days. The second one holds for the same releases, but for odds of ${plan[0]!.approximate.delta}: no noise is shared between days.`,
          ),
        ]
      : []),
    ...(delta === 0
      ? []
      : [
          h(
            "p",
            { class: "hint" },
            `δ = ${delta} a day is the probability that a key that only this person used on that day becomes public.`,
          ),
        ]),
    h(
      "p",
      { class: "hint" },
      `A day is one of ${zone}, and each has its own noise. The limit is ε = ${amount(limit)} a day: ${left > 0 ? `ε = ${amount(left)} is free for more metrics` : "it is all planned for these metrics"}.`,
    ),
    h(
      "table",
      {},
      h(
        "tbody",
        {},
        ...metrics.map(({ name, epsilon, unit }) =>
          row(name, `ε = ${amount(epsilon)}`, h("span", { class: "quiet" }, unit)),
        ),
      ),
    ),
  ];
}

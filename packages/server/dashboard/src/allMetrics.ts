/** All metrics beside each other: the number of the chosen range, of each metric's first key. */
import { byId, h } from "../../../../site/src/look/dom.js";
import * as api from "./api.js";
import { head, row } from "./cards.js";
import { askShown, isPublished, questionOf, shownOf } from "./numbers.js";
import { type State, store } from "./state.js";
import { fits, interval, known, percentile, periodName } from "./words.js";

/** More metrics than this are picked above. */
const MOST_METRICS = 12;

export async function showAllMetrics(metrics: readonly api.MetricInfo[], chosen: State): Promise<void> {
  byId("metrics-card").hidden = metrics.length < 2;
  if (metrics.length < 2) return;
  const rows = await Promise.all(metrics.slice(0, MOST_METRICS).map((metric) => metricRow(metric, chosen)));
  byId("metrics").replaceChildren(head("metric", "number", "95 % interval"), h("tbody", {}, ...rows));
}

async function metricRow(metric: api.MetricInfo, chosen: State): Promise<HTMLElement> {
  const name = h("button", { type: "button", class: "plain" }, metric.name);
  name.addEventListener("click", () => store.set({ metric: metric.name, from: 0, to: 0 }));
  if (metric.type === "local" || (metric.people === undefined && !fits(chosen.range, metric)))
    return row(name, "–", "other ranges");
  const question = questionOf(metric, "");
  const answer = await askShown(question, metric, chosen);
  const estimate = shownOf(metric, chosen.percentile)(answer);
  const about = [
    ...(question.key === undefined ? [] : [question.key]),
    ...(metric.type === "histogram" ? [percentile(chosen.percentile)] : []),
    ...(metric.people === undefined ? [] : [`a ${periodName(metric.people.over)}`]),
  ];
  const label = about.length === 0 ? [name] : [name, h("span", { class: "quiet" }, about.join(", "))];
  const isKnown = isPublished(answer) && estimate.value !== null;
  return row(
    h("span", {}, ...label),
    isKnown ? known(estimate, metric) : "–",
    isKnown ? interval(estimate, metric) : "no number",
  );
}

/** The dashboard: live numbers with margins of error. It shows what the service published, and asks for nothing else. */
import { type StreamChart, streamChart } from "../../../../site/src/charts/streamChart.js";
import { byId, h } from "../../../../site/src/look/dom.js";
import { amount } from "../../../../site/src/look/format.js";
import { bindTheme } from "../../../../site/src/look/theme.js";
import * as api from "./api.js";
import { budgetParts, keyRows, percentileRows } from "./cards.js";
import {
  between,
  legendOf,
  percentile,
  place,
  QUANTILES,
  RANGES,
  STEPS,
  stepOf,
  tick,
  unitOf,
  withUnit,
} from "./words.js";

const MOST_KEYS = 24;
/** Milliseconds between two rounds of questions. */
const PACE = 1000;

const chosen = { range: RANGES[1][1], quantile: 0.95 };
let metrics: readonly api.MetricInfo[] = [];
let chart: StreamChart | undefined;
let asking = false;
let again = false;

const metric = (): api.MetricInfo =>
  metrics.find(({ name }) => name === byId<HTMLSelectElement>("metric").value)!;

/** A histogram shows one percentile over time; other metrics their number. */
function shown(answer: api.Answer, { type }: api.MetricInfo): api.Estimate {
  return type === "histogram" ? answer.quantiles!.find(({ p }) => p === chosen.quantile)! : answer;
}

async function refresh(): Promise<void> {
  if (asking) {
    again = true;
    return;
  }
  asking = true;
  try {
    await show(metric());
    state(true);
  } catch (error) {
    if (error instanceof api.TokenNeeded) return askToken();
    state(false, error instanceof Error ? error.message : undefined);
  } finally {
    asking = false;
  }
  if (again) {
    again = false;
    setTimeout(() => void refresh(), PACE);
  }
}

async function show(current: api.MetricInfo): Promise<void> {
  if (current.type === "local") return showLocal(current);
  const { now } = await api.metrics();
  const key = current.keys.length === 0 ? undefined : byId<HTMLSelectElement>("key").value;
  const histogram = current.type === "histogram";
  const question: api.Question = {
    metric: current.name,
    key,
    from: now - chosen.range,
    to: now,
    ...(histogram ? { quantiles: QUANTILES } : {}),
  };
  const step = stepOf(chosen.range, current);
  // Whole steps only: a part of one would look like a fall.
  const [from, to] = [Math.ceil(question.from / step) * step, Math.floor(now / step) * step];
  const [whole, steps] = await Promise.all([
    api.ask(question),
    api.askSteps({ ...question, from, to }, step),
  ]);
  headline(whole, current);
  draw(steps, question, current);
  if (histogram) byId("percentiles").replaceChildren(...percentileRows(whole, current));
  await showKeys(question, current);
}

/** Reports of devices carry no time: one mean and percentiles over all of them, and no line. */
async function showLocal(current: api.MetricInfo): Promise<void> {
  const answer = await api.askLocal(current.name, QUANTILES);
  const { value, reports, learned } = answer;
  byId("about").textContent = `${current.name}, mean of all reports, noise added on the devices`;
  byId("headline").textContent = value === null ? "No mean yet" : withUnit(value, current);
  byId("margin").textContent =
    value === null
      ? `${amount(learned)} reports came. They choose how large values are; the next ones make the mean.`
      : `With 95 % probability ${between(answer, current)}. From ${amount(reports)} reports.`;
  byId("percentiles").replaceChildren(...percentileRows(answer, current));
}

function headline(answer: api.Answer, current: api.MetricInfo): void {
  const { value, low, high } = shown(answer, current);
  const range = RANGES.find(([, length]) => length === chosen.range)![0];
  const what =
    current.type === "histogram"
      ? percentile(chosen.quantile)
      : { count: "events", sum: "sum", mean: "mean", local: "mean" }[current.type];
  byId("about").textContent = `${current.name}, ${what}, last ${range}`;
  const published = answer.to > answer.from;
  const hidden = low === null && high === null;
  byId("headline").textContent = !published
    ? "Nothing is published yet"
    : value === null || hidden
      ? "–"
      : withUnit(value, current);
  const events =
    answer.total?.value === undefined || answer.total.value === null || hidden
      ? ""
      : ` From about ${amount(Math.max(0, answer.total.value))} events.`;
  byId("margin").textContent = published
    ? `With 95 % probability ${between({ value, low, high }, current)}.${events}`
    : "The first numbers come when the first ticks are over.";
}

function draw(steps: readonly api.Answer[], { from, to }: api.Question, current: api.MetricInfo): void {
  const known = steps.filter((step) => step.to > step.from);
  // A number without a margin says nothing: there were too few events to tell.
  const line = (of: (estimate: api.Estimate) => number | null): Float64Array =>
    Float64Array.from(known, (step) => {
      const estimate = shown(step, current);
      return estimate.low === null && estimate.high === null ? NaN : (of(estimate) ?? NaN);
    });
  const lines = {
    x: Float64Array.from(known, (step) => step.to),
    private: line(({ value }) => value),
    low: line(({ low }) => low),
    high: line(({ high }) => high),
  };
  const words = {
    tick,
    place,
    value: (value: number) => withUnit(value, current),
    unit: unitOf(current),
    steps: STEPS,
  };
  const options = { words, from, to };
  if (chart === undefined) chart = streamChart(byId("chart"), options);
  else chart.change(options);
  chart.show(lines);
  byId("legend").textContent = legendOf(current, lines.private.some(Number.isNaN));
}

async function showKeys(question: api.Question, current: api.MetricInfo): Promise<void> {
  const keys = current.keys.slice(0, MOST_KEYS);
  const answers = await Promise.all(
    keys.map(async (key) => [key, shown(await api.ask({ ...question, key }), current)] as const),
  );
  byId("keys").replaceChildren(...keyRows(answers, current));
  const more = current.keys.length - keys.length;
  byId("keys-more").textContent = more > 0 ? `And ${amount(more)} more: pick a key above.` : "";
}

function state(live: boolean, message?: string): void {
  const element = byId("state");
  element.classList.toggle("live", live);
  element.lastElementChild!.textContent = live ? "Live" : (message ?? "Not connected; trying again");
}

function segmented<T>(
  id: string,
  choices: readonly (readonly [text: string, value: T])[],
  current: T,
  choose: (value: T) => void,
): void {
  byId(id).append(
    ...choices.map(([text, value]) => {
      const input = h("input", { type: "radio", name: id });
      input.checked = value === current;
      input.addEventListener("change", () => {
        choose(value);
        void refresh();
      });
      return h("label", {}, input, h("span", {}, text));
    }),
  );
}

function pickMetric(): void {
  const current = metric();
  byId("key-field").hidden = current.keys.length === 0;
  byId("key").replaceChildren(...current.keys.map((key) => h("option", { value: key }, key)));
  byId("keys-card").hidden = current.keys.length === 0;
  byId("quantiles").hidden = current.type !== "histogram";
  byId("percentiles-card").hidden = current.type !== "histogram" && current.type !== "local";
  for (const id of ["ranges", "chart", "legend"]) byId(id).hidden = current.type === "local";
  void refresh();
}

function askToken(): void {
  byId("page").hidden = true;
  byId("token").hidden = false;
  state(false, "A token is needed");
}

async function start(): Promise<void> {
  try {
    ({ metrics } = await api.metrics());
  } catch (error) {
    if (error instanceof api.TokenNeeded) return askToken();
    state(false);
    setTimeout(() => void start(), 2000);
    return;
  }
  byId("token").hidden = true;
  byId("page").hidden = false;
  byId("metric").replaceChildren(...metrics.map(({ name }) => h("option", { value: name }, name)));
  const [statement, budget] = await Promise.all([api.statementText(), api.budget()]);
  byId("statement").textContent = statement;
  byId("budget").replaceChildren(...budgetParts(budget.budget, budget.metrics));
  pickMetric();
  const stop = new AbortController();
  addEventListener("pagehide", () => stop.abort());
  void api.follow(() => void refresh(), state, stop.signal);
}

bindTheme();
segmented("ranges", RANGES, chosen.range, (range) => (chosen.range = range));
segmented(
  "quantiles",
  QUANTILES.map((p) => [percentile(p), p] as const),
  chosen.quantile,
  (p) => (chosen.quantile = p),
);
byId("metric").addEventListener("change", pickMetric);
byId("key").addEventListener("change", () => void refresh());
byId("token").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setToken(byId<HTMLInputElement>("token-text").value.trim());
  void start();
});
void start();

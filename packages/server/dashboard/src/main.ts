/** The dashboard: live numbers with margins of error. It shows what the service published, and asks for nothing else. */
import { type StreamChart, streamChart } from "../../../../site/src/charts/streamChart.js";
import { byId, h } from "../../../../site/src/look/dom.js";
import { amount } from "../../../../site/src/look/format.js";
import { bindTheme } from "../../../../site/src/look/theme.js";
import * as api from "./api.js";
import { budgetParts, keyRows, percentileRows } from "./cards.js";
import {
  between,
  DAY,
  fits,
  legendOf,
  lengthOf,
  missingWords,
  nextWords,
  percentile,
  periodName,
  QUANTILES,
  RANGES,
  STEPS,
  unitOf,
  withUnit,
  ZoneTimes,
} from "./words.js";

const MOST_KEYS = 24;
/** Milliseconds between two rounds of questions. */
const PACE = 1000;

const chosen: { range: number; quantile: number } = { range: DAY, quantile: 0.95 };
let metrics: readonly api.MetricInfo[] = [];
let times = new ZoneTimes("UTC");
let chart: StreamChart | undefined;
let asking = false;
let again = false;

const metric = (): api.MetricInfo =>
  metrics.find(({ name }) => name === byId<HTMLSelectElement>("metric").value)!;

/** A histogram shows one percentile over time; other metrics their number. */
function shown(answer: api.Answer, { type }: api.MetricInfo): api.Estimate {
  return type === "histogram" ? answer.quantiles!.find(({ p }) => p === chosen.quantile)! : answer;
}

const isPublished = ({ from, to }: api.Answer): boolean => to > from;

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
    ...(histogram ? { quantiles: QUANTILES } : {}),
  };
  const [whole, series] = await Promise.all([
    api.askLast(question, chosen.range),
    seriesOf(question, current, now),
  ]);
  headline(whole, current, now);
  draw(series, now, current);
  if (histogram) byId("percentiles").replaceChildren(...percentileRows(whole, current));
  await showKeys(question, current);
}

/** Fewer numbers than this are no line. */
const FEWEST = 5;

/** The finest period that is not mostly noise; if a range has only a few of them, a finer one, whose bands are wide. */
async function seriesOf(
  question: api.Question,
  { levels }: api.MetricInfo,
  now: number,
): Promise<api.Series> {
  const from = now - chosen.range;
  const auto = await api.askSeries(question, from, now);
  if (chosen.range >= FEWEST * lengthOf(auto.period)) return auto;
  const finer = levels.filter((level) => chosen.range >= FEWEST * lengthOf(level)).at(-1);
  return finer === undefined ? auto : api.askSeries(question, from, now, finer);
}

/** Reports of devices: one mean and percentiles over all days. Where the interval is wide, it is what is known. */
async function showLocal(current: api.MetricInfo): Promise<void> {
  const answer = await api.askLocal(current.name, QUANTILES);
  const { value, low, high, reports, clipped } = answer;
  byId("about").textContent = `${current.name}, mean of all reports, noise added on the devices`;
  const isWide = value === null || (high! - low!) / 2 > Math.abs(value);
  const interval = between(answer, current);
  byId("headline").textContent =
    reports === 0
      ? "No report yet"
      : isWide
        ? `${interval.charAt(0).toUpperCase()}${interval.slice(1)}`
        : withUnit(value, current);
  byId("margin").textContent =
    reports === 0
      ? "The first report will count."
      : `${isWide ? "With 95 % probability, from" : `With 95 % probability ${interval}. From`} ${amount(reports)} reports. ${clippedWords(clipped, current)}`;
  byId("percentiles").replaceChildren(...percentileRows(answer, current));
}

function clippedWords(clipped: api.LocalAnswer["clipped"], current: api.MetricInfo): string {
  if (clipped === null)
    return "Every value up to the metric's max counts; after the first day the bound follows your data.";
  const bound = withUnit(clipped.threshold, current);
  return `Values above ${bound} count as ${bound}: at most ${amount(100 * clipped.high)} % of them. The interval does not cover what lies above the bound.`;
}

function headline(answer: api.Answer, current: api.MetricInfo, now: number): void {
  const estimate = shown(answer, current);
  const { value, low } = estimate;
  const range = RANGES.find(([, length]) => length === chosen.range)![0];
  const what =
    current.type === "histogram"
      ? percentile(chosen.quantile)
      : { count: "events", sum: "sum", mean: "mean", local: "mean" }[current.type];
  const part =
    answer.complete || !isPublished(answer)
      ? ""
      : `, of which ${times.place(answer.from)} to ${times.place(answer.to)} is known`;
  byId("about").textContent = `${current.name}, ${what}, last ${range}${part}`;
  const next = nextWords(answer.next, now, times);
  const missing = missingWords(answer, current);
  if (!isPublished(answer)) {
    byId("headline").textContent = "No number yet";
    byId("margin").textContent = `Nothing has been published of this metric. ${next}`;
    return;
  }
  byId("headline").textContent =
    value === null
      ? "Too few events to tell"
      : current.type !== "histogram" && low !== null && low <= 0
        ? "Nothing above the noise"
        : withUnit(value, current);
  byId("margin").textContent =
    `With 95 % probability ${between(estimate, current)}.${eventWords(answer, estimate)} ${missing}${next}`;
}

const eventWords = ({ total }: api.Answer, { value }: api.Estimate): string =>
  total === undefined || total === null || total.value === null || value === null
    ? ""
    : ` From about ${amount(Math.max(0, total.value))} events.`;

/** A level line for each period, over its own time; dashes for the running one, and a gap where there is no number. */
function draw(series: api.Series, now: number, current: api.MetricInfo): void {
  const periods = series.answers.map((answer) => ({ answer, estimate: shown(answer, current) }));
  const isRunning = ({ complete }: api.Answer): boolean => !complete;
  /** Both ends of every period, milliseconds late so that positions ascend; the running one is set apart by a gap. */
  const line = (of: (period: (typeof periods)[number]) => number | null): Float64Array =>
    Float64Array.from(
      periods.flatMap((period) => {
        const found = period.estimate.value === null ? null : of(period);
        const height = found === null ? NaN : Math.max(0, found);
        return [isRunning(period.answer) ? NaN : height, height, height];
      }),
    );
  const lines = {
    x: Float64Array.from(
      periods.flatMap(({ answer: { from, to } }) => [from + 1, from + 2, Math.max(from + 3, to)]),
    ),
    private: line(({ answer, estimate }) => (isRunning(answer) ? null : estimate.value)),
    prediction: line(({ answer, estimate }) => (isRunning(answer) ? estimate.value : null)),
    low: line(({ estimate }) => estimate.low ?? 0),
    high: line(({ estimate }) => estimate.high),
  };
  const known = (of: Float64Array): boolean => of.some((height) => !Number.isNaN(height));
  const running = known(lines.prediction);
  const unit = unitOf(current);
  const name = periodName(series.period);
  const placeOf = (time: number): string => {
    const found = series.answers.find(({ from, to }) => from < time && time <= to);
    return found === undefined ? times.place(time) : times.span(found.from, found.to);
  };
  const words = {
    tick: times.tick,
    place: placeOf,
    value: (value: number) => withUnit(value, current),
    unit: `${unit}${["count", "sum"].includes(current.type) ? ` per ${name}` : ""} · times in ${times.zone}`,
    dashed: `${name} so far`,
    steps: STEPS,
  };
  const options = { words, from: now - chosen.range, to: now };
  if (chart === undefined) chart = streamChart(byId("chart"), options);
  else chart.change(options);
  chart.show(lines);
  const gaps = periods.some(({ estimate }) => estimate.value === null);
  byId("legend").textContent = legendOf(series, { running, gaps });
}

async function showKeys(question: api.Question, current: api.MetricInfo): Promise<void> {
  const keys = current.keys.slice(0, MOST_KEYS);
  const answers = await Promise.all(
    keys.map(
      async (key) => [key, shown(await api.askLast({ ...question, key }, chosen.range), current)] as const,
    ),
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
  pickRange(current);
  byId("key-field").hidden = current.keys.length === 0;
  byId("key").replaceChildren(...current.keys.map((key) => h("option", { value: key }, key)));
  byId("keys-card").hidden = current.keys.length === 0;
  byId("quantiles").hidden = current.type !== "histogram";
  byId("percentiles-card").hidden = current.type !== "histogram" && current.type !== "local";
  for (const id of ["ranges", "chart", "legend"]) byId(id).hidden = current.type === "local";
  void refresh();
}

/** Ranges that numbers of the metric fill; the one that is chosen stays if it can. */
function pickRange(current: api.MetricInfo): void {
  const inputs = [...byId("ranges").querySelectorAll("input")];
  RANGES.forEach(([, range], i) => {
    const fitting = fits(range, current);
    inputs[i]!.disabled = !fitting;
    inputs[i]!.parentElement!.hidden = !fitting;
    if (fitting && !fits(chosen.range, current)) {
      chosen.range = range;
      inputs[i]!.checked = true;
    }
  });
}

/** A service that has published nothing says so, and when that changes. */
function showEmpty(about: api.About): void {
  const first = Math.min(...about.metrics.flatMap(({ next }) => next ?? []));
  byId("empty").hidden = false;
  byId("empty").textContent = Number.isFinite(first)
    ? `This service is empty so far. ${nextWords(first, about.now, times)}`
    : "This service is empty so far.";
}

async function isEmpty({ metrics }: api.About): Promise<boolean> {
  for (const { name, keys, every } of metrics) {
    if (every === null) {
      const { reports } = await api.askLocal(name, []);
      if (reports > 0) return false;
      continue;
    }
    const question = { metric: name, key: keys[0] };
    if (isPublished(await api.askLast(question, lengthOf(every)))) return false;
  }
  return true;
}

function askToken(): void {
  byId("page").hidden = true;
  byId("token").hidden = false;
  state(false, "A token is needed");
}

async function start(): Promise<void> {
  let about: api.About;
  try {
    about = await api.metrics();
  } catch (error) {
    if (error instanceof api.TokenNeeded) return askToken();
    state(false);
    setTimeout(() => void start(), 2000);
    return;
  }
  ({ metrics } = about);
  times = new ZoneTimes(about.zone);
  byId("token").hidden = true;
  byId("page").hidden = false;
  if (await isEmpty(about)) showEmpty(about);
  byId("metric").replaceChildren(...metrics.map(({ name }) => h("option", { value: name }, name)));
  const [statement, budget] = await Promise.all([api.statementText(), api.budget()]);
  byId("statement").textContent = statement;
  byId("budget").replaceChildren(...budgetParts(budget.budget, budget.plan, about.zone, budget.metrics));
  pickMetric();
  const stop = new AbortController();
  addEventListener("pagehide", () => stop.abort());
  const onNews = (): void => {
    byId("empty").hidden = true;
    void refresh();
  };
  void api.follow(onNews, state, stop.signal);
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

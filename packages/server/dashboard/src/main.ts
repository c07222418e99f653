/** The dashboard: live numbers with margins of error. It shows what the service published, and asks for nothing else. */
import { byId, h } from "../../../../site/src/look/dom.js";
import { amount } from "../../../../site/src/look/format.js";
import { bindTheme } from "../../../../site/src/look/theme.js";
import * as api from "./api.js";
import { budgetParts, keyRows, percentileRows } from "./cards.js";
import { type Daily, showLocal } from "./local.js";
import { plot, type Span } from "./plot.js";
import {
  between,
  DAY,
  fits,
  isSigned,
  legendOf,
  lengthOf,
  missingWords,
  nextWords,
  percentile,
  periodName,
  QUANTILES,
  RANGES,
  withUnit,
  ZoneTimes,
} from "./words.js";

const MOST_KEYS = 24;
/** Milliseconds between two rounds of questions. */
const PACE = 1000;

const chosen: { range: number; quantile: number; daily: Daily } = {
  range: DAY,
  quantile: 0.95,
  daily: "mean",
};
let metrics: readonly api.MetricInfo[] = [];
let times = new ZoneTimes("UTC");
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
    again = true; // what is shown may be of another metric, or half of it old
  } finally {
    asking = false;
  }
  if (again) {
    again = false;
    setTimeout(() => void refresh(), PACE);
  }
}

async function show(current: api.MetricInfo): Promise<void> {
  if (current.type === "local") return showLocal(current, chosen.range, chosen.daily, times);
  // Before anything is awaited: another metric, with other keys, may be picked meanwhile.
  const key = current.keys.length === 0 ? undefined : byId<HTMLSelectElement>("key").value;
  const { now } = await api.metrics();
  const histogram = current.type === "histogram";
  const question: api.Question = {
    metric: current.name,
    key,
    ...(histogram ? { quantiles: QUANTILES } : {}),
  };
  const [whole, series] = await Promise.all([
    api.askLast(question, lastOf(current)),
    seriesOf(question, current, now),
  ]);
  headline(whole, current, now);
  draw(series, now, current);
  if (histogram) byId("percentiles").replaceChildren(...percentileRows(whole, current));
  await showKeys(question, current);
}

/** What the headline is about: the chosen range, or of different people the newest period. */
const lastOf = ({ people }: api.MetricInfo): number | undefined =>
  people === undefined ? chosen.range : undefined;

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

function headline(answer: api.Answer, current: api.MetricInfo, now: number): void {
  const estimate = shown(answer, current);
  const { value, low } = estimate;
  const range =
    current.people === undefined
      ? RANGES.find(([, length]) => length === chosen.range)![0]
      : periodName(current.people.over);
  const what =
    current.type === "histogram"
      ? percentile(chosen.quantile)
      : { count: "events", people: "different people", sum: "sum", mean: "mean", local: "mean" }[
          current.type
        ];
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
      : current.type !== "histogram" && !isSigned(current) && low !== null && low <= 0
        ? "Nothing above the noise"
        : withUnit(value, current);
  byId("margin").textContent =
    `With 95 % probability ${between(estimate, current)}.${eventWords(answer, estimate)} ${missing}${next}`;
}

const eventWords = ({ total }: api.Answer, { value }: api.Estimate): string =>
  total === undefined || total === null || total.value === null || value === null
    ? ""
    : ` From about ${amount(Math.max(0, total.value))} events.`;

function draw(series: api.Series, now: number, current: api.MetricInfo): void {
  const spans = series.answers.map((answer): Span => {
    const { value, low, high } = shown(answer, current);
    const none = { value: null, low: null, high: null };
    const { from, to, complete } = answer;
    return { from, to, running: !complete, ...(value === null ? none : { value, low, high }) };
  });
  plot(spans, series.period, [now - chosen.range, now], current, times);
  const running = spans.some((span) => span.running && span.value !== null);
  const gaps = spans.some(({ value }) => value === null);
  byId("legend").textContent = legendOf(series, { running, gaps });
}

async function showKeys(question: api.Question, current: api.MetricInfo): Promise<void> {
  const keys = current.keys.slice(0, MOST_KEYS);
  const answers = await Promise.all(
    keys.map(
      async (key) => [key, shown(await api.askLast({ ...question, key }, lastOf(current)), current)] as const,
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
  byId("daily").hidden = current.type !== "local";
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
      const { reports } = await api.askSince(name, 0, []);
      if (reports > 0) return false;
      continue;
    }
    const question = { metric: name, key: keys[0] };
    if (isPublished(await api.askLast(question))) return false;
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
segmented(
  "daily",
  [["mean", "mean"], ...QUANTILES.map((p) => [percentile(p), p] as const)] as const,
  chosen.daily,
  (daily) => (chosen.daily = daily),
);
byId("metric").addEventListener("change", pickMetric);
byId("key").addEventListener("change", () => void refresh());
byId("token").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setToken(byId<HTMLInputElement>("token-text").value.trim());
  void start();
});
void start();

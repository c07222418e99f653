/** A metric of events on the page: headline, comparison with earlier times, chart, a marked range, keys, percentiles. */
import { byId, h } from "../../../../site/src/look/dom.js";
import { amount } from "../../../../site/src/look/format.js";
import * as api from "./api.js";
import { keyRows, percentileRows } from "./cards.js";
import { comparisons } from "./comparison.js";
import { mark, plot, type Span } from "./plot.js";
import type { State } from "./state.js";
import {
  between,
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
  type ZoneTimes,
} from "./words.js";

const MOST_KEYS = 24;
/** Fewer numbers than this are no line. */
const FEWEST = 5;

/** A histogram shows one percentile over time; other metrics their number. */
export const shownOf =
  ({ type }: api.MetricInfo, share: number) =>
  (answer: api.Answer): api.Estimate =>
    type === "histogram" ? answer.quantiles!.find(({ p }) => p === share)! : answer;

export const isPublished = ({ from, to }: api.Answer): boolean => to > from;

/** Length of the headline's range: the chosen one, or of different people the newest period. */
export const lastOf = ({ people }: api.MetricInfo, range: number): number | undefined =>
  people === undefined ? range : undefined;

export const questionOf = ({ name, keys, type }: api.MetricInfo, key: string): api.Question => ({
  metric: name,
  key: keys.length === 0 ? undefined : keys.includes(key) ? key : keys[0],
  ...(type === "histogram" ? { quantiles: QUANTILES } : {}),
});

/** The question and answers behind the chart, for those who want them as a table. */
let drawn: { readonly question: api.Question; readonly series: api.Series } | undefined;

/** The chart as CSV; undefined if there is none. */
export async function chartCsv(): Promise<Blob | undefined> {
  const answers = drawn?.series.answers ?? [];
  if (drawn === undefined || answers.length === 0) return undefined;
  return api.seriesCsv(drawn.question, answers[0]!.from, answers.at(-1)!.to, drawn.series.period);
}

export async function showNumbers(current: api.MetricInfo, chosen: State, times: ZoneTimes): Promise<void> {
  const { now } = await api.metrics();
  const question = questionOf(current, chosen.key);
  const shown = shownOf(current, chosen.percentile);
  const [whole, series] = await Promise.all([
    api.askLast(question, lastOf(current, chosen.range)),
    seriesOf(question, current, now - chosen.range, now),
  ]);
  headline(whole, shown(whole), current, chosen, now, times);
  draw(series, now, current, chosen, times);
  drawn = { question, series };
  if (current.type === "histogram") byId("percentiles").replaceChildren(...percentileRows(whole, current));
  await Promise.all([
    showMarked(question, current, chosen, times),
    comparisons(question, current, whole, times, shown).then((sentences) =>
      byId("comparison").replaceChildren(...sentences.map((sentence) => h("li", {}, sentence))),
    ),
    showKeys(question, current, chosen),
  ]);
}

/** The finest period that is not mostly noise; if a range has only a few of them, a finer one, whose bands are wide. */
async function seriesOf(
  question: api.Question,
  { levels }: api.MetricInfo,
  from: number,
  now: number,
): Promise<api.Series> {
  const auto = await api.askSeries(question, from, now);
  const fills = (level: string): boolean => now - from >= FEWEST * lengthOf(level);
  if (fills(auto.period)) return auto;
  const finer = levels.filter(fills).at(-1);
  return finer === undefined ? auto : api.askSeries(question, from, now, finer);
}

const WHAT = {
  count: "events",
  people: "different people",
  sum: "sum",
  mean: "mean",
  local: "mean",
} as const;

function headline(
  answer: api.Answer,
  estimate: api.Estimate,
  current: api.MetricInfo,
  chosen: State,
  now: number,
  times: ZoneTimes,
): void {
  const { value, low } = estimate;
  const range =
    current.people === undefined
      ? RANGES.find(([, length]) => length === chosen.range)![0]
      : periodName(current.people.over);
  const what = current.type === "histogram" ? percentile(chosen.percentile) : WHAT[current.type];
  const part =
    answer.complete || !isPublished(answer)
      ? ""
      : `, as far as it was measured from ${times.place(answer.from)} to ${times.place(answer.to)}`;
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
    `${value === null && low === null && estimate.high === null ? "" : `With 95 % probability ${between(estimate, current)}.`}${eventWords(answer, estimate)} ${missing}${next}`;
}

const eventWords = ({ total }: api.Answer, { value }: api.Estimate): string =>
  total === undefined || total === null || total.value === null || value === null
    ? ""
    : ` From about ${amount(Math.max(0, total.value))} events.`;

function draw(
  series: api.Series,
  now: number,
  current: api.MetricInfo,
  chosen: State,
  times: ZoneTimes,
): void {
  const shown = shownOf(current, chosen.percentile);
  const spans = series.answers.map((answer): Span => {
    const { value, low, high } = shown(answer);
    const none = { value: null, low: null, high: null };
    const { from, to, complete } = answer;
    return { from, to, running: !complete, ...(value === null ? none : { value, low, high }) };
  });
  plot(spans, series.period, [now - chosen.range, now], current, times);
  const running = spans.some((span) => span.running && span.value !== null);
  const gaps = spans.some(({ value }) => value === null);
  byId("legend").textContent = legendOf(series, { running, gaps });
}

/** The number of the marked range. Of different people no number is about more than one period. */
async function showMarked(
  question: api.Question,
  current: api.MetricInfo,
  { from, to, percentile: share }: State,
  times: ZoneTimes,
): Promise<void> {
  const isMarked = to > from && current.people === undefined;
  mark(from, isMarked ? to : from);
  if (!isMarked) {
    byId("marked").textContent =
      current.people === undefined ? "Drag over the chart to ask for a part of it." : "";
    return;
  }
  const answer = await api.askBetween(question, from, to);
  const estimate = shownOf(current, share)(answer);
  // Its ends are those of whole periods; what is missing between them was not measured.
  const hasGap =
    isPublished(answer) &&
    !answer.complete &&
    !(await api.askBetween(question, answer.from, answer.to)).complete;
  byId("marked").textContent = !isPublished(answer)
    ? `Marked, ${times.span(from, to)}: no whole period with a number is in it.`
    : `Marked, ${times.span(answer.from, answer.to)}: ${estimate.value === null ? "too few events to tell" : `${withUnit(estimate.value, current)}, with 95 % probability ${between(estimate, current)}`}.${hasGap ? " Some periods in it were not measured." : ""}`;
}

async function showKeys(question: api.Question, current: api.MetricInfo, chosen: State): Promise<void> {
  const keys = current.keys.slice(0, MOST_KEYS);
  const shown = shownOf(current, chosen.percentile);
  const last = lastOf(current, chosen.range);
  const answers = await Promise.all(
    keys.map(async (key) => [key, shown(await api.askLast({ ...question, key }, last))] as const),
  );
  byId("keys").replaceChildren(...keyRows(answers, current));
  const more = current.keys.length - keys.length;
  byId("keys-more").textContent = more > 0 ? `And ${amount(more)} more: pick a key above.` : "";
}

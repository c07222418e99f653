/** A metric of events on the page: headline, comparison with earlier times, chart, a marked range, keys, percentiles. */
import { byId, h } from "../../../../site/src/look/dom.js";
import { amount } from "../../../../site/src/look/format.js";
import * as api from "./api.js";
import { keyRows, percentileRows } from "./cards.js";
import { comparisons } from "./comparison.js";
import { mark, plot, type Span } from "./plot.js";
import { type State, store } from "./state.js";
import {
  between,
  DAY,
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
/** Milliseconds without a number after which the newest ones are no longer called the last. */
const PAUSE = 900_000;
/** Fewer numbers than this are no line. */
const FEWEST = 5;

/** A histogram shows one percentile over time; other metrics their number. */
export const shownOf =
  ({ type }: api.MetricInfo, share: number) =>
  (answer: api.Answer): api.Estimate =>
    type === "histogram" ? answer.quantiles!.find(({ p }) => p === share)! : answer;

export const isPublished = ({ from, to }: api.Answer): boolean => to > from;

/**
 * The answer for the chosen range: the newest one of its length, or the one that ends at a chosen time. Of different people
 * it is about one period.
 */
export async function askShown(
  question: api.Question,
  { people }: api.MetricInfo,
  { range, until }: State,
): Promise<api.Answer> {
  if (until === 0) return api.askLast(question, people === undefined ? range : undefined);
  if (people === undefined) return api.askBetween(question, until - range, until);
  const { answers } = await api.askSeries(question, until - 2 * lengthOf(people.over), until, people.over);
  return answers.findLast(({ complete }) => complete) ?? answers.at(-1)!;
}

/** Days before now in which a number of the past is looked for. */
const SEARCHED = 1000;
/** By question: numbers of the past stay. */
const ends = new Map<string, Promise<number | undefined>>();

/** When the newest number of the past ends, of a log that was imported or a service that was away; undefined without one. */
export function newestEnd(
  question: api.Question,
  { people }: api.MetricInfo,
  now: number,
): Promise<number | undefined> {
  const name = JSON.stringify([question.metric, question.key]);
  const found =
    ends.get(name) ??
    api
      .askSeries(question, now - SEARCHED * DAY, now, people?.over ?? "1d")
      .then(({ answers }) => answers.findLast((answer) => hasNumber(answer))?.to);
  ends.set(name, found);
  found.catch(() => ends.delete(name));
  return found;
}

const hasNumber = ({ value, total }: api.Answer): boolean =>
  (total === undefined ? value : (total?.value ?? null)) !== null;

/** When the chosen range ends. */
const endOf = (now: number, { until }: State): number => (until === 0 ? now : Math.min(until, now));

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
  const end = endOf(now, chosen);
  const [whole, series] = await Promise.all([
    askShown(question, current, chosen),
    seriesOf(question, current, end - chosen.range, end),
  ]);
  const newest = isPublished(whole) ? whole.to : await newestEnd(question, current, now);
  headline(whole, shown(whole), current, chosen, { now, newest }, times);
  draw(series, newest, end, current, chosen, times);
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
  { levels, people }: api.MetricInfo,
  from: number,
  now: number,
): Promise<api.Series> {
  const fills = (level: string): boolean => now - from >= FEWEST * lengthOf(level);
  const isDrawn = ({ answers }: api.Series): boolean => answers.some(hasNumber);
  const auto = await api.askSeries(question, from, now);
  if (fills(auto.period) && isDrawn(auto)) return auto;
  const finer = levels.filter(fills).at(-1);
  if (finer !== undefined && finer !== auto.period) {
    const fine = await api.askSeries(question, from, now, finer);
    if (isDrawn(fine)) return fine;
  }
  // The service keeps days longer than hours.
  return isDrawn(auto) || people !== undefined ? auto : api.askSeries(question, from, now, "1d");
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
  { now, newest }: { readonly now: number; readonly newest: number | undefined },
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
  // The newest range of a service that has measured nothing for a while is not the last one.
  const pause = Math.max(PAUSE, 2 * lengthOf(current.people?.over ?? current.every!));
  const isOld = chosen.until > 0 || (isPublished(answer) && now - answer.to > pause);
  const when = isOld && isPublished(answer) && part === "" ? times.span(answer.from, answer.to) : undefined;
  byId("about").textContent =
    `${current.name}, ${what}, ${when ?? (isOld ? `${range} until ${times.place(endOf(now, chosen))}` : `last ${range}`)}${part}`;
  const next = chosen.until > 0 ? "" : nextWords(answer.next, now, times);
  const missing = missingWords(answer, current);
  if (!isPublished(answer)) {
    byId("headline").textContent = chosen.until > 0 ? "No number" : "No number yet";
    byId("margin").textContent =
      chosen.until > 0
        ? "Nothing was measured in this time."
        : `Nothing has been published of this metric${newest === undefined ? "" : ` since ${times.place(newest)}`}. ${next}`;
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
  newest: number | undefined,
  end: number,
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
  plot(spans, series.period, [end - chosen.range, end], current, times);
  const isEmpty = spans.every(({ value }) => value === null);
  byId("chart").hidden = isEmpty;
  if (isEmpty) {
    byId("legend").replaceChildren(...nothingDrawn(newest, chosen, end, times));
    return;
  }
  const running = spans.some((span) => span.running && span.value !== null);
  const gaps = spans.some(({ value }) => value === null);
  byId("legend").textContent = legendOf(series, { running, gaps });
}

/** In place of a chart without a number: why, and the way to the newest ones. */
function nothingDrawn(
  newest: number | undefined,
  { range, until }: State,
  end: number,
  times: ZoneTimes,
): (Node | string)[] {
  const words = "Nothing was measured in this range, or too few events came to tell.";
  if (newest === undefined || until > 0 || newest > end - range) return [words];
  const go = h("button", { type: "button", class: "plain" }, "Show it");
  go.addEventListener("click", () => store.set({ until: newest, from: 0, to: 0 }));
  return [`${words} The newest number is of the time until ${times.place(newest)}. `, go];
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
      current.people === undefined && !byId("chart").hidden
        ? "Drag over the chart to ask for a part of it."
        : "";
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
  const answers = await Promise.all(
    keys.map(async (key) => [key, shown(await askShown({ ...question, key }, current, chosen))] as const),
  );
  byId("keys").replaceChildren(...keyRows(answers, current));
  const more = current.keys.length - keys.length;
  byId("keys-more").textContent = more > 0 ? `And ${amount(more)} more: pick a key above.` : "";
}

/** A number beside that of an earlier time, and whether noise could explain the change. */
import * as api from "./api.js";
import { change, DAY, type ZoneTimes } from "./words.js";

/**
 * Two intervals of this confidence hold both true numbers with 95 % probability, however their errors depend on each other.
 * So does the interval of the difference.
 */
const EACH = 0.975;
/** The longest range of the page. */
const RANGE_DAYS = 30;

/** The most that a change of clocks adds to a day or a week, in milliseconds. */
const CLOCKS = DAY / 24;

interface Earlier {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

/** Earlier times that a range is compared with. */
function earlier({ from, to }: api.Answer, { people }: api.MetricInfo, times: ZoneTimes): readonly Earlier[] {
  const before = (name: string, days: number): Earlier => ({
    ...{ name, from: times.daysBefore(from, days), to: times.daysBefore(to, days) },
  });
  if (people?.over === "1mo")
    return [{ name: "The month before", from: times.daysBefore(from, times.dayOfMonth(from - 1)), to: from }];
  if (to - from > 7 * DAY + CLOCKS) return [before(`The ${RANGE_DAYS} days before`, RANGE_DAYS)];
  const week = before("A week earlier", 7);
  return to - from > DAY + CLOCKS ? [week] : [before("A day earlier", 1), week];
}

/** One sentence for each earlier time. @param shown what the page shows of an answer */
export async function comparisons(
  question: api.Question,
  current: api.MetricInfo,
  newest: api.Answer,
  times: ZoneTimes,
  shown: (answer: api.Answer) => api.Estimate,
): Promise<string[]> {
  const { from, to } = newest;
  if (to <= from) return [];
  const now = await api.askBetween(question, from, to, EACH);
  if (!now.complete) return []; // a number without some of its periods is less, whatever happened
  return Promise.all(
    earlier(newest, current, times).map(async ({ name, from, to }) => {
      // Where clocks went forward, a time of the day before may not exist, and the range is empty or turned round.
      const answer = from < to ? await api.askBetween(question, from, to, EACH) : undefined;
      if (answer?.complete !== true) return `${name}: not measured, or only in part.`;
      const sentence = change(name, shown(now), shown(answer), current);
      const [hours, others] = [now, answer].map((one) => (one.to - one.from) / CLOCKS);
      return hours === others || current.people?.over === "1mo"
        ? sentence
        : `${sentence} It had ${others} hours, this one ${hours}: clocks changed.`;
    }),
  );
}

/** Answers of a release of events as rows of a table. */
import type { EventHub } from "../durable/eventHub/eventHub.js";
import type { EventAnswer } from "../events/answers.js";
import { timeText } from "../events/duration.js";
import type { HistogramAnswer } from "../events/histogramAnswers.js";
import { DataError } from "./command.js";
import type { StoredRelease } from "./eventState.js";

export interface Asked {
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** A row for every so many milliseconds. */
  readonly step: number;
  readonly quantiles: readonly number[];
  readonly confidence?: number | undefined;
}

const MOST_ROWS = 2 ** 22;
const number = (value: number | null): string =>
  value === null ? "" : String(Number(value.toPrecision(10)));

/** A header, and a row for every group and step. */
export async function answerRows(hub: EventHub, release: StoredRelease, asked: Asked): Promise<string[][]> {
  const { from, to, step, quantiles, confidence = 0.95 } = asked;
  const groups = release.keys ?? [undefined];
  const histogram = release.options.edges !== undefined;
  const counted = histogram ? "count" : String(release.options.of);
  const names = [counted, ...(histogram ? quantiles.map((p) => `p${Number((100 * p).toPrecision(6))}`) : [])];
  const head = [
    ...(release.keys === undefined ? [] : ["group"]),
    "from",
    "to",
    ...names.flatMap((name) => [name, `${name}_low`, `${name}_high`]),
  ];
  if ((groups.length * (to - from)) / step > MOST_ROWS)
    throw new DataError(`--report: expected at most ${MOST_ROWS} rows; take a longer one`);
  const rows = [head];
  for (const group of groups)
    for (let start = from; start < to; start += step) {
      const end = Math.min(to, start + step);
      const query = histogram ? { quantiles, confidence } : { confidence };
      const answer = await hub.between("events", group ?? "all", start, end, query);
      const cells = histogram ? ofHistogram(answer as HistogramAnswer) : [answer as EventAnswer];
      const numbers = cells.flatMap(({ value, low, high }) => [value, low, high].map(number));
      rows.push([
        ...(group === undefined ? [] : [quoted(group)]),
        timeText(answer.from),
        timeText(answer.to),
        ...numbers,
      ]);
    }
  return rows;
}

const ofHistogram = ({ total, quantiles }: HistogramAnswer) => [total, ...quantiles];

/** As RFC 4180 wants it. */
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

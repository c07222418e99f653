/** Answers of a release of events as rows: a table for people, CSV and JSON for programs. */
import type { EventAnswer } from "../events/answer/answers.js";
import { DAY } from "../events/days/calendar.js";
import { overWord } from "../events/people/distinct.js";
import { parseDuration, timeText } from "../events/days/duration.js";
import type { HistogramAnswer } from "../events/answer/histogramAnswers.js";
import { autoPeriod, periodsOf, type Range } from "../events/answer/queries.js";
import { type Arguments, DataError, UsageError } from "./command.js";
import type { EventFile } from "./eventFile.js";
import { table } from "./table.js";

export interface Asked {
  /** The one group that is asked for; all of them if undefined. */
  readonly group?: string | undefined;
  /** Ranges are not calendar periods: the measured part of one is shown, with its own ends. */
  readonly parts?: boolean;
  readonly quantiles: readonly number[];
  readonly confidence: number;
}

/** A number with its interval; null if nothing was measured. */
interface Cell {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export interface AnswerRow {
  readonly group: string;
  readonly from: number;
  readonly to: number;
  /** Whether all of the period is measured: not of the running one, nor of one that began before the release. */
  readonly complete: boolean;
  readonly cells: readonly Cell[];
}

const MOST_ROWS = 2 ** 22;
const NOTHING: Cell = { value: null, low: null, high: null };

/** The names of the numbers of a row: "count", "p95". */
export function namesOf({ metric }: EventFile, quantiles: readonly number[]): string[] {
  const { of, distinct } = metric.settings;
  if (of !== "histogram") return [distinct === undefined ? of : "people"];
  return ["count", ...quantiles.map((p) => `p${Number((100 * p).toPrecision(6))}`)];
}

/** A row for every group and range. */
export function rowsOf(file: EventFile, ranges: readonly Range[], asked: Asked): AnswerRow[] {
  const groups = asked.group === undefined ? file.groups : [asked.group];
  if (groups.length * ranges.length > MOST_ROWS)
    throw new DataError(`--report: expected at most ${MOST_ROWS} rows, got more; ask for longer periods`);
  return groups.flatMap((group) =>
    ranges.map((range): AnswerRow => {
      const { found, isShown } = file.answer(group, range, asked.quantiles, asked.confidence);
      const cells = cellsOf(found);
      const { from, to, complete } = found;
      if (asked.parts === true) return { group, from, to, complete, cells };
      return {
        group,
        from: range[0],
        to: found.complete || !isShown ? range[1] : found.to,
        complete: found.complete,
        cells: isShown ? cells : cells.map(() => NOTHING),
      };
    }),
  );
}

/** The numbers of an answer with their intervals. */
export const cellsOf = (answer: EventAnswer | HistogramAnswer): readonly Cell[] =>
  "total" in answer ? [answer.total ?? NOTHING, ...answer.quantiles] : [answer];

/** The periods that rows are about. @param report "1h", "1d", "1w", "1mo" */
export function periodsIn(file: EventFile, report: string, range: Range): Range[] {
  const length = report === "1w" || report === "1mo" ? DAY : parseDuration("report", report);
  const { levels, calendar } = file.metric.settings.schedule;
  // `periodsOf` checks a period and gives few of them; short ones are many.
  if (length >= DAY || length % levels[0]! !== 0 || DAY % length !== 0)
    return periodsOf(file.metric, report, range);
  const ranges: Range[] = [];
  for (let day = calendar.dayAt(range[0]); day.start < range[1]; day = calendar.dayAt(day.end)) {
    const skipped = Math.max(0, Math.floor((range[0] - day.start) / length));
    for (let at = day.start + skipped * length; at < Math.min(day.end, range[1]); at += length)
      ranges.push([at, Math.min(day.end, at + length)]);
    if (ranges.length > MOST_ROWS)
      throw new DataError(`--report: expected at most ${MOST_ROWS} rows, got more; ask for longer periods`);
  }
  return ranges;
}

/** The finest level of a range that is not mostly noise, and why, by what all groups hold together. */
export function chosenPeriod(
  file: EventFile,
  range: Range,
): { readonly period: string; readonly why: string } {
  const { of } = file.metric.settings;
  const events = file.groups.map((group) => {
    const { found } = file.answer(group, range, [], 0.95);
    if ("total" in found) return found.total?.value ?? 0;
    return of === "mean"
      ? (found.count?.value ?? 0)
      : (found.value ?? 0) / (of === "sum" ? file.metric.theta : 1);
  });
  const mean = events.reduce((sum, count) => sum + count, 0) / events.length;
  return autoPeriod(file.metric, range, mean);
}

export type TableFormat = "plot" | "table" | "csv" | "json";

/** A table for a person who looks at a terminal, CSV for a pipe or a file, unless asked otherwise. */
export function formatOf(args: Arguments, isTerminal: boolean): TableFormat {
  if (args.has("json")) args.assume("format", "json");
  const format = args.choice("format", ["table", "csv", "json"]);
  if (!args.has("plot")) return format ?? (isTerminal ? "table" : "csv");
  if (format !== undefined && format !== "table")
    throw new UsageError(`--plot: expected a table, got --format ${format}; leave one of them out`);
  return "plot";
}

/** Pieces of text that together are the output. */
export function* shown(
  file: EventFile,
  rows: readonly AnswerRow[],
  names: readonly string[],
  format: TableFormat,
  confidence: number,
): Generator<string> {
  const { zone } = file.metric.settings.schedule.calendar;
  const { isGrouped } = file;
  const isSigned = (file.metric.settings.grid?.min ?? 0) < 0;
  if (format === "table" || format === "plot")
    yield asTable(rows, names, { isGrouped, isSigned, zone, confidence, plot: format === "plot" });
  else if (format === "json") yield asJson(rows, names, isGrouped);
  else yield* asCsv(rows, names, isGrouped);
}

/** A number as it is published: ten digits. */
export const exact = (value: number): number => Number(value.toPrecision(10));

function* asCsv(rows: readonly AnswerRow[], names: readonly string[], isGrouped: boolean): Generator<string> {
  const columns = names.flatMap((name) => [name, `${name}_low`, `${name}_high`]);
  yield `${[...(isGrouped ? ["group"] : []), "from", "to", ...columns, "complete"].join(",")}\n`;
  for (const { group, from, to, complete, cells } of rows) {
    const numbers = cells.flatMap(({ value, low, high }) =>
      [value, low, high].map((x) => (x === null ? "" : String(exact(x)))),
    );
    const front = [...(isGrouped ? [quoted(group)] : []), timeText(from), timeText(to)];
    yield `${[...front, ...numbers, String(complete)].join(",")}\n`;
  }
}

/** As RFC 4180 wants it. */
const quoted = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function asJson(rows: readonly AnswerRow[], names: readonly string[], isGrouped: boolean): string {
  const objects = rows.map(({ group, from, to, complete, cells }) => ({
    ...(isGrouped ? { group } : {}),
    from: timeText(from),
    to: timeText(to),
    complete,
    ...Object.fromEntries(cells.map((cell, i) => [names[i]!, pick(cell)])),
  }));
  return `${JSON.stringify(objects, null, 2)}\n`;
}

const pick = ({ value, low, high }: Cell): Cell => {
  const number = (x: number | null) => (x === null ? null : exact(x));
  return { value: number(value), low: number(low), high: number(high) };
};

interface TableLook {
  readonly isGrouped: boolean;
  /** Values may be below 0: pictures begin with the lowest. Others begin with 0. */
  readonly isSigned: boolean;
  readonly zone: string;
  readonly confidence: number;
  /** Draws the last of the names: the number itself, or the highest percentile. */
  readonly plot: boolean;
}

function asTable(
  rows: readonly AnswerRow[],
  names: readonly string[],
  { isGrouped, isSigned, zone, confidence, plot }: TableLook,
): string {
  const time = timeIn(zone);
  const drawn = rows.map(({ cells }) => cells.at(-1)!);
  const scale = { bottom: isSigned ? bottomOf(drawn) : 0, top: plot ? topOf(drawn) : 0 };
  const interval = `${Number((100 * confidence).toPrecision(6))} % interval`;
  const head = [
    ...(isGrouped ? ["group"] : []),
    `from (${zone})`,
    "to",
    ...names.flatMap((name) => [name, interval]),
    ...(plot ? [scaleText(scale, names.at(-1)!)] : []),
  ];
  const body = rows.map(({ group, from, to, complete, cells }, i) => [
    ...(isGrouped ? [group] : []),
    time(from),
    `${time(to)}${complete || cells.every(({ value }) => value === null) ? "" : " …"}`,
    ...cells.flatMap(({ value, low, high }) => [
      value === null ? "–" : short(value),
      low === null && high === null ? "–" : `${short(low)} … ${short(high)}`,
    ]),
    ...(plot ? [pictureOf(drawn[i]!, scale)] : []),
  ]);
  return `${table(head, body)}\n`;
}

/** Characters of a picture. */
const PLOT_WIDTH = 48;

/** The right end of the pictures: all values fit, and intervals that are not much wider. */
function topOf(cells: readonly Cell[]): number {
  const most = (read: (cell: Cell) => number | null): number =>
    cells.reduce((largest, cell) => Math.max(largest, read(cell) ?? 0), 0);
  const value = most(({ value }) => value);
  return (
    Math.max(
      value,
      Math.min(
        most(({ high }) => high),
        value === 0 ? Infinity : 1.6 * value,
      ),
    ) || 1
  );
}

const bottomOf = (cells: readonly Cell[]): number =>
  cells.reduce((lowest, { low }) => Math.min(lowest, low ?? 0), 0);

/** The numbers at the two ends of the pictures. */
interface Scale {
  readonly bottom: number;
  readonly top: number;
}

function scaleText({ bottom, top }: Scale, name: string): string {
  const start = short(bottom);
  return `${start}${`${short(top)} ${name}`.padStart(PLOT_WIDTH - start.length)}`;
}

/** "├──●──┤" on a scale; nothing where there is no number, and an arrow where an end lies outside. */
function pictureOf({ value, low, high }: Cell, { bottom, top }: Scale): string {
  if (value === null) return "";
  const place = (x: number): number =>
    Math.round(((Math.min(top, Math.max(bottom, x)) - bottom) / (top - bottom)) * (PLOT_WIDTH - 1));
  const [from, to] = [place(low ?? bottom), place(high ?? top)];
  const line: string[] = Array.from({ length: to + 1 }, (_, i) => (i < from ? " " : "─"));
  line[from] = low === null || low < bottom ? "◂" : "├";
  line[to] = high === null || high > top ? "▸" : "┤";
  line[place(value)] = "●";
  return line.join("");
}

/** For people: whole numbers from 100 on, three digits below; an end that is not known is a dash. */
const short = (value: number | null): string =>
  value === null ? "–" : String(Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3)));

/** "2026-03-01 10:00", local. */
function timeIn(zone: string): (time: number) => string {
  const format = new Intl.DateTimeFormat("sv-SE", {
    timeZone: zone,
    dateStyle: "short",
    timeStyle: "medium",
  });
  return (time) => format.format(time).replace(/:00$/, "");
}

const eventsText = (count: number): string => `${count} ${count === 1 ? "event" : "events"}`;

/** Says in words which events did not count: people above their limit, events above θ. */
export function lost(file: EventFile, range: Range): string[] {
  const { limit, distinct, schedule, of, grid } = file.metric.settings;
  const answers = file.groups.map((group) => file.answer(group, range, [], 0.95).found);
  const limited = answers[0]?.limited;
  const percent = (share: number): string => `${Math.round(100 * share)} %`;
  const most =
    limit?.sum === undefined
      ? `more than ${eventsText(limit?.events as number)}`
      : `a sum above ${limit.sum}`;
  const late =
    limit?.perHour === undefined && schedule.levels[0]! < DAY
      ? ", and late hours are counted less than early ones"
      : "";
  const isLower = ["count", "sum"].includes(of) && (grid?.min ?? 0) >= 0;
  const effect = isLower ? `true numbers are higher${late}` : "what they had more is in no number";
  const eventLoss = `${limit?.perHour === undefined ? "" : `more than ${eventsText(limit.perHour)} in an hour, or `}${most} a day; ${effect}.`;
  const lines =
    limited === undefined
      ? []
      : [
          `About ${percent(limited.share)} of people (${percent(limited.low)} to ${percent(limited.high)}) had ${distinct !== undefined ? `more than ${limit!.events} groups in a ${overWord(distinct.over)}; true numbers are higher.` : eventLoss}`,
        ];
  const clipped = answers.flatMap((answer) =>
    "clipped" in answer && answer.clipped ? [answer.clipped] : [],
  );
  if (clipped.length === 0) return lines;
  const sum = (read: (one: (typeof clipped)[number]) => number): number =>
    Math.max(0, Math.round(clipped.reduce((total, one) => total + read(one), 0)));
  return [
    ...lines,
    `About ${sum(({ events }) => events)} events were above θ = ${short(file.metric.theta)} and clamped to it${clipped.length > 1 ? "" : ` (${sum(({ low }) => low)} to ${sum(({ high }) => high)})`}.`,
  ];
}

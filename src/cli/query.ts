/** brume query: what a stored release of events says about a range of time. */
import { type Calendar, MINUTE } from "../events/days/calendar.js";
import { lastRange, type Range } from "../events/answer/queries.js";
import { type Arguments, type Command, UsageError } from "./command.js";
import { chosenPeriod, formatOf, lost, namesOf, periodsIn, rowsOf, shown } from "./eventAnswers.js";
import { EventFile } from "./eventFile.js";
import { EventState } from "./eventState.js";
import { SUMMARIES } from "./summaries.js";
import { timeIn } from "./timeOption.js";

export const query: Command = {
  name: "query",
  operands: "",
  summary: SUMMARIES.query,
  options: {
    state: { value: "DIR", help: "the folder of the release (required)" },
    key: { value: "FILE", help: "its key (DIR.key)" },
    last: { value: "D", help: "the newest range of this length that is published" },
    from: {
      value: "T",
      help: "ISO text, a date of the zone, or 10:00 on its last published day (the beginning)",
    },
    to: { value: "T", help: "the same (the end of the last published period)" },
    report: { value: "D", help: "a row for each 1h, 1d, 1w, 1mo or auto (one row)" },
    group: { value: "NAME", help: "one of the groups (all of them)" },
    quantiles: { value: "P,Q", help: "of a histogram: percentiles, as shares (0.5,0.95)" },
    confidence: { value: "C", help: "of the intervals (0.95)" },
    format: { value: "F", help: "table, csv or json (table on a terminal, csv in a pipe)" },
    json: { help: "the same as --format json" },
    plot: { help: "a table with a picture of each number and its interval" },
  },
  example: "brume query --state shop --from 10:00 --to 11:00 --quantiles 0.5,0.95",
  async run(args) {
    const folder = args.text("state");
    if (folder === undefined) throw new UsageError("--state: missing; expected the folder of a release");
    const state = await EventState.open(folder, args.text("key") ?? `${folder}.key`, true);
    const stored = state.release!;
    const group = args.text("group");
    const file = await EventFile.resume((await state.snapshot())!, state.key, stored, stored.from);
    if (group !== undefined && !(file.isGrouped && file.groups.includes(group)))
      throw new UsageError(
        `--group: expected one of ${file.isGrouped ? file.groups.join(", ") : "no groups"}, got "${group}"`,
      );
    const range = rangeOf(args, file);
    const quantiles = args.numbers("quantiles") ?? [0.5, 0.95];
    const confidence = args.number("confidence") ?? 0.95;
    const report = args.text("report");
    const { period, why } =
      report === "auto" ? chosenPeriod(file, range) : { period: report, why: undefined };
    const ranges = period === undefined ? [range] : periodsIn(file, period, range);
    const rows = rowsOf(file, ranges, { group, quantiles, confidence, parts: period === undefined });
    const format = formatOf(args, process.stdout.isTTY);
    for (const piece of shown(file, rows, namesOf(file, quantiles), format, confidence))
      process.stdout.write(piece);
    if (format !== "table" && format !== "plot") return;
    for (const line of [...lost(file, range), ...(why === undefined ? [] : [`Rows are ${why}.`])])
      process.stdout.write(`\n${line}\n`);
  },
};

/** The range that is asked about, in whole periods of --every. */
function rangeOf(args: Arguments, { metric }: EventFile): Range {
  const [from, to, last] = [args.text("from"), args.text("to"), args.text("last")];
  if (last !== undefined) {
    if (from !== undefined || to !== undefined)
      throw new UsageError("--last: expected without --from and --to");
    return lastRange(metric, last);
  }
  const { calendar } = metric.settings.schedule;
  const timeOn = (option: string, text: string) => localTime(calendar, metric.next, option, text);
  const asked: Range = [
    from === undefined ? metric.first : timeOn("from", from),
    to === undefined ? metric.next : timeOn("to", to),
  ];
  if (!(asked[1] > asked[0])) throw new UsageError("--to: expected a time after --from");
  return asked;
}

/** "10:00" is a time of the zone's day that the last published period belongs to; "24:00" is its end. */
function localTime(calendar: Calendar, next: number, option: string, text: string): number {
  const clock = /^(\d{1,2}):(\d{2})$/.exec(text);
  if (clock === null) return timeIn(calendar, option, text);
  const { start, end } = calendar.dayAt(next - 1);
  const minutes = 60 * Number(clock[1]) + Number(clock[2]);
  if (minutes === 24 * 60) return end;
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: calendar.zone,
    hour: "2-digit",
    minute: "2-digit",
  });
  const [hour, minute] = format
    .format(start + minutes * MINUTE)
    .split(":")
    .map(Number);
  return start + (2 * minutes - 60 * hour! - minute!) * MINUTE; // clocks may have changed since midnight
}

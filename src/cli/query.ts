/** brume query: what a stored release of events says about a range of time. */
import { parseDuration, parseTime } from "../events/duration.js";
import { type Command, UsageError } from "./command.js";
import { answerRows } from "./eventAnswers.js";
import { EventState } from "./eventState.js";
import { METRIC, openRelease } from "./releaseEvents.js";
import { table } from "./table.js";
import { SUMMARIES } from "./summaries.js";

export const query: Command = {
  name: "query",
  operands: "",
  summary: SUMMARIES.query,
  options: {
    state: { value: "DIR", help: "the folder of the release (required)" },
    key: { value: "FILE", help: "its key (DIR.key)" },
    from: { value: "T", help: "ISO text, or 10:00 on the last published UTC day (the beginning)" },
    to: { value: "T", help: "the same (the last published tick)" },
    report: { value: "D", help: "a row for every so long (one row)" },
    group: { value: "NAME", help: "one of the groups (all of them)" },
    quantiles: { value: "P,Q", help: "of a histogram: percentiles, as shares (0.5,0.95)" },
    confidence: { value: "C", help: "of the intervals (0.95)" },
    format: { value: "F", help: "table, csv or json (table)" },
  },
  example: "brume query --state shop --from 10:00 --to 11:00 --quantiles 0.5,0.95",
  async run(args) {
    const folder = args.text("state");
    if (folder === undefined) throw new UsageError("--state: missing; expected the folder of a release");
    const state = await EventState.open(folder, args.text("key") ?? `${folder}.key`, true);
    const stored = state.release!;
    const group = args.text("group");
    if (group !== undefined && stored.keys?.includes(group) !== true)
      throw new UsageError(
        `--group: expected one of ${stored.keys?.join(", ") ?? "no groups"}, got "${group}"`,
      );
    const release = group === undefined ? stored : { ...stored, keys: [group] };
    const hub = await openRelease(stored, Date.now, state.current, state.key);
    const { closed } = (await hub.stats()).metrics[METRIC]!;
    const last = stored.from + closed * parseDuration("every", stored.options.every);
    const [from, to] = [args.text("from"), args.text("to")];
    const asked = {
      from: from === undefined ? stored.from : timeOn(last, "from", from),
      to: to === undefined ? last : timeOn(last, "to", to),
    };
    if (!(asked.to > asked.from)) throw new UsageError("--to: expected a time after --from");
    const report = args.text("report");
    const step = report === undefined ? asked.to - asked.from : parseDuration("report", report);
    const quantiles = args.numbers("quantiles") ?? [0.5, 0.95];
    const rows = await answerRows(hub, release, {
      ...asked,
      step,
      quantiles,
      confidence: args.number("confidence"),
    });
    process.stdout.write(shown(rows, args.choice("format", ["table", "csv", "json"]) ?? "table"));
  },
};

/** "10:00" is a time of the UTC day that the last published tick belongs to. */
function timeOn(last: number, option: string, text: string): number {
  const day = new Date(last - 1).toISOString().slice(0, 10);
  return parseTime(option, /^\d{1,2}:\d{2}(:\d{2})?$/.test(text) ? `${day}T${text.padStart(5, "0")}Z` : text);
}

function shown([head, ...rows]: readonly (readonly string[])[], format: "table" | "csv" | "json"): string {
  if (format === "table")
    return `${table(
      [...head!],
      rows.map((row) => row.map(rounded)),
    )}\n`;
  if (format === "csv") return [head!, ...rows].map((row) => `${row.join(",")}\n`).join("");
  const objects = rows.map((row) =>
    Object.fromEntries(
      row.map((cell, i) => [
        head![i]!,
        cell === "" ? null : /^-?[\d.e+-]+$/.test(cell) ? Number(cell) : cell,
      ]),
    ),
  );
  return `${JSON.stringify(objects, null, 2)}\n`;
}

/** For people: four digits are enough. */
const rounded = (cell: string): string =>
  /^-?\d+\.\d+/.test(cell) ? String(Number(Number(cell).toPrecision(5))) : cell;

/**
 * brume release --every: a finished file of events in, private numbers out. All rows are counted before anything is
 * published, and the clock is public: --from and --to, never the time of an event.
 */
import { statSync } from "node:fs";
import { durationText, timeText } from "../events/days/duration.js";
import { DAY } from "../events/days/calendar.js";
import { OTHER_KEYS } from "../events/keys/keyName.js";
import type { Range } from "../events/answer/queries.js";
import { eventStatement, explainEvents } from "../events/statement.js";
import { type Arguments, NothingPublished, UsageError } from "./command.js";
import {
  type AnswerRow,
  chosenPeriod,
  formatOf,
  lost,
  namesOf,
  periodsIn,
  rowsOf,
  shown,
} from "./eventAnswers.js";
import { EventFile } from "./eventFile.js";
import { metricOptions } from "./eventOptions.js";
import { type Columns, type EventRow, eventRows, namesOf as namesOfColumns } from "./eventRows.js";
import { EventState, type StoredRelease } from "./eventState.js";
import { openBytes } from "./input.js";
import { inputOf } from "./inputOptions.js";
import { nowhere, openSink, standardOutput } from "./output.js";
import { Progress } from "./progress.js";
import { RunLock } from "./runLock.js";
import { tell } from "./tell.js";
import { timeOf } from "./timeOption.js";

/** Options that a release keeps: a later run that gives one of them gives it as before. */
const KEPT = [
  ...[
    "epsilon",
    "every",
    "levels",
    "zone",
    "of",
    "edges",
    "per-person",
    "keys-per-person",
    "min",
    "max",
    "threshold",
  ],
  ...["resolution", "keys", "discover", "from", "time-unit", "unsafe-seed"],
];
/** Days whose votes fit in memory. */
const MOST_DAYS = 400;
const CONFIDENCE = 0.95;
/** Rows between two looks at the progress. */
const SHOWN_EVERY = 8192;

export async function releaseEvents(args: Arguments): Promise<void> {
  const folder = args.text("state");
  if (folder === undefined) return publish(args, undefined);
  const lock = await RunLock.take(folder);
  try {
    await publish(args, await EventState.open(folder, args.text("key") ?? `${folder}.key`));
  } finally {
    await lock.give();
  }
}

async function publish(args: Arguments, state: EventState | undefined): Promise<void> {
  const path = args.operands[0] ?? "-";
  const release = state?.release ?? newRelease(args);
  if (state?.release !== undefined) refuseOthers(args, release);
  const to = timeOf(args, "to", release.flags["zone"] ?? "UTC");
  const before = await state?.snapshot();
  const file =
    before === undefined
      ? EventFile.begin(release, to)
      : await EventFile.resume(before, state!.key, release, to);
  const end = file.endBy(to);
  if (end <= file.metric.next) throw nothingDue(file, to);
  if (file.findsGroups) checkVotes(file, path, end, state !== undefined);
  const part = await state?.begin();
  const out = await openSink(args, "out", standardOutput);
  const written = await openSink(args, "statement", nowhere);
  try {
    const range: Range = [file.metric.next, end];
    if (file.findsGroups) {
      await readInto(file, args, path, release, end, (row) => file.vote(row));
      file.findGroups();
    }
    if (file.choosesThreshold) await chooseThreshold(file, args, path, release, end);
    await readInto(file, args, path, release, end);
    const { rows, why } = closeAndReport(file, args, range);
    const snapshot = state === undefined ? undefined : await file.snapshots.take(state.key);
    const statement = eventStatement(file.metric);
    if (part !== undefined) await state!.finish(part, snapshot!, release); // from here on it is published
    const isTerminal = process.stdout.isTTY && args.text("out") === undefined;
    const names = namesOf(file, quantilesOf(args));
    for (const piece of shown(file, rows, names, formatOf(args, isTerminal), CONFIDENCE))
      await out.write(piece);
    await written.write(`${JSON.stringify(statement, null, 2)}\n`);
    await written.done();
    await out.done();
    const told = [
      explainEvents(statement),
      ...lost(file, range),
      ...(why === undefined ? [] : [`Rows are ${why}.`]),
    ];
    tell(told.join("\n"));
  } catch (reason) {
    await out.discard();
    await written.discard();
    if (part !== undefined) await state!.discard(part);
    throw reason;
  }
}

const quantilesOf = (args: Arguments): readonly number[] => args.numbers("quantiles") ?? [0.5, 0.95];

function nothingDue(file: EventFile, to: number): NothingPublished {
  const { next } = file.metric;
  const first = file.metric.nextNumber(next, Infinity);
  return new NothingPublished(
    `nothing is published: no period of --every ends between ${timeText(next)} and --to ${timeText(to)}${first === null ? "" : `; the next one ends at ${timeText(first)}`}`,
  );
}

function newRelease(args: Arguments): StoredRelease {
  const from = timeOf(args, "from", args.text("zone") ?? "UTC");
  const [time, group] = [args.text("time"), args.text("group-by")];
  if (time === undefined) throw new UsageError("--time: missing; expected the column with times");
  const keys = args
    .text("keys")
    ?.split(",")
    .map((key) => key.trim());
  const discover = args.number("discover");
  if (discover !== undefined && group === undefined)
    throw new UsageError("--discover: expected with --group-by, the column with the groups");
  if ((group === undefined) !== (keys === undefined && discover === undefined))
    throw new UsageError(
      "--keys: expected with --group-by, and all groups in it: a group that appears with its first event tells that there was one. --discover 1e-9 finds those that many people have",
    );
  if (discover !== undefined && keys?.includes(OTHER_KEYS) === true)
    throw new UsageError(`--keys: expected groups other than ${OTHER_KEYS}, which is reserved`);
  if (keys !== undefined && new Set(keys).size !== keys.length)
    throw new UsageError("--keys: expected every group once");
  const options = metricOptions(args);
  const people = "over" in options;
  const counts = people || ("of" in options && options.of === "count");
  const [value, person] = [args.text("value"), args.text("person")];
  if (counts === (value !== undefined))
    throw new UsageError(
      counts
        ? `--value: expected none for a count${people ? " of people" : "; give --max or --edges as well"}`
        : "--value: missing; expected the column with values",
    );
  if (discover !== undefined && person === undefined)
    throw new UsageError("--discover: expected with --person and --per-person: votes are of people");
  if (people) checkGroups(options.keysPerPerson, keys ?? (discover === undefined ? undefined : ["", ""]));
  if (!people && (options.perPerson === undefined) !== (person === undefined))
    throw new UsageError("--person: expected together with --per-person");
  if (people && person === undefined)
    throw new UsageError("--person: missing; expected the column that says who is counted");
  return {
    options: { ...options },
    flags: Object.fromEntries(
      KEPT.flatMap((name) => (args.text(name) === undefined ? [] : [[name, args.text(name)!]])),
    ),
    keys: discover === undefined ? keys : [...(keys ?? []), OTHER_KEYS],
    discover,
    from,
    columns: { time, value, person, group, unit: args.choice("time-unit", ["ms", "s"]) },
  };
}

function checkGroups(keysPerPerson: number | undefined, keys: readonly string[] | undefined): void {
  if (keysPerPerson !== undefined && keys === undefined)
    throw new UsageError("--keys-per-person: expected with --group-by alone");
  if (keysPerPerson === undefined && keys !== undefined && keys.length > 1)
    throw new UsageError(
      "--keys-per-person: missing; expected in how many groups a person counts, 1 if a person has one",
    );
}

/**
 * Groups that nobody listed are found before rows are counted: all rows vote, one vote a person and day, and are then read
 * once more to be counted under the groups that are public. Each day is tested by itself, and once: a run that others
 * follow ends with a day.
 */
function checkVotes({ metric }: EventFile, path: string, end: number, followed: boolean): void {
  if (end - metric.next > MOST_DAYS * DAY)
    throw new UsageError(`--discover: expected at most ${MOST_DAYS} days in one run`);
  checkTwice(path, "--discover: groups are found before rows are counted");
  const { calendar } = metric.settings.schedule;
  if (followed && calendar.dayAt(end).start !== end)
    throw new UsageError(
      `--to: expected a midnight of the zone ${calendar.zone} with --discover and --state, got ${timeText(end)}; the votes of a day are tested once, so a run must have all rows of its days`,
    );
}

function checkTwice(path: string, why: string): void {
  if (path === "-" || statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new UsageError(`${why}, which reads them twice: give a FILE`);
}

/** A stored release goes on as it began. */
function refuseOthers(args: Arguments, { flags }: StoredRelease): void {
  const other = KEPT.find((name) => args.text(name) !== undefined && args.text(name) !== flags[name]);
  if (other === undefined) return;
  const was = flags[other] === undefined ? "was begun without it" : `has ${flags[other]}`;
  throw new UsageError(
    `--${other}: the release in --state ${was}, got "${args.text(other)}"; leave it as it was, or begin another release`,
  );
}

/**
 * Chooses θ from the rows of all periods that this run publishes, before they are read once more to be counted. Whether
 * there are enough of them is told by a noisy count, so no single row decides.
 */
async function chooseThreshold(
  file: EventFile,
  args: Arguments,
  path: string,
  release: StoredRelease,
  end: number,
): Promise<void> {
  if (path === "-" || statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new UsageError(
      "--threshold: missing; θ is chosen from all rows before they are counted, which reads them twice: give a FILE, or a public θ",
    );
  await readInto(file, args, path, release, end);
  if (file.metric.chooseFinished()) return;
  const { epsilon, limit } = file.metric.settings;
  throw new NothingPublished(
    `nothing is published: --threshold is missing, and a noisy count says that there are fewer than ${Math.ceil((320 * (limit?.events ?? 1)) / epsilon)} values, too few to choose θ from. Give a public --threshold, or a longer time. The count has used 1/64 of ε`,
  );
}

/** Closes all periods. Rows shorter than a day are made day by day: fine periods are not kept for ever. */
function closeAndReport(
  file: EventFile,
  args: Arguments,
  range: Range,
): { readonly rows: readonly AnswerRow[]; readonly why: string | undefined } {
  const asked = { quantiles: quantilesOf(args), confidence: CONFIDENCE };
  const { schedule, distinct } = file.metric.settings;
  const report = args.text("report") ?? distinct?.over ?? durationText(schedule.levels[0]!);
  const rows: AnswerRow[] = [];
  const add = (period: string, own: Range) => {
    for (const row of rowsOf(file, periodsIn(file, period, own), asked)) rows.push(row);
  };
  const isLong = report === "auto" || ["1d", "1w", "1mo"].includes(report);
  file.close(range[1], (own) => isLong || add(report, own));
  if (!isLong) return { rows: sorted(file, rows), why: undefined };
  const chosen = report === "auto" ? chosenPeriod(file, range) : { period: report, why: undefined };
  add(chosen.period, range);
  return { rows, why: chosen.why };
}

/** By group, then by time. */
function sorted(file: EventFile, rows: readonly AnswerRow[]): AnswerRow[] {
  const byGroup = new Map(file.groups.map((group) => [group, [] as AnswerRow[]]));
  for (const row of rows) byGroup.get(row.group)!.push(row);
  return [...byGroup.values()].flat();
}

/**
 * Reads the rows of the periods that end by `end`, and so are closed by this run. Rows of the period that --to cuts are
 * left to the run that closes it: the file is read again then, and a row that were stored now would count twice.
 */
async function readInto(
  file: EventFile,
  args: Arguments,
  path: string,
  release: StoredRelease,
  end: number,
  take = (row: EventRow): void => file.take(row),
): Promise<void> {
  const [, format, , delimiter] = inputOf(args, path);
  const columns = { ...release.columns, ...given(args) } as unknown as Columns & { unit?: "ms" | "s" };
  const source = openBytes(path, namesOfColumns(columns));
  const progress = new Progress("events");
  let count = 0;
  try {
    for await (const row of eventRows(source, format, columns, delimiter, columns.unit ?? "ms")) {
      if (row.at < end) take(row);
      if (++count % SHOWN_EVERY === 0)
        progress.show(count, source.size === undefined ? undefined : source.bytesRead() / source.size);
    }
  } finally {
    progress.clear();
  }
}

/** Columns may have other names in another file. */
function given(args: Arguments): Record<string, string> {
  const named = {
    time: args.text("time"),
    value: args.text("value"),
    person: args.text("person"),
    group: args.text("group-by"),
  };
  return Object.fromEntries(
    Object.entries(named).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** brume verify: checks a statement, and the release, the state or the store that belongs to it. */
import { readFile } from "node:fs/promises";
import { readRow } from "../adapters/csv.js";
import type { AnyStatement } from "../adapters/registryRecord.js";
import { parseTime } from "../events/days/duration.js";
import type { Range } from "../events/answer/queries.js";
import { type EventStatement, eventStatement } from "../events/statement.js";
import { type Check, checkStatement } from "./checkStatement.js";
import { storeChecks } from "./checkStore.js";
import { type Arguments, type Command, DataError, UsageError } from "./command.js";
import { cellsOf, exact, namesOf } from "./eventAnswers.js";
import { EventFile } from "./eventFile.js";
import { EventState } from "./eventState.js";
import { type NamedStatement, readStatements } from "./statement.js";
import { SUMMARIES } from "./summaries.js";
import { inWords } from "./systemErrors.js";

export const verify: Command = {
  name: "verify",
  operands: "STATEMENT.json",
  summary: SUMMARIES.verify,
  options: {
    release: {
      value: "FILE",
      help: "the published numbers: as many as stated, of whole periods, as in the state",
    },
    state: { value: "DIR", help: "the folder of brume release --state: opens, and says the same" },
    store: {
      value: "DIR",
      help: "a folder of fileStore or of a service, or a file of sqliteStore: all of it opens, and was made as stated",
    },
    key: { value: "FILE", help: "the key of the state or the store (DIR.key)" },
    json: { help: "one JSON object instead of lines" },
  },
  example: "brume verify statement.json --state shop --release published.csv",
  async run(args) {
    const path = args.operands[0];
    if (path === undefined)
      throw new UsageError(
        "STATEMENT.json: missing; expected a statement written by brume release --statement",
      );
    const statements = await readStatements(path);
    const checks = [
      ...statements.flatMap(({ metric, statement }) =>
        checkStatement(statement).map((check) => named(metric, check)),
      ),
      ...(await checksBeside(args, statements)),
    ];
    const failed = checks.filter(({ holds }) => !holds).length;
    if (args.has("json")) console.log(JSON.stringify({ verified: failed === 0, checks }));
    else for (const { what, holds } of checks) console.log(`${holds ? "✓" : "✗"} ${what}`);
    if (failed > 0) throw new DataError(`${failed} of ${checks.length} checks failed`);
  },
};

const named = (metric: string | undefined, { what, holds }: Check): Check => ({
  what: metric === undefined ? what : `${metric}: ${what}`,
  holds,
});

async function checksBeside(args: Arguments, statements: readonly NamedStatement[]): Promise<Check[]> {
  const [release, folder, store] = [args.text("release"), args.text("state"), args.text("store")];
  const key = args.text("key");
  const found = store === undefined ? [] : await storeChecks(store, key ?? `${store}.key`, statements);
  if (release === undefined && folder === undefined) return found;
  const [first] = statements;
  if (first === undefined || first.metric !== undefined)
    throw new UsageError(
      "--release, --state: expected the statement of a release, got one of a service; check its --store",
    );
  const { statement } = first;
  const file = folder === undefined ? undefined : await openState(folder, key ?? `${folder}.key`);
  return [
    ...(file === undefined ? [] : [stateCheck(file, statement)]),
    ...(release === undefined ? [] : await releaseChecks(release, statement, file)),
    ...found,
  ];
}

async function openState(folder: string, keyPath: string): Promise<EventFile> {
  const state = await EventState.open(folder, keyPath, true);
  const stored = state.release!;
  return EventFile.resume((await state.snapshot())!, state.key, stored, stored.from);
}

/** Fields of a statement that depend on the moment or on the machine. */
const OF_THE_MOMENT = ["software", "core", "firstNumber"] as const;

function stateCheck(file: EventFile, statement: AnyStatement): Check {
  const lasting = (one: object) =>
    JSON.stringify(
      Object.entries(one)
        .filter(([name]) => !OF_THE_MOMENT.includes(name as "core"))
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    );
  return {
    what: "the state opens, and says the same of itself",
    holds: lasting(eventStatement(file.metric)) === lasting(statement),
  };
}

async function releaseChecks(
  path: string,
  statement: AnyStatement,
  file: EventFile | undefined,
): Promise<Check[]> {
  const bytes = await readFile(path).catch((reason: unknown) => {
    throw new DataError(`--release: cannot read ${path}: ${inWords(reason)}`);
  });
  if ("every" in statement) return eventReleaseChecks(rowsIn(bytes), statement, file);
  if (!("published" in statement))
    throw new UsageError("--release: expected a statement of values or events, got one of reports");
  const numbers = bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  return [
    {
      what: `${numbers.length} numbers, as many as were published (${statement.published})`,
      holds: numbers.length === statement.published,
    },
    { what: "all of them are numbers", holds: numbers.every((text) => Number.isFinite(Number(text))) },
  ];
}

/** Rows of CSV, cells by the names of the first row. */
function rowsIn(read: Uint8Array): Record<string, string>[] {
  const bytes = Buffer.concat([read, Buffer.from(read.at(-1) === 10 ? "" : "\n")]); // a last line may lack its end
  const rows: (readonly string[])[] = [];
  for (let at = 0, line = 1; at < bytes.length;) {
    const row = readRow(bytes.subarray(at), line, ",".charCodeAt(0), true)!;
    rows.push(row.cells);
    at += row.next;
    line += row.lines;
  }
  const [names = [], ...others] = rows;
  if (!names.includes("from") || !names.includes("to"))
    throw new DataError("--release: expected CSV with the columns from and to, written by brume release");
  return others
    .filter((cells) => cells.length > 0)
    .map((cells) => Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""])));
}

/** Columns of a row that are measurements. */
const measured = (row: Record<string, string>): string[] =>
  Object.keys(row).filter((name) => `${name}_low` in row && `${name}_high` in row);

function eventReleaseChecks(
  rows: readonly Record<string, string>[],
  statement: EventStatement,
  file: EventFile | undefined,
): Check[] {
  const seen = new Set<string>();
  let [twice, outside, other, compared, compacted] = [0, 0, 0, 0, 0];
  for (const row of rows) {
    const place = JSON.stringify([row["group"], row["from"], row["to"]]);
    if (seen.has(place)) twice++;
    seen.add(place);
    const names = measured(row).filter((name) => row[name] !== "");
    const isInside = (name: string): boolean =>
      (row[`${name}_low`] === "" || Number(row[`${name}_low`]) <= Number(row[name])) &&
      (row[`${name}_high`] === "" || Number(row[name]) <= Number(row[`${name}_high`]));
    outside += names.filter((name) => !isInside(name)).length;
    if (file === undefined || names.length === 0) continue;
    if (file.isCompacted(rangeOf(row))) {
      compacted++;
      continue;
    }
    compared++;
    if (!isAsStored(row, names, file)) other++;
  }
  return [
    { what: `${rows.length} rows, no period twice`, holds: twice === 0 && rows.length > 0 },
    { what: "every number lies in its interval", holds: outside === 0 },
    { what: "no period is missing between others, in any group", holds: isContiguous(rows) },
    ...(compacted === 0
      ? []
      : [
          {
            what: `${compacted} older rows are finer than what the state keeps: not compared`,
            holds: compared > 0,
          },
        ]),
    ...(file === undefined
      ? []
      : [
          {
            what: `${compared} rows with numbers (${statement.zone}) are as the state says, intervals too`,
            holds: other === 0 && compared > 0,
          },
        ]),
  ];
}

const rangeOf = (row: Record<string, string>): Range => [
  parseTime("from", row["from"]!),
  parseTime("to", row["to"]!),
];

/** Whether a row has the numbers and intervals that the state gives for its time. @param names of the numbers that the row has */
function isAsStored(row: Record<string, string>, names: readonly string[], file: EventFile): boolean {
  const group = row["group"] ?? file.groups[0]!;
  if (!file.groups.includes(group)) return false;
  const quantiles = names.flatMap((name) => (/^p[\d.]+$/.test(name) ? [Number(name.slice(1)) / 100] : []));
  const cells = cellsOf(file.answer(group, rangeOf(row), quantiles, 0.95).found);
  const stored = new Map(namesOf(file, quantiles).map((name, i) => [name, cells[i]]));
  const text = (x: number | null | undefined): string =>
    x === null || x === undefined ? "" : String(exact(x));
  return names.every((name) => {
    const cell = stored.get(name);
    return (["value", "low", "high"] as const).every(
      (part) => row[part === "value" ? name : `${name}_${part}`] === text(cell?.[part]),
    );
  });
}

/** Whether each group has the same periods, one after the other. */
function isContiguous(rows: readonly Record<string, string>[]): boolean {
  const periods = new Map<string, string[]>();
  for (const { group = "", from, to } of rows) {
    const own = periods.get(group) ?? [];
    own.push(`${from} ${to}`);
    periods.set(group, own);
  }
  const [first = [], ...others] = [...periods.values()].map((own) => own.sort());
  return (
    first.every((period, i) => i === 0 || first[i - 1]!.split(" ")[1] === period.split(" ")[0]) &&
    others.every((own) => own.join() === first.join())
  );
}

/** Checks a release file beside its statement and, if there is one, the state that published it. */
import { readFile } from "node:fs/promises";
import { gunzipSync } from "node:zlib";
import { readRow } from "../adapters/csv.js";
import type { AnyStatement } from "../adapters/registryRecord.js";
import type { Range } from "../events/answer/queries.js";
import { parseDuration, parseTime } from "../events/days/duration.js";
import { type EventStatement, SYSTEM } from "../events/statement.js";
import type { Check } from "./checkStatement.js";
import { DataError, UsageError } from "./command.js";
import { cellsOf, exact, namesOf } from "./eventAnswers.js";
import type { EventFile } from "./eventFile.js";
import { inWords } from "./systemErrors.js";

/** Cells of a row as text, by the names of their columns. */
type Row = Readonly<Record<string, string>>;

export async function releaseChecks(
  path: string,
  statement: AnyStatement,
  file: EventFile | undefined,
): Promise<Check[]> {
  const bytes = await readRelease(path);
  if ("every" in statement) return eventReleaseChecks(eventRows(bytes), statement, file);
  if (!("published" in statement))
    throw new UsageError("--release: expected a statement of values or events, got one of reports");
  const numbers = valuesIn(bytes, statement.published);
  return [
    {
      what: `${numbers.length} numbers, as many as were published (${statement.published})`,
      holds: numbers.length === statement.published,
    },
    { what: "all of them are numbers", holds: numbers.every((number) => Number.isFinite(number)) },
  ];
}

/** The bytes of a release, which may be compressed. */
async function readRelease(path: string): Promise<Buffer> {
  try {
    const bytes = await readFile(path);
    return bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
  } catch (reason) {
    throw new DataError(`--release: cannot read ${path}: ${inWords(reason)}`);
  }
}

/** Numbers of a release of values, in any of its formats: one a line, CSV with the column "published", doubles of 8 bytes. */
function valuesIn(bytes: Buffer, published: number): number[] {
  const lines = bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "");
  const column = lines[0]?.split(",").at(-1) === "published";
  const numbers = (column ? rowsIn(bytes).map((row) => row["published"]!) : lines).map(numberOf);
  if (numbers.every((number) => Number.isFinite(number)) || bytes.length !== 8 * published) return numbers;
  return Array.from({ length: published }, (_, i) => bytes.readDoubleLE(8 * i));
}

/** An empty text is no number. */
const numberOf = (text: string): number => (text.trim() === "" ? NaN : Number(text));

/** Rows of CSV, cells by the names of the first row. */
function rowsIn(read: Uint8Array): Row[] {
  const bytes = Buffer.concat([read, Buffer.from(read.at(-1) === 10 ? "" : "\n")]); // a last line may lack its end
  const rows: (readonly string[])[] = [];
  for (let at = 0, line = 1; at < bytes.length;) {
    const row = readRow(bytes.subarray(at), line, ",".charCodeAt(0), true)!;
    rows.push(row.cells);
    at += row.next;
    line += row.lines;
  }
  const [names = [], ...others] = rows;
  if (others.some((cells) => cells.length > 0 && cells.length !== names.length))
    throw new DataError(
      "--release: expected as many cells in each row as in the first, got a row that is cut",
    );
  return others
    .filter((cells) => cells.length > 0)
    .map((cells) => Object.fromEntries(names.map((name, i) => [name, cells[i] ?? ""])));
}

/** Rows of a release of events: CSV, or JSON as objects of the same fields. */
function eventRows(bytes: Buffer): Row[] {
  const rows = bytes.toString("utf8", 0, 1) === "[" ? jsonRows(bytes) : rowsIn(bytes);
  if (rows.every((row) => "from" in row && "to" in row)) return rows;
  throw new DataError(
    "--release: expected CSV or JSON with the fields from and to, written by brume release",
  );
}

function jsonRows(bytes: Buffer): Row[] {
  let stored: unknown;
  try {
    stored = JSON.parse(bytes.toString("utf8"));
  } catch {
    throw new DataError("--release: expected CSV or JSON, got something else");
  }
  const text = (value: unknown): string =>
    typeof value === "string"
      ? value
      : ["number", "boolean"].includes(typeof value)
        ? JSON.stringify(value)
        : "";
  return (stored as readonly object[]).map((row) =>
    Object.fromEntries(
      Object.entries(Object(row) as Record<string, unknown>).flatMap(([name, value]) => {
        if (typeof value !== "object" || value === null) return [[name, text(value)]];
        const { value: number, low, high } = value as Record<string, unknown>;
        return [
          [name, text(number)],
          [`${name}_low`, text(low)],
          [`${name}_high`, text(high)],
        ];
      }),
    ),
  );
}

/** Columns of a row that are measurements. */
const measured = (row: Row): string[] =>
  Object.keys(row).filter((name) => `${name}_low` in row && `${name}_high` in row);

function eventReleaseChecks(
  rows: readonly Row[],
  statement: EventStatement,
  file: EventFile | undefined,
): Check[] {
  const seen = new Set<string>();
  let [twice, outside, other, compared, withNumbers, compacted, wrongWidth] = [0, 0, 0, 0, 0, 0, 0];
  const statistic = statisticOf(statement);
  const ends = endsOf(rows);
  for (const row of rows) {
    const place = JSON.stringify([row["group"], row["from"], row["to"]]);
    if (seen.has(place)) twice++;
    seen.add(place);
    const names = measured(row);
    const hasNumbers = names.some((name) => row[name] !== "");
    const isInside = (name: string): boolean =>
      row[name] === "" ||
      ((row[`${name}_low`] === "" || Number(row[`${name}_low`]) <= Number(row[name])) &&
        (row[`${name}_high`] === "" || Number(row[name]) <= Number(row[`${name}_high`])));
    outside += names.filter((name) => !isInside(name)).length;
    const isPart = row["complete"] === "false" && ends.has(row);
    if (!isPart && !isOfStatedNoise(row, statistic, statement)) wrongWidth++;
    if (file === undefined) continue;
    if (file.isCompacted(rangeOf(row))) {
      compacted++;
      continue;
    }
    compared++;
    if (hasNumbers) withNumbers++;
    if (!isAsStored(row, names, file)) other++;
  }
  return [
    { what: `${rows.length} rows, no period twice`, holds: twice === 0 && rows.length > 0 },
    { what: "every number lies in its interval", holds: outside === 0 },
    {
      what: `every row has a ${statistic}, with an interval of the noise that is stated`,
      holds: wrongWidth === 0,
    },
    { what: "no period is missing between others, in any group", holds: isContiguous(rows) },
    { what: "no other columns", holds: rows.every((row) => hasNoOthers(row, statistic, statement)) },
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
            what: "every group that the state lists has rows",
            holds: file.listed.every((group) => rows.some((row) => (row["group"] ?? group) === group)),
          },
          {
            what: `${withNumbers} rows with numbers (${statement.zone}) are as the state says, intervals too`,
            holds: other === 0 && compared > 0,
          },
        ]),
  ];
}

/** The name of the number that a release has for each period. */
function statisticOf({ system, people }: EventStatement): string {
  if (people !== null) return "people";
  const found = Object.entries(SYSTEM).find(([, words]) => words === system)?.[0];
  return found === "histogram" || found === undefined ? "count" : found;
}

/** The name of a percentile: "p95". */
const QUANTILE = /^p[\d.]+$/;

/** Half a 95 % interval of noise is between these multiples of its standard error, whatever the day's shape. */
const LEAST_REACH = 0.9;
const MOST_REACH = 2.8;

/** Whether a row has no columns but those of a release: a number beside them might be a true one. */
const hasNoOthers = (row: Row, statistic: string, { system }: EventStatement): boolean =>
  Object.keys(row).every((name) => {
    const number = name.replace(/_(low|high)$/, "");
    const isNumber = number === statistic || (system === SYSTEM.histogram && QUANTILE.test(number));
    return isNumber || ["group", "from", "to", "complete"].includes(name);
  });

/** The first and the last row of each group: only these may be of periods that are measured in part. */
function endsOf(rows: readonly Row[]): ReadonlySet<Row> {
  const [first, last] = [new Map<string, Row>(), new Map<string, Row>()];
  for (const row of rows) {
    const { group = "", from = "" } = row;
    if (from <= (first.get(group)?.["from"] ?? from)) first.set(group, row);
    if (from >= (last.get(group)?.["from"] ?? from)) last.set(group, row);
  }
  return new Set([...first.values(), ...last.values()]);
}

/**
 * Whether a row of a whole period has the statistic, and an interval as long as the noise of a level makes it. Means, buckets
 * and other periods have intervals of other lengths; a mean of too few events has an interval alone.
 */
function isOfStatedNoise(row: Row, statistic: string, statement: EventStatement): boolean {
  const [low, high] = [row[`${statistic}_low`], row[`${statistic}_high`]];
  if (row["complete"] !== "true" || !low || !high || row[statistic] === undefined) return false;
  if (row[statistic] === "" && statistic !== "mean") return false;
  const error = errorOf(row, statement);
  if (error === undefined || !["sum", "count", "people"].includes(statistic)) return true;
  const [half, room] = [(Number(high) - Number(low)) / 2, statement.resolution ?? 1];
  return half >= LEAST_REACH * error - room && half <= MOST_REACH * error + room;
}

/** The stated standard error of a row, if it is one period of a level. */
function errorOf(row: Row, { people, levels, standardErrors, system }: EventStatement): number | undefined {
  if (standardErrors === null || system === SYSTEM.histogram) return undefined;
  if (people !== null) return standardErrors[people.over];
  const [from, to] = rangeOf(row);
  const level = levels.find((each) => parseDuration("levels", each) === to - from);
  return level === undefined ? undefined : standardErrors[level];
}

function rangeOf(row: Row): Range {
  try {
    return [parseTime("from", row["from"]!), parseTime("to", row["to"]!)];
  } catch {
    throw new DataError("--release: expected times in the fields from and to, got something else");
  }
}

/**
 * Whether a row has the numbers and intervals that the state gives for its time, and none where it gives none. A period that
 * was measured in part when its row was written may be whole by now.
 */
function isAsStored(row: Row, names: readonly string[], file: EventFile): boolean {
  const group = row["group"] ?? file.groups[0]!;
  if (file.metric.release(group) === undefined) return false;
  const quantiles = names.flatMap((name) => (QUANTILE.test(name) ? [Number(name.slice(1)) / 100] : []));
  const { found, isShown } = file.answer(group, rangeOf(row), quantiles, 0.95);
  if (row["complete"] === "true" && !found.complete) return false;
  const cells = cellsOf(found);
  const stored = new Map(namesOf(file, quantiles).map((name, i) => [name, isShown ? cells[i] : undefined]));
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
function isContiguous(rows: readonly Row[]): boolean {
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

/**
 * Guesses what `brume release FILE` is not told: the format, from how the file begins, and columns, from their names. Only names
 * on a public list are guessed, so that nothing of the file is quoted, and no row has a part in it. ε, bounds, keys and times
 * are never guessed: the data must not choose them.
 */
import { statSync } from "node:fs";
import type { Arguments } from "./command.js";
import { formatOf, openBytes } from "./input.js";
import { isParquet, parquetColumns } from "./parquet.js";
import { tell } from "./tell.js";

/** Usual names, by what a column holds. */
const NAMES = {
  time: [
    "ts",
    "time",
    "timestamp",
    "@timestamp",
    "at",
    "datetime",
    "date",
    "when",
    "created_at",
    "event_time",
  ],
  value: [
    ...[
      "value",
      "amount",
      "ms",
      "latency",
      "latency_ms",
      "duration",
      "duration_ms",
      "took",
      "price",
      "total",
    ],
    ...["basket", "bytes", "kwh", "spent", "size", "seconds"],
  ],
  person: [
    "person",
    "user",
    "user_id",
    "userid",
    "uid",
    "customer",
    "customer_id",
    "client_id",
    "visitor",
    "meter",
  ],
} as const;

/** How a file begins. */
interface Head {
  readonly format: "csv" | "ndjson" | "parquet" | "plain";
  /** Names of its columns. */
  readonly names: readonly string[];
}

/** Fills in what was not given, and says so. Standard input is not looked at: it can be read once. */
export async function guessInput(args: Arguments, path: string): Promise<void> {
  if (path === "-" || statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return;
  const { format, names } = await headOf(path, delimiterOf(args));
  const guessed: string[] = [];
  const guess = (option: string, value: string | undefined): void => {
    if (value === undefined || args.text(option) !== undefined) return;
    args.assume(option, value);
    guessed.push(`--${option} ${value}`);
  };
  if (formatOf(path, undefined) === "plain" && format !== "plain") guess("input-format", format);
  const isEvents = args.text("every") !== undefined;
  if (isEvents) guess("time", onlyOne(names, NAMES.time));
  const isOfValues = isEvents && (args.text("max") ?? args.text("edges")) !== undefined;
  if (isOfValues) guess("value", onlyOne(names, NAMES.value));
  if (!isEvents && names.length > 1) guess("column", onlyOne(names, NAMES.value));
  if (args.text("per-person") !== undefined) guess("person", onlyOne(names, NAMES.person));
  if (guessed.length > 0)
    tell(`Guessed from the file's beginning: ${guessed.join(" ")}. Give them if they are wrong.`);
  const person = names.find((name) => isOneOf(NAMES.person, name));
  if (person !== undefined && args.text("per-person") === undefined && args.text("of") !== "people")
    tell(
      `The file has a column "${person}", and ${isEvents ? "--per-person is not given" : "values have no people"}: one ${isEvents ? "event" : "value"} is protected, not all of a person's. ${isEvents ? "To protect a person's day, give" : "To protect people, publish events by time: --every,"} --per-person K and --person ${person}.`,
    );
}

const isOneOf = (list: readonly string[], name: string): boolean => list.includes(name.toLowerCase());

/** The name that is on the list, if one alone is. */
function onlyOne(names: readonly string[], list: readonly string[]): string | undefined {
  const found = names.filter((name) => isOneOf(list, name));
  return found.length === 1 ? found[0] : undefined;
}

const delimiterOf = (args: Arguments): string => {
  const asked = args.text("delimiter");
  return asked === "tab" ? "\t" : (asked ?? ",");
};

/** Characters of the first line that are looked at. */
const LONGEST = 2 ** 16;

async function headOf(path: string, delimiter: string): Promise<Head> {
  if (await isParquet(path)) return { format: "parquet", names: await parquetColumns(path) };
  const line = await firstLine(path);
  if (line.startsWith("{")) return { format: "ndjson", names: fieldsOf(line) };
  const cells = line.split(delimiter).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
  const isHeader = cells.length > 1 && cells.every((cell) => cell !== "" && Number.isNaN(Number(cell)));
  return isHeader ? { format: "csv", names: cells } : { format: "plain", names: [] };
}

async function firstLine(path: string): Promise<string> {
  const source = openBytes(path);
  try {
    for await (const piece of source.pieces)
      return new TextDecoder().decode(piece.subarray(0, LONGEST)).split(/\r?\n/)[0]!.trim();
    return "";
  } finally {
    source.close();
  }
}

/** Names of the fields of an object, and of those inside it. */
function fieldsOf(line: string): string[] {
  let object: unknown;
  try {
    object = JSON.parse(line);
  } catch {
    return []; // the reader says where
  }
  const names: string[] = [];
  const add = (value: unknown, prefix: string): void => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return;
    for (const [name, inner] of Object.entries(value)) {
      names.push(`${prefix}${name}`);
      if (prefix === "") add(inner, `${name}.`);
    }
  };
  add(object, "");
  return names;
}

/**
 * Guesses what `brume release FILE` is not told: the format, from how the file begins, and columns, from their names. Only names
 * on a public list are guessed, so that nothing of the file is quoted, and no row has a part in it. ε, bounds, keys and times
 * are never guessed: the data must not choose them.
 */
import { statSync } from "node:fs";
import { join } from "node:path";
import { type Arguments, UsageError } from "./command.js";
import { formatOf, openBytes } from "./input.js";
import { isParquet, parquetColumns } from "./parquet.js";
import { tell } from "./tell.js";
import { missingTime } from "./timeOption.js";

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
  /** Between the fields of CSV, as an option says it. */
  readonly delimiter?: string;
  /** Names of its columns. */
  readonly names: readonly string[];
}

const DELIMITERS = [",", ";", "tab", "|"];

/** Options that were filled in, as words for people. */
class Guesses {
  readonly #args: Arguments;
  readonly #made: string[] = [];

  constructor(args: Arguments) {
    this.#args = args;
  }

  add(option: string, value: string | undefined): void {
    if (value === undefined || this.#args.text(option) !== undefined) return;
    this.#args.assume(option, value);
    this.#made.push(`--${option} ${value}`);
  }

  /** Adds how rows are read. */
  addReading(path: string, { format, delimiter }: Head): void {
    if (formatOf(path, undefined) === "plain" && format !== "plain") this.add("input-format", format);
    if (delimiter !== undefined && delimiter !== ",") this.add("delimiter", delimiter);
  }

  tell(): void {
    if (this.#made.length > 0)
      tell(`Guessed from the file's beginning: ${this.#made.join(" ")}. Give them if they are wrong.`);
  }
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Fills in how a log is read that `brume serve --import` was not told, and says so. */
export async function guessLog(args: Arguments, path: string): Promise<void> {
  if (!isFile(path)) return;
  const head = await headOf(path, args.text("delimiter"));
  const guesses = new Guesses(args);
  guesses.addReading(path, head);
  guesses.add("time", onlyOne(head.names, NAMES.time));
  guesses.tell();
}

/** Fills in what was not given, and says so. Standard input is not looked at: it can be read once. */
export async function guessInput(args: Arguments, path: string): Promise<void> {
  if (path === "-" || !isFile(path)) return;
  const head = await headOf(path, args.text("delimiter"));
  const { names } = head;
  const guesses = new Guesses(args);
  guesses.addReading(path, head);
  const isEvents = args.text("every") !== undefined;
  if (isEvents && isBegun(args)) return guesses.tell(); // the release knows its columns, and whom it protects
  if (isEvents) guesses.add("time", onlyOne(names, NAMES.time));
  const isOfValues = isEvents && (args.text("max") ?? args.text("edges")) !== undefined;
  if (isOfValues) guesses.add("value", onlyOne(names, NAMES.value));
  if (!isEvents && names.length > 1) guesses.add("column", onlyOne(names, NAMES.value));
  if (args.text("per-person") !== undefined || args.text("of") === "people")
    guesses.add("person", onlyOne(names, NAMES.person));
  if (args.text("state") === undefined) checkGiven(args, names);
  guesses.tell();
  const person = names.find((name) => isOneOf(NAMES.person, name));
  if (person !== undefined && args.text("per-person") === undefined && args.text("of") !== "people")
    tell(
      `The file has a column "${person}", and ${isEvents ? "--per-person is not given" : "values have no people"}: one ${isEvents ? "event" : "value"} is protected, not all of a person's. ${isEvents ? "To protect a person's day, give" : "To protect people, publish events by time: --every,"} --per-person K and --person ${person}.`,
    );
}

/** Whether the release in --state has begun: another run reads the columns of the first one. */
function isBegun(args: Arguments): boolean {
  const folder = args.text("state");
  return folder !== undefined && isFile(join(folder, "release.json"));
}

const isOneOf = (list: readonly string[], name: string): boolean => list.includes(name.toLowerCase());

/** The name that is on the list, if one alone is. */
function onlyOne(names: readonly string[], list: readonly string[]): string | undefined {
  const found = names.filter((name) => isOneOf(list, name));
  return found.length === 1 ? found[0] : undefined;
}

/** Refuses a call that lacks options which the data must not choose, and names all of them at once. */
function checkGiven(args: Arguments, names: readonly string[]): void {
  const isEvents = args.text("every") !== undefined;
  const needed: readonly (readonly [option: string, message: string])[] = [
    ["epsilon", "--epsilon: missing; expected a number, such as 1"],
    ...(isEvents
      ? ([
          ["time", "--time: missing; expected the column with times"],
          ["from", missingTime("from")],
          ["to", missingTime("to")],
        ] as const)
      : ([
          ["max", "--max: missing; expected a bound that no value passes, known without the data"],
          ...(names.length > 1
            ? ([
                ["column", `--column: missing; expected one of the ${names.length} columns, by name`],
              ] as const)
            : []),
        ] as const)),
  ];
  const missing = needed.filter(([option]) => args.text(option) === undefined);
  if (missing.length === 0) return;
  const hasTimes = !isEvents && names.some((name) => isOneOf(NAMES.time, name));
  throw new UsageError(
    [
      ...missing.map(([, message]) => message),
      ...(hasTimes ? ["The file has times: --every 1h publishes its events by the hour."] : []),
    ].join("\n  "),
  );
}

/** Characters of the first line that are looked at. */
const LONGEST = 2 ** 16;

async function headOf(path: string, asked: string | undefined): Promise<Head> {
  if (await isParquet(path)) return { format: "parquet", names: await parquetColumns(path) };
  const line = await firstLine(path);
  if (line.startsWith("{")) return { format: "ndjson", names: fieldsOf(line) };
  for (const delimiter of asked === undefined ? DELIMITERS : [asked]) {
    const cells = line
      .split(delimiter === "tab" ? "\t" : delimiter)
      .map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));
    const isHeader = cells.length > 1 && cells.every((cell) => cell !== "" && Number.isNaN(Number(cell)));
    if (isHeader) return { format: "csv", delimiter, names: cells };
  }
  return { format: "plain", names: [] };
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

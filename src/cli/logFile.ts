/** A log that `brume serve --import` reads: rows of a file as events of the metrics of a service. */
import { createHash } from "node:crypto";
import { createReadStream, type Stats, statSync } from "node:fs";
import { stat } from "node:fs/promises";
import { TextError } from "../adapters/textError.js";
import { type Arguments, DataError, type Option, UsageError } from "./command.js";
import { type Columns, eventOf, logRows, namesOf, optionsOf } from "./eventRows.js";
import { openBytes } from "./input.js";
import { inputOf } from "./inputOptions.js";
import { Progress } from "./progress.js";
import { inWords, isSystemError } from "./systemErrors.js";

/** Options of `brume serve --import`: the columns of a log, and the times that it fills. */
export const IMPORT_FLAGS: Readonly<Record<string, Option>> = {
  from: { value: "T", help: "with --import: when the first period starts, public (required)" },
  to: { value: "T", help: "with --import: when the last period ends, public (required)" },
  time: { value: "NAME", help: "the column with times, ISO text or a number since 1970 (required)" },
  "time-unit": { value: "U", help: "of times that are numbers: ms or s (ms)" },
  value: { value: "NAME", help: "the column with values of sums, means and histograms" },
  person: { value: "NAME", help: "the column that says whose an event is, for metrics that protect people" },
  "group-by": { value: "NAME", help: "the column with keys, for metrics that have them" },
  metric: { value: "NAME", help: "the column that says which metric a row is of (a row counts in all)" },
  only: { value: "A,B", help: "fill these metrics alone" },
  "input-format": { value: "F", help: "csv, ndjson or parquet (by the file's name)" },
  delimiter: { value: "D", help: "between the fields of CSV: , ; | : or tab (,)" },
};

/** Which fields the events of a metric have. */
interface EventFields {
  readonly key: boolean;
  readonly value: boolean;
  readonly person: boolean;
}

interface LogEvent {
  readonly metric: string;
  readonly key: string;
  readonly value: number | undefined;
  readonly at: number;
  readonly person: string | undefined;
}

/** Rows between two looks at the progress. */
const SHOWN_EVERY = 8192;

export class LogFile {
  /** Names how rows are read. */
  readonly reading: string;
  readonly #args: Arguments;
  readonly #path: string;
  readonly #unit: "ms" | "s";
  readonly #first: Stats;

  constructor(args: Arguments, path: string) {
    this.#args = args;
    this.#path = path;
    this.#unit = args.choice("time-unit", ["ms", "s"]) ?? "ms";
    if (args.text("time") === undefined)
      throw new UsageError("--time: missing; expected the column with times");
    const found = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false });
    if (found?.isFile() !== true)
      throw new UsageError(`--import: expected a file, since it is read more than once, got "${path}"`);
    this.#first = found;
    const options = Object.keys(IMPORT_FLAGS).filter((name) => !["from", "to"].includes(name));
    this.reading = JSON.stringify(options.map((name) => args.text(name) ?? null));
  }

  /** SHA-256 of the file as it is on the disk. */
  async digest(): Promise<Uint8Array> {
    const hash = createHash("sha256");
    try {
      for await (const piece of createReadStream(this.#path, { highWaterMark: 2 ** 20 }))
        hash.update(piece as Uint8Array);
    } catch (reason) {
      if (isSystemError(reason)) throw new DataError(`${this.#path}: ${inWords(reason)}`, { cause: reason });
      throw reason;
    }
    return new Uint8Array(hash.digest());
  }

  async isUnchanged(): Promise<boolean> {
    const { ino, size, mtimeMs } = this.#first;
    const now = await stat(this.#path).catch(() => undefined);
    return now?.ino === ino && now.size === size && now.mtimeMs === mtimeMs;
  }

  /** One event for each metric that a row counts in, in the order of the file. */
  async *events(metrics: ReadonlyMap<string, EventFields>): AsyncGenerator<LogEvent> {
    const [, format, , delimiter] = inputOf(this.#args, this.#path);
    const columns = this.#columnsOf(metrics);
    const metricColumn = this.#args.text("metric");
    const names = [...columns.values()].flatMap(namesOf);
    const source = openBytes(this.#path, metricColumn === undefined ? names : [...names, metricColumn]);
    const options = new Map([...columns.values()].flatMap((own) => [...optionsOf(own)]));
    if (metricColumn !== undefined) options.set(metricColumn, "metric");
    const progress = new Progress("rows");
    const known = new Set(metrics.keys());
    let count = 0;
    try {
      for await (const row of logRows(source, format, delimiter, options)) {
        if (++count % SHOWN_EVERY === 0) progress.show(count, source.bytesRead() / (source.size ?? Infinity));
        const named = metricColumn === undefined ? undefined : row.cells(metricColumn);
        if (metricColumn !== undefined && !known.has(named ?? ""))
          throw new TextError(`expected a metric of the config in "${metricColumn}"`, row.line);
        for (const [metric, own] of columns) {
          if (named !== undefined && named !== metric) continue;
          const { at, value, person, group } = eventOf(row, own, this.#unit);
          yield { metric, key: group ?? "", value, at, person }; // one shape: V8 keeps copied objects in tables, three times as large
        }
      }
    } finally {
      progress.clear();
    }
  }

  /** Per metric, the columns of its events. */
  #columnsOf(metrics: ReadonlyMap<string, EventFields>): Map<string, Columns> {
    const only = this.#args
      .text("only")
      ?.split(",")
      .map((name) => name.trim());
    const unknown = only?.find((name) => !metrics.has(name));
    if (unknown !== undefined)
      throw new UsageError(
        `--only: expected metrics that take events (${[...metrics.keys()].join(", ")}), got "${unknown}"`,
      );
    const chosen = [...metrics].filter(([name]) => only?.includes(name) ?? true);
    this.#refuseUnused(chosen.map(([, fields]) => fields));
    const need = (metric: string, option: string, isNeeded: boolean, what: string): string | undefined => {
      const column = this.#args.text(option);
      if (isNeeded && column === undefined)
        throw new UsageError(
          `--${option}: missing; expected the column with ${what}, which the metric ${metric} has`,
        );
      return isNeeded ? column : undefined;
    };
    return new Map(
      chosen.map(([metric, { key, value, person }]) => [
        metric,
        {
          time: this.#args.text("time")!,
          value: need(metric, "value", value, "values"),
          person: need(metric, "person", person, "people"),
          group: need(metric, "group-by", key, "keys"),
        },
      ]),
    );
  }

  /** A column that no metric reads was meant for something: people are protected only by metrics that say so. */
  #refuseUnused(fields: readonly EventFields[]): void {
    const why = {
      value: ["value", "every metric counts"],
      person: [
        "person",
        'every metric has protect: "event", which protects one event; set perPerson to protect people',
      ],
      "group-by": ["key", "no metric has keys; list them in the config"],
    } as const;
    for (const [option, [field, reason]] of Object.entries(why))
      if (this.#args.text(option) !== undefined && !fields.some((own) => own[field]))
        throw new UsageError(`--${option}: expected none, since ${reason}`);
  }
}

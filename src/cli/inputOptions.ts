/** Where numbers come from on the command line, shared by the commands that read them. */
import type { Arguments, Option } from "./command.js";
import { type Format, formatOf } from "./input.js";

export const INPUT_FLAGS: Readonly<Record<string, Option>> = {
  column: {
    value: "NAME",
    help: "the column to read (CSV: name or number from 1; NDJSON, Parquet: name, or a.b)",
  },
  "input-format": {
    value: "F",
    help: "plain, csv, ndjson, fimi or parquet (by the file's name, else plain)",
  },
  delimiter: { value: "D", help: "between the fields of CSV: , ; | : or tab (,)" },
};

/** A path with what the options say about its contents. */
export const inputOf = (
  args: Arguments,
  path: string,
): [path: string, format: Format, column: string | undefined, delimiter: string | undefined] => [
  path,
  formatOf(path, args.text("input-format")),
  args.text("column"),
  args.text("delimiter") === "tab" ? "\t" : args.text("delimiter"),
];

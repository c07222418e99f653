/** Where numbers come from on the command line, shared by the commands that read them. */
import type { Arguments, Option } from "./command.js";
import { type Format, formatOf } from "./input.js";

export const INPUT_FLAGS: Readonly<Record<string, Option>> = {
  column: { value: "NAME", help: "the column to read (CSV: name or number from 1; NDJSON: name)" },
  format: { value: "F", help: "plain, csv, ndjson or fimi (by the file's name, else plain)" },
};

/** A path with what the options say about its contents. */
export const inputOf = (
  args: Arguments,
  path: string,
): [path: string, format: Format, column: string | undefined] => [
  path,
  formatOf(path, args.text("format")),
  args.text("column"),
];

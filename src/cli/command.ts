/** A command: its options, its help, its work. Arguments are parsed by Node; this adds words and units. */
import { parseArgs } from "node:util";
import { didYouMean } from "../core/nearest.js";

/** Exit code 2: the command was called wrongly. */
export class UsageError extends Error {
  readonly exitCode = 2;
}

/** Exit code 2: the command is in a package that is not installed. */
export class MissingPackage extends Error {
  readonly exitCode = 2;
}

/** Exit code 1: the data could not be read, or the result not written. */
export class DataError extends Error {
  readonly exitCode = 1;
}

/** Exit code 3: everything was read, and there is nothing to publish. */
export class NothingPublished extends Error {
  readonly exitCode = 3;
}

export interface Option {
  /** Placeholder for the option's value in the help; absent for a switch. */
  readonly value?: string;
  /** May be given several times. */
  readonly repeatable?: boolean;
  readonly help: string;
}

export interface Command {
  readonly name: string;
  /** Positional arguments, as shown in the help. */
  readonly operands: string;
  /** The first line stands in the list of commands. */
  readonly summary: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Options of earlier versions, and what to use instead. */
  readonly former?: Readonly<Record<string, string>>;
  readonly example: string;
  run(args: Arguments): Promise<void> | void;
}

/** Parsed arguments, read by kind; a bad one is a usage error that names the option. */
export class Arguments {
  readonly operands: readonly string[];
  readonly #values: Record<string, string | boolean | (string | boolean)[] | undefined>;

  constructor(command: Command, argv: readonly string[]) {
    const known: Readonly<Record<string, Option>> = { ...command.options, help: { help: "" } };
    const options = Object.fromEntries(
      Object.entries(known).map(([name, { value, repeatable = false }]) => [
        name,
        { type: value === undefined ? ("boolean" as const) : ("string" as const), multiple: repeatable },
      ]),
    );
    // Not strict: Node would take "--epsilon -1" for a mistake of another kind; the words are ours.
    const parsed = parseArgs({
      args: [...argv],
      options,
      strict: false,
      allowPositionals: true,
      tokens: true,
    });
    for (const token of parsed.tokens) if (token.kind === "option") checkOption(token, known, command.former);
    this.operands = parsed.positionals;
    this.#values = parsed.values;
    const most = command.operands === "" ? 0 : command.operands.split(" ").length;
    if (this.operands.length > most)
      throw new UsageError(
        `expected ${most === 0 ? "options only" : command.operands}, got "${this.operands[most]}" as well`,
      );
  }

  /** Takes a value for an option that was not given. */
  assume(name: string, value: string): void {
    this.#values[name] ??= value;
  }

  has(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    return this.#values[name] as string | undefined;
  }

  /** All values of an option that may be given several times. */
  texts(name: string): readonly string[] {
    return (this.#values[name] ?? []) as string[];
  }

  number(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (text.trim() === "" || Number.isNaN(value))
      throw new UsageError(`--${name}: expected a number, got "${text}"`);
    return value;
  }

  required(name: string): number {
    const value = this.number(name);
    if (value === undefined) throw new UsageError(`--${name}: missing; expected a number`);
    return value;
  }

  /** One of a few words. */
  choice<T extends string>(name: string, choices: readonly T[]): T | undefined {
    const text = this.text(name);
    const found = choices.find((word) => word === text);
    if (text !== undefined && found === undefined)
      throw new UsageError(`--${name}: expected ${choices.join(", ")}, got "${text}"`);
    return found;
  }

  numbers(name: string): number[] | undefined {
    return this.text(name)
      ?.split(",")
      .map((part) => {
        if (part.trim() === "" || Number.isNaN(Number(part)))
          throw new UsageError(`--${name}: expected numbers with commas between, got "${part}"`);
        return Number(part);
      });
  }
}

function checkOption(
  { name, rawName, value }: OptionToken,
  known: Readonly<Record<string, Option>>,
  former: Readonly<Record<string, string>> = {},
): void {
  if (Object.hasOwn(former, name))
    throw new UsageError(`${rawName}: no longer an option; use ${former[name]}`);
  if (!Object.hasOwn(known, name))
    throw new UsageError(`unknown option ${rawName}${didYouMean(name, Object.keys(known), "--")}`);
  const wanted = known[name]!.value;
  if (wanted !== undefined && (value === undefined || value.startsWith("--")))
    throw new UsageError(`${rawName}: expected ${wanted} after it, got ${value ?? "nothing"}`);
  if (wanted === undefined && value !== undefined)
    throw new UsageError(`${rawName}: a switch, expected no value, got "${value}"`);
}

/** As Node parses an option: `rawName` is how it was written. */
interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
}

export function helpOf(command: Command): string {
  const names = Object.entries(command.options).map(
    ([name, { value, help }]) => [`  --${name}${value === undefined ? "" : ` ${value}`}`, help] as const,
  );
  const width = Math.max(...names.map(([left]) => left.length)) + 2;
  const call = ["brume", command.name, command.operands, names.length === 0 ? "" : "[options]"];
  return [
    call.filter((word) => word !== "").join(" "),
    "",
    command.summary,
    "",
    ...names.map(([left, help]) => left.padEnd(width) + help),
    ...(names.length === 0 ? [] : ["", "--quiet leaves out all words on standard error but errors.", ""]),
    "Example:",
    `  ${command.example}`,
  ].join("\n");
}

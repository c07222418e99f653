/** brume release: numbers in, private numbers out, as they come. */
import { recordReader, TextReader } from "../adapters/textInput.js";
import { columnOf, type OnRow } from "../adapters/textRecords.js";
import { valueStream } from "../stream/holdoutStream.js";
import type { PrivateStream } from "../stream/system.js";
import { type Arguments, type Command, DataError, NothingPublished, UsageError } from "./command.js";
import { EVENT_FLAGS, EVENT_RELEASE_FLAGS, FORMER_FLAGS } from "./eventOptions.js";
import { OUTPUT_FORMATS, type OutputFormat } from "./formats.js";
import { openBytes, type Source } from "./input.js";
import { guessInput } from "./guess.js";
import { INPUT_FLAGS, inputOf } from "./inputOptions.js";
import { gzipped, nowhere, openSink, type Sink, standardOutput } from "./output.js";
import { Progress } from "./progress.js";
import { STREAM_FLAGS, streamOptions } from "./streamOptions.js";
import { SUMMARIES } from "./summaries.js";
import { tell } from "./tell.js";

export const release: Command = {
  name: "release",
  operands: "[FILE|-]",
  summary: `${SUMMARIES.release}\nReads one number per line, or a column of CSV, NDJSON or Parquet, gzip or not, from a file or standard input.`,
  options: {
    ...STREAM_FLAGS,
    ...INPUT_FLAGS,
    ...EVENT_FLAGS,
    ...EVENT_RELEASE_FLAGS,
    format: {
      value: "F",
      help: "plain, csv, or f64 for doubles of 8 bytes (plain); with --every table, csv or json (csv in a pipe)",
    },
    carry: { value: "A,B", help: "copy these PUBLIC columns of a CSV file to the output, as they are" },
    out: { value: "FILE", help: "write here, not to standard output; created atomically when complete" },
    json: { help: "with --every: the same as --format json" },
    gzip: { help: "compress the output; a FILE that ends with .gz is always compressed" },
    statement: { value: "FILE", help: "write the machine-readable privacy statement here" },
  },
  former: FORMER_FLAGS,
  example: "tail -f queries.log | brume release - --epsilon 0.5 --max 1000 --holdout 4096",
  async run(args) {
    const path = args.operands[0] ?? "-";
    await guessInput(args, path);
    if (args.text("every") !== undefined) return (await import("./releaseEvents.js")).releaseEvents(args);
    if (args.has("json"))
      throw new UsageError(
        "--json: expected with --every; without it there is one number a line, each valid JSON",
      );
    const stream = valueStream(streamOptions(args));
    const [, format, column, delimiter] = inputOf(args, path);
    const output = args.choice("format", ["plain", "csv", "f64"]) ?? "plain";
    const carried = carriedOf(args.text("carry"), format, output);
    const reader = new TextReader(recordReader({ format, column, delimiter }, carried?.onRow));
    const source = openBytes(path, column === undefined ? undefined : [column]);
    const interrupt = onInterrupt(() => source.close()); // a live stream has no other end
    let [out, statement] = [standardOutput, nowhere];
    try {
      out = await openOutput(args);
      statement = await openSink(args, "statement", nowhere);
      const release = { stream, reader, source, carried, output: OUTPUT_FORMATS[output], out };
      await publish(release).catch((reason: unknown) => {
        if (interrupt.reason === undefined) throw reason; // a source that was closed fails, too
      });
      if (interrupt.reason !== undefined && args.text("out") !== undefined) throw interrupt.reason;
      if (stream.received === 0 && interrupt.reason === undefined)
        throw new DataError(`${path}: expected at least one number, got none`);
      if (stream.length === 0 && interrupt.reason === undefined)
        throw new NothingPublished(nothingOf(stream.received));
      await statement.write(`${JSON.stringify(stream.statement(), null, 2)}\n`);
      await statement.done();
      await out.done();
    } catch (reason) {
      await out.discard();
      await statement.discard();
      throw reason;
    } finally {
      interrupt.ignore();
    }
    tell(stream.explain());
    if (interrupt.reason !== undefined) throw interrupt.reason;
  },
};

/** Too few values to choose θ from and to publish as well. */
const FEW = 512;

/** Advice if the hold-out took all values. How many there are is public. */
function nothingOf(received: number): string {
  const all = `nothing is published: all ${received} values went into the hold-out, which chooses θ and is never published`;
  const known = "--threshold T, a bound that you know without the data: then nothing is held out";
  if (received < FEW) return `${all}. Give ${known}`;
  const holdout = 2 ** Math.floor(Math.log2(received / 4));
  return `${all}. Give --holdout ${holdout}, which leaves ${received - holdout} to publish, or ${known}`;
}

interface Release {
  readonly stream: PrivateStream;
  readonly reader: TextReader;
  readonly source: Source;
  readonly carried: Carried | undefined;
  readonly output: OutputFormat;
  readonly out: Sink;
}

/** Publishes what comes, as it comes. */
async function publish({ stream, reader, source, carried, output, out }: Release): Promise<void> {
  const progress = new Progress("values");
  const push = (numbers: Float64Array) => stream.pushMany(numbers);
  let head = output.head(carried?.names ?? []);
  const write = async (published: Float64Array) => {
    if (head !== "") await out.write(head);
    head = "";
    for (const piece of output.pieces(published, carried?.take(published.length) ?? []))
      await out.write(piece);
    progress.show(stream.received, source.size === undefined ? undefined : source.bytesRead() / source.size);
  };
  try {
    for await (const piece of source.pieces) await write(reader.read(piece, push));
    await write(reader.end(push));
  } finally {
    progress.clear();
  }
}

async function openOutput(args: Arguments): Promise<Sink> {
  const sink = await openSink(args, "out", standardOutput);
  const compress = args.has("gzip") || /\.gz$/i.test(args.text("out") ?? "");
  return compress ? gzipped(sink) : sink;
}

/** Public columns of a CSV file that are copied to the output, because the caller named them. */
class Carried {
  readonly names: readonly string[];
  #columns: readonly number[] | undefined;
  #rows: string[][] = [];

  constructor(names: readonly string[]) {
    this.names = names;
  }

  /** Keeps the carried fields of every row until they are asked for. */
  readonly onRow: OnRow = (cells, isHeader) => {
    if (this.#columns === undefined) {
      if (!isHeader) throw new UsageError("--carry: expected a header with these names in the first row");
      this.#columns = this.names.map((name) => columnOf(cells, name, "carry"));
    } else this.#rows.push(this.#columns.map((column) => cells[column]!));
  };

  /** The fields of the newest rows, one row per published number; older rows were held out. */
  take(count: number): readonly (readonly string[])[] {
    const rows = count === 0 ? [] : this.#rows.slice(-count);
    this.#rows = [];
    return rows;
  }
}

/** @param asked names with commas between */
function carriedOf(asked: string | undefined, format: string, output: string): Carried | undefined {
  if (asked === undefined) return undefined;
  if (format !== "csv" || output !== "csv")
    throw new UsageError("--carry: expected CSV in and --format csv out; other formats have no columns");
  const names = asked.split(",").map((name) => name.trim());
  if (names.includes("")) throw new UsageError(`--carry: expected names with commas between, got "${asked}"`);
  process.stderr.write(
    `Warning: the columns ${names.join(", ")} are copied to the output without any protection. Only name columns that are public.\n`,
  );
  return new Carried(names);
}

/** Signals that end a command, by their numbers: shells report 128 more. */
const SIGNALS = { SIGINT: 2, SIGTERM: 15 } as const;
type Signal = keyof typeof SIGNALS;

/** Ctrl-C, or being asked to stop. The code that throws it has cleaned up. */
class Interrupted extends Error {
  readonly exitCode: number;

  constructor(signal: Signal) {
    super(signal);
    this.exitCode = 128 + SIGNALS[signal];
  }
}

/** Calls `stop` at the first signal; `reason` is set from then on. */
function onInterrupt(stop: () => void): { readonly reason: Interrupted | undefined; ignore(): void } {
  let reason: Interrupted | undefined;
  const signals = Object.keys(SIGNALS) as Signal[];
  const hear = (signal: NodeJS.Signals) => {
    reason = new Interrupted(signal as Signal);
    stop();
  };
  for (const signal of signals) process.once(signal, hear);
  return {
    get reason() {
      return reason;
    },
    ignore() {
      for (const signal of signals) process.off(signal, hear);
    },
  };
}

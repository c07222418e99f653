/** brume release: numbers in, private numbers out, as they come. */
import { recordReader, TextReader } from "../adapters/textInput.js";
import { valueStream } from "../stream/holdoutStream.js";
import type { PrivateStream } from "../stream/system.js";
import { type Carried, carriedOf } from "./carried.js";
import { type Arguments, type Command, DataError, NothingPublished, UsageError } from "./command.js";
import { EVENT_FLAGS, EVENT_RELEASE_FLAGS, FORMER_FLAGS } from "./eventOptions.js";
import { OUTPUT_FORMATS, type OutputFormat } from "./formats.js";
import { openBytes, type Source } from "./input.js";
import { guessInput } from "./guess.js";
import { INPUT_FLAGS, inputOf } from "./inputOptions.js";
import { onInterrupt } from "./interrupt.js";
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

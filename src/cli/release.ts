/** brume release: numbers in, private numbers out, as they come. */
import { statSync } from "node:fs";
import { type PrivateStream, privateStream } from "../index.js";
import { type Command, DataError } from "./command.js";
import { openNumbers, type Source } from "./input.js";
import { INPUT_FLAGS, inputOf } from "./inputOptions.js";
import { onInterrupt } from "./interrupt.js";
import { nowhere, openSink, type Sink, standardOutput } from "./output.js";
import { Progress } from "./progress.js";
import { TOPS_FLAGS, topsOptions } from "./streamOptions.js";

export const release: Command = {
  name: "release",
  operands: "[FILE|-]",
  summary:
    "Publishes a stream under event-level ε-differential privacy: one number per value after the hold-out.\nReads one number per line, or a column of CSV or NDJSON, gzip or not, from a file or standard input.",
  options: {
    ...TOPS_FLAGS,
    ...INPUT_FLAGS,
    out: { value: "FILE", help: "write here instead of standard output; appears when it is whole" },
    account: { value: "FILE", help: "write the machine-readable privacy statement here" },
  },
  example: "tail -f queries.log | brume release - --epsilon 0.5 --max 1000 --holdout 4096",
  async run(args) {
    const path = args.operands[0] ?? "-";
    const stream = privateStream(topsOptions(args));
    const source = openNumbers(...inputOf(args, path));
    const interrupt = onInterrupt(() => source.close()); // a live stream has no other end
    let [out, account] = [standardOutput, nowhere];
    try {
      out = await openSink(args, "out", standardOutput);
      account = await openSink(args, "account", nowhere);
      await publish(stream, source, sizeOf(path), out).catch((reason: unknown) => {
        if (interrupt.reason === undefined) throw reason; // a source that was closed fails, too
      });
      if (interrupt.reason !== undefined && out !== standardOutput) throw interrupt.reason;
      if (stream.received === 0 && interrupt.reason === undefined)
        throw new DataError(`${path}: expected at least one number, got none`);
      await account.write(`${JSON.stringify(stream.statement(), null, 2)}\n`);
      await account.done();
      await out.done();
    } catch (reason) {
      await out.discard();
      await account.discard();
      throw reason;
    } finally {
      interrupt.ignore();
    }
    process.stderr.write(`${stream.explain()}\n`);
    if (stream.length === 0)
      process.stderr.write(
        `Nothing was published: all ${stream.received} values went into the hold-out; give a smaller --holdout.\n`,
      );
    if (interrupt.reason !== undefined) throw interrupt.reason;
  },
};

/** Publishes what comes, as it comes. */
async function publish(
  stream: PrivateStream,
  source: Source,
  size: number | undefined,
  out: Sink,
): Promise<void> {
  const progress = new Progress("values");
  try {
    for await (const chunk of source.chunks) {
      const published = stream.pushMany(chunk);
      if (published.length > 0) await out.write(`${published.join("\n")}\n`);
      progress.show(stream.received, size === undefined ? undefined : source.bytesRead() / size);
    }
  } finally {
    progress.clear();
  }
}

function sizeOf(path: string): number | undefined {
  return path === "-" ? undefined : statSync(path, { throwIfNoEntry: false })?.size;
}

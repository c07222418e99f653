/** brume release: numbers in, private numbers out, as they come. */
import { statSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tops } from "../index.js";
import type { Command } from "./command.js";
import { openNumbers } from "./input.js";
import { INPUT_FLAGS, inputOf } from "./inputOptions.js";
import { openSink } from "./output.js";
import { Progress } from "./progress.js";
import { TOPS_FLAGS, topsOptions } from "./topsOptions.js";

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
    const stream = tops(topsOptions(args));
    const source = openNumbers(...inputOf(args, path));
    const sink = openSink(args.text("out"));
    const progress = new Progress("values");
    const size = path === "-" ? undefined : statSync(path, { throwIfNoEntry: false })?.size;
    let taken = 0;
    try {
      for await (const chunk of source.chunks) {
        const published = stream.pushMany(chunk);
        taken += chunk.length;
        if (published.length > 0) await sink.write(`${published.join("\n")}\n`);
        progress.show(taken, size === undefined ? undefined : source.bytesRead() / size);
      }
      await sink.done();
    } catch (reason) {
      await sink.discard();
      throw reason;
    } finally {
      progress.clear();
    }
    const account = args.text("account");
    if (account !== undefined) await writeFile(account, `${JSON.stringify(stream.account(), null, 2)}\n`);
    process.stderr.write(`${stream.explain()}\n`);
    if (stream.length === 0)
      process.stderr.write(
        `Nothing was published: all ${taken} values went into the hold-out; give a smaller --holdout.\n`,
      );
  },
};

/** brume ldp simulate: devices and server in one process, truth beside estimate. */
import { aggregator, reporter } from "../../src/index.js";
import { type Arguments, type Command, UsageError } from "../../src/cli/command.js";
import { EXAMPLE, exampleStream } from "../../src/cli/example.js";
import { readNumbers } from "../../src/cli/input.js";
import { INPUT_FLAGS, inputOf } from "../../src/cli/inputOptions.js";
import { Progress } from "../../src/cli/progress.js";
import { table } from "../../src/cli/table.js";
import { SUMMARIES } from "../../src/cli/summaries.js";

export const ldp: Command = {
  name: "ldp",
  operands: "simulate",
  summary: `${SUMMARIES.ldp}\nThe server learns θ from the first reports and answers ranges from the rest. Without --data it runs on a built-in\nexample.`,
  options: {
    epsilon: { value: "E", help: "privacy budget of every report (1)" },
    max: { value: "B", help: "public upper bound of a value (500; required with --data)" },
    data: { value: "FILE", help: "one device per number: plain, CSV or NDJSON, gzip or not" },
    ...INPUT_FLAGS,
    devices: { value: "N", help: "at most so many devices (1000000)" },
    holdout: { value: "M", help: "devices that teach the threshold (65536)" },
    json: { help: "one JSON object instead of a table" },
    "unsafe-seed": { value: "S", help: "repeatable and NOT PRIVATE: for tests and papers" },
  },
  example: "brume ldp simulate --epsilon 1 --data fares.txt --max 30000",
  async run(args) {
    if (args.operands[0] !== "simulate") throw new UsageError("expected brume ldp simulate");
    const epsilon = args.number("epsilon") ?? 1;
    const holdout = args.number("holdout") ?? 65_536;
    const { values, max } = await devices(args, args.number("devices") ?? 1_000_000);
    const released = values.length - holdout;
    if (released < 1)
      throw new UsageError(
        `--holdout: expected less than the ${values.length} devices there are, got ${holdout}`,
      );
    const seed = args.text("unsafe-seed");
    const shared = {
      epsilon,
      max,
      ...(seed === undefined ? {} : { unsafeSeed: seed }),
    };
    const server = aggregator({
      variant: "paper",
      epsilon,
      max,
      holdout,
      maxRange: Math.max(2, released),
      history: released,
    });

    const started = performance.now();
    server.learn(
      reporter({ variant: "paper", ...shared, phase: "learn" }).reportMany(values.subarray(0, holdout)),
    );
    const progress = new Progress("EM steps");
    const theta = await server.threshold({ onProgress: ({ updates }) => progress.show(updates) });
    progress.clear();
    server.release(
      reporter({ variant: "paper", ...shared, phase: "release", threshold: theta }).reportMany(
        values.subarray(holdout),
      ),
    );
    const seconds = (performance.now() - started) / 1000;

    const rows = [0.01, 0.1, 0.5, 1].map((share) => {
      const count = Math.max(1, Math.floor(released * share));
      const { mean, low, high } = server.range(0, count);
      const truth = values.subarray(holdout, holdout + count).reduce((a, b) => a + b, 0) / count;
      return { devices: count, truth, mean, low: low / count, high: high / count };
    });
    if (args.has("json")) {
      console.log(JSON.stringify({ epsilon, max, theta, devices: values.length, seconds, rows }));
      return;
    }
    console.log(
      `${values.length} devices reported with ε = ${epsilon} in ${seconds.toFixed(2)} s; θ = ${theta.toFixed(2)} of max ${max}.\n`,
    );
    console.log(
      table(
        ["devices", "true mean", "estimate", "± 95 %"],
        rows.map(({ devices, truth, mean, low, high }) => [
          ...[String(devices), truth.toFixed(4), mean.toFixed(4), ((high - low) / 2).toFixed(4)],
        ]),
      ),
    );
    console.log(`\n${server.explain()}`);
  },
};

async function devices(args: Arguments, most: number): Promise<{ values: Float64Array; max: number }> {
  const path = args.text("data");
  if (path === undefined)
    return { values: exampleStream("brume", most), max: args.number("max") ?? EXAMPLE.max };
  const values = await readNumbers(...inputOf(args, path));
  return { values: values.subarray(0, most), max: args.required("max") };
}

/**
 * Is privacy on Kafka worth its price? Opponent: the same pipeline of the same client without privacy.
 * `npm run bench:kafka [-- --json] [--values 200000] [--seconds 10]`
 */
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { build } from "esbuild";

import { startCluster } from "../broker/broker.js";
import { kafkaPort } from "../src/kafka/port.js";
import { type Bench, type Case, latency, restoreTime, throughput } from "./measure.js";

const { values: given } = parseArgs({
  options: {
    json: { type: "boolean", default: false },
    values: { type: "string", default: "200000" },
    seconds: { type: "string", default: "10" },
  },
});
const [values, seconds] = [Number(given.values), Number(given.seconds)];
if (!(values >= 10_000) || !(seconds > 0))
  throw new RangeError("bench:kafka: expected --values of 10000 or more and --seconds above 0");

interface Row {
  readonly case: string;
  readonly valuesPerSecond?: number;
  /** Of the same pipeline without privacy. */
  readonly plainPerSecond?: number;
  /** plainPerSecond / valuesPerSecond: 1 is no price at all. */
  readonly price?: number;
  readonly p50?: number;
  readonly p99?: number;
  readonly restoreMs?: number;
}

/** Values per second in the runs that measure latency. */
const PACE = 2_000;

async function buildProgram(): Promise<string> {
  const outfile = fileURLToPath(new URL("../../../build/kafkaBenchWorker.mjs", import.meta.url));
  await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    ...{ bundle: true, platform: "node", format: "esm", outfile, logLevel: "warning" },
    external: ["@platformatic/kafka"],
  });
  return outfile;
}

async function* rows(bench: Bench): AsyncGenerator<Row> {
  for (const workers of [1, 2])
    for (const keys of [1, 5_000]) {
      const what = `${workers} worker${workers > 1 ? "s" : ""}, ${keys.toLocaleString("en")} key${keys > 1 ? "s" : ""}`;
      const of = (isPrivate: boolean): Case => ({
        ...{ name: `t-${workers}-${keys}-${isPrivate ? "private" : "plain"}`, workers, keys, isPrivate },
        commitInterval: 100,
      });
      process.stderr.write(`throughput: ${what}\n`);
      const plainPerSecond = await throughput(bench, of(false), values);
      const valuesPerSecond = await throughput(bench, of(true), values);
      yield { case: what, valuesPerSecond, plainPerSecond, price: plainPerSecond / valuesPerSecond };
    }
  for (const commitInterval of [20, 100]) {
    const shape = { workers: 1, keys: 100, commitInterval };
    const what = `a commit every ${commitInterval} ms, ${PACE.toLocaleString("en")} values/s`;
    for (const isPrivate of [true, false]) {
      process.stderr.write(`latency: ${what}${isPrivate ? "" : ", without privacy"}\n`);
      const name = `l-${commitInterval}-${isPrivate ? "private" : "plain"}`;
      const delays = await latency(bench, { ...shape, name, isPrivate }, PACE, seconds);
      yield { case: isPrivate ? what : `${what}, without privacy`, ...delays };
    }
  }
  for (const keys of [100, 1_000, 5_000]) {
    const of = { name: `r-${keys}`, workers: 1, keys, commitInterval: 100, isPrivate: true };
    process.stderr.write(`restore: ${keys} streams\n`);
    await throughput(bench, of, 10 * keys + 10_000);
    yield {
      case: `restore of ${keys.toLocaleString("en")} streams`,
      restoreMs: await restoreTime(bench, of),
    };
  }
}

const figure = (value: number | undefined): string =>
  value === undefined ? "" : Number(value.toPrecision(3)).toLocaleString("en");

function table(all: readonly Row[]): string {
  const head = ["case", "values/s", "without privacy", "price", "p50 ms", "p99 ms", "restore ms"];
  const body = all.map((row) => [
    row.case,
    ...[row.valuesPerSecond, row.plainPerSecond, row.price, row.p50, row.p99, row.restoreMs].map(figure),
  ]);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...body.map(line)].join("\n");
}

const [cluster, program] = await Promise.all([startCluster(), buildProgram()]);
const port = kafkaPort({ brokers: cluster.brokers });
try {
  const all: Row[] = [];
  for await (const row of rows({ port, brokers: cluster.brokers, program })) all.push(row);
  if (given.json) console.log(JSON.stringify({ node: process.version, arch: process.arch, rows: all }));
  else
    console.log(
      `${cpus().length} × ${cpus()[0]?.model}, broker included, Node ${process.version}\n\n${table(all)}`,
    );
} finally {
  await port.close();
  await cluster.stop();
}

/**
 * Is privacy on Kafka worth its price? Opponent: the same pipeline of the same client without privacy.
 * `npm run bench -- kafka [--only throughput|latency|restore] [--json] [--keys 1,5000]
 *   [--values 2000000] [--rounds 3] [--seconds 10]`. Fewer values, and no snapshot is taken while the clock runs.
 */
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

import { build } from "esbuild";

import { startCluster } from "../broker/broker.js";
import { percentile } from "../chaos/recoveries.js";
import { kafkaPort } from "../src/kafka/kafkaPort.js";
import { type Bench, fill, latency, makeInput, restoreTime, throughput } from "./measure.js";

const { values: given } = parseArgs({
  options: {
    only: { type: "string" },
    json: { type: "boolean", default: false },
    keys: { type: "string", default: "1,5000" },
    values: { type: "string", default: "2000000" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "10" },
  },
});
const [values, rounds, seconds] = [Number(given.values), Number(given.rounds), Number(given.seconds)];
const numbersOfKeys = given.keys.split(",").map(Number);
if (!numbersOfKeys.every((keys) => keys >= 1) || !(values >= 10_000) || !(rounds >= 1) || !(seconds > 0))
  throw new RangeError(
    "bench:kafka: expected --keys of 1 or more, --values of 10000 or more, --rounds of 1 or more, --seconds above 0",
  );

/** One line of a table: what it is about, and its figures by the title of their column. */
type Row = Readonly<Record<string, string | number>>;

/** Values per second in the runs that measure latency. */
const PACE = 2_000;

const SECTIONS: Readonly<Record<string, (bench: Bench) => AsyncGenerator<Row>>> = {
  throughput: throughputs,
  latency: latencies,
  restore: restores,
};
const sections = given.only === undefined ? Object.keys(SECTIONS) : [given.only];
if (!sections.every((name) => Object.hasOwn(SECTIONS, name)))
  throw new RangeError(
    `bench:kafka: expected --only ${Object.keys(SECTIONS).join(" or ")}, got ${given.only}`,
  );

async function buildProgram(): Promise<string> {
  const outfile = fileURLToPath(new URL("../../../build/kafkaBenchWorker.mjs", import.meta.url));
  await build({
    entryPoints: [fileURLToPath(new URL("worker.ts", import.meta.url))],
    ...{ bundle: true, platform: "node", format: "esm", outfile, logLevel: "warning" },
    external: ["@platformatic/kafka"],
  });
  return outfile;
}

/** Runs both pipelines in turn, so that both have the same weather; gives the medians. */
async function alternately<T extends object>(
  times: number,
  run: (isPrivate: boolean, round: number) => Promise<T>,
): Promise<{ private: T; plain: T }> {
  const found: { private: T[]; plain: T[] } = { private: [], plain: [] };
  for (let round = 0; round < times; round++)
    for (const isPrivate of [false, true])
      found[isPrivate ? "private" : "plain"].push(await run(isPrivate, round));
  return { private: medians(found.private), plain: medians(found.plain) };
}

function medians<T extends object>(runs: readonly T[]): T {
  const median = (name: string) =>
    percentile(
      runs.map((run) => (run as Record<string, number>)[name]!),
      0.5,
    );
  return Object.fromEntries(Object.keys(runs[0]!).map((name) => [name, median(name)])) as T;
}

const kind = (isPrivate: boolean) => (isPrivate ? "private" : "plain");
const count = (n: number, what: string) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;
const tell = (text: string) => process.stderr.write(`${text}\n`);

async function* throughputs(bench: Bench): AsyncGenerator<Row> {
  for (const keys of numbersOfKeys) {
    const input = `in-${keys}`;
    await makeInput(bench.port, { input });
    await fill(bench.port, { input, keys }, values);
    for (const workers of [1, 2])
      for (const commitInterval of [20, 100]) {
        const what = `${count(workers, "worker")}, ${count(keys, "key")}, commit every ${commitInterval} ms`;
        tell(what);
        const shape = { input, keys, workers, commitInterval };
        const both = await alternately(rounds, (isPrivate, round) => {
          const name = `t-${workers}-${keys}-${commitInterval}-${kind(isPrivate)}-${round}`;
          return throughput(bench, { ...shape, name, isPrivate }, values);
        });
        yield {
          case: what,
          "values/s": both.private.perSecond,
          "without privacy": both.plain.perSecond,
          price: both.plain.perSecond / both.private.perSecond,
          "processor µs/value": both.private.processor,
          "without privacy, µs": both.plain.processor,
        };
      }
  }
}

async function* latencies(bench: Bench): AsyncGenerator<Row> {
  for (const commitInterval of [20, 100]) {
    const what = `commit every ${commitInterval} ms, ${PACE.toLocaleString("en")} values/s`;
    tell(`latency, ${what}`);
    const shape = { workers: 1, keys: 100, commitInterval };
    const both = await alternately(rounds, (isPrivate, round) => {
      const name = `l-${commitInterval}-${kind(isPrivate)}-${round}`;
      return latency(bench, { ...shape, name, input: `${name}-in`, isPrivate }, PACE, seconds);
    });
    yield {
      case: what,
      "p50 ms": both.private.p50,
      "p99 ms": both.private.p99,
      "without privacy, p50": both.plain.p50,
      "without privacy, p99": both.plain.p99,
    };
  }
}

async function* restores(bench: Bench): AsyncGenerator<Row> {
  for (const keys of [100, 1_000, 5_000, 20_000]) {
    tell(`restore of ${count(keys, "stream")}`);
    const of = {
      ...{ name: `r-${keys}`, input: `r-${keys}-in` },
      ...{ workers: 1, keys, commitInterval: 100, isPrivate: true },
    };
    const { stopped, killed, bytes } = await restoreTime(bench, of, 20);
    yield {
      case: count(keys, "stream"),
      "ms after a stop": stopped,
      "ms after kill −9": killed,
      "bytes of state per stream": bytes,
    };
  }
}

const figure = (value: string | number): string =>
  typeof value === "string" ? value : Number(value.toPrecision(3)).toLocaleString("en");

function table(rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  const head = Object.keys(rows[0]!);
  const body = rows.map((row) => line(head.map((name) => figure(row[name]!))));
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...body].join("\n");
}

// All members of a group are there before it gives out partitions, so no case begins with a rebalance.
const properties = { "group.initial.rebalance.delay.ms": "1000" };
const [cluster, program] = await Promise.all([startCluster({ properties }), buildProgram()]);
const port = kafkaPort({ brokers: cluster.brokers });
try {
  const found: Record<string, Row[]> = {};
  for (const name of sections) {
    found[name] = [];
    for await (const row of SECTIONS[name]!({ port, brokers: cluster.brokers, program }))
      found[name].push(row);
  }
  if (given.json) console.log(JSON.stringify({ node: process.version, arch: process.arch, ...found }));
  else {
    console.log(`${cpus().length} × ${cpus()[0]?.model}, broker included, Node ${process.version}`);
    for (const rows of Object.values(found)) console.log(`\n${table(rows)}`);
  }
} finally {
  await port.close();
  await cluster.stop();
}

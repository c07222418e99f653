/**
 * How many events per second does the service acknowledge as stored, in batches of 100, with 1 and with 1,000 keys, beside a
 * bare Fastify route that appends the same bodies to SQLite with the same group commit? In one run, in rounds: the ratio of
 * medians counts, since the machine may be busy. `npm run measure -- service-load [--seconds 5 --rounds 3]`
 */
import autocannon from "autocannon";
import Fastify from "fastify";
import Database from "libsql";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeLogger, makeServer, Service } from "../src/index.js";
import { BATCH, loadConfig } from "./setting.js";

const { values: given } = parseArgs({
  options: {
    seconds: { type: "string", default: "5" },
    rounds: { type: "string", default: "3" },
    connections: { type: "string", default: "16" },
    json: { type: "boolean", default: false },
  },
});
const [seconds, connections] = [Number(given.seconds), Number(given.connections)];
const rounds = Number(given.rounds);
/** Milliseconds between two commits, for both. */
const COMMIT_EVERY = 20;

function bodies(keys: number): string[] {
  return Array.from({ length: 200 }, (_, b) =>
    JSON.stringify({
      events: Array.from({ length: BATCH }, (_, i) => ({
        metric: i % 2 === 0 ? "requests" : "latency",
        key: `k-${1 + ((b * BATCH + i) % keys)}`,
        person: `person-${(b * BATCH + i) % 20_000}`,
        ...(i % 2 === 0 ? {} : { value: 5 + ((i * 7919) % 500) }),
      })),
    }),
  );
}

interface Row {
  readonly name: string;
  readonly "events/s": number;
  readonly "p50 ms": number;
  readonly "p99 ms": number;
  readonly refused: number;
  /** Milliseconds of the processor for 1,000 events, of the whole process. */
  readonly "CPU ms/1000": number;
}

async function measure(name: string, url: string, keys: number): Promise<Row> {
  const before = process.cpuUsage();
  const result = await autocannon({
    ...{ url, connections, duration: seconds, workers: 1 },
    requests: bodies(keys).map((body) => ({
      method: "POST" as const,
      path: "/v1/events",
      headers: { "content-type": "application/json" },
      body,
    })),
  });
  const { user, system } = process.cpuUsage(before);
  const { p50, p99 } = result.latency;
  const events = result.requests.total * BATCH;
  return {
    name,
    "events/s": Math.round(result.requests.average * BATCH),
    "p50 ms": p50,
    "p99 ms": p99,
    refused: result.non2xx + result.errors,
    "CPU ms/1000": Math.round(((user + system) / events) * 10) / 10,
  };
}

async function service(keys: number): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "brume-load-"));
  const config = loadConfig(folder, keys);
  const opened = await Service.open(config, { key: new Uint8Array(randomBytes(32)) });
  const app = await makeServer(opened, makeLogger(config.log));
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const row = await measure(`service, ${keys} key${keys === 1 ? "" : "s"}`, url, keys);
  await app.close();
  await opened.stop();
  rmSync(folder, { recursive: true, force: true });
  return row;
}

/** Appends each body as a row; all that came in the meantime are one transaction, flushed before any is acknowledged. */
async function bare(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "brume-load-"));
  const database = new Database(join(folder, "bare.sqlite"));
  database.exec(
    "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE bodies (id INTEGER PRIMARY KEY, body TEXT)",
  );
  const insert = database.prepare("INSERT INTO bodies (body) VALUES (?)");
  let waiting: { readonly body: string; readonly done: () => void }[] = [];
  const commit = (): void => {
    const own = waiting;
    waiting = [];
    if (own.length > 0) {
      database.exec("BEGIN IMMEDIATE");
      for (const { body } of own) insert.run(body);
      database.exec("COMMIT");
      for (const { done } of own) done();
    }
  };
  const timer = setInterval(commit, COMMIT_EVERY);
  const app = Fastify();
  app.post("/v1/events", async (request, reply) => {
    const { events } = request.body as { events: unknown[] };
    await new Promise<void>((done) => waiting.push({ body: JSON.stringify(events), done }));
    return reply.code(202).send({ accepted: events.length });
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const row = await measure("bare route, appends to SQLite", url, 1);
  await app.close();
  clearInterval(timer);
  database.close();
  rmSync(folder, { recursive: true, force: true });
  return row;
}

/** The round with the median rate. */
const median = (rows: readonly Row[]): Row =>
  [...rows].sort((a, b) => a["events/s"] - b["events/s"])[Math.floor(rows.length / 2)]!;

const ways = [bare, () => service(1), () => service(1000)];
const measured: Row[][] = ways.map(() => []);
for (let round = 0; round < rounds; round++)
  for (const [i, way] of ways.entries()) measured[i]!.push(await way());
const medians = measured.map(median);
const rows = medians.map((row) => ({
  ...row,
  "of bare": Math.round((row["events/s"] / medians[0]!["events/s"]) * 100) / 100,
}));
if (given.json) console.log(JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, rows }));
else {
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${connections} connections, median of ${rounds} rounds of ${seconds} s`,
  );
  console.table(rows);
}

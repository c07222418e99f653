/**
 * How many events per second the service acknowledges as stored, in batches of 100, with 1 and with 1,000 keys; beside it,
 * in the same run, a bare Fastify route that reads the same bodies and stores nothing. `npm run load:service [-- --seconds 10]`
 */
import autocannon from "autocannon";
import Fastify from "fastify";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeLogger, makeServer, Service } from "../src/index.js";
import { BATCH, loadConfig } from "./setting.js";

const { values: given } = parseArgs({
  options: {
    seconds: { type: "string", default: "10" },
    connections: { type: "string", default: "16" },
    json: { type: "boolean", default: false },
  },
});
const [seconds, connections] = [Number(given.seconds), Number(given.connections)];

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

async function measure(name: string, url: string, keys: number) {
  const before = process.memoryUsage.rss();
  const result = await autocannon({
    ...{ url, connections, duration: seconds, workers: 1 },
    requests: bodies(keys).map((body) => ({
      method: "POST" as const,
      path: "/v1/events",
      headers: { "content-type": "application/json" },
      body,
    })),
  });
  const { p50, p99 } = result.latency;
  return {
    name,
    "events/s": Math.round(result.requests.average * BATCH),
    "p50 ms": p50,
    "p99 ms": p99,
    refused: result.non2xx + result.errors,
    "MB before": Math.round(before / 2 ** 20),
    "MB after": Math.round(process.memoryUsage.rss() / 2 ** 20),
  };
}

async function service(keys: number) {
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

async function bare() {
  const app = Fastify();
  app.post("/v1/events", (request, reply) =>
    reply.code(202).send({ accepted: (request.body as { events: unknown[] }).events.length }),
  );
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const row = await measure("bare route, nothing stored", url, 1);
  await app.close();
  return row;
}

const rows = [await bare(), await service(1), await service(1000)];
if (given.json) console.log(JSON.stringify({ node: process.version, cpu: cpus()[0]?.model, rows }));
else {
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}, ${connections} connections, ${seconds} s each`,
  );
  console.table(rows);
}

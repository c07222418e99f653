/**
 * Does memory stay flat? A service with 1,000 keys in a process of its own takes batches of 100 events, each with an
 * idempotency key, at a moderate rate, and tells its memory every half minute. `npm run measure -- service-memory [--minutes 10]`
 */
import { randomBytes } from "node:crypto";
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { makeLogger, makeServer, Service } from "../src/index.js";
import { BATCH, loadConfig } from "./setting.js";

const { values: given } = parseArgs({
  options: {
    minutes: { type: "string", default: "10" },
    /** Events per second. */
    rate: { type: "string", default: "5000" },
    state: { type: "string" },
  },
});

async function serve(folder: string): Promise<void> {
  const service = await Service.open(loadConfig(folder, 1000), { key: new Uint8Array(randomBytes(32)) });
  const app = await makeServer(service, makeLogger("error"));
  process.send!(await app.listen({ host: "127.0.0.1", port: 0 }));
  process.on("message", () => process.send!(process.memoryUsage()));
}

const body = (number: number): string =>
  JSON.stringify({
    events: Array.from({ length: BATCH }, (_, i) => {
      const event = {
        key: `k-${1 + ((number * 37 + i) % 1000)}`,
        person: `person-${(number * BATCH + i) % 20_000}`,
      };
      return i % 2 === 0
        ? { metric: "requests", ...event }
        : { metric: "latency", value: 5 + (i % 500), ...event };
    }),
  });

async function watch(minutes: number, rate: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "brume-memory-"));
  const child = fork(fileURLToPath(import.meta.url), ["--state", folder]);
  const told = <T>(): Promise<T> =>
    new Promise((resolve) => child.once("message", (value) => resolve(value as T)));
  const url = await told<string>();
  const begun = performance.now();
  const headers = { "content-type": "application/json" };
  console.log("minute  events stored  RSS MB  heap MB  other MB");
  for (let [sent, half] = [0, 0]; half <= 2 * minutes;) {
    const seconds = (performance.now() - begun) / 1000;
    if (seconds >= 30 * half) {
      child.send("memory");
      const { rss, heapUsed, external } = await told<NodeJS.MemoryUsage>();
      const [all, heap, other] = [rss, heapUsed, external].map((bytes) => (bytes / 2 ** 20).toFixed(0));
      console.log(
        `${(half / 2).toFixed(1).padStart(6)}  ${String(sent * BATCH).padStart(13)}  ${all!.padStart(6)}  ${heap!.padStart(7)}  ${other!.padStart(8)}`,
      );
      half++;
    }
    if (sent * BATCH > rate * seconds) {
      await sleep(5);
      continue;
    }
    const response = await fetch(`${url}/v1/events`, {
      method: "POST",
      headers: { ...headers, "idempotency-key": `batch-${sent}` },
      body: body(sent++),
    });
    if (response.status !== 202) throw new Error(`POST /v1/events: expected 202, got ${response.status}`);
    await response.text();
  }
  child.kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}

await (given.state === undefined ? watch(Number(given.minutes), Number(given.rate)) : serve(given.state));

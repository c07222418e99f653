/**
 * How long does a start take with a full journal, and how much memory does a service hold? A service with so many keys takes
 * 1,100 batches, each a commit of its own, and is left as a kill leaves it. Then a process of its own opens the state,
 * five times. `npm run measure -- service-start [--keys 1000]`
 */
import { fork } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { Service } from "../src/index.js";
import { loadConfig } from "./setting.js";

const { values: given } = parseArgs({
  options: { keys: { type: "string", default: "1000" }, state: { type: "string" } },
});
const keys = Number(given.keys);
const key = new Uint8Array(32).fill(7);
/** More than two rounds of the journal. */
const COMMITS = 1100;
const STARTS = 5;

interface Start {
  readonly wall: number;
  readonly cpu: number;
  readonly rss: number;
}

/** Opens the state, asks for a number, and tells what it took. */
async function open(folder: string): Promise<Start> {
  const [begun, before] = [performance.now(), process.cpuUsage()];
  const service = await Service.open(loadConfig(folder, keys), { key });
  await service.ask("requests", "k-1", { last: 60_000 }, {});
  const wall = performance.now() - begun;
  const { user, system } = process.cpuUsage(before);
  await service.flush();
  return { wall, cpu: (user + system) / 1000, rss: process.memoryUsage.rss() / 2 ** 20 };
}

async function fill(folder: string): Promise<void> {
  const config = loadConfig(folder, keys);
  const service = await Service.open({ ...config, limits: { ...config.limits, commitEvery: 0 } }, { key });
  for (let i = 0; i < COMMITS; i++) {
    const event = { key: `k-${1 + (i % keys)}`, count: 1, at: undefined, person: `person-${i}` };
    const [requests, latency] = [service.metric("requests")!, service.metric("latency")!];
    await service.submit([
      { ...event, metric: requests, value: 1 },
      { ...event, metric: latency, value: 5 + (i % 500) },
    ]);
  }
}

async function measure(): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), "brume-start-"));
  const folder = join(root, "state");
  await fill(folder);
  const starts: Start[] = [];
  for (let i = 0; i < STARTS; i++) {
    const copy = join(root, String(i));
    cpSync(folder, copy, { recursive: true }); // as a kill leaves it: nothing was closed
    const child = fork(fileURLToPath(import.meta.url), ["--state", copy, "--keys", String(keys)]);
    starts.push(
      await new Promise<Start>((resolve) => child.once("message", (told) => resolve(told as Start))),
    );
    child.kill("SIGKILL");
  }
  const least = (of: keyof Start): string => Math.min(...starts.map((start) => start[of])).toFixed(0);
  console.log(
    `Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model}: 2 metrics × ${keys} keys, 512 rows, least of ${STARTS}: start ${least("wall")} ms (processor ${least("cpu")} ms), ${least("rss")} MB`,
  );
  rmSync(root, { recursive: true, force: true });
}

if (given.state !== undefined) process.send!(await open(given.state));
else await measure().then(() => process.exit());

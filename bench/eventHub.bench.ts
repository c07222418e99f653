/**
 * How fast is a hub of events whose every event survives a crash? Opponent: a durable counter of its own for every key,
 * where each event has a `put` of its own. 8,000 clients add one event each to 1,000 keys and wait until it is stored.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Database from "libsql";
import { openHub, openStream, type Store } from "../src/index.js";
import { fileStore, sqliteStore } from "../src/node.js";
import { collectGarbage, rates, row, type Row, type Taken, timed } from "./harness.js";

const KEYS = 1000;
const CLIENTS = 8 * KEYS;
const TOTAL = 200_000;
const COMMIT_EVERY = 50;
const key = new Uint8Array(32).fill(1);
const keys = Array.from({ length: KEYS }, (_, i) => String(i));
const periods = { epsilon: 1, every: "1m" } as const;
const people = { ...periods, perPerson: 5 } as const;

const METRICS = {
  counters: { ...periods, of: "count", keys },
  "counters, at most 5 events a person": { ...people, of: "count", keys },
  "histograms of 64 buckets": { ...periods, edges: { min: 1, max: 60_000 }, keys },
} as const;

const stores: Record<string, (place: string) => Promise<Store>> = {
  sqlite: (place) => sqliteStore(new Database(`${place}.db`)),
  file: (place) => Promise.resolve(fileStore(place)),
};

/** Bytes held, after what ended before has been collected. */
async function held(): Promise<number> {
  for (let turn = 0; turn < 3; turn++) {
    await setImmediate();
    collectGarbage();
  }
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Bytes of memory for a key that has had an event. Before any store is open, and the second time: code is compiled then. */
async function bytesOf(metric: keyof typeof METRICS): Promise<number> {
  const before = await held();
  const hub = openHub({ metrics: { metric: METRICS[metric] }, commitEvery: 0 });
  await Promise.all(keys.map((name, i) => hub.add("metric", name, 1, eventOf(metric, i))));
  const bytes = ((await held()) - before) / KEYS;
  await hub.close();
  return bytes;
}

const eventOf = (metric: keyof typeof METRICS, i: number) =>
  metric.includes("person") ? { person: `user-${i % 100_000}` } : undefined;

/** The time for all events, with periods closed by the clock meanwhile. */
async function measure(store: Store, metric: keyof typeof METRICS): Promise<Taken> {
  const hub = openHub({ metrics: { metric: METRICS[metric] }, store, key, commitEvery: COMMIT_EVERY });
  await Promise.all(keys.map((name, i) => hub.add("metric", name, 1, eventOf(metric, i))));
  hub.start();
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < TOTAL) {
      const i = next++;
      await hub.add("metric", keys[(i * 7919) % KEYS]!, 1 + (i % 1000), eventOf(metric, i));
    }
  };
  const taken = await timed(() => Promise.all(Array.from({ length: CLIENTS }, client)));
  await hub.close();
  return taken;
}

/** Every event by itself. */
async function single(store: Store): Promise<number> {
  const few = 200;
  const inner: Store = { durable: true, get: (name) => store.get(name), put: (...one) => store.put(...one) };
  const stream = await openStream({ ...periods, of: "count", name: "one", store: inner, key });
  const start = performance.now();
  for (let i = 0; i < few; i++) await stream.add();
  return ((performance.now() - start) * TOTAL) / few;
}

export async function* rows(): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(tmpdir(), "brume-bench-"));
  const metrics = Object.keys(METRICS) as (keyof typeof METRICS)[];
  const bytes = new Map<string, number>();
  for (const metric of [...metrics, ...metrics]) bytes.set(metric, await bytesOf(metric));
  try {
    for (const [name, open] of Object.entries(stores)) {
      const naiveMs = await single(await open(join(folder, `${name}-single`)));
      for (const metric of metrics) {
        const what = `${name}: ${TOTAL} events, ${KEYS} ${metric}, a commit every ${COMMIT_EVERY} ms`;
        process.stderr.write(`event-hub: ${what}\n`);
        const bytesPerKey = bytes.get(metric)!;
        const taken = await measure(await open(join(folder, `${name}-${metric.length}`)), metric);
        const figures = `${rates(TOTAL, "events", taken)}, ${Math.round(bytesPerKey)} bytes per key`;
        yield {
          ...row("event-hub", `${what}: ${figures}`, taken.ms, null, naiveMs, null),
          keys: KEYS,
          valuesPerSecond: (TOTAL * 1000) / taken.ms,
          valuesPerProcessorSecond: (TOTAL * 1000) / taken.usedMs,
          bytesPerKey,
        };
      }
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

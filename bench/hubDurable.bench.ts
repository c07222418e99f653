/**
 * How fast is a hub whose every value survives a crash? Opponent: the same hub, when each value has a `put` of its own.
 * 8,000 clients push one value each to 1,000 streams and wait until it is stored; then they push the next one.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { openHub, type Store } from "../src/index.js";
import { fileStore, sqliteStore } from "../src/node.js";
import { rates, row, type Row, type Taken, timed } from "./harness.js";

const KEYS = 1000;
const CLIENTS = 8 * KEYS;
const COMMIT_EVERY = 50;
const options = { epsilon: 0.5, max: 1000, maxRange: 4096, holdout: 10_000, threshold: "shared" } as const;
const key = new Uint8Array(32).fill(1);

const stores: Record<string, (place: string) => Promise<Store>> = {
  sqlite: (place) => sqliteStore(new Database(`${place}.db`)),
  file: (place) => Promise.resolve(fileStore(place)),
};

/** The time for `total` values, after the hold-out and with all streams open. */
async function measure(store: Store, clients: number, total: number, commitEvery: number): Promise<Taken> {
  const hub = openHub({ ...options, store, key, commitEvery, live: 2 * KEYS });
  await hub.pushMany("0", new Float64Array(options.holdout).fill(500));
  await Promise.all(Array.from({ length: KEYS }, (_, i) => hub.push(String(i), 1)));
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < total) {
      const i = next++;
      await hub.push(String((i * 7919) % KEYS), i % 1000);
    }
  };
  const taken = await timed(() => Promise.all(Array.from({ length: clients }, client)));
  await hub.close();
  return taken;
}

export async function* rows(): AsyncGenerator<Row> {
  const folder = mkdtempSync(join(tmpdir(), "brume-bench-"));
  try {
    for (const [name, open] of Object.entries(stores)) {
      const total = 200_000;
      const what = `${name}: ${total} values, ${KEYS} keys, a commit every ${COMMIT_EVERY} ms`;
      process.stderr.write(`hub-durable: ${what}\n`);
      const taken = await measure(await open(join(folder, name)), CLIENTS, total, COMMIT_EVERY);
      const inner = await open(join(folder, `${name}-single`));
      const single: Store = {
        durable: true,
        get: (stream) => inner.get(stream),
        put: (...snapshot) => inner.put(...snapshot),
      };
      const few = 500;
      const naiveMs = (await measure(single, 1, few, 0)).ms * (total / few);
      yield {
        ...row("hub-durable", `${what}: ${rates(total, "values", taken)}`, taken.ms, null, naiveMs, null),
        keys: KEYS,
        valuesPerSecond: (total * 1000) / taken.ms,
        valuesPerProcessorSecond: (total * 1000) / taken.usedMs,
      };
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

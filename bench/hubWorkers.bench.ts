/** Do worker threads make a hub faster? Opponent: the same hub without threads, on the same values. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { openHub } from "../src/index.js";
import { openWorkerHub } from "../src/node.js";
import { row, type Row } from "./harness.js";

const KEYS = 20_000;
const WORKERS = 2;
const options = { epsilon: 0.5, max: 1000, maxRange: 4096, holdout: 256, live: 1024 };
/** Calls under way at once, as in a service. */
const AT_ONCE = 512;
const values = Float64Array.from({ length: 320 }, (_, i) => (i * 7919) % 1000);

/** Milliseconds to give every stream its values. */
async function fill(hub: {
  pushMany(name: string, values: Float64Array): Promise<Float64Array>;
}): Promise<number> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < KEYS) await hub.pushMany(`stream ${next++}`, values);
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  return performance.now() - start;
}

const median = (times: readonly number[]): number => times.toSorted((a, b) => a - b)[times.length >> 1]!;

export async function* rows(): AsyncGenerator<Row> {
  const what = `${KEYS} keys × ${values.length} values, ${WORKERS} threads against none`;
  process.stderr.write(`hub-workers: ${what}\n`);
  const folder = mkdtempSync(join(tmpdir(), "brume-bench-"));
  const outfile = join(folder, "thread.mjs");
  try {
    await build({
      ...{
        entryPoints: ["src/durable/workers/thread.ts"],
        outfile,
        bundle: true,
        platform: "node",
        format: "esm",
      },
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
    });
    const [threads, alone]: [number[], number[]] = [[], []];
    for (let round = 0; round < 5; round++) {
      const hub = openWorkerHub({ ...options, workers: WORKERS }, pathToFileURL(outfile));
      await Promise.all(Array.from({ length: 64 }, (_, i) => hub.push(`warm ${i}`, 1))); // threads have started
      threads.push(await fill(hub));
      await hub.close();
      const single = openHub(options);
      alone.push(await fill(single));
      await single.close();
    }
    const [ms, naiveMs] = [median(threads), median(alone)];
    const valuesPerSecond = (KEYS * values.length * 1000) / ms;
    const figures = `${(valuesPerSecond / 1e6).toPrecision(2)} M values/s`;
    yield {
      ...row("hub-workers", `${what}: ${figures}`, ms, null, naiveMs, null),
      keys: KEYS,
      valuesPerSecond,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Do worker threads make a hub faster? Opponent: the same hub without threads, on the same values. Least of several rounds. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { openHub } from "../src/index.js";
import { openWorkerHub } from "../src/node.js";
import { row, type Row, type Taken, timed } from "./harness.js";

const KEYS = 8000;
const ROUNDS = 5;
const WORKERS = 2;
const options = { epsilon: 0.5, max: 1000, maxRange: 4096, holdout: 256, live: 1024 };
/** Calls under way at once, as in a service. */
const AT_ONCE = 512;
const values = Float64Array.from({ length: 320 }, (_, i) => (i * 7919) % 1000);

/** Gives the streams of a round their values. */
async function fill(
  hub: { pushMany(name: string, values: Float64Array): Promise<Float64Array> },
  round: number,
): Promise<Taken> {
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < KEYS) await hub.pushMany(`round ${round} stream ${next++}`, values);
  };
  return timed(() => Promise.all(Array.from({ length: AT_ONCE }, client)));
}

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
    const hub = openWorkerHub({ ...options, workers: WORKERS }, pathToFileURL(outfile));
    const single = openHub(options);
    const [threads, alone]: [Taken[], Taken[]] = [[], []];
    for (let round = 0; round <= ROUNDS; round++) {
      const [shared, own] = [await fill(hub, round), await fill(single, round)];
      if (round === 0) continue; // threads have started, and all code is compiled
      threads.push(shared);
      alone.push(own);
    }
    await hub.close();
    await single.close();
    const least = (rounds: readonly Taken[], what: keyof Taken) =>
      Math.min(...rounds.map((filled) => filled[what]));
    const [ms, naiveMs] = [least(threads, "ms"), least(alone, "ms")];
    const valuesPerSecond = (KEYS * values.length * 1000) / ms;
    const more = least(threads, "usedMs") / least(alone, "usedMs");
    const figures = `${(valuesPerSecond / 1e6).toPrecision(2)} M values/s, ${more.toFixed(2)}× the processor time`;
    yield {
      ...row("hub-workers", `${what}: ${figures}`, ms, null, naiveMs, null),
      keys: KEYS,
      valuesPerSecond,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Do worker threads make a hub faster? Opponent: the same hub without threads, on the same values. Least of several rounds.
 * How much faster they can make it follows from processor times: without threads the caller's thread is the slowest part,
 * and the engine's own threads, which collect garbage, run beside it; with threads all of it shares the processors.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
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

/** Processor time of each thread of this process so far, in milliseconds, in steps of 10. Linux alone tells. */
function threadTimes(): ReadonlyMap<string, number> {
  if (process.platform !== "linux") return new Map();
  return new Map(
    readdirSync("/proc/self/task").map((thread) => {
      const text = readFileSync(`/proc/self/task/${thread}/stat`, "latin1");
      const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
      return [thread, 10 * (Number(fields[11]) + Number(fields[12]))];
    }),
  );
}

/** Processor time of each thread, over all rounds. */
class Shares {
  readonly #times = new Map<string, number>();

  async count<T>(work: () => Promise<T>): Promise<T> {
    const before = threadTimes();
    const result = await work();
    for (const [thread, time] of threadTimes())
      this.#times.set(thread, (this.#times.get(thread) ?? 0) + time - (before.get(thread) ?? 0));
    return result;
  }

  get caller(): number {
    return this.#times.get(String(process.pid)) ?? NaN;
  }

  get busiest(): number {
    return Math.max(...this.#times.values());
  }

  get all(): number {
    return [...this.#times.values()].reduce((sum, time) => sum + time, 0);
  }
}

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

const percent = (part: number, whole: number): string => `${Math.round((100 * part) / whole)} %`;

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
    const [split, whole] = [new Shares(), new Shares()];
    for (let round = 0; round <= ROUNDS; round++) {
      const counted = round > 0; // before that threads start, and code is compiled
      const [shared, own] = counted
        ? [await split.count(() => fill(hub, round)), await whole.count(() => fill(single, round))]
        : [await fill(hub, round), await fill(single, round)];
      if (!counted) continue;
      threads.push(shared);
      alone.push(own);
    }
    await hub.close();
    await single.close();
    const least = (rounds: readonly Taken[], what: keyof Taken) =>
      Math.min(...rounds.map((filled) => filled[what]));
    const [ms, naiveMs] = [least(threads, "ms"), least(alone, "ms")];
    const valuesPerSecond = (KEYS * values.length * 1000) / ms;
    const [usedMs, naiveUsedMs] = [least(threads, "usedMs"), least(alone, "usedMs")];
    const used = `${Math.round(usedMs)} ms of processor time, ${(usedMs / naiveUsedMs).toFixed(2)}× that of none`;
    const most = [split.all / WORKERS, split.busiest].map((time) => `${(whole.caller / time).toFixed(2)}×`);
    const bounds =
      `at most ${most[0]} on ${WORKERS} processors and ${most[1]} on more: without threads the caller's thread has ` +
      `${percent(whole.caller, whole.all)} of the processor time, with threads ${percent(split.caller, split.all)}`;
    const figures = `${(valuesPerSecond / 1e6).toPrecision(2)} M values/s, ${used}; ${bounds}`;
    yield {
      ...row("hub-workers", `${what}: ${figures}`, ms, null, naiveMs, null),
      keys: KEYS,
      valuesPerSecond,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

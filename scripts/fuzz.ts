/**
 * Drives both cores with random operations and compares every bit, on all cores of the machine:
 *
 *     npm run fuzz -- [--operations 1e7] [--seed S] [--episode I] [--workers W]
 *     npm run fuzz -- --long
 *
 * Operations come in episodes of 4096 (fuzz/episode.ts), each a function of the seed and its own number. So a run that was
 * stopped resumes with `--episode I`, and machines share a seed by taking different episodes. `--long` is 10⁹ operations.
 */
import { availableParallelism } from "node:os";
import { isMainThread, parentPort } from "node:worker_threads";
import { parseArgs } from "node:util";
import { runInPool } from "../research/pool.js";
import { EPISODE, runEpisodes } from "./fuzz/episode.js";
import { Tally } from "./fuzz/tally.js";

/** Episodes that a thread does at a time: under a second. */
const BATCH = 32;
const LONG = 1e9;

interface Job {
  readonly seed: number;
  readonly first: number;
  readonly count: number;
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      operations: { type: "string", default: "1e7" },
      long: { type: "boolean", default: false },
      seed: { type: "string", default: String(crypto.getRandomValues(new Uint32Array(1))[0]!) },
      episode: { type: "string", default: "0" },
      workers: { type: "string", default: String(availableParallelism()) },
    },
  });
  const seed = wholeNumber("seed", values.seed, 0);
  const first = wholeNumber("episode", values.episode, 0);
  const wanted = values.long ? LONG : wholeNumber("operations", values.operations, 1);
  const end = first + Math.ceil(wanted / EPISODE);
  const jobs: Job[] = [];
  for (let next = first; next < end; next += BATCH)
    jobs.push({ seed, first: next, count: Math.min(BATCH, end - next) });
  console.log(`seed ${seed}, episodes ${first} to ${end - 1}, ${(end - first) * EPISODE} operations`);
  await run(jobs, wholeNumber("workers", values.workers, 1));
}

/** Prints every ten seconds what is done, and the episode from which a run that is stopped now would resume. */
async function run(jobs: readonly Job[], workers: number): Promise<void> {
  const tally = new Tally();
  const finished = new Set<number>();
  const started = performance.now();
  const seconds = () => Math.round((performance.now() - started) / 1000);
  let [behind, episodes, told] = [0, 0, started];
  const script = new URL(import.meta.url);
  await runInPool(jobs, { workers, script, workerData: null }, (counts: Tally["counts"], index) => {
    tally.merge(counts);
    finished.add(index);
    episodes += jobs[index]!.count;
    while (finished.delete(behind)) behind++;
    if (performance.now() - told < 10_000 || behind === jobs.length) return;
    told = performance.now();
    const { seed, first } = jobs[behind]!;
    console.log(
      `${episodes * EPISODE} operations, ${seconds()} s; to resume: --seed ${seed} --episode ${first}`,
    );
  });
  for (const [name, count] of Object.entries(tally.counts).sort()) console.log(`  ${name}: ${count}`);
  console.log(`${episodes * EPISODE} operations, ${seconds()} s: no bit differs`);
}

function wholeNumber(name: string, text: string, least: number): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new RangeError(`--${name}: expected a whole number from ${least} on, got ${text}`);
  return value;
}

if (isMainThread) await main();
else
  parentPort!.on("message", ({ seed, first, count }: Job) => {
    void runEpisodes(seed, first, count).then((counts) => parentPort!.postMessage(counts));
  });

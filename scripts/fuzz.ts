/**
 * Drives both cores with random operations and compares every bit, on all cores of the machine:
 *
 *     npm run fuzz -- [--operations 1e7] [--seed S] [--episode I] [--workers W]
 *     npm run fuzz -- --long
 *     npm run fuzz -- --recorder [--configurations 1e6] [--seed S] [--from K] [--workers W]
 *     npm run fuzz -- --counted [--histories 1e5] [--seed S] [--from K] [--workers W]
 *
 * Operations come in episodes of 4096 (fuzz/episode.ts), each a function of the seed and its own number. So a run that was
 * stopped resumes with `--episode I`, and machines share a seed by taking different episodes. `--long` is 10⁹ operations.
 *
 * `--recorder` looks at what meets noise in configurations on neighbouring inputs (test/support/recorder.ts), `--counted` at
 * histories of durable streams and hubs whose store fails (test/support/countedOnce.ts). Each configuration and history is a
 * function of the seed and its number; a run that was stopped resumes with `--from`.
 */
import { availableParallelism } from "node:os";
import { isMainThread, parentPort } from "node:worker_threads";
import { parseArgs } from "node:util";
import { runInPool } from "../research/pool.js";
import { EPISODE, runEpisodes } from "./fuzz/episode.js";
import { type GuardJob, runGuard, runGuardJob } from "./fuzz/guards.js";
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
      recorder: { type: "boolean", default: false },
      configurations: { type: "string", default: "1e6" },
      counted: { type: "boolean", default: false },
      histories: { type: "string", default: "1e5" },
      from: { type: "string", default: "0" },
    },
  });
  const seed = wholeNumber("seed", values.seed, 0);
  if (values.recorder || values.counted) {
    const guard = values.recorder ? "recorder" : "counted";
    const count = wholeNumber(guard, values.recorder ? values.configurations : values.histories, 1);
    const from = wholeNumber("from", values.from, 0);
    const workers = wholeNumber("workers", values.workers, 1);
    process.exitCode = await runGuard({
      guard,
      seed,
      from,
      count,
      workers,
      script: new URL(import.meta.url),
    });
    return;
  }
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
  parentPort!.on("message", (job: Job | GuardJob) => {
    const done = "guard" in job ? runGuardJob(job) : runEpisodes(job.seed, job.first, job.count);
    void done.then((counts) => parentPort!.postMessage(counts));
  });

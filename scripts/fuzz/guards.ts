/** The long runs of both guards: the recorder of sensitivity, and "counted once". */
import { runInPool } from "../../research/pool.js";
import { checkHistory } from "../../test/support/countedOnce.js";
import { PATHS } from "../../test/support/countedPaths.js";
import { Dice } from "./dice.js";
import { Tally } from "./tally.js";

export type Guard = "recorder" | "counted";

export interface GuardJob {
  readonly guard: Guard;
  readonly seed: number;
  readonly first: number;
  readonly count: number;
}

interface GuardResult {
  readonly counts: Tally["counts"];
  readonly faults: readonly string[];
}

/** Configurations or histories that a thread does at a time. */
const BATCH = { recorder: 200, counted: 25 } as const;
const MOST_SHOWN = 1000;

export async function runGuardJob({ guard, seed, first, count }: GuardJob): Promise<GuardResult> {
  const tally = new Tally();
  const faults: string[] = [];
  for (let number = first; number < first + count; number++)
    try {
      const found = await (guard === "recorder" ? configuration : history)(seed, number, tally);
      const more = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
      if (found.length > 0) faults.push(`${number}: ${found[0]}${more}`);
    } catch (error) {
      faults.push(`${number}: ${error instanceof Error ? error.stack : String(error)}`);
    }
  return { counts: tally.counts, faults };
}

async function configuration(seed: number, number: number, tally: Tally): Promise<readonly string[]> {
  // Its hooks stay in the methods of the library: they are made only where they are wanted.
  const { checkConfiguration } = await import("../../test/support/recorderCases.js");
  const { kinds, faults, share } = await checkConfiguration(seed, number);
  for (const kind of kinds) tally.add(kind);
  if (share === 1) tally.add("all of ε spent");
  return faults;
}

async function history(seed: number, number: number, tally: Tally): Promise<readonly string[]> {
  const path = PATHS[number % PATHS.length]!;
  const { faults, injected, calls, inDoubt } = await checkHistory(path, new Dice(seed, number));
  tally.add(path.name);
  tally.add("failures of a store", injected);
  tally.add("calls", calls);
  tally.add("calls in doubt", inDoubt);
  return faults;
}

export interface GuardRun extends Omit<GuardJob, "first"> {
  readonly from: number;
  readonly workers: number;
  readonly script: URL;
}

/** Runs all jobs; progress goes to stderr, the result is one line. Gives the exit code. */
export async function runGuard({ guard, seed, from, count, workers, script }: GuardRun): Promise<number> {
  const jobs: GuardJob[] = [];
  for (let first = from; first < from + count; first += BATCH[guard])
    jobs.push({ guard, seed, first, count: Math.min(BATCH[guard], from + count - first) });
  const tally = new Tally();
  const finished = new Set<number>();
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1000);
  let [behind, done, told, faults] = [0, 0, started, 0];
  await runInPool(jobs, { workers, script, workerData: null }, (result: GuardResult, index) => {
    tally.merge(result.counts);
    for (const fault of result.faults) if (++faults <= MOST_SHOWN) console.error(`seed ${seed}, ${fault}`);
    finished.add(index);
    done += jobs[index]!.count;
    while (finished.delete(behind)) behind++;
    if (performance.now() - told < 10_000 || behind === jobs.length) return;
    told = performance.now();
    console.error(
      `${done} of ${count}, ${seconds()} s; to resume: --seed ${seed} --from ${jobs[behind]!.first}`,
    );
  });
  for (const [name, times] of Object.entries(tally.counts).sort()) console.error(`  ${name}: ${times}`);
  const what = guard === "recorder" ? "configurations" : "histories";
  console.log(`seed ${seed}, ${what} ${from} to ${from + count - 1}, ${seconds()} s: ${faults} with faults`);
  return faults === 0 ? 0 : 1;
}

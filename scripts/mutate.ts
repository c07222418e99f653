/**
 * Mutation testing: changes one operator, number or condition at a time in a copy of the project, and sees whether the
 * tests of that file notice.
 *
 *     npm run mutate -- [--mutants 40] [--seed 1] [--group kernels] [--file src/core/tables/scale.ts] [--results FILE]
 *
 * Mutants are drawn at random in each group, the same for the same seed. One that no test notices survives, and is
 * printed. Results are kept: a run that is stopped and started again goes on, and one that was noticed is not run twice.
 */
import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync } from "node:fs";
import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Dice } from "./fuzz/dice.js";
import { type Mutant, mutantsOf } from "./mutate/mutants.js";
import { allSubjects } from "./mutate/subjects.js";
import type { Order } from "./mutate/tester.js";

/** Folders that are made, at any depth: no test of a mutant reads them. */
const MADE = /(^|\/)(node_modules|dist|build|\.git)$/;
const WASM = "src/core/wasmBytes.ts";
/** A test that takes this many times as long as without a mutant, and half a minute, loops for ever: it is noticed by that. */
const PATIENCE = 10;

interface LimitedTest {
  readonly test: string;
  readonly seconds: number;
}

/** A copy of the project, in which one file at a time is changed. */
class Copy {
  readonly folder = mkdtempSync(join(tmpdir(), "brume-mutants-"));
  #tester: ChildProcess | undefined;

  constructor() {
    for (const part of readdirSync("."))
      cpSync(part, join(this.folder, part), { recursive: true, filter: (path) => !MADE.test(path) });
    symlinkSync(resolve("node_modules"), join(this.folder, "node_modules"));
    mkdirSync(join(this.folder, "build"));
  }

  /** Whether a test fails, or hangs, with this text in the file. */
  async noticed({ file, text }: Pick<Mutant, "file" | "text">, tests: readonly LimitedTest[]) {
    const changed = compiled(file) ? [file, WASM] : [file];
    const paths = changed.map((name) => join(this.folder, name));
    const before = paths.map((path) => readFileSync(path, "utf8"));
    try {
      writeFileSync(paths[0]!, text);
      if (compiled(file) && !this.#compile()) return true;
      for (const { test, seconds } of tests)
        if ((await this.failure({ changed, tests: [test] }, seconds)) !== undefined) return true;
      return false;
    } finally {
      before.forEach((content, i) => writeFileSync(paths[i]!, content));
      if (this.#tester !== undefined) await this.failure({ changed, tests: [] }, 60);
    }
  }

  /** The kernels, compiled again; false if they do not compile. */
  #compile(): boolean {
    const asc = join("node_modules", "assemblyscript", "bin", "asc.js");
    const compile = (module: string) => [
      ...[asc, `assembly/${module}.ts`],
      ...["--config", "asconfig.json", "--target", module],
    ];
    try {
      for (const script of [compile("noise"), compile("data"), ["scripts/inlineWasm.js"]])
        execFileSync(process.execPath, script, { cwd: this.folder, stdio: "ignore" });
      return true;
    } catch {
      return false;
    }
  }

  /** The first test that fails; undefined if all pass. */
  async failure(order: Order, seconds: number): Promise<string | undefined> {
    const tester = (this.#tester ??= await this.#start());
    const late = new Promise<"late">((done) => setTimeout(() => done("late"), seconds * 1000).unref());
    const answer = message<{ failed?: string; error?: string }>(tester);
    tester.send(order);
    const came = await Promise.race([answer, late]);
    if (came === "late" || came === "ended") {
      this.end();
      return "it takes too long, or ends the process";
    }
    if (came.error !== undefined) throw new Error(came.error);
    return came.failed;
  }

  async #start(): Promise<ChildProcess> {
    const tester = fork(join("scripts", "mutate", "tester.ts"), {
      cwd: this.folder,
      execArgv: ["--import", "tsx"],
      stdio: ["ignore", "ignore", "inherit", "ipc"],
      detached: true, // a group of its own, which can be ended with the workers in it
    });
    await message(tester);
    return tester;
  }

  end(): void {
    if (this.#tester?.pid !== undefined) process.kill(-this.#tester.pid, "SIGKILL");
    this.#tester = undefined;
  }

  remove(): void {
    this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

const compiled = (file: string): boolean => file.startsWith("assembly/") || file === "src/core/layout.ts";

function message<T>(child: ChildProcess): Promise<T | "ended"> {
  return new Promise((done) => {
    const settle = (came: T | "ended") => {
      child.off("message", settle).off("exit", ended);
      done(came);
    };
    const ended = () => settle("ended");
    child.once("message", settle).once("exit", ended);
  });
}

/** Which mutants were noticed in earlier runs; a file that changed has others. */
function kept(file: string): Map<string, boolean> {
  const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
  return new Map(lines.filter(Boolean).map((line) => JSON.parse(line) as [string, boolean]));
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      mutants: { type: "string", default: "40" },
      seed: { type: "string", default: "1" },
      group: { type: "string" },
      file: { type: "string" },
      results: { type: "string", default: "build/mutants.jsonl" },
    },
  });
  const groups = allSubjects();
  if (values.group !== undefined && !Object.hasOwn(groups, values.group))
    throw new RangeError(`--group: expected ${Object.keys(groups).join(", ")}, got ${values.group}`);
  const known = kept(values.results);
  mkdirSync(dirname(values.results), { recursive: true });
  const copy = new Copy();
  const durations = new Map<string, number>();
  try {
    for (const [group, subjects] of Object.entries(groups)) {
      if (values.group !== undefined && values.group !== group) continue;
      const files = Object.keys(subjects).filter((file) => values.file === undefined || file === values.file);
      const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(copy.folder, file), "utf8")));
      const dice = new Dice(Number(values.seed), 0);
      const total = all.length;
      let [done, noticed] = [0, 0];
      for (const want = Math.min(total, Number(values.mutants)); done < want; done++) {
        const [mutant] = all.splice(dice.below(all.length), 1) as [Mutant];
        const seen =
          known.get(mutant.id) === true || (await run(copy, mutant, subjects[mutant.file]!, durations));
        appendFileSync(values.results, `${JSON.stringify([mutant.id, seen])}\n`);
        if (seen) noticed++;
        else console.log(`survived: ${mutant.file}:${mutant.line}: ${mutant.before} → ${mutant.after}`);
        if ((done + 1) % 10 === 0) console.log(`${group}: ${noticed} of ${done + 1} noticed`);
      }
      if (done > 0) console.log(`${group}: ${noticed} of ${done} mutants noticed (of ${total} there are)`);
    }
  } finally {
    copy.remove();
  }
}

/** @param durations of tests without a mutant, in seconds: measured when first needed */
async function run(copy: Copy, mutant: Mutant, tests: readonly string[], durations: Map<string, number>) {
  const limited: LimitedTest[] = [];
  for (const test of tests) {
    if (!durations.has(test)) {
      const start = performance.now();
      const failed = await copy.failure({ changed: [], tests: [test] }, 3600);
      if (failed !== undefined) throw new Error(`${test} fails without any mutant: ${failed}`);
      durations.set(test, (performance.now() - start) / 1000);
    }
    limited.push({ test, seconds: 30 + PATIENCE * durations.get(test)! });
  }
  return copy.noticed(mutant, limited);
}

await main();

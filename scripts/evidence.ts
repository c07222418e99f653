/**
 * The evidence of a version, in one folder that a release carries:
 *
 *     npm run evidence -- [--full] [--only audit,coverage] [--of-commit] [--out build/evidence]
 *
 * One file per study, and evidence.json with what each study said. Each file names the version, the commit and the machine it
 * was measured on. The default takes about ten minutes; `--full` makes the long runs, which take a night. A study whose file is
 * of this commit is not run again; one of another commit is, and until then evidence.json says that it is not current.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { audit, MECHANISM_NAMES, type MechanismName } from "../research/audit/audit.js";
import { OPPONENT_TARGETS, GAUSSIAN_TARGETS } from "../research/audit/targets/opponents.js";
import { software } from "../src/core/software.js";
import {
  type Covered,
  coverageTable,
  type Listed,
  listed,
  mutantTotal,
  type Origin,
  withHeading,
} from "./evidence/folder.js";

const HELP = `npm run evidence [-- options]

  --full       the long runs: 10⁹ fuzz operations, 10⁶ configurations, 10⁵ histories, mutants of every group
  --only a,b   these studies alone; the others stay as they are, with the commit that they are of
  --of-commit  fail unless every figure is of this commit, and the checkout has no changes
  --out DIR    default build/evidence
  --help       this text
`;

const { values: asked } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    only: { type: "string" },
    "of-commit": { type: "boolean", default: false },
    out: { type: "string", default: "build/evidence" },
    help: { type: "boolean", default: false },
  },
});
if (asked.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

/** A study: a file of the folder, and how it is made. Its last line is the summary. */
interface Study {
  readonly file: string;
  readonly run: () => string;
}

/** The seed of fuzz runs: the same runs for everybody. */
const SEED = "25";
const pick = <T>(short: T, full: T): T => (asked.full ? full : short);

/** The commit of the checkout as it is now; null if files have changed. */
function commitNow(): string | null {
  execFileSync("node", ["scripts/writeBuiltFrom.js"]);
  const [, commit] = /COMMIT: string \| null = (.*);/.exec(readFileSync("src/core/builtFrom.ts", "utf8"))!;
  return JSON.parse(commit!) as string | null;
}

const machine = {
  cpu: cpus()[0]?.model ?? "unknown processor",
  cores: cpus().length,
  node: process.version,
  platform: process.platform,
};
/** The origin of what this run measures. */
const now: Origin = {
  ...{ version: software.version, commit: commitNow(), runs: asked.full ? "long" : "short" },
  ...{ node: machine.node, cpu: machine.cpu },
};

/** Runs a command of package.json and returns what it prints. */
function npm(script: string, ...args: string[]): string {
  const { status, stdout } = spawnSync("npm", ["run", "--silent", script, "--", ...args], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`npm run ${script}: exit ${status}\n${stdout.slice(-2000)}`);
  return stdout;
}

/** Bounds from below on ε of our own mechanisms; every one is at most the ε that is claimed. */
function auditBounds(): string {
  const others = new Set([...Object.keys(OPPONENT_TARGETS), ...Object.keys(GAUSSIAN_TARGETS)]);
  const own = MECHANISM_NAMES.filter((name) => !others.has(name));
  const one = (mechanism: MechanismName, epsilon: number) => {
    const found = audit({ mechanism, epsilon, ...pick({ samples: 20_000 }, {}) });
    console.log(`  ${mechanism} at ε = ${epsilon}: ε ≥ ${found.lowerBound.toFixed(3)}, ${found.verdict}`);
    return found;
  };
  const found = own.flatMap((mechanism) => [0.25, 1, 4].map((epsilon) => one(mechanism, epsilon)));
  const violations = found.filter(({ verdict }) => verdict === "violation");
  return `${JSON.stringify(found, null, 2)}\n${found.length} audits, ${violations.length} violations\n`;
}

/** A table of what tests measure that compare intervals with the truth, per data set and question; and these tests. */
function coverage(): string {
  const files = [
    "test/events/coverage.slow.test.ts",
    "test/stream/coverageAny.slow.test.ts",
    "test/stream/coverage.slow.test.ts",
  ];
  const folder = mkdtempSync(join(tmpdir(), "brume-coverage-"));
  try {
    const measured = join(folder, "cells.jsonl");
    const { status, stdout } = spawnSync("npx", ["vitest", "run", ...files, "--reporter=verbose"], {
      encoding: "utf8",
      env: { ...process.env, NO_COLOR: "1", BRUME_COVERAGE: measured },
      maxBuffer: 2 ** 28,
    });
    if (status !== 0) throw new Error(`coverage: exit ${status}\n${stdout.slice(-2000)}`);
    const tests = stdout.split("\n").filter((line) => /^\s*✓/.test(line));
    const lines = readFileSync(measured, "utf8").trim().split("\n");
    const rows = lines
      .map((line) => JSON.parse(line) as Covered)
      .sort((a, b) => (a.what < b.what ? -1 : Number(a.what > b.what))); // files run side by side
    return `${tests.join("\n")}\n\n${coverageTable(rows)}\n`;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function tables(): string {
  const input = execFileSync("npx", ["tsx", "scripts/writeTables.ts"], { maxBuffer: 2 ** 28 });
  return execFileSync("python3", ["scripts/checkTables.py"], { input, encoding: "utf8" });
}

function benchRatios(): string {
  const text = npm(
    "bench",
    "--json",
    ...pick(["--only", "noisy-max,consistency,em-step,em-run,laplace,ingest"], []),
  );
  const { rows } = JSON.parse(text) as { rows: readonly unknown[] };
  return `${text.trim()}\n${rows.length} rows\n`;
}

/** Results are kept for this commit alone: another one has other tests. */
function mutation(): string {
  const results = ["--results", join(asked.out, `mutants-${now.commit ?? process.pid}.jsonl`)];
  const text = npm("mutate", "--mutants", pick("5", "40"), ...results);
  return `${text.trimEnd()}\n${mutantTotal(text)}\n`;
}

const fuzz = (...args: string[]) => npm("fuzz", "--seed", SEED, ...args);
const STUDIES: Readonly<Record<string, Study>> = {
  tables: { file: "tables.txt", run: tables },
  audit: { file: "audit.txt", run: auditBounds },
  coverage: { file: "coverage.txt", run: coverage },
  fuzz: { file: "fuzz.txt", run: () => fuzz("--operations", pick("1e7", "1e9")) },
  recorder: { file: "recorder.txt", run: () => fuzz("--recorder", "--configurations", pick("1e4", "1e6")) },
  counted: { file: "counted.txt", run: () => fuzz("--counted", "--histories", pick("1e3", "1e5")) },
  mutation: { file: "mutation.txt", run: mutation },
  bench: { file: "bench.txt", run: benchRatios },
};

const names = asked.only?.split(",") ?? Object.keys(STUDIES);
const unknown = names.filter((name) => !Object.hasOwn(STUDIES, name));
if (unknown.length > 0) {
  console.error(`evidence: unknown study ${unknown.join(", ")}; expected ${Object.keys(STUDIES).join(", ")}`);
  process.exit(2);
}

mkdirSync(asked.out, { recursive: true });
const today = (): string => new Date().toISOString().slice(0, 10);
const pathOf = (name: string): string => join(asked.out, STUDIES[name]!.file);

/** The study in the folder, if it is there and says what it was measured on. */
function stored(name: string): Listed | undefined {
  const path = pathOf(name);
  return existsSync(path) ? listed(STUDIES[name]!.file, readFileSync(path, "utf8"), now) : undefined;
}

if (now.commit === null) {
  console.log("files have changed since the last commit: figures of this run are of no commit");
  if (asked["of-commit"]) process.exit(1);
}
for (const name of names) {
  const found = stored(name);
  if (found?.current !== true) {
    console.log(`${name} …`);
    const began = performance.now();
    const text = STUDIES[name]!.run();
    if (commitNow() !== now.commit)
      throw new Error(
        `evidence: the checkout changed while ${name} ran; nothing of it was kept. Run it again`,
      );
    writeFileSync(pathOf(name), withHeading(now, today(), text));
    console.log(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s`);
  }
  console.log(`${name}: ${stored(name)!.summary}`);
}

const studies = Object.fromEntries(
  Object.keys(STUDIES).flatMap((name) => {
    const found = stored(name);
    return found === undefined ? [] : [[name, found] as const];
  }),
);
const missing = Object.keys(STUDIES).filter((name) => !Object.hasOwn(studies, name));
const others = Object.keys(studies).filter((name) => !studies[name]!.current);
const path = join(asked.out, "evidence.json");
writeFileSync(path, `${JSON.stringify({ software, date: today(), machine, studies, missing }, null, 2)}\n`);
console.log(`${path}: written`);
for (const name of others)
  console.log(`${name}: not current: ${studies[name]!.runs} runs of ${studies[name]!.commit ?? "no commit"}`);
if (asked["of-commit"] && missing.length + others.length > 0) {
  console.error(
    `evidence: expected every study of this commit, got none of ${[...missing, ...others].join(", ")}`,
  );
  process.exitCode = 1;
}

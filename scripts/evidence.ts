/**
 * The evidence of a version, in one folder that a release carries:
 *
 *     npm run evidence -- [--full] [--only audit,coverage] [--out build/evidence]
 *
 * One file per study, and evidence.json with the version, the commit, the machine and what each study said. The default takes
 * about ten minutes; `--full` makes the long runs, which take a night. A study whose file is there is not run again.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { audit, MECHANISM_NAMES, type MechanismName } from "../research/audit/audit.js";
import { OPPONENT_TARGETS, GAUSSIAN_TARGETS } from "../research/audit/targets/opponents.js";
import { software } from "../src/core/software.js";

const HELP = `npm run evidence [-- options]

  --full       the long runs: 10⁹ fuzz operations, 10⁶ configurations, 10⁵ histories, mutants of every group
  --only a,b   these studies alone
  --out DIR    default build/evidence
  --help       this text
`;

const { values: asked } = parseArgs({
  options: {
    full: { type: "boolean", default: false },
    only: { type: "string" },
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

/** Tests that compare intervals with the truth, per data set and question. */
function coverage(): string {
  const files = [
    "test/events/coverage.slow.test.ts",
    "test/stream/coverageAny.slow.test.ts",
    "test/stream/coverage.slow.test.ts",
  ];
  const { status, stdout } = spawnSync("npx", ["vitest", "run", ...files, "--reporter=verbose"], {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`coverage: exit ${status}\n${stdout.slice(-2000)}`);
  const lines = stdout.split("\n").filter((line) => /^\s*✓/.test(line));
  return `${lines.join("\n")}\n${lines.length} tests of coverage passed\n`;
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

const fuzz = (...args: string[]) => npm("fuzz", "--seed", SEED, ...args);
const STUDIES: Readonly<Record<string, Study>> = {
  tables: { file: "tables.txt", run: tables },
  audit: { file: "audit.txt", run: auditBounds },
  coverage: { file: "coverage.txt", run: coverage },
  fuzz: { file: "fuzz.txt", run: () => fuzz("--operations", pick("1e7", "1e9")) },
  recorder: { file: "recorder.txt", run: () => fuzz("--recorder", "--configurations", pick("1e4", "1e6")) },
  counted: { file: "counted.txt", run: () => fuzz("--counted", "--histories", pick("1e3", "1e5")) },
  mutation: { file: "mutation.txt", run: () => npm("mutate", "--mutants", pick("5", "40")) },
  bench: { file: "bench.txt", run: benchRatios },
};

const names = asked.only?.split(",") ?? Object.keys(STUDIES);
const unknown = names.filter((name) => !Object.hasOwn(STUDIES, name));
if (unknown.length > 0) {
  console.error(`evidence: unknown study ${unknown.join(", ")}; expected ${Object.keys(STUDIES).join(", ")}`);
  process.exit(2);
}

mkdirSync(asked.out, { recursive: true });
const lastLine = (text: string): string => text.trimEnd().split("\n").at(-1)!;
const summaries: Record<string, string> = {};
for (const name of names) {
  const { file, run } = STUDIES[name]!;
  const path = join(asked.out, file);
  if (!existsSync(path)) {
    console.log(`${name} …`);
    writeFileSync(path, run());
  }
  summaries[name] = lastLine(readFileSync(path, "utf8"));
  console.log(`${name}: ${summaries[name]}`);
}
writeFileSync(
  join(asked.out, "evidence.json"),
  `${JSON.stringify(
    {
      ...{ software, full: asked.full, date: new Date().toISOString().slice(0, 10) },
      machine: {
        cpu: cpus()[0]?.model,
        cores: cpus().length,
        node: process.version,
        platform: process.platform,
      },
      studies: summaries,
    },
    null,
    2,
  )}\n`,
);
console.log(`${join(asked.out, "evidence.json")}: written`);

/**
 * Measures rows with the code of an earlier commit and with the code of this folder, in turns:
 *
 *     npm run bench -- against COMMIT [--only push,ingest] [--rounds 3] [--json]
 *
 * A row counts with the least time of its rounds, which other work on the machine disturbs least.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import type { Row } from "./harness.js";

/** Rows that the first commits of the project have too. */
const SHARED = "chacha20,laplace,forest,consistency,noisy-max,ingest,push,em-step,reports";

interface Compared {
  readonly path: string;
  readonly case: string;
  /** Milliseconds per call of the wasm core, then and now. */
  readonly before: number;
  readonly now: number;
  /** now / before: below 1, the code is faster now. */
  readonly ratio: number;
}

function run(folder: string, command: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, {
    ...{ cwd: folder, encoding: "utf8", maxBuffer: 2 ** 26 },
  });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")} failed in ${folder}:\n${stderr}`);
  return stdout;
}

/** A folder with the code of that commit, ready to run; it is kept for the next time. */
function checkOut(commit: string): string {
  const name = run(".", "git", ["rev-parse", "--short", `${commit}^{commit}`]).trim();
  const folder = resolve("build/against", name);
  if (existsSync(folder)) return folder;
  console.error(`Preparing ${name} …`);
  run(".", "git", ["clone", "--quiet", "--no-checkout", ".", folder]);
  run(folder, "git", ["checkout", "--quiet", name]);
  run(folder, "npm", ["ci", "--silent"]);
  return folder;
}

function measure(folder: string, only: string): Row[] {
  const text = run(folder, "npm", ["run", "--silent", "bench", "--", "--json", "--only", only]);
  return (JSON.parse(text) as { rows: Row[] }).rows;
}

/** The time that a caller waits: that of WASM, or of JavaScript for `push` and for rows without WASM. */
const own = ({ path, wasmMs, jsMs }: Row): number | null => (path === "push" ? jsMs : (wasmMs ?? jsMs));

/** The case of a row, in its present wording and without the figures that some rows print. */
const titleOf = ({ path, case: what }: Row): string =>
  `${path}, ${what
    .replace(/: [\d,]+ \w+\/s.*$/, "")
    .replaceAll("tick", "period")
    .replace("others sealed", "others as snapshots")}`;

/** The least time of each row. */
function keepLeast(into: Map<string, Row>, rows: readonly Row[]): void {
  for (const row of rows) {
    const name = titleOf(row);
    const kept = into.get(name);
    const ms = own(row);
    if (ms !== null && ms < (kept === undefined ? Infinity : own(kept)!)) into.set(name, row);
  }
}

function compare(commit: string, only: string, rounds: number): Compared[] {
  const folder = checkOut(commit);
  const [before, now] = [new Map<string, Row>(), new Map<string, Row>()];
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}`);
    keepLeast(before, measure(folder, only));
    keepLeast(now, measure(".", only));
  }
  return [...now.entries()].flatMap(([name, row]) => {
    const old = before.get(name);
    if (old === undefined) return [];
    const [was, is] = [own(old)!, own(row)!];
    return [{ path: row.path, case: name.slice(row.path.length + 2), before: was, now: is, ratio: is / was }];
  });
}

function table(rows: readonly Compared[]): string {
  const line = ({ path, case: what, before, now, ratio }: Compared) =>
    `| ${path} | ${what} | ${before.toPrecision(3)} | ${now.toPrecision(3)} | ${ratio.toFixed(2)} |`;
  const mean = Math.exp(rows.reduce((sum, { ratio }) => sum + Math.log(ratio), 0) / rows.length);
  return [
    "| path | case | before, ms | now, ms | now/before |",
    "|---|---|---:|---:|---:|",
    ...rows.map(line),
    `\nGeometric mean of ${rows.length} rows: ${mean.toFixed(2)}`,
  ].join("\n");
}

try {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      ...{ only: { type: "string", default: SHARED }, rounds: { type: "string", default: "3" } },
      json: { type: "boolean", default: false },
    },
  });
  const [commit] = positionals;
  if (commit === undefined || positionals.length > 1)
    throw new RangeError("expected one commit: npm run bench -- against COMMIT");
  const rounds = Number(values.rounds);
  if (!Number.isSafeInteger(rounds) || rounds < 1)
    throw new RangeError(`--rounds: expected a whole number from 1 on, got ${values.rounds}`);
  const rows = compare(commit, values.only, rounds);
  console.log(values.json ? JSON.stringify({ commit, rows }) : table(rows));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

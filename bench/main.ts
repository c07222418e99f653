/** `npm run bench`: every hot path, one table; `-- --json` for programs, `-- --only a,b` for a few paths. */
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import type { BenchFile, Row } from "./harness.js";

/** One line per hot path, in the order of the table. */
const benches: Record<string, () => Promise<BenchFile>> = {
  chacha20: () => import("./chacha.bench.js"),
  laplace: () => import("./laplace.bench.js"),
  forest: () => import("./forest.bench.js"),
  consistency: () => import("./consistency.bench.js"),
  "noisy-max": () => import("./threshold.bench.js"),
  ingest: () => import("./ingest.bench.js"),
  push: () => import("./push.bench.js"),
  release: () => import("./release.bench.js"),
  "em-step": () => import("./squareWave.bench.js"),
  "em-run": () => import("./estimate.bench.js"),
  reports: () => import("./reports.bench.js"),
  hub: () => import("./hub.bench.js"),
  "hub-durable": () => import("./hubDurable.bench.js"),
  days: () => import("./day.bench.js"),
  events: () => import("./events.bench.js"),
  votes: () => import("./votes.bench.js"),
  "event-hub": () => import("./eventHub.bench.js"),
  "hub-workers": () => import("./hubWorkers.bench.js"),
  start: () => import("./start.bench.js"),
  stall: () => import("./stall.bench.js"),
  "hub-million": () => import("./hubMillion.bench.js"),
  cli: () => import("./cli.bench.js"),
};

const HELP = `npm run bench [-- options]

  --only a,b   these hot paths alone: ${Object.keys(benches).join(", ")}
  --growth     time and memory against size, with exponents; draws docs/figures/growth.svg
  --most N     with --growth: sizes above N are left out
  --json       one JSON object on stdout, nothing else (npm run --silent bench -- --json)
  --help       this text

Times are medians in milliseconds per call. vs js and vs naive say how many times faster wasm is than the same
algorithm and than idiomatic code in JavaScript; vs limit, how many times slower than the machine's limit.
`;

/** Takes minutes: measured only where it is asked for. */
const LONG = ["hub-million"];

/** The paths named by `--only`, or all but the long ones. */
function selected(only: string | undefined): string[] {
  if (only === undefined) return Object.keys(benches).filter((name) => !LONG.includes(name));
  const names = only.split(",");
  const unknown = names.filter((name) => !Object.hasOwn(benches, name));
  if (unknown.length > 0)
    throw new RangeError(`--only: expected ${Object.keys(benches).join(", ")}, got ${unknown.join(", ")}`);
  return names;
}

async function measureAll(paths: string[]): Promise<Row[]> {
  const rows: Row[] = [];
  for (const path of paths) {
    const { rows: measured } = await benches[path]!();
    for await (const row of measured()) rows.push(row);
  }
  return rows;
}

/** Three significant digits: more would be noise. */
const figure = (value: number | null, unit = ""): string =>
  value === null
    ? ""
    : `${Number(value.toPrecision(3)).toLocaleString("en", { maximumSignificantDigits: 3 })}${unit}`;

function table(rows: Row[]): string {
  const head = ["path", "case", "wasm ms", "js ms", "naive ms", "limit ms", "vs js", "vs naive", "vs limit"];
  const body = rows.map((row) => [
    row.path,
    row.case,
    ...[row.wasmMs, row.jsMs, row.naiveMs, row.limitMs].map((ms) => figure(ms)),
    ...[row.vsJs, row.vsNaive, row.vsLimit].map((times) => figure(times, "×")),
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...body.map((cells) => cells[i]!.length)));
  const line = (cells: string[]) =>
    `| ${cells.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join(" | ")} |`;
  const rule = `|${widths.map((width, i) => (i < 2 ? "-".repeat(width + 2) : `${"-".repeat(width + 1)}:`)).join("|")}|`;
  return [line(head), rule, ...body.map(line)].join("\n");
}

try {
  const { values: options } = parseArgs({
    options: {
      ...{ only: { type: "string" }, json: { type: "boolean" }, help: { type: "boolean" } },
      ...{ growth: { type: "boolean" }, most: { type: "string" } },
    },
  });
  if (options.help) process.stdout.write(HELP);
  else if (options.growth) {
    const { measureGrowth, tableOf } = await import("./growth/main.js");
    const most = Number(options.most ?? Infinity);
    if (!(most >= 1)) throw new RangeError(`--most: expected a number from 1 on, got ${options.most}`);
    const curves = await measureGrowth(options.only, most, "docs/figures/growth.svg");
    console.log(options.json ? JSON.stringify({ curves }) : tableOf(curves));
  } else {
    const rows = await measureAll(selected(options.only));
    const { version: node, arch } = process;
    if (options.json) console.log(JSON.stringify({ node, arch, rows }));
    else console.log(`${cpus().length} × ${cpus()[0]?.model}, ${arch}, Node ${node}\n\n${table(rows)}`);
  }
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

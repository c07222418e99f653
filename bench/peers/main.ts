/**
 * `npm run bench -- peers`: how fast is exact noise elsewhere? OpenDP through its Python binding, in an environment that this script
 * makes (python3 with venv is needed), against our core in WebAssembly and in JavaScript. The same samples, the same
 * tree, processor time.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { cpus, homedir } from "node:os";
import { join } from "node:path";
import type { Core } from "../../src/core/core.js";
import { jsCore } from "../../src/core/js/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";

const SAMPLES = 100_000;
const FANOUT = 16;
/** 2 trees of 2¹⁶ leaves for us, one of 2¹⁷ for OpenDP, which has a node above them. */
const LEAVES = 2 ** 17;
const SCALE = 40;
const TURNS = 9;

/** Python with OpenDP, in the cache of the user. */
function python(): string {
  const folder = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "brume-peers");
  const program = join(folder, "bin/python");
  if (!existsSync(join(folder, "ready"))) {
    mkdirSync(folder, { recursive: true });
    execFileSync("python3", ["-m", "venv", folder], { stdio: ["ignore", 2, 2] });
    execFileSync(program, ["-m", "pip", "install", "--quiet", "opendp"], { stdio: ["ignore", 2, 2] });
    mkdirSync(join(folder, "ready"));
  }
  return program;
}

/** Milliseconds of processor time, the least of a few turns. */
function least(work: () => void): number {
  const times = Array.from({ length: TURNS }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

const scale = makeScale(BigInt(SCALE), 1n);
const key = unsafeKey("peers");

function ours(core: Core): { laplaceMs: number; treeMs: number } {
  const out = new Float64Array(SAMPLES);
  return {
    laplaceMs: least(() => core.laplace(subStream(key, Purpose.forest, 0, 0), scale, out)),
    treeMs: least(() => {
      for (let tree = 0; tree < LEAVES / FANOUT ** 4; tree++)
        core.growTree(subStream(key, Purpose.forest, 0, 0, tree), scale, FANOUT, 5);
    }),
  };
}

const script = join(import.meta.dirname, "timeOpendp.py");
const settings = [SAMPLES, LEAVES, FANOUT, SCALE].map(String);
const peer = JSON.parse(execFileSync(python(), [script, ...settings], { encoding: "utf8" })) as {
  version: string;
  laplaceMs: number;
  treeMs: number;
};
const rows = [
  { name: `OpenDP ${peer.version}, Python`, ...peer },
  { name: "Brume, wasm", ...ours(makeWasmCore()) },
  { name: "Brume, js", ...ours(jsCore) },
];
const perSecond = (ms: number) => Math.round((SAMPLES * 1000) / ms).toLocaleString("en");
const figure = (value: number) => Number(value.toPrecision(3)).toLocaleString("en");
if (process.argv.includes("--json")) console.log(JSON.stringify({ rows }));
else
  console.log(
    [
      `${cpus().length} × ${cpus()[0]?.model}, ${process.arch}, Node ${process.version}`,
      "",
      `| library | exact Laplace samples a second, scale ${SCALE} | vs OpenDP | ${FANOUT}-ary tree of 2¹⁷ leaves with noise and consistency, ms | vs OpenDP |`,
      "| --- | --: | --: | --: | --: |",
      ...rows.map(
        ({ name, laplaceMs, treeMs }) =>
          `| ${name} | ${perSecond(laplaceMs)} | ${figure(peer.laplaceMs / laplaceMs)}× | ${figure(treeMs)} | ${figure(peer.treeMs / treeMs)}× |`,
      ),
    ].join("\n"),
  );

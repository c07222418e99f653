/**
 * Programs from the npm registry that only a few tests run: runtimes, compilers, another test runner. They are installed once
 * into the user's cache folder, at fixed versions, and found there by later runs.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const machine = `${process.platform}-${process.arch}`;

/** Name in the folder → package and version. Node's are the first and the newest of what `engines` allows. */
const TOOLS: Readonly<Record<string, string>> = {
  "node-20": `npm:node-${machine}@20.19.0`,
  "node-22": `npm:node-${machine}@22.12.0`,
  "node-24": `npm:node-${machine}@24.21.0`,
  "node-26": `npm:node-${machine}@26.10.0`,
  bun: `npm:@oven/bun-${machine}@1.4.4`,
  deno: `npm:@deno/${machine}${process.platform === "linux" ? "-glibc" : ""}@2.9.6`,
  jest: "30.5.2",
  miniflare: "4.20260730.0",
  "typescript-5.0": "npm:typescript@5.0.4",
  "typescript-7": "npm:typescript@7.0.2",
};

export type Tool = `node-${20 | 22 | 24 | 26}` | "bun" | "deno" | "jest" | "typescript-5.0" | "typescript-7";

const PROGRAMS: Readonly<Record<string, string>> = {
  node: "bin/node",
  bun: "bin/bun",
  deno: "deno",
  jest: "bin/jest.js",
  typescript: "bin/tsc",
};

const cache = process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache");
const version = createHash("sha256").update(JSON.stringify(TOOLS)).digest("hex").slice(0, 12);

/** The folder with all tools, once `installTools` has ended. */
export const toolFolder = join(cache, "brume-tests", `tools-${version}`);

/** Installs the tools if this machine has none. */
export async function installTools(): Promise<void> {
  if (existsSync(toolFolder)) return;
  const draft = `${toolFolder}.${process.pid}`; // renamed when complete: an interrupted install is never used
  mkdirSync(draft, { recursive: true });
  writeFileSync(join(draft, "package.json"), JSON.stringify({ private: true, dependencies: TOOLS }));
  // Some of them run on a newer Node than this one, from the same folder.
  const options = [
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--no-package-lock",
    "--engine-strict=false",
  ];
  await promisify(execFile)("npm", ["install", ...options], { cwd: draft });
  try {
    renameSync(draft, toolFolder);
  } catch {
    rmSync(draft, { recursive: true }); // another run was faster
  }
}

/** The file that runs a tool. */
export function toolPath(tool: Tool): string {
  return join(toolFolder, "node_modules", tool, PROGRAMS[tool.split("-")[0]!]!);
}

/** Times whole programs by the processor time of all their threads: what others do on the machine counts little. */
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { buildLibrary } from "../scripts/build.js";

export interface Usage {
  /** Milliseconds of processor time, of the program and of the system for it. */
  readonly ms: number;
  /** The most memory that it had, in bytes. */
  readonly memory: number;
}

/** Bundles the library as `npm run build` does into `folder`. Returns where `brume` begins. */
export async function buildCli(folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  copyFileSync("package.json", join(folder, "package.json"));
  await buildLibrary(resolve(folder, "dist/lib"));
  return resolve(folder, "dist/lib/cli/main.js");
}

const REPORT = `import { writeFileSync } from "node:fs";
process.on("exit", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
  writeFileSync(process.env.USAGE_FILE, JSON.stringify({ ms: (userCPUTime + systemCPUTime) / 1000, memory: maxRSS * 1024 }));
});`;

/** Runs a program in Node and says what it used. */
export function nodeUsage(args: readonly string[], folder: string): Usage {
  const file = join(folder, "usage.json");
  rmSync(file, { force: true });
  const report = `data:text/javascript,${encodeURIComponent(REPORT)}`;
  run(process.execPath, ["--import", report, ...args], { USAGE_FILE: file });
  return JSON.parse(readFileSync(file, "utf8")) as Usage;
}

/** Milliseconds of processor time of any command: the shell's own count. */
export function shellMs(command: string, args: readonly string[]): number {
  const script = 'TIMEFORMAT="%U %S"; time "$@" > /dev/null';
  const output = run("bash", ["-c", script, "bash", command, ...args], { LC_ALL: "C" });
  const [user, system] = output.trim().split("\n").at(-1)!.split(" ").map(Number) as [number, number];
  return (user + system) * 1000;
}

/** Runs a program and returns its standard error. */
function run(command: string, args: readonly string[], env: Record<string, string>): string {
  const { status, error, stderr } = spawnSync(command, args, {
    ...{ encoding: "utf8", stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env } },
    maxBuffer: 2 ** 26,
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command}: expected exit code 0, got ${status}\n${stderr}`);
  return stderr;
}

/** The least of several runs of each, which take turns. */
export function leastOf<K extends string>(
  rounds: number,
  runs: Record<K, () => number | Usage>,
): Record<K, Usage> {
  const least = {} as Record<K, Usage>;
  for (let round = 0; round < rounds; round++)
    for (const name of Object.keys(runs) as K[]) {
      const measured = runs[name]();
      const usage = typeof measured === "number" ? { ms: measured, memory: 0 } : measured;
      const before = least[name] ?? { ms: Infinity, memory: Infinity };
      least[name] = {
        ms: Math.min(before.ms, usage.ms),
        memory: Math.min(before.memory, usage.memory),
      };
    }
  return least;
}

export const fileUrl = (path: string): string => pathToFileURL(path).href;

/**
 * Runs a program of programs.ts: `tsx scripts/run.ts GROUP [SUBJECT] [arguments]`. The kernels are compiled first, and what
 * that says goes to standard error, so that standard output is the program's alone. `--help` prints how a program's file
 * begins, or what the program itself says.
 */
import { build } from "esbuild";
import { execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { type Program, PROGRAMS } from "./programs.js";

/** Runs a command and waits; standard output goes to standard error. */
const first = (...command: [string, ...string[]]): void =>
  void execFileSync(command[0], command.slice(1), { stdio: ["ignore", process.stderr, "inherit"] });

function prepare({ needs }: Program): void {
  first("npm", "run", "--silent", needs === "build" ? "build" : "build:wasm");
  if (needs === "dashboard") first("npm", "run", "--silent", "build:dashboard", "-w", "packages/server");
}

/** The command that runs it. */
async function commandOf({ file, by }: Program): Promise<string[]> {
  if (by === undefined) return ["tsx", file];
  if (by === "vite") return ["vite", "--config", file];
  await build({
    entryPoints: [file],
    outfile: by.bundle,
    ...{ bundle: true, platform: "node", format: "esm", target: "node20", packages: "external" },
    alias: { brume: "./src/index.ts", "brume/node": "./src/node.ts" },
    logLevel: "warning",
  });
  return ["node", by.bundle];
}

/** The comment that a program's file begins with, without its marks. */
const headOf = ({ file }: Program): string =>
  /^\/\*\*\n([\s\S]*?)\n \*\/$/m.exec(readFileSync(file, "utf8"))![1]!.replaceAll(/^ \* ?/gm, "");

const [group = "", ...argv] = process.argv.slice(2);
const programs = PROGRAMS[group]!;
const subject = argv[0] !== undefined && Object.hasOwn(programs, argv[0]) ? argv.shift()! : "";
const program = programs[subject];
const wantsHelp = argv.includes("--help");
if (wantsHelp && program !== undefined && program.help === undefined && program.by !== "vite")
  console.log(headOf(program));
else if (program === undefined) {
  (wantsHelp ? console.log : console.error)(
    `npm run ${group} -- SUBJECT: expected one of ${Object.keys(programs).join(", ")}`,
  );
  process.exitCode = wantsHelp ? 0 : 2;
} else {
  prepare(program);
  const [command, ...rest] = await commandOf(program);
  const child = spawn(command!, [...rest, ...argv], { stdio: "inherit" });
  // Ctrl-C reaches the program from the terminal; it decides when to end.
  process.on("SIGINT", () => {});
  process.on("SIGTERM", () => child.kill("SIGTERM"));
  child.on("exit", (code, signal) => (process.exitCode = code ?? (signal === "SIGINT" ? 130 : 1)));
}

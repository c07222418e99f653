#!/usr/bin/env node
/** The command line. Exit codes: 0 done, 1 the data could not be used, 2 called wrongly. */
import { readFileSync } from "node:fs";
import { audit } from "./audit.js";
import { Arguments, type Command, DataError, helpOf, UsageError } from "./command.js";
import { demo } from "./demo.js";
import { evaluate } from "./evaluate.js";
import { explain } from "./explain.js";
import { ldp } from "./ldp.js";
import { paper } from "./paper.js";
import { plan } from "./plan.js";
import { release } from "./release.js";

const COMMANDS: readonly Command[] = [release, evaluate, audit, plan, explain, ldp, paper, demo];

const help = `brume: differentially private data streams

${COMMANDS.map(({ name, summary }) => `  brume ${name.padEnd(10)}${summary.split("\n")[0]!}`).join("\n")}

brume COMMAND --help tells more.`;

async function main([name, ...argv]: string[]): Promise<number> {
  if (name === undefined || name === "--help" || name === "help") {
    console.log(help);
    return 0;
  }
  if (name === "--version") {
    const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
      version: string;
    };
    console.log(version);
    return 0;
  }
  const command = COMMANDS.find((candidate) => candidate.name === name);
  try {
    if (command === undefined)
      throw new UsageError(
        `unknown command "${name}"; expected ${COMMANDS.map((known) => known.name).join(", ")}`,
      );
    if (argv.includes("--help")) console.log(helpOf(command));
    else await command.run(new Arguments(command, argv));
    return 0;
  } catch (reason) {
    return report(reason, name);
  }
}

/** Parameters out of range are the caller's: RangeError and TypeError of the library name them. */
function report(reason: unknown, name: string): number {
  const usage = reason instanceof UsageError || reason instanceof RangeError || reason instanceof TypeError;
  if (!usage && !(reason instanceof DataError)) throw reason;
  console.error(`brume ${name}: ${reason.message}`);
  if (usage) console.error(`brume ${name} --help tells how it is called.`);
  return usage ? 2 : 1;
}

// A reader that stops early (head) is not an error.
process.stdout.on("error", (reason: NodeJS.ErrnoException) => process.exit(reason.code === "EPIPE" ? 0 : 1));
process.exitCode = await main(process.argv.slice(2));

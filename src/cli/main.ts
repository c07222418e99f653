#!/usr/bin/env node
/** The command line. Exit codes: 0 done, 1 the data could not be used, 2 called wrongly. */
import { readFileSync } from "node:fs";
import { audit } from "../../research/cli/audit.js";
import { Arguments, type Command, DataError, helpOf, UsageError } from "./command.js";
import { demo } from "./demo.js";
import { evaluate } from "../../research/cli/evaluate.js";
import { explain } from "./explain.js";
import { Interrupted } from "./interrupt.js";
import { ldp } from "../../research/cli/ldp.js";
import { paper } from "../../research/cli/paper.js";
import { plan } from "./plan.js";
import { release } from "./release.js";
import { inWords, isSystemError } from "./systemErrors.js";

const COMMANDS: readonly Command[] = [release, evaluate, audit, plan, explain, ldp, paper, demo];

const help = `brume: differentially private data streams

${COMMANDS.map(({ name, summary }) => `  brume ${name.padEnd(10)}${summary.split("\n")[0]!}`).join("\n")}

brume COMMAND --help tells more; brume --version says which one this is.`;

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
  if (command === undefined) {
    const names = COMMANDS.map((known) => known.name).join(", ");
    console.error(`brume: unknown command "${name}"; expected ${names}\nbrume --help says what they do.`);
    return 2;
  }
  try {
    if (argv.includes("--help")) console.log(helpOf(command));
    else await command.run(new Arguments(command, argv));
    return 0;
  } catch (reason) {
    return report(reason, command);
  }
}

/** Parameters out of range are the caller's: RangeError and TypeError of the library name them. */
function report(reason: unknown, { name, options }: Command): number {
  if (reason instanceof Interrupted) return reason.exitCode;
  const usage = reason instanceof UsageError || reason instanceof RangeError || reason instanceof TypeError;
  if (usage) {
    console.error(`brume ${name}: ${asOption(reason.message, options)}`);
    console.error(`brume ${name} --help tells how it is called.`);
    return 2;
  }
  if (reason instanceof DataError) console.error(`brume ${name}: ${reason.message}`);
  else if (isSystemError(reason)) console.error(`brume ${name}: ${reason.path ?? name}: ${inWords(reason)}`);
  else throw reason;
  return 1;
}

/** "maxRange: expected …" of the library is "--max-range: expected …" here. */
function asOption(message: string, options: Command["options"]): string {
  return message.replace(/^[a-z]+([A-Z][a-z]+)*(?=:)/, (parameter) => {
    const option = parameter.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return Object.hasOwn(options, option) ? `--${option}` : parameter;
  });
}

// A reader that stops early (head) is not an error.
process.stdout.on("error", (reason: NodeJS.ErrnoException) => process.exit(reason.code === "EPIPE" ? 0 : 1));
process.exitCode = await main(process.argv.slice(2));

/** The command line. Exit codes: 0 done, 1 the data could not be used, 2 called wrongly. */
import { TextError } from "../adapters/textError.js";
import { Arguments, type Command, DataError, helpOf, UsageError } from "./command.js";
import { Interrupted } from "./interrupt.js";
import { inWords, isSystemError } from "./systemErrors.js";

/** Commands by name, each loaded when it is called for. Adding one is a file of its own and a line here. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  release: async () => (await import("./release.js")).release,
  query: async () => (await import("./query.js")).query,
  plan: async () => (await import("./plan.js")).plan,
  explain: async () => (await import("./explain.js")).explain,
  demo: async () => (await import("./demo.js")).demo,
  serve: async () => (await import("./serve.js")).serve,
  kafka: async () => (await import("./kafka.js")).kafka,
  evaluate: async () => (await import("../../research/cli/evaluate.js")).evaluate,
  audit: async () => (await import("../../research/cli/audit.js")).audit,
  ldp: async () => (await import("../../research/cli/ldp.js")).ldp,
  paper: async () => (await import("../../research/cli/paper.js")).paper,
};

async function help(): Promise<string> {
  const commands = await Promise.all(Object.values(COMMANDS).map((load) => load()));
  return `brume: differentially private data streams

${commands.map(({ name, summary }) => `  brume ${name.padEnd(10)}${summary.split("\n")[0]!}`).join("\n")}

brume COMMAND --help tells more; brume --version prints the version.`;
}

/** Runs a command. Returns the exit code. */
export async function runCommand([name, ...argv]: string[]): Promise<number> {
  if (name === undefined || name === "--help" || name === "help") {
    console.log(await help());
    return 0;
  }
  if (!Object.hasOwn(COMMANDS, name)) {
    const names = Object.keys(COMMANDS).join(", ");
    console.error(`brume: unknown command "${name}"; expected ${names}\nbrume --help says what they do.`);
    return 2;
  }
  const command = await COMMANDS[name]!();
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
  if (reason instanceof DataError || reason instanceof TextError) {
    console.error(`brume ${name}: ${reason.message}`);
    return 1;
  }
  const usage = reason instanceof UsageError || reason instanceof RangeError || reason instanceof TypeError;
  if (usage) {
    console.error(`brume ${name}: ${asOption(reason.message, options)}`);
    console.error(`brume ${name} --help shows how to call it.`);
    return 2;
  }
  if (isSystemError(reason)) console.error(`brume ${name}: ${reason.path ?? name}: ${inWords(reason)}`);
  else console.error(`brume ${name}: ${bugReport(reason)}`);
  return 1;
}

/** An error nobody expected is a bug. Its message may repeat private data, so only its class and its place are printed. */
function bugReport(reason: unknown): string {
  if (!(reason instanceof Error)) return "unexpected error; this is a bug in brume";
  const frames = (reason.stack ?? "").split("\n").filter((line) => /^ {4}at /.test(line));
  return [`unexpected ${reason.name}; this is a bug in brume, found at`, ...frames].join("\n");
}

/** "maxRange: expected …" of the library is "--max-range: expected …" here. */
function asOption(message: string, options: Command["options"]): string {
  return message.replace(/^(?:tuning\.)?([a-z]+(?:[A-Z][a-z]+)*)(?=:)/, (all, parameter: string) => {
    const option = parameter.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    return Object.hasOwn(options, option) ? `--${option}` : all;
  });
}

/** The command line. Exit codes: 0 done, 1 the data could not be used, 2 called wrongly, 3 nothing to publish. */
import { Arguments, type Command, helpOf } from "./command.js";
import { didYouMean } from "../core/nearest.js";
import { SUMMARIES } from "./summaries.js";
import { inWords, isSystemError } from "./systemErrors.js";
import { beQuiet } from "./tell.js";

/** Commands by name, each loaded when it is called for. Adding one is a file of its own, its summary, and a line here. */
const COMMANDS: Readonly<Record<keyof typeof SUMMARIES, () => Promise<Command>>> = {
  release: async () => (await import("./release.js")).release,
  query: async () => (await import("./query.js")).query,
  plan: async () => (await import("./plan.js")).plan,
  explain: async () => (await import("./explain.js")).explain,
  statement: async () => (await import("./statement.js")).statement,
  verify: async () => (await import("./verify.js")).verify,
  demo: async () => (await import("./demo.js")).demo,
  serve: async () => (await import("./serve.js")).serve,
  kafka: async () => (await import("./kafka.js")).kafka,
  completion: async () => (await import("./completion.js")).completionOf(allCommands),
  evaluate: async () => (await import("../../research/cli/evaluate.js")).evaluate,
  audit: async () => (await import("../../research/cli/audit.js")).audit,
  ldp: async () => (await import("../../research/cli/ldp.js")).ldp,
  paper: async () => (await import("../../research/cli/paper.js")).paper,
};

const allCommands = (): Promise<Command[]> => Promise.all(Object.values(COMMANDS).map((load) => load()));

const TITLE = "brume: differentially private data streams";

/** Commands of research/: they measure and attack, on data that you know. */
const RESEARCH: readonly (keyof typeof SUMMARIES)[] = ["evaluate", "audit", "ldp", "paper"];

function listOf(isListed: (name: keyof typeof SUMMARIES) => boolean): string {
  const names = (Object.keys(SUMMARIES) as (keyof typeof SUMMARIES)[]).filter(isListed);
  return names.map((name) => `  brume ${name.padEnd(11)}${SUMMARIES[name]}`).join("\n");
}

const HELP = `${TITLE}

${listOf((name) => !RESEARCH.includes(name))}

Research:
${listOf((name) => RESEARCH.includes(name))}

brume COMMAND --help tells more; brume --version prints the version.
Exit codes: 0 done, 1 the data could not be used, 2 called wrongly, 3 nothing was published.`;

const FIRST = `${TITLE}

Three commands to try:

  brume demo
      both systems on a built-in example, beside the truth
  brume plan --ask 1h,1d --rate 200/1h --epsilon 1
      how exact the numbers of your events would be, before you have any
  brume release log.csv --every 1h --time ts --epsilon 1 --from 2026-03-01T00:00Z --to 2026-03-02T00:00Z
      the events of each hour of a file, each number with its interval

brume --help lists all commands.`;

const isCommand = (name: string): name is keyof typeof SUMMARIES => Object.hasOwn(COMMANDS, name);

/** Runs a command. Returns the exit code. */
export async function runCommand([name, ...argv]: string[]): Promise<number> {
  if (name === undefined || name === "--help" || name === "help") {
    console.log(name === undefined ? FIRST : HELP);
    return 0;
  }
  if (!isCommand(name)) {
    const names = Object.keys(COMMANDS).join(", ");
    console.error(
      `brume: unknown command "${name}"${didYouMean(name, Object.keys(COMMANDS)) || `; expected ${names}`}\nbrume --help says what they do.`,
    );
    return 2;
  }
  const command = await COMMANDS[name]();
  if (argv.includes("--quiet")) beQuiet();
  const rest = argv.filter((word) => word !== "--quiet");
  try {
    if (argv.includes("--help")) console.log(helpOf(command));
    else await command.run(new Arguments(command, rest));
    return 0;
  } catch (reason) {
    return report(reason, command);
  }
}

function report(reason: unknown, { name, options }: Command): number {
  const code = exitCodeOf(reason);
  if (code !== undefined) {
    const { message } = reason as Error;
    if (code === 1 || code === 3) console.error(`brume ${name}: ${message}`);
    if (code === 2) console.error(`brume ${name}: ${asOption(message, options)}`);
    if (code === 2) console.error(`brume ${name} --help shows how to call it.`);
    return code;
  }
  if (isSystemError(reason)) console.error(`brume ${name}: ${reason.path ?? name}: ${inWords(reason)}`);
  else console.error(`brume ${name}: ${bugReport(reason)}`);
  return 1;
}

/**
 * The exit code of an error that a person can act on. Errors are known by their fields: the commands of research/ have
 * classes of their own when this file is bundled. Parameters out of range are the caller's: RangeError and TypeError of
 * the library name them.
 */
function exitCodeOf(reason: unknown): number | undefined {
  if (!(reason instanceof Error)) return undefined;
  if (reason.name === "TextError") return 1;
  if ("exitCode" in reason && typeof reason.exitCode === "number") return reason.exitCode;
  return reason instanceof RangeError || reason instanceof TypeError ? 2 : undefined;
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

/** The command line. Exit codes: 0 done, 1 the data could not be used, 2 called wrongly, 3 nothing to publish. */
import { loadBeside } from "./beside.js";
import { Arguments, type Command, helpOf, MissingPackage } from "./command.js";
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
  evaluate: () => researchCommand("evaluate"),
  audit: () => researchCommand("audit"),
  ldp: () => researchCommand("ldp"),
  paper: () => researchCommand("paper"),
};

/** Commands of the package brume-research: they measure and attack, on data that you know. */
const RESEARCH = ["evaluate", "audit", "ldp", "paper"] as const satisfies (keyof typeof SUMMARIES)[];

const isResearch = (name: string): boolean => (RESEARCH as readonly string[]).includes(name);

async function researchCommand(name: (typeof RESEARCH)[number]): Promise<Command> {
  const { commands } = await loadBeside<{ commands: Record<typeof name, () => Promise<Command>> }>(
    "brume-research",
  );
  return commands[name]();
}

/** All commands for completion; those of packages that are not installed have no options. */
const allCommands = (): Promise<Pick<Command, "name" | "options">[]> =>
  Promise.all(
    Object.entries(COMMANDS).map(([name, load]) =>
      load().catch((reason: unknown) => {
        if (reason instanceof MissingPackage) return { name, options: {} };
        throw reason;
      }),
    ),
  );

const TITLE = "brume: differentially private data streams";

function listOf(isListed: (name: keyof typeof SUMMARIES) => boolean): string {
  const names = (Object.keys(SUMMARIES) as (keyof typeof SUMMARIES)[]).filter(isListed);
  return names.map((name) => `  brume ${name.padEnd(11)}${SUMMARIES[name]}`).join("\n");
}

const HELP = `${TITLE}

${listOf((name) => !isResearch(name))}

Research (needs the package brume-research):
${listOf(isResearch)}

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
  if (argv.includes("--quiet")) beQuiet();
  const rest = argv.filter((word) => word !== "--quiet");
  let options: Command["options"] = {};
  try {
    const command = await COMMANDS[name]();
    ({ options } = command);
    if (argv.includes("--help")) console.log(helpOf(command));
    else await command.run(new Arguments(command, rest));
    return 0;
  } catch (reason) {
    return report(reason, name, options);
  }
}

function report(reason: unknown, name: string, options: Command["options"]): number {
  const code = exitCodeOf(reason);
  if (code !== undefined) {
    const { message } = reason as Error;
    if (code === 1 || code === 3) console.error(`brume ${name}: ${message}`);
    if (code === 2) console.error(`brume ${name}: ${asOption(message, options)}`);
    if (code === 2 && !(reason instanceof MissingPackage))
      console.error(`brume ${name} --help shows how to call it.`);
    return code;
  }
  if (isSystemError(reason)) console.error(`brume ${name}: ${reason.path ?? name}: ${inWords(reason)}`);
  else console.error(`brume ${name}: ${bugReport(reason)}`);
  return 1;
}

/**
 * The exit code of an error that a person can act on. Errors are known by their fields: commands of other packages have
 * classes of their own. Parameters out of range are the caller's: RangeError and TypeError of the library name them.
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

/** The service: the work is done by the package brume-server, which is installed beside this one. */
import { loadBeside } from "./beside.js";
import { guessLog } from "./guess.js";
import { type Arguments, type Command, DataError, UsageError } from "./command.js";
import { IMPORT_FLAGS, LogFile } from "./logFile.js";
import { timeOf } from "./timeOption.js";
import { SUMMARIES } from "./summaries.js";

/** Functions of the package that the command line calls. Errors that a person can act on come as texts without private data. */
interface ServerCommands {
  runCommand(options: {
    config: string;
    check: boolean;
    init: boolean;
    port?: number;
    confirmClock: boolean;
    past?: {
      readonly log: LogFile;
      readonly timesIn: (zone: string) => { readonly from: number; readonly to: number };
    };
  }): Promise<void>;
  /** The message, if the error is one that may be shown. */
  shown(reason: unknown): string | undefined;
}

export const serve: Command = {
  name: "serve",
  operands: "",
  summary: `${SUMMARIES.serve}
docs/service.md has a guide. SIGTERM stops it after everything is stored.`,
  options: {
    config: { value: "FILE", help: "JSON or TypeScript; default brume.json" },
    check: { help: "says what is wrong with the config, and starts nothing" },
    init: { help: "writes a config, a key and a token to begin with" },
    port: { value: "PORT", help: "in place of the config's" },
    "confirm-clock": { help: "the clock is right, though it is over an hour after what is stored" },
    import: { value: "FILE", help: "fill the past of a new service from a log: CSV, NDJSON or Parquet" },
    ...IMPORT_FLAGS,
  },
  example: `brume serve --import access.ndjson --time ts --value took.ms --person user --group-by route \\
    --from 2026-03-01T00:00Z --to 2026-03-08T00:00Z`,
  async run(args) {
    const commands = await loadBeside<ServerCommands>("brume-server");
    const port = args.number("port");
    const past = await pastOf(args);
    try {
      await commands.runCommand({
        config: args.text("config") ?? "brume.json",
        check: args.has("check"),
        init: args.has("init"),
        confirmClock: args.has("confirm-clock"),
        ...(port === undefined ? {} : { port }),
        ...(past === undefined ? {} : { past }),
      });
    } catch (reason) {
      const message = commands.shown(reason);
      if (message === undefined) throw reason;
      throw new DataError(message);
    }
  },
};

async function pastOf(args: Arguments) {
  const path = args.text("import");
  const timesIn = (zone: string) => ({ from: timeOf(args, "from", zone), to: timeOf(args, "to", zone) });
  if (path !== undefined) {
    await guessLog(args, path);
    const log = new LogFile(args, path);
    timesIn("UTC"); // what is wrong with them is told before the config is read
    return { log, timesIn };
  }
  const without = Object.keys(IMPORT_FLAGS).find((name) => args.text(name) !== undefined);
  if (without !== undefined) throw new UsageError(`--${without}: expected with --import alone`);
  return undefined;
}

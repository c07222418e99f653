/** Streams on a Kafka cluster: the work is done by the package brume-kafka, which is installed beside this one. */
import { loadBeside } from "./beside.js";
import { type Command, DataError, UsageError } from "./command.js";
import { SUMMARIES } from "./summaries.js";

/** Functions of the package that the command line calls. Errors that a person can act on come as texts without private data. */
interface KafkaCommands {
  runCommand(action: string, file: string): Promise<void>;
  /** The message, if the error is one that may be shown. */
  shown(reason: unknown): string | undefined;
}

export const kafka: Command = {
  name: "kafka",
  operands: "ACTION FILE",
  summary: `${SUMMARIES.kafka}

ACTION:
  topics  makes the topics that FILE names, with three replicas
  check   says what is unsafe about them, and what to change
  run     runs a worker until SIGTERM; prints public counters every ten seconds
  clock   writes the heartbeats that close periods; needed where FILE has "every"
  read    prints what is published, each position once, until SIGINT
  rekey   encrypts all state again under the current key

FILE is JSON with the options of a worker; docs/cluster.md shows one. It names the files that hold the keys.`,
  options: {},
  example: "brume kafka run cluster.json",
  async run({ operands: [action, file] }) {
    if (action === undefined || file === undefined) throw new UsageError("expected ACTION and FILE");
    const commands = await loadBeside<KafkaCommands>("brume-kafka");
    try {
      await commands.runCommand(action, file);
    } catch (reason) {
      const message = commands.shown(reason);
      if (message === undefined) throw reason;
      throw new DataError(message);
    }
  },
};

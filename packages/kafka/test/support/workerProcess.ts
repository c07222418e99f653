/**
 * A worker as a process, for tests that kill it. Settings come as JSON in the first argument; what happens is
 * written to standard output, one JSON line each.
 */
import { kafkaPort } from "../../src/kafka/kafkaPort.js";
import type { Port, Write } from "../../src/port.js";
import { PartitionTask } from "../../src/partitionTask.js";
import { makeWorker } from "../../src/worker.js";
import { boundPort, withoutFencing, WithoutBirthFirst } from "./broken.js";
import { testOptions } from "./workload.js";

export interface ProcessSettings {
  readonly brokers: readonly string[];
  readonly name: string;
  readonly sessionTimeout: number;
  readonly instance?: string;
  /** A rule to leave out, for the tests that must fail. */
  readonly without?: "birth-first" | "fencing";
  /** Kills itself with signal 9 between the numbers of a transaction and its commit, once in so many transactions. */
  readonly dieBeforeCommit?: number;
  /** Where signal HUP freezes it: before the numbers of a transaction are written, or before they are committed. */
  readonly freezeBefore: "write" | "commit";
  /** Milliseconds after which it no longer obeys the signal. */
  readonly freezeWithin: number;
}

/** Signal USR2 moves the wall clock of this process an hour ahead, and back with the next one. */
const realNow = Date.now;
let ahead = 0;
Date.now = () => realNow() + ahead;
process.on("SIGUSR2", () => (ahead = 3_600_000 - ahead));

/** Signal HUP: the process freezes itself in its next transaction, and says so. It wakes with SIGCONT. */
let freezesUntil = 0;
process.on("SIGHUP", () => (freezesUntil = performance.now() + settings.freezeWithin));

const settings = JSON.parse(process.argv[2]!) as ProcessSettings;
const say = (line: object) => process.stdout.write(`${JSON.stringify({ at: Date.now(), ...line })}\n`);

const hasNumbers = ({ topic, records }: Write) =>
  topic === testOptions(settings.name).out && records.length > 0;

function freezeIfAsked(): void {
  if (performance.now() > freezesUntil) return;
  freezesUntil = 0;
  say({ frozen: true });
  process.kill(process.pid, "SIGSTOP");
}

/** Kills the process when the broker has the records and no commit was asked for; freezes it there or before. */
function faultyPort(port: Port, every: number): Port {
  let count = 0;
  return {
    ...boundPort(port),
    writer: async (id) => {
      const writer = await port.writer(id);
      const commit = () => {
        if (++count % every === 0) process.kill(process.pid, "SIGKILL");
        if (settings.freezeBefore === "commit") freezeIfAsked();
        return writer.commit();
      };
      const write: typeof writer.write = (writes) => {
        if (settings.freezeBefore === "write" && writes.some(hasNumbers)) freezeIfAsked();
        return writer.write(writes);
      };
      return { write, commit, close: () => writer.close() };
    },
  };
}

const kafka = kafkaPort({ brokers: settings.brokers, requestTimeout: 5_000 });
const fenced = settings.without === "fencing" ? withoutFencing(kafka) : kafka;
const port = faultyPort(fenced, settings.dieBeforeCommit ?? Infinity);
const options = testOptions(settings.name, {
  sessionTimeout: settings.sessionTimeout,
  ...(settings.instance === undefined ? {} : { instance: settings.instance }),
  onError: (error, partition) => say({ error: error.name, message: error.message, partition }),
});
const worker = makeWorker(
  port,
  options,
  settings.without === "birth-first" ? WithoutBirthFirst : PartitionTask,
);
const report = setInterval(() => say({ stats: worker.stats() }), 100);
process.on("SIGTERM", () => {
  clearInterval(report);
  void worker.stop().then(async () => {
    say({ stats: worker.stats(), stopped: true });
    await kafka.close();
  });
});
await worker.start();
say({ started: true });

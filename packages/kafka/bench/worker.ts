/** One process of the bench: a private worker, or the same pipeline without privacy. Settings come as JSON. */
import { kafkaPort } from "../src/kafka/kafkaPort.js";
import { makeWorker } from "../src/worker.js";
import { passThrough } from "./passThrough.js";
import { benchOptions, type BenchSetting } from "./setting.js";

export interface ProcessSetting extends BenchSetting {
  readonly brokers: readonly string[];
  readonly isPrivate: boolean;
}

/** A line of standard output. */
export interface ProcessLine {
  /** Values whose transactions are committed. */
  readonly received: number;
  /** Partitions that were opened, and milliseconds that each took; without privacy none. */
  readonly opened: number;
  readonly opening: readonly number[];
  /** Microseconds of processor time so far. */
  readonly processor: number;
}

const setting = JSON.parse(process.argv[2]!) as ProcessSetting;
const port = kafkaPort({ brokers: setting.brokers });
const options = benchOptions(setting);
const worker = setting.isPrivate ? makeWorker(port, options) : passThrough(port, options);
process.on("SIGTERM", () => void worker.stop().then(() => port.close()));
await worker.start();
setInterval(() => {
  const { received, opened, opening } = worker.stats();
  const { user, system } = process.cpuUsage();
  const line: ProcessLine = { received, opened, opening, processor: user + system };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}, 50).unref();

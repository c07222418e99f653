/** One process of the bench: a private worker, or the same pipeline without privacy. Settings come as JSON. */
import { kafkaPort } from "../src/kafka/port.js";
import { makeWorker } from "../src/worker.js";
import { passThrough } from "./passThrough.js";
import { benchOptions, type BenchSetting } from "./setting.js";

export interface ProcessSetting extends BenchSetting {
  readonly brokers: readonly string[];
  readonly isPrivate: boolean;
}

const setting = JSON.parse(process.argv[2]!) as ProcessSetting;
const port = kafkaPort({ brokers: setting.brokers });
const options = benchOptions(setting);
const worker = setting.isPrivate ? makeWorker(port, options) : passThrough(port, options);
process.on("SIGTERM", () => void worker.stop().then(() => port.close()));
await worker.start();
setInterval(() => process.stdout.write(`${JSON.stringify(worker.stats())}\n`), 50).unref();

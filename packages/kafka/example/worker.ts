/** A worker of the example: `tsx packages/kafka/example/worker.ts BROKERS`. The key comes from the environment. */
import { kafkaWorker } from "../src/index.js";
import { example } from "./settings.js";

const worker = kafkaWorker({
  ...example,
  brokers: process.argv[2]!.split(","),
  key: Buffer.from(process.env["BRUME_EXAMPLE_KEY"]!, "hex"),
  development: true, // one broker on this machine: never for people's data
});
await worker.start();
process.on("SIGTERM", () => void worker.stop());

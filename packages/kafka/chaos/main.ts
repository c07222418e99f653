/**
 * A long run with faults: `npm run fuzz -- chaos --minutes 30 --brokers 3`. With `--independent`, a reader in Python
 * (pip install confluent-kafka) reads what was committed too, and must see the same records.
 */
import { execFileSync } from "node:child_process";
import { createHash, randomInt } from "node:crypto";
import { fileURLToPath } from "node:url";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";

import { startCluster } from "../broker/broker.js";
import { readCommitted } from "../src/committed.js";
import { kafkaPort } from "../src/kafka/kafkaPort.js";
import { buildWorkerProgram } from "../test/broker/setup.js";
import { percentile } from "./recoveries.js";
import { fullDisk, smallDisk } from "./disk.js";
import { dieBeforeCommit, type Fault, freeze, jumpClock, kill, runChaos, storm } from "./run.js";

const { values: given } = parseArgs({
  options: {
    minutes: { type: "string", default: "5" },
    brokers: { type: "string", default: "1" },
    pace: { type: "string", default: "100" },
    independent: { type: "boolean", default: false },
  },
});
const [minutes, count, pace] = [Number(given.minutes), Number(given.brokers), Number(given.pace)];
if (!(minutes > 0) || (count !== 1 && count !== 3) || !(pace > 0))
  throw new RangeError("chaos: expected --minutes above 0, --brokers 1 or 3, and --pace (ms) above 0");

/** The third broker of three has a disk of its own that can be filled, if this process may mount one. */
const disk = count === 3 ? smallDisk(2048) : undefined;
const dataFolder = (index: number) => (index === 2 ? disk?.folder : undefined);
const [cluster, program] = await Promise.all([
  startCluster({ brokers: count, dataFolder }),
  buildWorkerProgram("kafkaChaosWorker"),
]);
const counts = new Map<string, number>();

/** A power cut at one broker; it comes back three seconds later. */
const killBroker: Fault = async () => {
  const node = cluster.nodes[randomInt(cluster.nodes.length)]!;
  await node.kill();
  await sleep(3_000);
  await node.start();
};

/** The workers lose one broker, or all of them, for five seconds. Neither side can tell a cut from silence. */
const cutNetwork: Fault = async () => {
  const one = cluster.nodes[randomInt(cluster.nodes.length)]!;
  const lost = randomInt(2) === 0 ? [one] : cluster.nodes;
  for (const { proxy } of lost) proxy.cut();
  await sleep(5_000);
  for (const { proxy } of lost) proxy.mend();
};

const kinds: Record<string, Fault> = {
  ...{ kill, freeze, storm, dieBeforeCommit, jumpClock, cutNetwork },
  ...(count === 3 ? { killBroker } : {}),
  ...(disk === undefined ? {} : { fullDisk: fullDisk(disk, cluster.nodes[2]!) }),
};

/** Random faults until the time is over. The list is read one by one, so it may depend on the clock. */
function* randomFaults(): Generator<Fault> {
  const end = Date.now() + 60_000 * minutes;
  const names = ["kill", ...Object.keys(kinds)]; // kills twice as often
  while (Date.now() < end) {
    const name = names[randomInt(names.length)]!;
    counts.set(name, (counts.get(name) ?? 0) + 1);
    process.stderr.write(`${new Date().toISOString()} ${name}\n`);
    yield kinds[name]!;
  }
}

/** Records that our own filter reads, in the form that the independent reader prints. */
async function ownReading(
  brokers: readonly string[],
  topic: string,
  partitions: number,
): Promise<[number, string][]> {
  const port = kafkaPort({ brokers });
  const result: [number, string][] = [];
  for (let partition = 0; partition < partitions; partition++) {
    const [digest, offset] = [createHash("sha256"), Buffer.alloc(8)];
    let records = 0;
    const { start, end } = await port.bounds(topic, partition);
    for await (const some of readCommitted(port, topic, partition, start, end))
      for (const record of some) {
        offset.writeBigInt64BE(BigInt(record.offset));
        digest.update(offset).update(record.key!).update(record.value!);
        records++;
      }
    result.push([records, digest.digest("hex")]);
  }
  await port.close();
  return result;
}

try {
  const partitions = 4;
  const result = await runChaos({
    ...{
      brokers: cluster.brokers,
      workerBrokers: cluster.proxied,
      program,
      name: "chaos",
      partitions,
      keys: 100,
      pace,
      sessionTimeout: 3_000,
    },
    ...{ replicas: count, faults: randomFaults() },
  });
  const { recoveries, ...rest } = result;
  const times = [0.5, 0.99].map((share) => Math.round(percentile(recoveries, share)));
  console.log(JSON.stringify({ ...rest, kinds: Object.fromEntries(counts) }, null, 2));
  console.log(`recovery: p50 ${times[0]} ms, p99 ${times[1]} ms`);
  if (given.independent) {
    const reader = fileURLToPath(new URL("independentReader.py", import.meta.url));
    const args = [reader, cluster.brokers.join(), "chaos-out", String(partitions)];
    const theirs = JSON.parse(execFileSync("python3", args, { encoding: "utf8" })) as [number, string][];
    const ours = await ownReading(cluster.brokers, "chaos-out", partitions);
    const same = JSON.stringify(ours) === JSON.stringify(theirs);
    console.log(
      `independent reader: ${theirs.reduce((sum, [n]) => sum + n, 0)} records, ${same ? "the same" : "DIFFERENT"}`,
    );
    if (!same) process.exitCode = 1;
  }
  const { missing, doubled, wrong, differing } = result.verdict;
  if (missing + doubled + wrong + differing > 0) process.exitCode = 1;
} finally {
  await cluster.stop();
  disk?.remove();
}

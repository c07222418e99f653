/**
 * The opponent: consume, transform, produce, in transactions, with the same client and the same group, and no
 * privacy. It writes one number per value, in the same format, and the next offset into the state topic.
 */
import { fetchCommitted } from "../src/committed.js";
import type { Membership, NewRecord, Port } from "../src/port.js";
import { publishedRecord, readNumber } from "../src/values.js";
import type { WorkerOptions } from "../src/worker.js";

/** Numbers that one transaction holds at most, as in a private task. */
const MOST_OUTPUTS = 20_000;

export function passThrough(port: Port, options: WorkerOptions) {
  const running = new Map<number, Promise<void>>();
  let stopped = false;
  let membership: Membership | undefined;
  const counts = { received: 0 };
  return {
    async start(): Promise<void> {
      const { group, in: topic } = options;
      membership = await port.join({
        ...{ group, topic, sessionTimeout: 10_000 },
        onAssigned: (partitions) => {
          for (const partition of partitions)
            if (!running.has(partition))
              running.set(
                partition,
                work(port, options, partition, counts, () => stopped),
              );
        },
      });
    },
    async stop(): Promise<void> {
      stopped = true;
      await Promise.allSettled(running.values());
      await membership?.leave();
    },
    stats: () => ({ ...counts, opened: 0, opening: [] }),
  };
}

async function work(
  port: Port,
  options: WorkerOptions,
  partition: number,
  counts: { received: number },
  isStopped: () => boolean,
) {
  const { in: topic, out, state, group, commitInterval = 100 } = options;
  const writer = await port.writer(`${group}/${topic}/${partition}`);
  const positions = new Map<string, number>();
  let [next, committed] = [0, performance.now()];
  let outputs: NewRecord[] = [];
  let fetching = fetchCommitted(port, { topic, partition, from: next, wait: 250 });
  while (!isStopped()) {
    const left = Math.max(0, commitInterval - (performance.now() - committed));
    const wait = new Promise<undefined>((resolve) => setTimeout(resolve, left));
    const fetched = await (outputs.length === 0 ? fetching : Promise.race([fetching, wait]));
    if (fetched !== undefined) {
      next = fetched.next;
      fetching = fetchCommitted(port, { topic, partition, from: next, wait: 250 });
      for (const record of fetched.records) {
        const name = record.key!.toString("latin1");
        const position = positions.get(name) ?? 0;
        positions.set(name, position + 1);
        const value = 2 * readNumber(record, "float64");
        outputs.push(publishedRecord(record.key!, { position, value }, "binary"));
      }
    }
    const isDue = performance.now() - committed >= commitInterval || outputs.length >= MOST_OUTPUTS;
    if (outputs.length === 0 || !isDue) continue;
    const offset = Buffer.alloc(8);
    offset.writeDoubleBE(next);
    await writer.write([
      { topic: out, partition, records: outputs },
      { topic: state, partition, records: [{ key: Buffer.from("next"), value: offset }] },
    ]);
    await writer.commit();
    committed = performance.now();
    counts.received += outputs.length;
    outputs = [];
  }
  await writer.close();
}

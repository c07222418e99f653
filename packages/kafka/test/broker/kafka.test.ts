/** The port on a real broker: the same promises as the one in memory. */
import { expect, inject, test } from "vitest";

import { fetchCommitted } from "../../src/committed.js";
import { kafkaPort } from "../../src/kafka/kafkaPort.js";
import { Fenced, type NewRecord } from "../../src/port.js";
import { makeWorker } from "../../src/worker.js";
import { makeTopics, RIGHT, sendRound, settled, testOptions } from "../support/workload.js";

const records = (count: number, text: string): NewRecord[] =>
  Array.from({ length: count }, (_, i) => ({ key: Buffer.from(`${i}`), value: Buffer.from(text) }));

const plain = (name: string, partitions = 1) => ({ name, partitions, replicas: 1, config: {} });

test("committed readers see whole transactions, and nothing of aborted or open ones", async () => {
  const port = kafkaPort({ brokers: inject("brokers") });
  await port.create([plain("filter")]);
  const write = { topic: "filter", partition: 0 };
  const first = await port.writer("filter");
  await first.write([{ ...write, records: records(3, "committed") }]);
  await first.commit();
  await first.write([{ ...write, records: records(2, "aborted") }]);
  const second = await port.writer("filter"); // ends the open transaction of the first
  await second.write([{ ...write, records: records(2, "committed") }]);
  await second.commit();
  await port.send([{ ...write, records: records(1, "plain") }]);
  await second.write([{ ...write, records: records(4, "open") }]);
  const read = await fetchCommitted(port, { topic: "filter", partition: 0, from: 0, wait: 100 });
  const texts = read.records.map(({ value }) => value!.toString());
  expect(texts).toEqual([...Array<string>(5).fill("committed"), "plain"]);
  const { end } = await port.bounds("filter", 0);
  expect(end).toBe(3 + 1 + 2 + 1 + 2 + 1 + 1 + 4); // with a marker after each transaction that has ended
  await expect(first.commit()).rejects.toBeInstanceOf(Fenced);
  await port.close();
});

test("values larger than a batch arrive whole and in order", async () => {
  const port = kafkaPort({ brokers: inject("brokers") });
  await port.create([plain("large")]);
  const many = Array.from({ length: 5000 }, (_, i) => ({ key: null, value: Buffer.alloc(400, i % 251) }));
  await port.send([{ topic: "large", partition: 0, records: many }]);
  const read: Buffer[] = [];
  for (let from = 0; from < 5000;) {
    const some = await fetchCommitted(port, { topic: "large", partition: 0, from, wait: 100 });
    read.push(...some.records.map(({ value }) => value!));
    from = some.next;
  }
  expect(read.every((value, i) => value.equals(many[i]!.value))).toBe(true);
  await port.close();
});

test("a record with headers, null values and times far apart is read as it was written", async () => {
  const port = kafkaPort({ brokers: inject("brokers") });
  await port.create([plain("shapes")]);
  const shapes: NewRecord[] = [
    { key: null, value: null, timestamp: 1e12 },
    {
      key: Buffer.alloc(0),
      value: Buffer.alloc(0),
      timestamp: 1.7e12,
      headers: [["ünï", Buffer.from([0, 255])]],
    },
    { key: Buffer.alloc(70_000, 1), value: Buffer.alloc(200, 2), timestamp: 1e12 - 1 },
  ];
  await port.send([{ topic: "shapes", partition: 0, records: shapes }]);
  const read = await fetchCommitted(port, { topic: "shapes", partition: 0, from: 0, wait: 100 });
  expect(read.records.map(({ offset: _, ...record }) => record)).toEqual(
    shapes.map((shape) => ({ headers: [], ...shape })),
  );
  await port.close();
});

test("a worker publishes every position once, as a single process does", async () => {
  const port = kafkaPort({ brokers: inject("brokers") });
  const options = testOptions("one-worker");
  await makeTopics(port, options, 2);
  const worker = makeWorker(port, options);
  await worker.start();
  for (let round = 0; round < 30; round++) await sendRound(port, options.in, 2, 6, round);
  const verdict = await settled(port, options);
  await worker.stop();
  await port.close();
  expect(verdict).toMatchObject({ ...RIGHT, committed: 180, streams: 6 });
});

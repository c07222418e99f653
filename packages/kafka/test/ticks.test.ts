import { expect, test } from "vitest";

import { MemoryCluster } from "../src/memory/port.js";
import { readPublishedFrom } from "../src/readPublished.js";
import { heartbeat, OpenTicks } from "../src/ticks.js";
import { makeWorker } from "../src/worker.js";
import { allUncommitted } from "./support/judge.js";
import { makeTopics, RIGHT, sendRound, settled, testOptions, until } from "./support/workload.js";

test("open ticks, by hand: late events and those too far ahead change nothing", () => {
  const ticks = new OpenTicks(3, 9);
  ticks.add(10, 1);
  ticks.add(10, 2);
  ticks.add(12, 5);
  ticks.add(9, 100); // late
  ticks.add(13, 100); // too far ahead
  const copy = OpenTicks.from(ticks.bytes);
  expect([...ticks.close(11)]).toEqual([3, 0]);
  expect([...ticks.close(11)]).toEqual([]);
  expect([...ticks.close(14)]).toEqual([5, 0, 0]);
  expect([...copy.close(12)]).toEqual([3, 0, 5]);
});

test("each heartbeat closes the same ticks after restarts, one number per key and tick", async () => {
  const port = new MemoryCluster().port();
  const ticks = { every: 1000, lateness: 500, of: "count" as const };
  const options = testOptions("ticks", { ticks, format: "json" });
  await makeTopics(port, options, 1);
  const beat = (time: number) => port.send([{ topic: options.in, partition: 0, records: [heartbeat(time)] }]);
  const event = (key: string, timestamp: number) =>
    port.send([
      {
        topic: options.in,
        partition: 0,
        records: [{ key: Buffer.from(key), value: Buffer.alloc(8), timestamp }],
      },
    ]);
  await beat(10_500); // closes tick 9
  for (let second = 10; second < 20; second++) {
    const worker = makeWorker(port, options);
    await worker.start();
    await event("a", second * 1000 + 1);
    await event(second % 2 === 0 ? "a" : "b", second * 1000 + 2);
    await beat((second + 1) * 1000 + 500);
    await until(() => worker.stats().lag === 0 && worker.stats().transactions > 0);
    await worker.stop();
  }
  const verdict = await settled(port, options);
  expect(verdict).toMatchObject({ ...RIGHT, committed: 10 + 9, streams: 2 }); // b begins with second 11
  const times: number[] = [];
  for await (const { name, at } of readPublishedFrom(port, { topic: options.out, toEnd: true }))
    if (name === "a") times.push(at!);
  expect(times).toEqual(Array.from({ length: 10 }, (_, i) => (10 + i) * 1000));
});

test("records that cannot be read go to the dead letters once, and the others are published", async () => {
  const port = new MemoryCluster().port();
  const options = testOptions("letters", { deadLetters: "letters-dead" });
  await makeTopics(port, options, 1);
  const bad = [
    { key: null, value: Buffer.alloc(8) },
    { key: Buffer.from([0xff]), value: Buffer.alloc(8) },
    { key: Buffer.alloc(2000, 97), value: Buffer.alloc(8) },
    { key: Buffer.from("key-0"), value: Buffer.from("secret") },
  ];
  await port.send([{ topic: options.in, partition: 0, records: bad }]);
  await sendRound(port, options.in, 1, 2, 0);
  const worker = makeWorker(port, options);
  await worker.start();
  const verdict = await settled(port, options);
  await worker.stop();
  expect(verdict).toMatchObject({ ...RIGHT, committed: 2 });
  expect(worker.stats().unreadable).toBe(4);
  const letters = await allUncommitted(port, "letters-dead", 0);
  expect(letters.map(({ headers }) => headers[0]![1].toString())).toEqual([
    ...["no key", "key is not text", "key is too long", "no number"],
  ]);
  expect(letters.map(({ value }) => value)).toEqual(bad.map(({ value }) => value));
});

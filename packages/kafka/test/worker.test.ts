import { randomInt } from "node:crypto";

import { expect, test } from "vitest";

import { MemoryCluster, type Step } from "../src/memory/memoryCluster.js";
import { readPublishedFrom } from "../src/readPublished.js";
import { makeWorker } from "../src/worker.js";
import { allUncommitted, judge } from "./support/judge.js";
import { makeTopics, RIGHT, sendRound, settled, testOptions } from "./support/workload.js";

test("two workers publish every position once, as a single process does", async () => {
  const cluster = new MemoryCluster();
  const port = cluster.port();
  const options = testOptions("two");
  await makeTopics(port, options, 4);
  const workers = [makeWorker(port, options), makeWorker(port, options)];
  for (const worker of workers) await worker.start();
  for (let round = 0; round < 30; round++) await sendRound(port, options.in, 4, 10, round);
  const verdict = await settled(port, options);
  expect(verdict).toMatchObject({ ...RIGHT, values: 300, committed: 300, streams: 10 });
  for (const worker of workers) await worker.stop();
  expect(workers.reduce((sum, worker) => sum + worker.stats().received, 0)).toBe(300);
});

test("a worker that dies at any step of a transaction leaves no trace in the numbers", async () => {
  const steps: Step[] = ["begun", "sent", "committed"];
  let faults = 0;
  const cluster = new MemoryCluster({
    fault: (step) => {
      if (randomInt(6) === 0 && faults < 200 && steps.includes(step)) {
        faults++;
        throw new Error("the worker lost its connection");
      }
    },
  });
  const port = cluster.port();
  const options = testOptions("faults", { commitInterval: 2 });
  await makeTopics(port, options, 2);
  const worker = makeWorker(port, options);
  await worker.start();
  for (let round = 0; round < 60; round++) {
    await sendRound(port, options.in, 2, 6, round);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const verdict = await settled(port, options);
  await worker.stop();
  expect(verdict).toMatchObject({ ...RIGHT, committed: 360 });
  expect(verdict.repeated).toBeGreaterThan(0); // aborted numbers were there to be seen, and agreed
  expect(faults).toBeGreaterThan(10);
});

test("a restart continues from snapshots and a replay of the log", async () => {
  const port = new MemoryCluster().port();
  const options = testOptions("restart", { sealEvery: 1000 });
  await makeTopics(port, options, 1);
  for (let start = 0; start < 4; start++) {
    const worker = makeWorker(port, options);
    await worker.start();
    for (let round = 0; round < 20; round++) await sendRound(port, options.in, 1, 3, 20 * start + round);
    await settled(port, options);
    if (start % 2 === 0) await worker.stop(); // the others are left behind, and fenced by the next
  }
  expect(await judge(port, options)).toMatchObject({ ...RIGHT, committed: 240 });
});

test("readPublished gives each position once, in order", async () => {
  const port = new MemoryCluster().port();
  const options = testOptions("reading", { format: "json" });
  await makeTopics(port, options, 2);
  const worker = makeWorker(port, options);
  await worker.start();
  for (let round = 0; round < 10; round++) await sendRound(port, options.in, 2, 4, round);
  await settled(port, options);
  await worker.stop();
  const next = new Map<string, number>();
  for await (const { name, position } of readPublishedFrom(port, { topic: options.out, toEnd: true })) {
    expect(position).toBe(next.get(name) ?? 0);
    next.set(name, position + 1);
  }
  expect([...next.values()]).toEqual([10, 10, 10, 10]);
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

/** Each rule of the protocol, and what is seen without it. */
import { expect, test } from "vitest";

import { MemoryCluster } from "../src/memory/memoryCluster.js";
import type { Port } from "../src/port.js";
import { PartitionTask } from "../src/partitionTask.js";
import { makeWorker } from "../src/worker.js";
import { splitBrain, withoutFencing, WithoutBirthFirst } from "./support/broken.js";
import { judge } from "./support/judge.js";
import { makeTopics, RIGHT, sendRound, settled, testOptions } from "./support/workload.js";

/** Every second transaction dies between its numbers and its commit. */
async function runWithFaults(Task: typeof PartitionTask) {
  let calls = 0;
  const port = new MemoryCluster({
    fault: (step) => {
      if (step === "sent" && ++calls % 2 === 1 && calls < 60) throw new Error("the worker died");
    },
  }).port();
  const options = testOptions("births", { commitInterval: 2 });
  await makeTopics(port, options, 1);
  const worker = makeWorker(port, options, Task);
  await worker.start();
  for (let round = 0; round < 20; round++) await sendRound(port, options.in, 1, 5, round);
  const verdict = await settled(port, options);
  await worker.stop();
  return verdict;
}

test("birth first: a position that was seen uncommitted comes again with the same number", async () => {
  const verdict = await runWithFaults(PartitionTask);
  expect(verdict).toMatchObject({ ...RIGHT, committed: 100 });
  expect(verdict.repeated).toBeGreaterThan(0);
});

test("without birth first, positions are seen with different numbers", async () => {
  const verdict = await runWithFaults(WithoutBirthFirst);
  expect(verdict.differing).toBeGreaterThan(0);
});

async function runTwoOwners(change: (port: Port) => Port) {
  const port = change(splitBrain(new MemoryCluster().port()));
  const options = testOptions("owners");
  await makeTopics(port, options, 1);
  const workers = [makeWorker(port, options), makeWorker(port, options)];
  for (const worker of workers) await worker.start();
  for (let round = 0; round < 20; round++) await sendRound(port, options.in, 1, 3, round);
  await settled(port, options);
  const fenced = workers.map((worker) => worker.stats().fenced);
  for (const worker of workers) await worker.stop();
  return { verdict: await judge(port, options), fenced };
}

test("fencing: two owners of a partition publish each position once", async () => {
  const { verdict, fenced } = await runTwoOwners((port) => port);
  expect(verdict).toMatchObject({ ...RIGHT, committed: 60 });
  expect(fenced[0]! + fenced[1]!).toBeGreaterThan(0);
});

test("without fencing, two owners publish positions twice", async () => {
  const { verdict } = await runTwoOwners(withoutFencing);
  expect(verdict.doubled + verdict.wrong).toBeGreaterThan(0);
});

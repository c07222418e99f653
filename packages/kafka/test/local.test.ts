/** The local model on a cluster: many workers tally what one aggregator would. */
import { expect, test } from "vitest";

import { collect } from "../src/local/collect.js";
import { type LocalOptions, localTopicPlan } from "../src/local/options.js";
import { readLocalFrom } from "../src/local/read.js";
import { makeLocalWorker } from "../src/local/worker.js";
import { MemoryCluster, type MemoryOptions } from "../src/memory/port.js";
import type { Port } from "../src/port.js";
import { allUncommitted } from "./support/judge.js";
import {
  allReleased,
  learnAndRelease,
  local,
  localTopics,
  localValues,
  MINUTE,
  oneAggregator,
  reportBatches,
} from "./support/localWorkload.js";
import { until } from "./support/workload.js";

async function cluster(options: LocalOptions, faults: MemoryOptions = {}): Promise<Port> {
  const port = new MemoryCluster(faults).port();
  await port.create(localTopicPlan(options, 3, options));
  return port;
}

test("two workers count every report once, as one aggregator does, and publish one θ", async () => {
  const options = localTopics("local");
  const port = await cluster(options);
  const workers = [makeLocalWorker(port, options), makeLocalWorker(port, options)];
  for (const worker of workers) await worker.start();
  const single = oneAggregator(await learnAndRelease(port, options));
  await allReleased(port, options);
  for (const worker of workers) await worker.stop();
  const reading = await readLocalFrom(port, options);
  const { all } = reading;
  expect(all.total()).toMatchObject({ sum: single.total().sum, standardError: single.total().standardError });
  expect(all.learned).toBe(localValues.length); // each partition takes up to the hold-out; θ is from 1000 and more
  const now = Math.floor(Date.now() / MINUTE) * MINUTE;
  expect(reading.between(now - 60 * MINUTE, now + MINUTE).sum).toBe(single.total().sum);
  expect(reading.between(0, MINUTE).sum).toBe(0);
  expect(() => reading.between(0, 1)).toThrow("between: expected whole buckets of 60000 ms");
  const median = await all.quantile(0.5);
  expect(median.low).toBeLessThan(20);
  expect(median.high).toBeGreaterThan(19);
  expect((await allUncommitted(port, options.threshold, 0)).length).toBe(1);
});

test("workers that die at any step of a transaction count nothing twice and lose nothing", async () => {
  const options = localTopics("local-faults");
  const faults = new Map<string, number>();
  const port = await cluster(options, {
    fault: (step, writer) => {
      const at = `${writer} ${step}`;
      const count = faults.get(at) ?? 0;
      if (count === 1) return;
      faults.set(at, count + 1);
      throw new Error("the worker lost its connection");
    },
  });
  const worker = makeLocalWorker(port, options);
  await worker.start();
  const single = oneAggregator(await learnAndRelease(port, options));
  await allReleased(port, options);
  await worker.stop();
  const { all } = await readLocalFrom(port, options);
  expect(all.total().sum).toBe(single.total().sum);
  expect([all.released, all.learned]).toEqual([localValues.length, localValues.length]);
  // Three partitions and θ, each with three steps, and each step failed once.
  expect([...faults.values()]).toEqual(Array(12).fill(1));
});

test("a batch that is sent again counts once by its nonce, and twice without one", async () => {
  const options = localTopics("local-nonce");
  const port = await cluster(options);
  const [batch] = reportBatches("learn");
  const worker = makeLocalWorker(port, options);
  await worker.start();
  for (const nonce of ["a", "a", "b"]) await collect(port, options.reports, [{ reports: batch!, nonce }]);
  for (let times = 0; times < 2; times++) await collect(port, options.reports, [{ reports: batch! }]);
  await until(() => worker.stats().records === 5, 60_000);
  await worker.stop();
  expect((await readLocalFrom(port, options)).all.learned).toBe(4 * 50);
});

test("wrong options and batches are refused with what was expected", async () => {
  const options = localTopics("local-wrong");
  const port = await cluster(options);
  expect(() => makeLocalWorker(port, { ...options, every: 0 })).toThrow("every: expected whole milliseconds");
  expect(() => makeLocalWorker(port, { ...options, local: { ...local, epsilon: -1 } })).toThrow(/^epsilon/);
  await expect(collect(port, options.reports, [{ reports: new Uint8Array(7) }])).rejects.toThrow(
    "reports: expected packed reports of 8 bytes",
  );
  const unsafe = makeLocalWorker(port, { ...options, development: false });
  await expect(unsafe.start()).rejects.toThrow("expected replication factor 3 or more");
});

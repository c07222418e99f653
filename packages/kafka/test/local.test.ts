/** The local model on a cluster: many workers tally what one aggregator would. */
import { expect, test } from "vitest";

import { collect } from "../src/local/collect.js";
import { type LocalOptions, localTopicPlan } from "../src/local/options.js";
import { readLocalFrom } from "../src/local/read.js";
import { makeLocalWorker } from "../src/local/worker.js";
import { MemoryCluster, type MemoryOptions } from "../src/memory/memoryCluster.js";
import type { Port } from "../src/port.js";
import { decideTerms, readTerms } from "../src/local/threshold.js";
import { allUncommitted } from "./support/judge.js";
import {
  allCounted,
  askAndSend,
  DAY,
  local,
  localTopics,
  localValues,
  oneAggregator,
  reportBatches,
} from "./support/localWorkload.js";
import { until } from "./support/workload.js";

async function cluster(options: LocalOptions, faults: MemoryOptions = {}): Promise<Port> {
  const port = new MemoryCluster(faults).port();
  await port.create(localTopicPlan(options, 3, options));
  return port;
}

test("two workers count every report once, as one aggregator does, and publish one θ a day", async () => {
  const options = localTopics("local");
  const port = await cluster(options);
  const workers = [makeLocalWorker(port, options), makeLocalWorker(port, options)];
  for (const worker of workers) await worker.start();
  const sent = await askAndSend(port, options);
  expect(sent.terms).toMatchObject({ threshold: 100, chosen: false });
  const single = oneAggregator(sent);
  await allCounted(port, options);
  for (const worker of workers) await worker.stop();
  const all = await readLocalFrom(port, options);
  const now = Date.now();
  expect(all.between(now - DAY, now + DAY)).toEqual(single.between(now - DAY, now + DAY));
  expect(all.between(0, DAY)).toMatchObject({ reports: 0, mean: null });
  expect(await all.quantile(0.5)).toEqual(await single.quantile(0.5));
  expect((await allUncommitted(port, options.threshold, 0)).length).toBe(1);

  // The next day: θ follows the reports of all partitions, once, and reports of both days' θ count.
  const terms = await decideTerms(port, options, options.group, now + DAY);
  expect(await decideTerms(port, options, "another", now + DAY)).toEqual(terms);
  expect(terms).toHaveLength(2);
  expect(terms[1]).toMatchObject({ until: terms[0]!.until + DAY, chosen: true });
  expect(terms[1]!.threshold).toBeLessThan(100);
  expect(await readTerms(port, options)).toEqual(terms);
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
  const single = oneAggregator(await askAndSend(port, options));
  await allCounted(port, options);
  await worker.stop();
  const all = await readLocalFrom(port, options);
  const now = Date.now();
  expect(all.between(now - DAY, now + DAY).sum).toBe(single.between(now - DAY, now + DAY).sum);
  expect(all.reports).toBe(localValues.length);
  // Three partitions and θ, each with three steps, and each step failed once.
  expect([...faults.values()]).toEqual(Array(12).fill(1));
});

test("a batch that is sent again counts once by its nonce, and twice without one", async () => {
  const options = localTopics("local-nonce");
  const port = await cluster(options);
  const [batch] = reportBatches();
  const worker = makeLocalWorker(port, options);
  await worker.start();
  for (const nonce of ["a", "a", "b"]) await collect(port, options.reports, [{ reports: batch!, nonce }]);
  for (let times = 0; times < 2; times++) await collect(port, options.reports, [{ reports: batch! }]);
  await until(() => worker.stats().records === 5, 60_000);
  await worker.stop();
  expect((await readLocalFrom(port, options)).reports).toBe(4 * 50);
});

test("wrong options and batches are refused with what was expected", async () => {
  const options = localTopics("local-wrong");
  const port = await cluster(options);
  expect(() => makeLocalWorker(port, { ...options, local: { ...local, holdout: 9 } as never })).toThrow(
    "holdout: expected none; reports count from the first one",
  );
  expect(() => makeLocalWorker(port, { ...options, local: { ...local, epsilon: -1 } })).toThrow(/^epsilon/);
  await expect(collect(port, options.reports, [{ reports: new Uint8Array(7) }])).rejects.toThrow(
    "reports: expected packed reports of 8 bytes",
  );
  const unsafe = makeLocalWorker(port, { ...options, development: false });
  await expect(unsafe.start()).rejects.toThrow("expected replication factor 3 or more");
});

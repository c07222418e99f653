/** The local model on a real broker: workers come, go and lose the cluster; any process answers from the tallies. */
import { expect, inject, test } from "vitest";

import { kafkaPort } from "../../src/kafka/kafkaPort.js";
import { localTopicPlan } from "../../src/local/options.js";
import { readLocal } from "../../src/local/read.js";
import { makeLocalWorker } from "../../src/local/worker.js";
import { allUncommitted } from "../support/judge.js";
import {
  allCounted,
  askAndSend,
  DAY,
  localTopics,
  localValues,
  oneAggregator,
} from "../support/localWorkload.js";
import { mortalPort } from "../support/broken.js";
import { until } from "../support/workload.js";

test("two workers, one of which is cut off: every report counts once, one θ, the answers of one aggregator", async () => {
  const brokers = inject("brokers");
  const options = { ...localTopics("local-broker"), sessionTimeout: 2_000 };
  const port = kafkaPort({ brokers });
  await port.create(localTopicPlan(options, 3, options));
  const [one, two] = [kafkaPort({ brokers }), kafkaPort({ brokers })];
  const { port: mortal, die } = mortalPort(one);
  const [dying, lasting] = [makeLocalWorker(mortal, options), makeLocalWorker(two, options)];
  await dying.start();
  await until(() => dying.stats().partitions.length === 3); // it owns partition 0, where θ is decided
  await lasting.start();
  const run = askAndSend(port, options);
  await until(() => dying.stats().transactions > 0, 30_000);
  die();
  await dying.stop(); // what it had not committed is lost; the group moves its partitions
  const single = oneAggregator(await run);
  await allCounted(port, options);
  await lasting.stop();

  const all = await readLocal({ ...options, brokers });
  const now = Date.now();
  expect(all.reports).toBe(localValues.length);
  expect(all.between(now - DAY, now + DAY).sum).toBe(single.between(now - DAY, now + DAY).sum);
  const [ours, theirs] = [await all.quantile(0.5), await single.quantile(0.5)];
  expect(ours).toMatchObject({ value: theirs.value, low: theirs.low, high: theirs.high });
  expect((await allUncommitted(port, options.threshold, 0)).length).toBe(1);
  for (const each of [one, two, port]) await each.close();
});

/** State that contradicts itself is refused, never continued. */
import { Refusal } from "brume/node";
import { expect, test } from "vitest";

import { MemoryCluster } from "../src/memory/memoryCluster.js";
import type { NewRecord, Port } from "../src/port.js";
import { rekey } from "../src/rekey.js";
import { topicPlan, topicProblems } from "../src/topics.js";
import { makeWorker, type WorkerOptions } from "../src/worker.js";
import { boundPort, mortalPort } from "./support/broken.js";
import { allUncommitted, judge } from "./support/judge.js";
import { makeTopics, RIGHT, sendRound, settled, testOptions, until } from "./support/workload.js";

/** A cluster on which a worker has published 20 rounds of 3 keys, and then stopped or died. */
async function published(options: WorkerOptions, ending: "stopped" | "died" = "stopped"): Promise<Port> {
  const cluster = new MemoryCluster();
  const { port, die } = mortalPort(cluster.port());
  await makeTopics(port, options, 1);
  const worker = makeWorker(port, options);
  await worker.start();
  for (let round = 0; round < 20; round++) {
    await sendRound(port, options.in, 1, 3, round);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await settled(port, options);
  if (ending === "died") die();
  await worker.stop();
  return cluster.port();
}

/** Starts a worker and gives the message with which it refuses. */
async function refusal(port: Port, options: WorkerOptions): Promise<string> {
  const errors: Error[] = [];
  const worker = makeWorker(port, { ...options, onError: (error) => errors.push(error) });
  await worker.start();
  await until(() => worker.stats().refused.length > 0);
  expect(worker.stats()).toMatchObject({ refused: [0], transactions: 0 });
  await worker.stop();
  expect(errors.at(-1)).toBeInstanceOf(Refusal);
  return errors[errors.length - 1]!.message;
}

const asNew = ({ key, value, headers }: NewRecord): NewRecord => ({ key, value, headers: headers ?? [] });

test("an old snapshot that was put back", async () => {
  const options = testOptions("old");
  const port = await published(options);
  const [birth] = await allUncommitted(port, options.state, 0);
  await port.send([{ topic: options.state, partition: 0, records: [asNew(birth!)] }]);
  expect(await refusal(port, options)).toMatch(/not those of the manifest/);
});

test("a state topic that was made again from an older copy", async () => {
  const options = testOptions("rollback");
  const port = await published(options);
  const records = await allUncommitted(port, options.state, 0);
  const half = records.slice(0, records.length / 2);
  await port.create([topicPlan(options, 1, options).find(({ name }) => name === options.state)!]);
  await port.send([{ topic: options.state, partition: 0, records: half.map(asNew) }]);
  expect(await refusal(port, options)).toMatch(/deleted and made again/);
});

test("a state topic that was cut", async () => {
  const options = testOptions("cut");
  const port = await published(options);
  const { end } = await port.bounds(options.state, 0);
  const cut: Port = {
    ...boundPort(port),
    bounds: async (topic, partition) =>
      topic === options.state ? { start: 0, end: end - 20 } : port.bounds(topic, partition),
  };
  expect(await refusal(cut, options)).toMatch(/expected transaction \d+ or later|not those of the manifest/);
});

test("state that is gone", async () => {
  const options = testOptions("gone");
  const port = await published(options);
  const empty: Port = {
    ...boundPort(port),
    bounds: async (topic, partition) =>
      topic === options.state ? { start: 0, end: 0 } : port.bounds(topic, partition),
  };
  expect(await refusal(empty, options)).toMatch(/state was lost/);
});

test("input that changed under the noise", async () => {
  const options = testOptions("input", { sealEvery: 1000 });
  const port = await published(options, "died");
  const changed: Port = {
    ...boundPort(port),
    fetch: async (request) => {
      const fetched = await port.fetch(request);
      if (request.topic !== options.in) return fetched;
      const batches = fetched.batches.map((batch) => ({
        ...batch,
        records: batch.records.map((record) => ({ ...record, value: Buffer.alloc(8) })),
      }));
      return { ...fetched, batches };
    },
  };
  expect(await refusal(changed, options)).toMatch(/same noise on other values/);
});

test("another key, and other options of the stream", async () => {
  const options = testOptions("secrets");
  const port = await published(options);
  expect(await refusal(port, { ...options, key: new Uint8Array(32).fill(8) })).toMatch(/cannot decrypt/);
  const stream = { ...options.stream, epsilon: 2 };
  expect(await refusal(port, { ...options, stream })).toMatch(/other options/);
});

test("topics that are not safe, with what to change", async () => {
  const options = testOptions("unsafe");
  const port = new MemoryCluster().port();
  await makeTopics(port, options, 2);
  await expect(makeWorker(port, { ...options, development: false }).start()).rejects.toThrow(
    /replication factor 3/,
  );
  const topics = await port.describe([options.in, options.state, options.out]);
  expect(topicProblems(topics, options, options)).toEqual([]);
  const bad = topics.map((topic, i) => ({
    ...topic,
    partitions: 2 + i,
    config: { "unclean.leader.election.enable": "true", "cleanup.policy": "delete" },
  }));
  const problems = topicProblems(bad, options, { development: false }).join("\n");
  for (const part of [
    "replication factor 3",
    "min.insync.replicas=2",
    "election.enable=false",
    "cleanup.policy=compact",
    "2 partitions",
  ])
    expect(problems).toContain(part);
});

test("rekey: after it, the old key is not needed", async () => {
  const [old, fresh] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const options = testOptions("rekey", { key: { current: "a", keys: { a: old } } });
  const port = await published(options, "died");
  expect(await rekey(port, { ...options, key: { current: "b", keys: { a: old, b: fresh } } })).toBe(3);
  const after = { ...options, key: { current: "b", keys: { b: fresh } } };
  const worker = makeWorker(port, after);
  await worker.start();
  for (let round = 20; round < 30; round++) await sendRound(port, options.in, 1, 3, round);
  const judging = { ...options, key: { current: "b", keys: { a: old, b: fresh } } };
  await until(async () => (await judge(port, judging)).committed === 90);
  await worker.stop();
  expect(await judge(port, judging)).toMatchObject(RIGHT);
});

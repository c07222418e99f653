/** Kafka mode on a cluster in memory: events reach workers, and what workers cannot keep is refused. */
import { expect, test } from "vitest";
import { MemoryCluster } from "../../kafka/src/memory/memoryCluster.js";
import { checkConfig } from "../src/config/load.js";
import { KafkaIntake } from "../src/kafka/kafkaIntake.js";
import { KeyReused } from "../src/submission.js";
import { keepsPromises } from "./kafkaPromises.js";
import { kafkaConfig } from "./kafkaRound.js";
import { heartbeat } from "../../kafka/src/clock.js";

test("events over HTTP, numbers from the topic out", async () => {
  const cluster = new MemoryCluster();
  await keepsPromises("memory", () => cluster.port());
});

test("a person with several keys, local metrics and missing topics are refused with what to do", async () => {
  const { metrics, ...rest } = kafkaConfig("none");
  const open = async (metrics: object) =>
    KafkaIntake.open(checkConfig({ ...rest, metrics }), new MemoryCluster().port(), heartbeat, 1000);
  const keyed = { type: "count", epsilon: 1, every: "1h", perPerson: 1, keys: ["a", "b"] };
  await expect(open({ keyed })).rejects.toThrow(/^metrics\.keyed\.keys: .*set protect: "event"/);
  await expect(open({ l: { type: "local", epsilon: 1, max: 9 } })).rejects.toThrow(/^metrics\.l\.type/);
  await expect(open(metrics)).rejects.toThrow(/cannot find the topics none\.requests\.in/);
});

test("a cluster that takes nothing: 503, and the same request may come again", async () => {
  const cluster = new MemoryCluster();
  const { metrics } = kafkaConfig("deaf");
  const port = cluster.port();
  await port.create(
    Object.keys(metrics).map((name) => ({ name: `deaf.${name}.in`, partitions: 1, replicas: 1, config: {} })),
  );
  let deaf: "write" | "commit" | undefined;
  const flaky = {
    ...port,
    async writer(name: string) {
      const writer = await port.writer(name);
      const unless = <T>(step: string, call: () => Promise<T>): Promise<T> =>
        deaf === step ? Promise.reject(new Error("gone")) : call();
      return {
        write: (writes: Parameters<typeof port.send>[0]) => unless("write", () => writer.write(writes)),
        commit: () => unless("commit", () => writer.commit()),
        close: () => writer.close(),
      };
    },
  };
  const intake = await KafkaIntake.open(kafkaConfig("deaf"), flaky, heartbeat, 1000);
  const event = {
    metric: intake.metric("requests")!,
    key: "a",
    value: 1,
    count: 1,
    at: undefined,
    person: undefined,
  };
  const stored = async () =>
    (await port.fetch({ topic: "deaf.requests.in", partition: 0, from: 0, committed: true, wait: 0 })).batches
      .filter(({ transactional, control }) => transactional && control === undefined)
      .flatMap(({ records }) => records).length;
  deaf = "write";
  await expect(intake.submit([event], "k")).rejects.toThrow("store: the brokers do not take events");
  deaf = undefined;
  await intake.submit([event], "k");
  await intake.submit([event], "k");
  await intake.submit([{ ...event, at: Date.now() - 86_400_000 }], "late");
  await expect(intake.submit([event, event], "k")).rejects.toThrow(KeyReused);
  expect(await stored()).toBe(2); // one, and one that workers drop
  // Nobody knows whether a batch is stored whose commit failed: under its key it is not stored again.
  deaf = "commit";
  await expect(intake.submit([event], "doubt")).rejects.toThrow("it may be stored");
  deaf = undefined;
  await expect(intake.submit([event], "doubt")).rejects.toThrow("it may be stored");
  expect(await stored()).toBe(2); // its transaction is not decided
});

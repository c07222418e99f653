/** Kafka mode on a cluster in memory: events reach workers, and what workers cannot keep is refused. */
import { expect, test } from "vitest";
import { MemoryCluster } from "../../kafka/src/memory/port.js";
import { checkConfig } from "../src/config/load.js";
import { KafkaIntake } from "../src/kafka/intake.js";
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
  const keyed = { type: "count", epsilon: 1, keys: ["a", "b"] };
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
  let deaf = false;
  const flaky = {
    ...port,
    send: (writes: Parameters<typeof port.send>[0]) =>
      deaf ? Promise.reject(new Error("gone")) : port.send(writes),
  };
  const intake = await KafkaIntake.open(kafkaConfig("deaf"), flaky, heartbeat, 1000);
  const event = { metric: intake.metric("requests")!, key: "a", value: 1, at: undefined, person: undefined };
  const end = async () => (await port.bounds("deaf.requests.in", 0)).end;
  const before = await end();
  deaf = true;
  await expect(intake.submit([event], "k")).rejects.toThrow("store: the brokers do not take events");
  deaf = false;
  await intake.submit([event], "k");
  await intake.submit([event], "k");
  expect((await end()) - before).toBe(1);
});

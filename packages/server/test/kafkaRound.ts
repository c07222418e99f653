/** One round of Kafka mode on any port: events over HTTP, a worker on each metric's topics, numbers from `out`. */
import { setTimeout as sleep } from "node:timers/promises";
import { heartbeat, runClock } from "../../kafka/src/clock.js";
import type { Port } from "../../kafka/src/port.js";
import { readPublishedFrom } from "../../kafka/src/readPublished.js";
import type { KeyedStreamOptions } from "../../kafka/src/streams.js";
import { topicPlan } from "../../kafka/src/topics.js";
import type { Published } from "../../kafka/src/values.js";
import { makeWorker } from "../../kafka/src/worker.js";
import type { Config } from "../src/config/types.js";
import { resolveMetric } from "../src/config/metrics.js";
import { makeLogger } from "../src/http/server.js";
import { topicsOf } from "../src/kafka/kafkaIntake.js";
import type { KafkaPackage } from "../src/kafka/serve.js";
import { makeKafkaServer } from "../src/kafka/serve.js";
import { atEnd, testConfig } from "./support.js";

/** Milliseconds. */
const PERIOD = 500;

/** @param lateness how long after the end of its period an event may reach its topic */
export function kafkaConfig(prefix: string, lateness = "0s"): Config {
  const periods = { every: `${PERIOD}ms`, levels: [`${PERIOD}ms`], lateness };
  return testConfig("unused", {
    store: { kafka: { brokers: ["given by the test"], prefix } },
    epsilon: 1000,
    metrics: {
      requests: { type: "count", epsilon: 100, protect: "event", keys: ["a", "b"], ...periods },
      visits: { type: "count", epsilon: 100, perPerson: 2, ...periods },
    },
  });
}

/** ε of 48 an event or more on one level: noise is 0, but for odds of e⁻⁴⁷ a number. What was published per key, added up. */
export async function kafkaRound(prefix: string, open: () => Port, lateness?: string) {
  const config = kafkaConfig(prefix, lateness);
  const port = open();
  atEnd(() => port.close());
  for (const name of Object.keys(config.metrics))
    await port.create(topicPlan(topicsOf(config, name), 2, { development: true }));
  const given = { kafkaPort: open, heartbeat, runClock } as unknown as KafkaPackage;
  const app = await makeKafkaServer(config, makeLogger("silent"), given);
  atEnd(() => app.close());
  for (const [name, metric] of Object.entries(config.metrics)) {
    const stream = resolveMetric(name, metric).options as KeyedStreamOptions;
    const worker = makeWorker(port, {
      ...{ ...topicsOf(config, name), group: `${prefix}-${name}`, development: true },
      ...{ key: new Uint8Array(32).fill(7), stream, commitInterval: 20 },
    });
    await worker.start();
    atEnd(() => worker.stop());
  }
  await sleep(PERIOD); // the period in which streams begin is not published
  const totals = async (metric: string): Promise<Record<string, number>> => {
    const sums: Record<string, number> = {};
    const { out } = topicsOf(config, metric);
    const numbers: AsyncIterable<Published> = readPublishedFrom(port, { topic: out, toEnd: true });
    for await (const { name, value } of numbers) sums[name] = Math.round((sums[name] ?? 0) + value);
    return sums;
  };
  return { app, totals };
}

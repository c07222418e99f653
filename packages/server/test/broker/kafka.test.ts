/** Kafka mode on a real broker. */
import { inject, test } from "vitest";
import { kafkaPort } from "../../../kafka/src/kafka/kafkaPort.js";
import { keepsPromises } from "../kafkaPromises.js";

test("events over HTTP, numbers from the topic out", async () => {
  // The first transaction of a producer may take seconds on a busy machine.
  await keepsPromises("service", () => kafkaPort({ brokers: inject("brokers") }), "5s");
});

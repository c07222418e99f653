/** Promises of Kafka mode, whatever the port. */
import { expect } from "vitest";
import type { Port } from "../../kafka/src/port.js";
import { until } from "../../kafka/test/support/workload.js";
import { kafkaRound } from "./kafkaRound.js";
import { send } from "./support.js";

export async function keepsPromises(prefix: string, open: () => Port, lateness?: string): Promise<void> {
  const { app, totals } = await kafkaRound(prefix, open, lateness);
  expect((await app.inject("/readyz")).statusCode).toBe(200);
  const batch = [
    ...["a", "a", "a", "not-listed"].map((key) => ({ metric: "requests", key })),
    ...["one", "one", "one", "two"].map((person) => ({ metric: "visits", person })),
  ];
  for (let time = 0; time < 2; time++) {
    const answer = await send(app, batch, { "idempotency-key": "k" });
    expect([answer.statusCode, answer.json()]).toEqual([202, { accepted: 8 }]);
  }
  expect((await send(app, [{ metric: "requests", key: "a", person: "p" }])).statusCode).toBe(400);
  // A key without events publishes too, an unlisted one never; two of one person's three events count.
  await until(async () => {
    const [requests, visits] = [await totals("requests"), await totals("visits")];
    return requests["a"] === 3 && "b" in requests && visits["visits"] === 3;
  });
  expect(await totals("requests")).toEqual({ a: 3, b: 0 });
}

/**
 * A client sends a batch again because it got no answer. If a part of it was stored, or if the hub does not know the request any more,
 * events count twice and cost twice their ε. What must be impossible: half a batch, or a request with an id that counts twice.
 */
import { expect, test } from "vitest";
import { openHub, type Store } from "../../src/index.js";
import { failing, key, plainStore } from "../durable/support.js";

const START = Date.UTC(2026, 2, 1, 10);
const HOUR = 3_600_000;
const exact = {
  epsilon: 64,
  every: "1h",
  levels: ["1h"],
  of: "count",
  keys: ["a"],
  unsafeSeed: "b",
} as const;
const open = (store: Store | undefined, more: object = {}) =>
  openHub({
    metrics: { orders: exact, visits: exact },
    ...{ clock: () => START, commitEvery: 0, ...more },
    ...(store === undefined ? {} : { store, key }),
  });
const five = Array.from({ length: 5 }, () => ({ key: "a" }));
const count = async (hub: ReturnType<typeof open>, metric: "orders" | "visits" = "orders") => {
  await hub.advance(START + HOUR);
  return Math.round((await hub.between(metric, "a", START, START + HOUR)).value!);
};

test("a batch with an invalid event is not taken, whatever metrics it has", async () => {
  const hub = open(plainStore());
  const bad = [
    { metric: "orders", key: "a" },
    { metric: "visits", key: "a", at: "yesterday" },
  ];
  await expect(hub.addAll(bad)).rejects.toThrow("at: expected");
  await expect(
    hub.addAll([
      { metric: "orders", key: "a" },
      { metric: "none", key: "a" },
    ]),
  ).rejects.toThrow("metric:");
  expect([await count(hub), await count(hub, "visits")]).toEqual([0, 0]);
});

test.each([1, 2, 7])(
  "each call of the store failing, %d in a row: five retries of a request count once",
  async (length) => {
    for (const after of [false, true]) {
      const faultless = failing(plainStore(), { fails: () => false, after });
      await open(faultless).addMany("orders", five, { id: "r", body: "b" });
      for (let n = 1; n <= faultless.calls + 2; n++) {
        const inner = plainStore();
        const hub = open(failing(inner, { fails: (call) => call >= n && call < n + length, after }));
        let stored = false;
        for (let attempt = 0; attempt < 5; attempt++)
          stored = await hub.addMany("orders", five, { id: "r", body: "b" }).then(
            () => true,
            () => false,
          );
        expect(stored).toBe(true);
        expect(await count(open(inner))).toBe(5);
      }
    }
  },
);

test("a request that another process took is known; another body under its id is refused, and nothing of it is taken", async () => {
  const store = plainStore();
  await open(store).addMany("orders", five, { id: "r", body: "b" });
  const hub = open(store); // the first one was killed
  await hub.addMany("orders", five, { id: "r", body: "b" });
  await expect(hub.addMany("orders", five, { id: "r", body: "c" })).rejects.toMatchObject({
    code: "request-conflict",
  });
  const both = await Promise.allSettled([
    hub.addMany("orders", five, { id: "s", body: "b" }),
    hub.addMany("orders", five, { id: "s", body: "b" }),
    hub.addMany("orders", five, { id: "s", body: "c" }),
  ]);
  expect(both.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  expect(await count(hub)).toBe(10);
});

test("queues are bounded, and reports have one of their own", async () => {
  const taken: number[] = [];
  const section = (name: string) => ({
    name,
    take: (report: Uint8Array) => void taken.push(report[0]!),
    save: () => Uint8Array.from(taken),
    load: (state?: Uint8Array) => void taken.splice(0, taken.length, ...(state ?? [])),
  });
  const store = plainStore();
  const waiting = { events: 7, reports: 2 };
  const hub = open(store, { sections: [section("local")], waiting });
  await hub.stats();
  const first = hub.addMany("orders", five);
  await expect(hub.addMany("orders", five)).rejects.toMatchObject({ code: "busy", retryable: true });
  const report = (byte: number) => new Uint8Array(8).fill(byte);
  const reports = hub.report("local", [report(1), report(2)]);
  await expect(hub.report("local", [report(3)])).rejects.toMatchObject({ code: "busy" });
  await Promise.all([first, reports]);
  await hub.report("local", [report(4)]);
  expect(taken).toEqual([1, 2, 4]);
  taken.length = 0;
  const again = open(store, { sections: [section("local")] }); // the first one was killed
  expect(await count(again)).toBe(5);
  expect(taken).toEqual([1, 2, 4]);
  await again.close();
  taken.length = 0;
  await open(store, { sections: [section("local")] }).stats();
  expect(taken).toEqual([1, 2, 4]);
  await expect(hub.report("other", [])).rejects.toThrow("section: expected one of the hub's sections");
});

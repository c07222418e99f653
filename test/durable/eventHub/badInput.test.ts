import { expect, test } from "vitest";
import { memoryStore, openHub } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, exact, keys, openExact, TEN } from "./support.js";

test("a million keys cost their names; those without events are published too", async () => {
  const clock = new Clock();
  const million = Array.from({ length: 1_000_000 }, (_, i) => `shop ${i}`);
  const hub = openHub({
    metrics: { orders: { ...exact, of: "count", keys: million } },
    clock: clock.read,
    commitEvery: 0,
  });
  await Promise.all([
    hub.add("orders", "shop 999999"),
    hub.add("orders", "shop 999999"),
    hub.add("orders", "shop x"),
  ]);
  await hub.advance(TEN + 1000);
  const count = async (shop: string) =>
    Math.round((await hub.between("orders", shop, TEN, TEN + 1000)).value);
  expect([await count("shop 999999"), await count("shop 123456")]).toEqual([2, 0]);
  await expect(hub.between("orders", "shop x", TEN, TEN + 1000)).rejects.toThrow(
    "key: expected one of the keys",
  );
});

test("a clock that jumps closes nothing twice; a jump by centuries is refused, and nothing changes", async () => {
  const clock = new Clock();
  const hub = openExact(undefined, clock);
  clock.now += 5000;
  expect((await hub.advance()).map(({ to }) => to)).toEqual([TEN + 5000, TEN + 5000, TEN + 5000]);
  clock.now -= 4000;
  expect(await hub.advance()).toEqual([]);
  await hub.add("orders", "berlin"); // by a clock that is behind: its tick is closed
  expect(await hub.dropped("orders")).toEqual({ late: 1, early: 0, overLimit: 0 });
  await hub.add("orders", "berlin", 1, { at: TEN + 3_600_000 }); // far ahead
  expect((await hub.dropped("orders")).early).toBe(1);
  await expect(hub.advance(new Date(Date.UTC(2200, 0)))).rejects.toThrow(
    "advance: expected at most 2^26 ticks",
  );
  expect((await hub.stats()).metrics.orders!.closed).toBe(5);
});

test.each([NaN, Infinity, "12", undefined, null])(
  "a value that is none is refused and not quoted: %s",
  async (value) => {
    const hub = openExact(undefined, new Clock());
    await expect(hub.add("latency", "berlin", value as number)).rejects.toThrow(
      /^value: expected a finite number$/,
    );
    await expect(
      hub.addMany("latency", [
        { key: "berlin", value: 2 },
        { key: "berlin", value: value as number },
      ]),
    ).rejects.toThrow("value: expected a finite number");
    await hub.advance(TEN + 1000);
    const { total } = await hub.between("latency", "berlin", TEN, TEN + 1000);
    expect(Math.round(total.value)).toBe(0); // nothing of the batch was taken
  },
);

test.each([
  [{ metrics: {} }, "metrics: expected 1 to 1024"],
  [{ metrics: { "a/b": { ...exact, of: "count", keys } } }, "metrics: expected names of letters"],
  [{ metrics: { a: { ...exact, of: "count" } } }, "metrics.a.keys: expected a list of keys or a public rule"],
  [{ metrics: { a: { ...exact, of: "count", keys, clock: Date.now } } }, 'metrics.a: unknown option "clock"'],
  [
    { metrics: { a: { ...exact, edges: [2, 1], keys } } },
    "edges[1]: expected finite numbers in ascending order",
  ],
  [
    { metrics: { a: { ...exact, of: "count", keys } }, store: memoryStore(), key },
    "store: expected a durable store",
  ],
  [{ metrics: { a: { ...exact, of: "count", keys } }, colour: 1 }, 'openHub: unknown option "colour"'],
  [{ metrics: { a: null } }, "metrics.a: expected an object of options, got a value of type null"],
  [
    { metrics: { a: { ...exact, edges: [1, Symbol("x")], keys } } },
    "edges[1]: expected a number, got a value of type symbol",
  ],
  [{ metrics: { a: { ...exact, edges: [1n, 2], keys } } }, "edges[0]: expected a number, got 1"],
])("options that make no sense are named: case %#", (options, message) => {
  expect(() => openHub(options as never)).toThrow(message);
});

test("a metric that does not exist is named, with those that do", async () => {
  const hub = openExact(undefined, new Clock());
  await expect(hub.add("nothing" as "orders", "berlin")).rejects.toThrow(
    "metric: expected orders, latency, spent",
  );
});

test("a batch that is refused changes nothing, not even how many events were dropped", async () => {
  const hub = openExact(undefined, new Clock());
  const refused = hub.addMany("latency", [
    { key: "berlin", value: 2, at: TEN - 5000 },
    { key: "berlin", value: 2, at: TEN + 3_600_000 },
    { key: "berlin", value: NaN },
  ]);
  await expect(refused).rejects.toThrow("value: expected a finite number");
  expect(await hub.dropped("latency")).toEqual({ late: 0, early: 0, overLimit: 0 });
});

test.each([null, 7, "alice@x paid 4711", { length: 1 }])(
  "%j is no batch, and is not quoted",
  async (batch) => {
    const hub = openExact(undefined, new Clock());
    await expect(hub.addMany("latency", batch as never)).rejects.toThrow(
      /^events: expected an array, got a value of type \w+$/,
    );
    await expect(hub.addMany("latency", [batch === null ? batch : 7] as never)).rejects.toThrow(
      /^event: expected an object with a key$/,
    );
  },
);

test("a key that is null is no key: nothing is stored under one that nobody has", async () => {
  const asked = { metrics: { a: { ...exact, of: "count", keys } }, store: plainStore(), key: null };
  await expect(openHub(asked as never).stats()).rejects.toThrow(/^key: expected 32 bytes/);
});

test("a metric that is none is named in the message, up to forty characters of it", async () => {
  const hub = openExact(undefined, new Clock());
  await expect(hub.add("m".repeat(60) as "orders", "berlin")).rejects.toThrow(
    `metric: expected orders, latency, spent, got "${"m".repeat(40)}"`,
  );
  expect(() => hub.keys("k".repeat(60) as "orders")).toThrow(
    `keys: expected a metric whose keys were given as a list, got "${"k".repeat(40)}"`,
  );
  expect(hub.keys("orders")).toEqual(keys);
  await expect(hub.between("orders", "c".repeat(120), TEN, TEN)).rejects.toThrow(
    `key: expected one of the keys of metric orders, got "${"c".repeat(100)}"`,
  );
});

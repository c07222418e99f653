import { expect, test } from "vitest";
import { eventOf, Kind, readRow, EventRowWriter } from "../../../src/durable/eventHub/eventRow.js";
import { memoryStore, openHub } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, exact, keys, openExact, TEN } from "./support.js";

test("ten thousand keys exist from the start; those without events are published too", async () => {
  const clock = new Clock();
  const many = Array.from({ length: 10_000 }, (_, i) => `shop ${i}`);
  const hub = openHub({
    metrics: { orders: { ...exact, every: "1h", levels: ["1h"], of: "count", keys: many } },
    clock: clock.read,
    commitEvery: 0,
  });
  await Promise.all([
    hub.add("orders", "shop 9999"),
    hub.add("orders", "shop 9999"),
    hub.add("orders", "shop x"),
  ]);
  const hour = TEN + 3_600_000;
  await hub.advance(hour);
  const count = async (shop: string) => Math.round((await hub.between("orders", shop, TEN, hour)).value!);
  expect([await count("shop 9999"), await count("shop 1234")]).toEqual([2, 0]);
  await expect(hub.between("orders", "shop x", TEN, hour)).rejects.toThrow("key: expected one of the keys");
});

test("a clock that jumps closes nothing twice; a jump by centuries is refused, and nothing changes", async () => {
  const clock = new Clock();
  const hub = openExact(undefined, clock);
  await hub.stats(); // it begins
  clock.now += 5000;
  expect((await hub.advance()).map(({ to }) => to)).toEqual([TEN + 5000, TEN + 5000, TEN + 5000]);
  clock.now -= 4000;
  expect(await hub.advance()).toEqual([]);
  await hub.add("orders", "berlin"); // by a clock that is behind: its tick is closed
  expect(await hub.dropped("orders")).toEqual({ late: 1, early: 0, overLimit: 0 });
  await hub.add("orders", "berlin", 1, { at: TEN + 3_600_000 }); // far ahead
  expect((await hub.dropped("orders")).early).toBe(1);
  await expect(hub.advance(new Date(Date.UTC(2200, 0)))).rejects.toThrow(
    "advance: expected at most 2^20 periods",
  );
  expect((await hub.stats()).metrics.orders!.closedTo).toBe(TEN + 5000);
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
    expect(Math.round(total!.value)).toBe(0); // nothing of the batch was taken
  },
);

test.each([
  [{ metrics: {} }, "metrics: expected 1 to 1024"],
  [{ metrics: { "a/b": { ...exact, of: "count", keys } } }, "metrics: expected names of letters"],
  [{ metrics: { a: { ...exact, of: "count" } } }, "metrics.a.keys: expected a list of keys or a public rule"],
  [{ metrics: { a: { ...exact, of: "count", keys, clock: Date.now } } }, 'metrics.a: unknown option "clock"'],
  [
    { metrics: { a: { ...exact, of: "count", keys, zone: "UTC" } } },
    "metrics.a.zone: expected none; a hub has",
  ],
  [
    { metrics: { a: { ...exact, of: "count", keys } }, zone: "Mars/Olympus" },
    "zone: expected the name of a time",
  ],
  [
    { metrics: { a: { ...exact, of: "count", keys, perTick: 3 } } },
    "perTick: no longer an option; use nothing",
  ],
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

test("a past that ends at no time of a calendar, or in years, is refused before it is stored", async () => {
  const store = plainStore();
  const hub = openExact(store, new Clock());
  for (const [to, now] of [
    [TEN * 1000, TEN],
    [TEN + 400 * 86_400_000, TEN],
    [TEN, TEN * 1000],
  ] as const)
    await expect(hub.endPast(to, now)).rejects.toThrow(/^(time|advance): expected/);
  await hub.add("orders", "berlin"); // what is stored is acted on again at every opening
  await hub.close();
  expect((await openExact(store, new Clock()).stats()).metrics["orders"]?.closedTo).toBe(TEN);
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
  await expect(hub.keys("k".repeat(60) as "orders")).rejects.toThrow(
    `keys: expected a metric whose keys were given as a list, got "${"k".repeat(40)}"`,
  );
  expect(await hub.keys("orders")).toEqual(keys);
  await expect(hub.between("orders", "c".repeat(120), TEN, TEN)).rejects.toThrow(
    `key: expected one of the keys of metric orders, got "${"c".repeat(100)}"`,
  );
});

test("numbers of metrics and keys have 32 bits in a row, and each metric counts its keys by itself", () => {
  const records = [
    [0, 0],
    [65_535, 65_536],
    [65_536, 65_535],
    [2 ** 31, 2 ** 32 - 2],
  ] as const;
  const event = {
    key: "",
    value: -0.1,
    start: TEN,
    day: TEN - 36_000_000,
    hour: TEN,
    hash: new Uint32Array(4),
  };
  const writer = new EventRowWriter(records.length, 0);
  for (const [metric, number] of records) writer.event(metric, number, Kind.counted, 2 ** 31, event);
  const head = { time: TEN, told: TEN, closeAt: NaN, missedAt: NaN, days: [], names: [] };
  const seen: unknown[] = [];
  readRow(writer.bytes(head)).forEach((record) => {
    seen.push([record.metric, record.key]);
    expect(record).toMatchObject({ kind: Kind.counted, granted: 2 ** 31, hour: 10 });
    expect(eventOf(record, "")).toEqual(event);
  });
  expect(seen).toEqual(records);
});

import { expect, test } from "vitest";
import { openHub, openOdometer, privateHistogram } from "../../../src/index.js";
import { fileStore } from "../../../src/node.js";
import { failing, key, plainStore, temporaryFolders } from "../support.js";
import { Clock, exact, keys, openExact, TEN } from "./support.js";

const folder = temporaryFolders();
const round = (answer: { readonly value: number | null }) => Math.round(answer.value!);

test("counts, histograms and means of two keys, by hand", async () => {
  const clock = new Clock();
  const hub = openExact(undefined, clock);
  await Promise.all([
    hub.add("orders", "berlin"),
    hub.add("orders", "berlin", undefined, { at: TEN + 900 }),
    hub.add("orders", "paris", 1, { at: new Date(TEN) }),
    hub.addMany("latency", [
      { key: "berlin", value: 1.5 },
      { key: "berlin", value: 3, at: TEN + 1 },
      { key: "paris", value: 9 },
    ]),
    hub.add("spent", "berlin", 10),
    hub.add("spent", "berlin", 30),
    hub.add("orders", "rome"), // not a key: dropped in silence
  ]);
  clock.now += 1000;
  const second = { from: TEN, to: TEN + 1000 };
  expect(await hub.advance()).toEqual([
    { metric: "orders", ...second },
    { metric: "latency", ...second },
    { metric: "spent", ...second },
  ]);
  expect(round(await hub.between("orders", "berlin", TEN, TEN + 1000))).toBe(2);
  expect(round(await hub.between("orders", "paris", TEN, TEN + 1000))).toBe(1);
  const { counts, quantiles } = await hub.between("latency", "berlin", TEN, TEN + 1000, { quantiles: [0.5] });
  expect(counts!.map(Math.round)).toEqual([0, 1, 1, 0, 0]);
  expect(quantiles[0]!.p).toBe(0.5);
  const spent = await hub.between("spent", "berlin", TEN, TEN + 1000); // its sum has noise of scale 3
  expect(spent.low).toBeLessThan(20);
  expect(spent.high).toBeGreaterThan(20);
  expect(await hub.stats()).toEqual({
    metrics: Object.fromEntries(
      ["orders", "latency", "spent"].map((name) => [name, { closedTo: TEN + 1000, holdingOut: false }]),
    ),
    ...{ told: TEN + 1000, unstored: 0, conflicts: 0 },
  });
  expect(round(await hub.last("orders", "berlin", "1s"))).toBe(2);
  const series = await hub.series("orders", "berlin", "1s", TEN, TEN + 2000);
  expect(series.answers.map(({ value }) => value && Math.round(value))).toEqual([2, null]);
});

test("a histogram of a hub is the one of privateHistogram, bit for bit", async () => {
  const clock = new Clock();
  const options = { ...exact, epsilon: 1, edges: [1, 2, 4, 8] };
  const hub = openHub({ metrics: { latency: { ...options, keys } }, clock: clock.read, commitEvery: 0 });
  const alone = privateHistogram({ ...options, clock: clock.read, unsafeSeed: "hub/latency/berlin" });
  for (let i = 0; i < 50; i++) {
    clock.now = TEN + 100 * i;
    const value = (i * 7) % 11;
    await hub.add("latency", "berlin", value);
    alone.add(value);
    if (i % 10 !== 9) continue;
    await hub.advance();
    alone.advance();
  }
  const query = { quantiles: [0.5, 0.95], shares: [3] };
  expect(await hub.between("latency", "berlin", TEN, TEN + 4000, query)).toEqual(
    alone.between(TEN, TEN + 4000, query),
  );
});

test("a hub that is not closed has every event that was acknowledged; periods are not published twice", async () => {
  const store = fileStore(folder());
  const clock = new Clock();
  const before = openExact(store, clock);
  await Promise.all(
    [0, 0, 1, 1, 1].map((second) => before.add("orders", "berlin", 1, { at: TEN + 1000 * second })),
  );
  await before.advance(TEN + 1000);
  const sequence = await before.sequence();
  // Killed here: nothing is closed, no state is stored.
  const after = openExact(store, clock, sequence);
  expect((await after.stats()).metrics.orders).toEqual({ closedTo: TEN + 1000, holdingOut: false });
  await after.add("orders", "berlin", 1, { at: TEN }); // its period is published: late
  await after.add("orders", "berlin", 1, { at: TEN + 1000 });
  expect(await after.dropped("orders")).toEqual({ late: 1, early: 0, overLimit: 0 });
  await after.advance(TEN + 2000);
  expect(round(await after.between("orders", "berlin", TEN, TEN + 1000))).toBe(2);
  expect(round(await after.between("orders", "berlin", TEN + 1000, TEN + 2000))).toBe(4);
  await after.close();
  const last = openExact(store, clock, sequence + 1);
  expect(round(await last.between("orders", "berlin", TEN, TEN + 2000))).toBe(6);
  await expect(after.add("orders", "berlin")).rejects.toThrow("expected an open hub");
});

test("more rows than the journal has room for, closed and opened in between", async () => {
  const store = plainStore();
  const clock = new Clock();
  let total = 0;
  for (let round = 0; round < 3; round++) {
    const hub = openExact(store, clock);
    for (let i = 0; i < 450; i++, total++) await hub.add("orders", keys[total % 2]!, 1);
    if (round === 1) await hub.close(); // the others are left as a killed process leaves them
  }
  const hub = openExact(store, clock);
  await hub.advance(TEN + 1000);
  expect(round(await hub.between("orders", "berlin", TEN, TEN + 1000))).toBe(675);
  expect(round(await hub.between("orders", "paris", TEN, TEN + 1000))).toBe(675);
  expect([...store.snapshots.keys()].filter((name) => name.includes("//")).length).toBe(512);
});

test("two hubs on one store share its journal: no event is lost, none counts twice", async () => {
  const store = plainStore();
  const clock = new Clock();
  const hubs = [openExact(store, clock), openExact(store, clock)];
  for (let i = 0; i < 40; i++) await Promise.all(hubs.map((hub) => hub.add("orders", "berlin")));
  await hubs[0]!.advance(TEN + 1000);
  expect(round(await hubs[0]!.between("orders", "berlin", TEN, TEN + 1000))).toBe(80);
  const conflicts = await Promise.all(hubs.map(async (hub) => (await hub.stats()).conflicts));
  expect(Math.max(...conflicts)).toBeGreaterThan(0);
});

test("an exclusive hub ends when another process opens it", async () => {
  const store = plainStore();
  const clock = new Clock();
  const first = openExact(store, clock, 0, { exclusive: true });
  await first.add("orders", "berlin");
  const second = openExact(store, clock, 0, { exclusive: true });
  await second.stats();
  await expect(first.add("orders", "berlin")).rejects.toMatchObject({ code: "conflict" });
  await expect(first.add("orders", "berlin")).rejects.toThrow("another process opened this hub");
  await second.advance(TEN + 1000);
  expect(round(await second.between("orders", "berlin", TEN, TEN + 1000))).toBe(1);
});

test("a process whose zone, budget or clock is refused does not end the one that has the hub", async () => {
  const store = plainStore();
  const clock = new Clock();
  const first = openExact(store, clock, 0, { exclusive: true, zone: "Europe/Berlin" });
  await first.add("orders", "berlin");
  const odometer = await openOdometer({
    name: "small",
    store: plainStore(),
    key,
    limit: 1,
    unit: "one event",
  });
  const refused: readonly [object, string][] = [
    [{ zone: "UTC" }, "zone: expected"],
    [{ zone: "Europe/Berlin", budget: { odometer } }, "odometer"],
    [{ zone: "Europe/Berlin", clock: () => TEN + 7_200_000 }, "clock: expected"],
  ];
  for (const [options, message] of refused) {
    const { clock: other = clock.read, ...more } = options as { clock?: () => number };
    const second = openExact(store, Object.assign(new Clock(), { read: other }), 0, {
      exclusive: true,
      ...more,
    });
    await expect(second.stats()).rejects.toThrow(message);
    await first.add("orders", "berlin");
  }
  expect(odometer.statement().data).toEqual([]); // nothing was charged
  await first.advance(TEN + 1000);
  expect(round(await first.between("orders", "berlin", TEN, TEN + 1000))).toBe(4);
});

test("a process that fell behind by more than the journal cannot write", async () => {
  const store = plainStore();
  const clock = new Clock();
  const [slow, fast] = [openExact(store, clock), openExact(store, clock)];
  await slow.add("orders", "berlin");
  for (let i = 0; i < 700; i++) await fast.add("orders", "berlin");
  // Its row may have been stored and overwritten since, as far as anybody can tell.
  await expect(slow.add("orders", "berlin")).rejects.toMatchObject({ code: "in-doubt" });
  await slow.advance(TEN + 1000);
  expect(round(await slow.between("orders", "berlin", TEN, TEN + 1000))).toBe(701);
});

test.each([false, true])("a store that fails now and then, after it stored: %s", async (after) => {
  const inner = plainStore();
  const clock = new Clock();
  let acknowledged = 0;
  const hub = openExact(failing(inner, { fails: (call) => call % 97 === 0, after }), clock);
  for (let i = 0; i < 300; i++)
    await hub.add("orders", "berlin").then(
      () => acknowledged++,
      (error: { retryable?: boolean }) => expect(error.retryable).toBe(true),
    );
  const whole = openExact(inner, clock);
  await whole.advance(TEN + 1000);
  expect(acknowledged).toBeGreaterThan(250);
  expect(round(await whole.between("orders", "berlin", TEN, TEN + 1000))).toBe(acknowledged);
});

test("an odometer is charged once for every metric", async () => {
  const store = plainStore();
  const odometer = await openOdometer({ name: "budget", store, key, limit: 100, unit: "one event" });
  const open = () =>
    openHub({ metrics: { orders: { ...exact, of: "count", keys } }, store, key, budget: { odometer } });
  await open().stats();
  await open().stats();
  expect(odometer.spent()).toBe(64);
});

test("a store that was rolled back, and another zone, are refused", async () => {
  const store = plainStore();
  const clock = new Clock();
  await openExact(store, clock).add("orders", "berlin");
  await expect(openExact(store, clock, 3).stats()).rejects.toThrow("expected row 3 or a later one");
  const other = openExact(store, clock, 0, { zone: "Europe/Berlin" });
  await expect(other.stats()).rejects.toThrow('zone: expected "UTC", which the hub began with');
});

test("a clock more than an hour ahead of the stored time is refused until it is confirmed", async () => {
  const store = plainStore();
  const clock = new Clock();
  await openExact(store, clock).add("orders", "berlin");
  clock.now += 3_600_001;
  await expect(openExact(store, clock).stats()).rejects.toThrow(
    "clock: expected at most an hour after the newest stored time, got 2026-",
  );
  const hub = openExact(store, clock, 0, { confirmClock: true });
  await hub.advance();
  expect(await hub.between("orders", "berlin", TEN, TEN + 1000)).toMatchObject({ value: null }); // nobody listened
  clock.now += 1000;
  await hub.advance();
  expect((await hub.last("orders", "berlin", "1s")).value).not.toBeNull();
});

test("a commit stores its row and no section, until sections are due", async () => {
  const store = plainStore();
  const hub = openExact(store, new Clock());
  await hub.add("orders", "berlin");
  await hub.add("orders", "berlin");
  const before = new Map([...store.snapshots].map(([name, { sequence }]) => [name, sequence]));
  for (let i = 0; i < 100; i++) await hub.add("orders", "berlin");
  for (const [name, { sequence }] of store.snapshots)
    if (!name.includes("//")) expect([name, sequence]).toEqual([name, before.get(name)]);
  for (let i = 0; i < 100; i++) await hub.add("orders", "berlin");
  expect(store.snapshots.get("events/metrics/0.1")!.sequence).toBe(2);
});

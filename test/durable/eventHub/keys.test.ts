/** Keys, settings and metrics may change from one opening to the next: no noise of a day is used twice. */
import { expect, test } from "vitest";
import { openHub } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, TEN } from "./support.js";

const HOUR = 3_600_000;
const MIDNIGHT = TEN + 14 * HOUR;
const noisy = { epsilon: 1, every: "1h", of: "count", unsafeSeed: "keys" } as const;

/** A hub on one store, opened again and again. */
function reopening(clock: Clock, store = plainStore()) {
  return (keys: readonly string[] | ((key: string) => boolean), more: object = {}) =>
    openHub({
      ...{ store, key, clock: clock.read, commitEvery: 0, confirmClock: true },
      metrics: { orders: { ...noisy, ...more, keys } },
    });
}

async function pass(
  hub: ReturnType<ReturnType<typeof reopening>>,
  clock: Clock,
  hours: number,
): Promise<void> {
  for (let i = 0; i < hours; i++) {
    clock.now += HOUR;
    await hub.advance();
  }
}

test("other keys than before: what was published stays, and changes take effect at midnight", async () => {
  const clock = new Clock();
  const open = reopening(clock);
  const before = open(["berlin", "paris"]);
  for (let i = 0; i < 50; i++) await before.add("orders", "berlin");
  await pass(before, clock, 2);
  const asked = [TEN, TEN + 2 * HOUR] as const;
  const published = await before.between("orders", "berlin", ...asked);
  const paris = await before.between("orders", "paris", ...asked);
  expect(Math.abs(published.value! - 50)).toBeLessThan(40);
  await before.close();

  const fewer = open(["berlin", "oslo"]);
  expect(await fewer.between("orders", "berlin", ...asked)).toEqual(published);
  await expect(fewer.between("orders", "paris", ...asked)).rejects.toThrow(/^key: expected one of the keys/);
  await fewer.add("orders", "oslo");
  await pass(fewer, clock, 1);
  expect((await fewer.last("orders", "berlin", "1h")).value).not.toBeNull();
  expect((await fewer.last("orders", "oslo", "1h")).value).toBeNull(); // from midnight on
  await fewer.close();

  // Paris is listed again on the same day: its hours after that have no numbers, and its noise is not used again.
  const again = open(["berlin", "paris"]);
  await pass(again, clock, 1);
  expect((await again.last("orders", "paris", "1h")).value).toBeNull();
  while (clock.now < MIDNIGHT + HOUR) await pass(again, clock, 1);
  expect((await again.last("orders", "paris", "1h")).value).not.toBeNull();
  expect(await again.between("orders", "berlin", ...asked)).toEqual(published);
  expect(paris.value).not.toBeNull();
});

test("a metric with other settings begins with the next day", async () => {
  const clock = new Clock();
  const open = reopening(clock);
  const first = open(["berlin"]);
  await pass(first, clock, 1);
  await first.close();
  const second = open(["berlin"], { epsilon: 2 });
  await pass(second, clock, 3);
  expect(await second.between("orders", "berlin", TEN, clock.now)).toMatchObject({ value: null });
  expect((await second.stats()).metrics.orders!.closedTo).toBe(MIDNIGHT);
  while (clock.now < MIDNIGHT + HOUR) await pass(second, clock, 1);
  expect((await second.last("orders", "berlin", "1h")).value).not.toBeNull();
  await second.close();
  // And back to the first settings, on the same day: again from the next day on.
  const third = open(["berlin"]);
  await pass(third, clock, 2);
  expect((await third.stats()).metrics.orders!.closedTo).toBe(MIDNIGHT + 24 * HOUR);
});

test("a metric with other settings and fewer keys, after a crash, and another crash: the hub opens", async () => {
  const clock = new Clock();
  const open = reopening(clock);
  const many = Array.from({ length: 200 }, (_, i) => `k${i}`);
  const crashed = open(many);
  for (let i = 0; i < 3; i++) await crashed.add("orders", "k150");
  const fewer = open(["k1"], { epsilon: 100 });
  await fewer.stats();
  while (clock.now < MIDNIGHT) await pass(fewer, clock, 1);
  for (let i = 0; i < 5; i++) await fewer.add("orders", "k1");
  const again = open(["k1"], { epsilon: 100 }); // rows of before have keys that it has not
  await again.add("orders", "k1");
  await pass(again, clock, 1);
  expect((await again.last("orders", "k1", "1h")).value).toBeCloseTo(6, 0);
});

test("a metric with other settings whose keys a rule lets in, after crashes: no event counts under another key", async () => {
  const clock = new Clock();
  const open = reopening(clock);
  const rule = (name: string) => /^[a-z]\d$/.test(name);
  const crashed = open(rule);
  for (const name of ["k1", "k2", "k3"]) await crashed.add("orders", name);
  const other = open(rule, { epsilon: 100 });
  await other.stats();
  while (clock.now < MIDNIGHT) await pass(other, clock, 1);
  for (let i = 0; i < 5; i++) await other.add("orders", "x1");
  const again = open(rule, { epsilon: 100 });
  await again.add("orders", "x1");
  await pass(again, clock, 1);
  const values = await Promise.all(["x1", "k1", "k2"].map((name) => again.last("orders", name, "1h")));
  expect(values.map(({ value }) => Math.round(value!))).toEqual([6, 0, 0]);
});

test("keys that were listed after a day, before it was closed again by a replay, have no numbers of it", async () => {
  const clock = new Clock();
  const open = reopening(clock);
  const list = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`);
  const crashed = open(list(100));
  while (clock.now < MIDNIGHT) await pass(crashed, clock, 1);
  const more = open(list(130));
  await more.stats();
  const again = open(list(130));
  expect((await again.between("orders", "k129", TEN, MIDNIGHT)).value).toBeNull();
  expect((await again.between("orders", "k99", TEN, MIDNIGHT)).value).not.toBeNull();
});

test.each(["closed", "killed"])(
  "a key that a rule lets in keeps events that come before the day before is closed; the hub is %s then",
  async (end) => {
    const clock = new Clock();
    const rule = (name: string) => /^k\d$/.test(name);
    const open = () => reopening(clock, store)(rule, { epsilon: 100, lateness: "30m" });
    const store = plainStore();
    const first = open();
    clock.now = MIDNIGHT - HOUR / 6;
    for (const name of ["k1", "k2"]) await first.add("orders", name);
    clock.now = MIDNIGHT + HOUR / 6;
    for (let i = 0; i < 3; i++) await first.add("orders", "k1");
    if (end === "closed") await first.close();
    const hub = open();
    for (let i = 0; i < 3; i++) await pass(hub, clock, 1);
    const hour = async (name: string, from: number) =>
      Math.round((await hub.between("orders", name, from, from + HOUR)).value!);
    expect([await hour("k1", MIDNIGHT), await hour("k2", MIDNIGHT)]).toEqual([3, 0]);
    expect([await hour("k1", MIDNIGHT - HOUR), await hour("k2", MIDNIGHT - HOUR)]).toEqual([1, 1]);
  },
);

test.each(["closed", "killed"])(
  "a key that is listed later takes events of its first day while the day before is open; the hub is %s then",
  async (end) => {
    const [clock, store] = [new Clock(), plainStore()];
    const open = (...keys: readonly string[]) =>
      reopening(clock, store)(keys, { epsilon: 100, lateness: "30m" });
    await open("a").stats();
    const first = open("a", "b");
    clock.now = MIDNIGHT - HOUR / 6;
    for (const name of ["a", "b"]) await first.add("orders", name);
    clock.now = MIDNIGHT + HOUR / 6;
    for (const name of ["a", "b", "b"]) await first.add("orders", name);
    if (end === "closed") await first.close();
    const hub = open("a", "b");
    for (let i = 0; i < 3; i++) await pass(hub, clock, 1);
    const hour = async (name: string, from: number) => {
      const { value } = await hub.between("orders", name, from, from + HOUR);
      return value === null ? null : Math.round(value);
    };
    expect([await hour("a", MIDNIGHT), await hour("b", MIDNIGHT)]).toEqual([1, 2]);
    expect([await hour("a", MIDNIGHT - HOUR), await hour("b", MIDNIGHT - HOUR)]).toEqual([1, null]);
    // A key that leaves the list before its first day leaves nothing behind.
    await open("a", "b", "c").add("orders", "c");
    await open("a", "b").stats();
    const third = open("a", "b", "c");
    while (clock.now < MIDNIGHT + 25 * HOUR) await pass(third, clock, 1);
    expect(Math.round((await third.last("orders", "c", "1h")).value!)).toBe(0);
  },
);

test("a metric that was left out for a while begins with the next day", async () => {
  const [clock, store] = [new Clock(), plainStore()];
  const open = (names: readonly string[]) =>
    openHub({
      ...{ store, key, clock: clock.read, commitEvery: 0 },
      metrics: Object.fromEntries(names.map((name) => [name, { ...noisy, keys: ["a"] }])),
    });
  await open(["orders", "visits"]).stats();
  await open(["visits"]).stats();
  const hub = open(["orders", "visits"]);
  const { metrics } = await hub.stats();
  expect([metrics["orders"]!.closedTo, metrics["visits"]!.closedTo]).toEqual([MIDNIGHT, TEN]);
});

test("a metric is left out after a crash, with events that no snapshot has: the hub opens, and both go on later", async () => {
  const [clock, store] = [new Clock(), plainStore()];
  const open = (names: readonly string[]) =>
    openHub({
      ...{ store, key, clock: clock.read, commitEvery: 0, confirmClock: true },
      metrics: Object.fromEntries(names.map((name) => [name, { ...noisy, epsilon: 100, keys: ["a"] }])),
    });
  const crashed = open(["orders", "visits"]);
  for (let i = 0; i < 3; i++)
    for (const name of ["orders", "visits"]) await crashed.addMany(name, [{ key: "a" }, { key: "a" }]);
  const fewer = open(["visits"]); // the crashed one stored nothing more
  await fewer.stats();
  clock.now += HOUR;
  await fewer.advance();
  expect((await fewer.between("visits", "a", TEN, clock.now)).value).toBeCloseTo(6, 0);
  await fewer.add("visits", "a");
  const both = open(["orders", "visits"]); // after another crash
  await both.stats();
  clock.now += HOUR;
  await both.advance();
  expect((await both.between("visits", "a", TEN, clock.now)).value).toBeCloseTo(7, 0);
  while (clock.now < MIDNIGHT) clock.now += HOUR;
  await both.advance();
  await both.add("orders", "a");
  clock.now += HOUR;
  await both.advance();
  expect((await both.last("orders", "a", "1h")).value).toBeCloseTo(1, 0);
  await both.close();
});

test("a reader who asks for ten thousand keys of a rule leaves nothing in memory", async () => {
  const clock = new Clock();
  const hub = reopening(clock)((name) => /^k\d+$/.test(name));
  await hub.add("orders", "k0");
  await pass(hub, clock, 2);
  const ask = async (from: number, count: number) => {
    for (let i = from; i < from + count; i++) await hub.between("orders", `k${i}`, TEN, clock.now);
  };
  const used = () => (global.gc?.(), process.memoryUsage().heapUsed);
  await ask(1, 1000);
  const before = used();
  await ask(1001, 10_000);
  // 50 KB a key would be 500 MB. What a collector has not reached yet is far below a tenth of it.
  expect(used() - before).toBeLessThan(50e6);
  await hub.close();
});

test("keys by a rule have the noise that they would have had in a list", async () => {
  const clock = new Clock();
  const cities = ["berlin", "paris", "oslo"];
  const listed = reopening(clock)(cities);
  const ruled = reopening(clock)((city) => cities.includes(city));
  for (let hour = 0; hour < 40; hour++) {
    if (hour % 7 === 3)
      for (const hub of [listed, ruled])
        await hub.addMany("orders", [
          { key: "berlin" },
          { key: hour > 20 ? "paris" : "berlin" },
          { key: "rome" },
        ]);
    clock.now += HOUR;
    await Promise.all([listed.advance(), ruled.advance()]);
  }
  for (const city of cities)
    for (const from of [TEN, TEN + 5 * HOUR, MIDNIGHT, MIDNIGHT + 3 * HOUR])
      expect(await ruled.between("orders", city, from, clock.now)).toEqual(
        await listed.between("orders", city, from, clock.now),
      );
});

/**
 * The attacker knows when processes open a hub, and all events but one. If that one event is the first of a process, or comes
 * alone, it must not decide when the hub was opened, which periods were missed, which day is running or which requests are
 * known: else it moves the numbers of others beside its own, and costs more than its ε.
 */
import { expect, test } from "vitest";
import { type Metric, openHub, type Store } from "../../src/index.js";
import { key, plainStore } from "../durable/support.js";
import { Clock, TEN } from "../durable/eventHub/support.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const metric = {
  epsilon: 64,
  every: "1h",
  levels: ["1h", "1d"],
  of: "count",
  unsafeSeed: "opening",
} as const;

const open = (store: Store | undefined, clock: Clock, keys: Metric["keys"], more: object = {}) =>
  openHub({
    ...{ clock: clock.read, commitEvery: 0, confirmClock: true, metrics: { orders: { ...metric, keys } } },
    ...(store === undefined ? {} : { store, key }),
    ...more,
  });
type Hub = ReturnType<typeof open>;

/** Everything that a hub has published of a key. */
const published = async (hub: Hub, of: string): Promise<unknown> => [
  await hub.series("orders", of, "1h", TEN - HOUR, TEN + 4 * DAY),
  await hub.series("orders", of, "1d", TEN - HOUR, TEN + 4 * DAY),
  (await hub.stats()).metrics,
];

/** A process that opens the hub and ends. */
async function pass(...opened: Parameters<typeof open>): Promise<void> {
  const hub = open(...opened);
  await hub.stats();
  await hub.close();
}

/** A key that was listed yesterday counts from midnight on, whatever came first. */
async function joined(first: boolean): Promise<unknown> {
  const clock = new Clock();
  const store = plainStore();
  await pass(store, clock, ["a"]);
  await pass(store, clock, ["a", "c"]);
  clock.now = TEN + DAY;
  const hub = open(store, clock, ["a", "c"]);
  if (first) await hub.add("orders", "a");
  await hub.add("orders", "c");
  clock.now += HOUR;
  await hub.advance();
  expect(Math.round((await hub.last("orders", "c", "1h")).value!)).toBe(1);
  return published(hub, "c");
}

/** A process that is killed has passed over what was missed before it, whether or not it stored an event. */
async function killed(first: boolean): Promise<unknown> {
  const clock = new Clock();
  const store = plainStore();
  await pass(store, clock, ["a", "c"]);
  clock.now = TEN + DAY;
  const hub = open(store, clock, ["a", "c"]);
  await hub.stats();
  if (first) await hub.add("orders", "a");
  clock.now += HOUR;
  const next = open(store, clock, ["a", "c"]);
  clock.now += HOUR;
  await next.advance();
  return published(next, "c");
}

/** A hub listens from its opening on, not from its first event on. */
const listening = (store: () => Store | undefined) => async (first: boolean) => {
  const clock = new Clock();
  const hub = open(store(), clock, ["a", "c"]);
  clock.now += HOUR / 2;
  if (first) await hub.add("orders", "a");
  clock.now += 2 * HOUR;
  await hub.add("orders", "c");
  clock.now += HOUR;
  await hub.advance();
  expect(await hub.between("orders", "c", TEN, TEN + 3 * HOUR)).toMatchObject({ complete: true });
  return published(hub, "c");
};

/** A request is known for as long as was asked for, by the clock: rows that come meanwhile do not shorten it. */
async function requested(first: boolean): Promise<unknown> {
  const clock = new Clock();
  const hub = open(plainStore(), clock, ["a", "c"], { remember: "7m" });
  const request = { id: "1", body: "one" };
  await hub.addMany("orders", [{ key: "c" }], request);
  clock.now += 10 * 60_000;
  if (first) await hub.add("orders", "a");
  await hub.addMany("orders", [{ key: "c" }], request);
  clock.now += HOUR;
  await hub.advance();
  return published(hub, "c");
}

test.each<[string, (first: boolean) => Promise<unknown>]>([
  ["a key that joins at midnight", joined],
  ["a process that is killed", killed],
  ["a hub that nobody has called yet", listening(plainStore)],
  ["a hub without a store that nobody has called yet", listening(() => undefined)],
  ["a request that is sent again too late", requested],
])("%s: an event before them moves no number of another key", async (_, run) => {
  expect(await run(true)).toEqual(await run(false));
});

test("an opening stores a row if periods were missed, and nothing if none were", async () => {
  const clock = new Clock();
  const store = plainStore();
  const first = open(store, clock, ["a"]);
  await first.add("orders", "a");
  const rows = await first.sequence();
  clock.now += HOUR - 1;
  expect(await open(store, clock, ["a"]).sequence()).toBe(rows);
  clock.now += 1;
  const late = open(store, clock, ["a"]);
  expect((await late.stats()).metrics.orders!.closedTo).toBe(TEN + HOUR);
  expect(await late.sequence()).toBe(rows + 1);
  expect(await late.between("orders", "a", TEN, TEN + HOUR)).toMatchObject({ value: null });
  expect(await open(store, clock, ["a"]).sequence()).toBe(rows + 1);
});

test("an opening that fails changes nothing, and the next call opens the hub as of the first try", async () => {
  const clock = new Clock();
  const store = plainStore();
  await pass(store, clock, ["a"]);
  const before = new Map(store.snapshots);
  clock.now += 2 * HOUR;
  await expect(open(store, clock, ["a"], { zone: "Europe/Berlin" }).stats()).rejects.toThrow(
    "zone: expected",
  );
  await expect(open(store, clock, ["a"], { confirmClock: false }).stats()).rejects.toThrow("clock: expected");
  expect(store.snapshots).toEqual(before);

  let down = true;
  const failing: Store = {
    ...store,
    get: (name) => (down ? Promise.reject(new Error("timeout")) : store.get(name)),
  };
  const hub = open(failing, clock, ["a"]);
  await expect(hub.stats()).rejects.toMatchObject({ code: "unavailable" });
  expect(store.snapshots).toEqual(before);
  down = false;
  clock.now += HOUR; // periods that ended since the first try were listened to
  expect((await hub.stats()).metrics.orders!.closedTo).toBe(TEN + 2 * HOUR);
});

test("hours after midnight that nobody listened to have no number", async () => {
  const clock = new Clock();
  const store = plainStore();
  await pass(store, clock, ["a"]);
  clock.now = TEN + DAY;
  const hub = open(store, clock, ["a"]);
  clock.now += HOUR;
  await hub.advance();
  const { answers } = await hub.series("orders", "a", "1h", TEN, clock.now);
  expect(answers.map(({ value }) => value !== null)).toEqual([...Array<boolean>(24).fill(false), true]);
});

test("of a day that ended unheard, a key of a rule with an event has numbers for the hours that the others have", async () => {
  const clock = new Clock();
  const store = plainStore();
  const rule = (name: string): boolean => /^[a-z]$/.test(name);
  const before = open(store, clock, rule);
  await before.add("orders", "a");
  clock.now += 2 * HOUR;
  await before.advance();
  clock.now = TEN + DAY;
  const hub = open(store, clock, rule);
  const known = async (name: string): Promise<boolean[]> =>
    (await hub.series("orders", name, "1h", TEN, clock.now)).answers.map(({ value }) => value !== null);
  expect(await known("a")).toEqual(await known("b"));
  expect(await known("a")).toEqual([true, true, ...Array<boolean>(22).fill(false)]);
});

test("a key that left and comes back on the same day is not counted again, however many rows came meanwhile", async () => {
  for (const rows of [1, 300]) {
    const clock = new Clock();
    const store = plainStore();
    await pass(store, clock, ["a", "b"]);
    const killed = open(store, clock, ["a"]);
    for (let i = 0; i < rows; i++) await killed.add("orders", "a");
    const hub = open(store, clock, ["a", "b"]);
    await hub.add("orders", "b");
    clock.now += HOUR;
    await hub.advance();
    expect(await hub.last("orders", "b", "1h")).toMatchObject({ value: null });
  }
});

/**
 * The attacker watches what a hub stores: when, how many entries, which ones, and how long they are. If that depends on whether an event
 * counted, one event is told. What must be impossible: to see from sizes, names or numbers whether an event was taken, dropped,
 * over the limit, or of a key that nobody listed.
 */
import { expect, test } from "vitest";
import { type EventInfo, openHub, type Store } from "../../src/index.js";
import { key, plainStore, watchedStore } from "../durable/support.js";

const START = Date.UTC(2026, 2, 1, 10);
const HOUR = 3_600_000;
const open = (store: Store, clock: () => number) =>
  openHub({
    metrics: {
      orders: { epsilon: 1, every: "1h", of: "count", keys: ["a", "b"], perPerson: { events: 1, people: 8 } },
      spent: { epsilon: 1, every: "1h", max: 10, keys: ["a", "b"] },
    },
    ...{ store, key, clock, commitEvery: 0 },
  });

/** Names, numbers and lengths of all that is put, in order, while one kind of event comes every hour. */
async function seen(city: string, info: (now: number) => EventInfo, hours = 40): Promise<string> {
  let now = START;
  const { store, lines } = watchedStore();
  const hub = open(store, () => now);
  for (let i = 0; i < hours; i++) {
    for (let n = 0; n < 5; n++) await hub.add("orders", city, 1, { person: "p", ...info(now) });
    now += HOUR;
    await hub.advance();
  }
  lines.push(`sequence ${await hub.sequence()}`);
  await hub.close();
  return lines.join("\n");
}

test("what is stored does not depend on what becomes of an event", async () => {
  const taken = await seen("a", (now) => ({ at: now, person: `p${now}` }));
  expect(taken.split("\n").length).toBeGreaterThan(240);
  expect(await seen("a", () => ({}))).toBe(taken); // over the limit, but for the first one of a day
  expect(await seen("b", () => ({}))).toBe(taken); // of another key
  expect(await seen("c", () => ({}))).toBe(taken); // of no key
  expect(await seen("a", (now) => ({ at: now - 5 * HOUR }))).toBe(taken); // late
  expect(await seen("a", (now) => ({ at: now + 5 * HOUR }))).toBe(taken); // early
});

test("a row has the length of a power of two, whatever is in it", async () => {
  const lengths = async (count: number) => {
    const store = plainStore();
    const hub = open(store, () => START);
    await hub.addMany(
      "spent",
      Array.from({ length: count }, () => ({ key: "a", value: 3 })),
      { id: "x".repeat(count), body: "y".repeat(count) },
    );
    return store.snapshots.get("events//1")!.bytes.length;
  };
  const empty = await lengths(0);
  expect(await lengths(1)).toBe(empty);
  expect(await lengths(40)).toBe(empty);
  expect(await lengths(100)).toBe(empty + 4096);
});

/**
 * The attacker, or an operator in a hurry, starts a second process on a hub that a first one is writing to. If both write,
 * the noise of a period covers two sums; if the second one reads rows and sections of several moments, it continues a state
 * that never was, or takes a sound store for a damaged one. What must be impossible: two processes that publish, an
 * acknowledged event that is lost, and a store that is refused because somebody wrote to it.
 */
import { expect, test } from "vitest";
import type { Store } from "../../src/index.js";
import { plainStore } from "../durable/support.js";
import { Clock, openExact, TEN } from "../durable/eventHub/support.js";

type Hub = ReturnType<typeof openExact>;

/** A store whose calls take as long as those of a server: others get their turn in between. */
function slow(store: Store): Store {
  const soon = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
  return {
    durable: true,
    get: async (name) => {
      await soon();
      return store.get(name);
    },
    put: async (name, sequence, bytes) => {
      await soon();
      return store.put(name, sequence, bytes);
    },
  };
}

/** Adds events one after the other until the hub has ended; says how many were acknowledged, and why it ended. */
async function write(hub: Hub, until: () => boolean) {
  let acknowledged = 0;
  try {
    while (!until()) {
      await hub.add("orders", "berlin");
      acknowledged++;
    }
  } catch (error) {
    return { acknowledged, error: error as Error };
  }
  return { acknowledged, error: undefined };
}

const countOf = async (hub: Hub): Promise<number> => {
  await hub.advance(TEN + 1000);
  const { value } = await hub.between("orders", "berlin", TEN, TEN + 1000);
  return Math.round(value!);
};

test("a full journal is taken over while the first process writes", async () => {
  const store = plainStore();
  const clock = new Clock();
  const before = openExact(store, clock, 0, { exclusive: true });
  for (let i = 0; i < 600; i++) await before.add("orders", "berlin");
  const first = openExact(slow(store), clock, 0, { exclusive: true, commitEvery: 5 });
  await first.stats();
  const writing = write(first, () => false);
  const second = openExact(slow(store), clock, 0, { exclusive: true });
  await second.stats();
  const { acknowledged, error } = await writing;
  expect(error).toMatchObject({ code: "conflict" });
  expect(error!.message).toContain("another process");
  expect(await countOf(second)).toBe(600 + acknowledged);
  await expect(first.advance(TEN + 2000)).rejects.toThrow("another process opened this hub");
});

test("a process whose store failed does not take the hub back", async () => {
  const store = plainStore();
  const clock = new Clock();
  let down = false;
  const broken: Store = {
    ...store,
    get: (name) => (down ? Promise.reject(new Error("timeout")) : store.get(name)),
    put: (...args) => (down ? Promise.reject(new Error("timeout")) : store.put(...args)),
  };
  const first = openExact(broken, clock, 0, { exclusive: true });
  await first.add("orders", "berlin");
  down = true;
  await expect(first.add("orders", "berlin")).rejects.toMatchObject({ code: "in-doubt" });
  const second = openExact(store, clock, 0, { exclusive: true });
  await second.add("orders", "berlin");
  down = false;
  await expect(first.add("orders", "berlin")).rejects.toThrow("another process opened this hub");
  await second.add("orders", "berlin");
  expect(await countOf(second)).toBe(3);
});

test("a store that failed for a moment is read again, by the process that has the hub", async () => {
  const store = plainStore();
  const clock = new Clock();
  let lost = false;
  const broken: Store = {
    ...store,
    get: (name) => (lost ? Promise.reject(new Error("timeout")) : store.get(name)),
    put: async (...args) => {
      await store.put(...args);
      if (lost) throw new Error("timeout");
    },
  };
  const hub = openExact(broken, clock, 0, { exclusive: true });
  await hub.add("orders", "berlin");
  lost = true;
  await expect(hub.add("orders", "berlin")).rejects.toMatchObject({ code: "in-doubt" });
  lost = false;
  await hub.add("orders", "berlin");
  expect(await countOf(hub)).toBe(3); // the one in doubt was stored
});

test("processes that take turns open the hub while another one writes", async () => {
  const store = plainStore();
  const clock = new Clock();
  const before = openExact(store, clock);
  for (let i = 0; i < 600; i++) await before.add("orders", "berlin");
  const first = openExact(slow(store), clock);
  let opened = 0;
  const writing = write(first, () => opened === 6);
  for (; opened < 6; opened++) await openExact(slow(store), clock).stats();
  const { acknowledged, error } = await writing;
  expect(error).toBeUndefined();
  expect(acknowledged).toBeGreaterThan(6);
  expect(await countOf(openExact(store, clock))).toBe(600 + acknowledged);
});

test("starts on a journal in which the next row has no room lose nothing", async () => {
  const store = plainStore();
  const clock = new Clock();
  let rowsOnly = false;
  const broken: Store = {
    ...store,
    put: (name, ...rest) =>
      rowsOnly && !name.includes("//") ? Promise.reject(new Error("timeout")) : store.put(name, ...rest),
  };
  const first = openExact(broken, clock, 0, { exclusive: true });
  await first.add("orders", "berlin");
  rowsOnly = true;
  let acknowledged = 1;
  while (
    await first.add("orders", "berlin").then(
      () => true,
      () => false,
    )
  )
    acknowledged++;
  expect(acknowledged).toBeGreaterThan(500);
  let last = first;
  for (let i = 0; i < 6; i++) await (last = openExact(store, clock, 0, { exclusive: true })).stats();
  await last.add("orders", "berlin");
  expect(await countOf(last)).toBe(acknowledged + 1);
});

/**
 * The attacker, or a broken disk, changes what a hub has stored: an entry goes back to an older one, is missing, or has a
 * flipped bit. If the hub goes on, it publishes periods again with the same noise over other sums, and the difference of two
 * answers is exact. What must be impossible: any answer from a store in which a single entry is not the one that belongs there.
 */
import { describe, expect, test } from "vitest";
import { openHub, type StoredSnapshot } from "../../src/index.js";
import { rekey } from "../../src/node.js";
import { key, plainStore } from "../durable/support.js";

const START = Date.UTC(2026, 2, 1, 21);
const HOUR = 3_600_000;
const metrics = {
  orders: { epsilon: 1, every: "1h", of: "count", keys: ["a", "b"], perPerson: 3 },
  spent: { epsilon: 1, every: "1h", of: "sum", max: 10, threshold: 5, keys: ["a"] },
} as const;

let now = START;
const open = (store: ReturnType<typeof plainStore>, atLeast = 0, own = key) =>
  openHub({ metrics, store, key: own, clock: () => now, commitEvery: 0, atLeast });

async function publish(hub: ReturnType<typeof open>, hours: number): Promise<void> {
  for (let i = 0; i < hours; i++) {
    await hub.add("orders", "a", 1, { person: `p${i}` });
    await hub.add("spent", "a", 3);
    now += HOUR;
    await hub.advance();
  }
}

const said = async (hub: ReturnType<typeof open>) =>
  JSON.stringify([
    await hub.between("orders", "a", START, now),
    await hub.between("orders", "b", START, now),
    await hub.between("spent", "a", START, now),
  ]);

/** A store after a few hours that span midnight, what it had at each moment, and what was published. */
async function used(rows: number) {
  now = START;
  const store = plainStore();
  const hub = open(store);
  const older = new Map<string, StoredSnapshot>();
  const put = store.put.bind(store);
  store.put = (name, sequence, bytes) => {
    const before = store.snapshots.get(name);
    if (before !== undefined) older.set(name, before);
    return put(name, sequence, bytes);
  };
  await publish(hub, 4);
  for (let i = 0; i < rows; i++) await hub.add("orders", "b", 1, { person: "q" });
  return { store, older, sequence: await hub.sequence(), answer: await said(hub) };
}

const refuses = async (store: ReturnType<typeof plainStore>, atLeast = 0): Promise<string> =>
  open(store, atLeast)
    .stats()
    .then(
      () => "opened",
      (error: Error) => error.message,
    );

describe("a store in which", () => {
  test("nothing was changed is opened, and says the same", async () => {
    const { store, answer, sequence } = await used(0);
    expect(await said(open(store, sequence))).toBe(answer);
  });

  test("any one entry is missing is refused, but for the newest row, which needs atLeast", async () => {
    const { store, sequence } = await used(0);
    for (const name of [...store.snapshots.keys()]) {
      if (name.includes("/days/")) continue;
      const copy = plainStore();
      for (const [other, snapshot] of store.snapshots)
        if (other !== name) copy.snapshots.set(other, snapshot);
      expect([name, await refuses(copy, sequence)]).toEqual([
        name,
        expect.stringMatching(/missing|row \d+ or a later/),
      ]);
      if (name !== `events//${sequence - 1}`)
        expect([name, await refuses(copy)]).toEqual([name, expect.stringContaining("missing")]);
    }
  });

  test("an entry of a closed day is missing gives no answer about that day", async () => {
    const { store } = await used(0);
    const hub = open(store);
    await hub.add("spent", "a", 3);
    await hub.close(); // rows are not needed from now on: the day is in its entries alone
    for (const name of [...store.snapshots.keys()]) if (name.includes("/days/")) store.snapshots.delete(name);
    await expect(open(store).between("orders", "a", START, now)).rejects.toThrow(
      "of a closed day is missing",
    );
  });

  test("any one entry went back is refused", async () => {
    const { store, older } = await used(700);
    let tried = 0;
    for (const [name, snapshot] of older) {
      const copy = plainStore();
      for (const [other, own] of store.snapshots) copy.snapshots.set(other, own);
      copy.snapshots.set(name, snapshot);
      const message = await refuses(copy);
      expect([name, message]).toEqual([name, expect.stringMatching(/rolled back|missing/)]);
      if (tried++ > 60) break;
    }
    expect(tried).toBeGreaterThan(10);
  });

  test("a bit of any one entry was flipped is refused", async () => {
    const { store } = await used(0);
    for (const [name, { sequence, bytes }] of [...store.snapshots]) {
      if (name.includes("/days/")) continue;
      const copy = plainStore();
      for (const [other, own] of store.snapshots) copy.snapshots.set(other, own);
      const altered = bytes.slice();
      altered[altered.length - 20]! ^= 4;
      copy.snapshots.set(name, { sequence, bytes: altered });
      expect([name, await refuses(copy)]).toEqual([name, expect.stringContaining("altered")]);
    }
  });

  test("everything went back needs a number from outside", async () => {
    now = START;
    const store = plainStore();
    const hub = open(store);
    await publish(hub, 1);
    const copy = plainStore();
    for (const [name, snapshot] of store.snapshots) copy.snapshots.set(name, snapshot);
    await publish(hub, 1);
    expect(await refuses(copy, await hub.sequence())).toContain("the store was rolled back");
  });

  test("the key was changed says the same", async () => {
    const { store, answer } = await used(3);
    const other = new Uint8Array(32).fill(9);
    const names = [...store.snapshots.keys()];
    await rekey({ store, from: key, to: other, names });
    expect(await said(open(store, 0, other))).toBe(answer);
    expect(await refuses(store)).toContain("the key is another one");
    const hub = open(store, 0, other);
    await publish(hub, 24); // and goes on, over midnight
    expect(await said(open(store, 0, other))).toBe(await said(hub));
  });
});

/**
 * The attacker makes single calls of the store fail while a hub is charged to an odometer, or while the key of a store changes.
 * What must be impossible: a hub that publishes and is not charged, a charge for every restart, and a store of which a part
 * opens with neither key.
 */
import { describe, expect, test } from "vitest";
import { openHub, openOdometer, openStream, privateStream, type Store } from "../../src/index.js";
import { rekey } from "../../src/node.js";
import { key, options, plainStore, values } from "../durable/support.js";
import { everyFault, failingStore } from "../support/faults.js";

const { unsafeSeed: _, ...secret } = options;
const WHEN = ["before", "after"] as const;

/** Makes a call until it succeeds. @returns how often it failed */
async function insist(call: () => Promise<unknown>): Promise<number> {
  for (let failures = 0; ; failures++)
    try {
      await call();
      return failures;
    } catch (error) {
      if (failures > 20) throw error;
    }
}

describe("the mark of a hub that was charged", () => {
  test.each(WHEN)("each call of the store failing in turn, %s its work", async (when) => {
    const faults = await everyFault(async (fault) => {
      const [inner, budgets] = [plainStore(), plainStore()];
      const store = failingStore(inner, fault, when);
      const odometer = await openOdometer({
        name: "o",
        store: failingStore(budgets, fault, when),
        key,
        limit: 9,
      }).catch(() => openOdometer({ name: "o", store: budgets, key, limit: 9 }));
      const budget = { odometer, name: "per shop", data: "sales" };
      const spent = async () =>
        (await openOdometer({ name: "o", store: budgets, key, limit: 9 })).spent("sales");
      const start = async () => {
        const hub = openHub({ ...secret, holdout: 0, threshold: 100, store, key, budget });
        const published = await hub.push("a", 1);
        expect(published).toBeDefined();
        expect(await spent()).toBeGreaterThanOrEqual(1); // whatever comes out is charged
      };
      const failures = await insist(start);
      const after = await spent();
      expect(after).toBeLessThanOrEqual(1 + failures);
      await insist(start);
      expect(await spent()).toBe(after); // a restart is free
    });
    expect(faults).toBeGreaterThan(5);
  });
});

describe("rekey", () => {
  const [from, to] = [1, 2].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array];
  const names = ["a", "b", "c"];
  const open = (store: Store, name: string, with_: Uint8Array) =>
    openStream({ ...options, unsafeSeed: `rekey ${name}`, name, store, key: with_ });

  test.each(WHEN)("each call of the store failing in turn, %s its work", async (when) => {
    const faults = await everyFault(async (fault) => {
      const inner = { ...plainStore() };
      const store: Store = { ...inner, names: () => Promise.resolve([...inner.snapshots.keys()]) };
      for (const name of names) await (await open(store, name, from)).pushMany(values.subarray(0, 50));
      const failures = await insist(async () => {
        await rekey({ store: failingStore(store, fault, when), from, to }).catch(async (error: unknown) => {
          for (const name of names) await open(store, name, from).catch(() => open(store, name, to));
          throw error;
        });
      });
      expect(failures).toBeLessThanOrEqual(1);
      for (const name of names) {
        await expect(open(store, name, from)).rejects.toThrow(/^snapshot/);
        const stream = await open(store, name, to);
        const whole = privateStream({ ...options, unsafeSeed: `rekey ${name}` }).pushMany(values);
        const rest = await stream.pushMany(values.subarray(50));
        expect([...rest]).toEqual([...whole.subarray(whole.length - rest.length)]);
      }
    });
    expect(faults).toBeGreaterThan(5);
  });
});

/**
 * The attacker changes the key of a store while a hub of events writes to it. Records under both keys would leave a store that
 * neither key opens, and a hub that is begun anew in its place would publish the same ticks again. What must be impossible: a
 * store that is lost, or a `rekey` that says it is done when it is not.
 */
import { expect, test } from "vitest";
import { type EventAnswer, type EventHubOptions, openHub, type Store } from "../../src/index.js";
import { rekey } from "../../src/node.js";
import { plainStore } from "../durable/support.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const [from, to] = [1, 2].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array];
const metrics: EventHubOptions["metrics"] = {
  orders: {
    ...{ epsilon: 64, every: "1s", levels: ["1s"], keys: ["a"], of: "count", unsafeSeed: "rekey" },
  },
};
const open = (store: Store, key: Uint8Array) =>
  openHub({ metrics, store, key, commitEvery: 0, clock: () => TEN });

/** A store in which a hub writes while its names are listed, so often. */
function written(writes: number) {
  const inner = plainStore();
  const hub = open(inner, from);
  let added = 0;
  const add = async () => {
    await hub.add("orders", "a");
    added++;
  };
  const store: Store = {
    ...inner,
    async names() {
      const names = [...inner.snapshots.keys()];
      if (writes-- > 0) await add().catch(() => undefined); // a record with the old key, under a name that is not listed
      return names;
    },
  };
  return { store, inner, add, added: () => added, stop: () => (writes = 0) };
}

async function counted(store: Store): Promise<number> {
  const hub = open(store, to);
  await hub.advance(TEN + 1000);
  const answer = await hub.between("orders", "a", TEN, TEN + 1000);
  return Math.round((answer as EventAnswer).value!);
}

test("a hub that writes for a while beside rekey: the new key opens all of it", async () => {
  const { store, inner, add, added } = written(1);
  await add();
  expect(await rekey({ store, from, to })).toBeGreaterThan(0);
  expect(await counted(inner)).toBe(added());
});

test("a hub that does not stop: rekey says so, and after it has stopped the new key opens all of it", async () => {
  const { store, inner, add, added, stop } = written(Infinity);
  await add();
  await expect(rekey({ store, from, to })).rejects.toMatchObject({ code: "in-use", retryable: true });
  stop();
  await rekey({ store, from, to });
  expect(await counted(inner)).toBe(added());
});

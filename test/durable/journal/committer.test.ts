import { expect, test } from "vitest";
import type { CheckedStore } from "../../../src/durable/checkedStore.js";
import { Committer } from "../../../src/durable/journal/committer.js";

test("a turn that fails outside the store rejects all its members, and the next turn is stored", async () => {
  let fails = true;
  const store = {
    durable: true,
    putMany: (snapshots: readonly unknown[]) =>
      fails ? Promise.reject(new RangeError("no memory")) : Promise.resolve(snapshots.map(() => undefined)),
  } as unknown as CheckedStore;
  const committer = new Committer(store);
  const encrypt = (name: string) => () => ({ name, sequence: 1, bytes: new Uint8Array(1) });
  const turn = await Promise.allSettled([committer.commit(encrypt("a")), committer.commit(encrypt("b"))]);
  expect(turn.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  fails = false;
  expect(await committer.commit(encrypt("a"))).toBe(1);
});

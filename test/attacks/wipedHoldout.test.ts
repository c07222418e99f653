/**
 * The attacker reads the memory of the process and the store, with its key, after θ was chosen. Held-out values have done their
 * work: their counts are true counts, and nothing needs them any more. What must be impossible: to tell, from anything that is
 * kept after θ was chosen, how many values were held out or what they were.
 */
import { describe, expect, test } from "vitest";
import { type EventHubOptions, openHub, type Store } from "../../src/index.js";
import { openBound } from "../../src/snapshot/snapshot.js";
import { snapshotKey } from "../../src/snapshot/streamCipher.js";
import { key, plainStore } from "../durable/support.js";

const START = Date.UTC(2026, 2, 1, 20);
const MIDNIGHT = Date.UTC(2026, 2, 2);
const metrics: EventHubOptions["metrics"] = {
  spent: {
    ...{ epsilon: 4, every: "1h", keys: ["a"], unsafeSeed: "wiped" },
    ...{ of: "sum", max: 50, holdout: 0 },
  },
};

/** Sections of the state that the store has just after θ was chosen, decrypted; rows and the secrets of the hub left out. */
async function kept(perHour: number): Promise<{ theta: number | null; sections: Map<string, number[]> }> {
  const store = plainStore();
  let now = START;
  const hub = openHub({ metrics, store, key, commitEvery: 0, clock: () => now });
  for (; now < MIDNIGHT; now += 3_600_000)
    await hub.addMany(
      "spent",
      Array.from({ length: perHour }, () => ({ key: "a", value: 20, at: now })),
    );
  await hub.advance();
  const sections = new Map<string, number[]>();
  for (const [name, { bytes }] of store.snapshots) {
    if (!name.includes("/metrics/")) continue;
    const { state } = await openBound(bytes, await snapshotKey(key), () => undefined);
    sections.set(name, [...state.rest].slice(8)); // after the row that it covers: how many there were is public
  }
  return { theta: (await hub.statement("spent", "a")).threshold, sections };
}

test("a shared θ of events: the stored state says nothing of the values that chose it", async () => {
  const [few, many] = [await kept(200), await kept(240)];
  expect(few.theta).not.toBeNull();
  expect(few.theta).toBe(many.theta); // public, and the only thing that may differ
  expect(few.sections.size).toBeGreaterThan(0);
  expect([...few.sections]).toEqual([...many.sections]);
});

/** Runs `act` while every buffer of typed arrays is kept. @returns those that hold a number, as 8 bytes of a double */
async function buffersWith(number: number, act: () => Promise<unknown>): Promise<number> {
  const buffers = new Set<ArrayBufferLike>();
  const restore: (() => void)[] = [];
  for (const name of ["Float64Array", "Uint8Array", "Uint32Array"] as const) {
    const before = globalThis[name];
    const watched = new Proxy(before, {
      construct(target, args: unknown[], newTarget) {
        const made = Reflect.construct(target, args, newTarget) as Float64Array;
        buffers.add(made.buffer);
        return made;
      },
    });
    Object.defineProperty(globalThis, name, { value: watched, configurable: true, writable: true });
    restore.push(() =>
      Object.defineProperty(globalThis, name, { value: before, configurable: true, writable: true }),
    );
  }
  try {
    await act();
  } finally {
    for (const undo of restore) undo();
  }
  const wanted = Buffer.from(Float64Array.of(number).buffer);
  return [...buffers].filter((buffer) => Buffer.from(buffer).includes(wanted)).length;
}

describe("a shared θ of values", () => {
  const [held, fine] = [4096, (4096 * 26) / 32]; // 26 of 32 held-out values choose θ: their true count, if all are alike
  const openOn = (store: Store) =>
    openHub({
      ...{ epsilon: 4, max: 50, maxRange: 64, holdout: held, threshold: "shared", unsafeSeed: "wiped" },
      ...{ store, key },
    });

  test("true counts are in memory before θ is chosen, and nowhere afterwards", async () => {
    const values = new Float64Array(held).fill(20);
    const hold = (count: number) => async () => {
      const hub = openOn(plainStore());
      await hub.pushMany("a", values.subarray(0, count));
    };
    expect(await buffersWith(fine, hold(held - 1))).toBeGreaterThan(0); // the attacker can see them
    expect(await buffersWith(fine, hold(held))).toBe(0);
  });

  test("nor after a restart in between: what was decrypted is overwritten", async () => {
    const resume = async () => {
      const store = plainStore();
      await openOn(store).pushMany("a", new Float64Array(held - 1).fill(20));
      await openOn(store).push("a", 20);
    };
    // The first hub was not stopped in order: its counters stay until they are collected. All copies but them are gone.
    expect(await buffersWith(fine, resume)).toBe(1);
  });

  test("nor in the store, decrypted", async () => {
    const store = plainStore();
    const hub = openOn(store);
    const plain = async () => {
      const { state } = await openBound(
        store.snapshots.get("")!.bytes,
        await snapshotKey(key),
        () => undefined,
      );
      const doubles: number[] = [];
      state.words(8); // the key of its noise
      for (;;)
        try {
          doubles.push(state.double());
        } catch {
          return doubles;
        }
    };
    await hub.pushMany("a", new Float64Array(held - 1).fill(20));
    expect(await plain()).toContain(fine);
    await hub.push("a", 20);
    expect(await plain()).not.toContain(fine);
  });
});

/**
 * The attacker makes a batch fail that crosses the end of a shared hold-out: its first values choose θ, its others are for a
 * stream. If the call says "try again" after θ was chosen, values that chose θ are published too, at twice their ε. What
 * must be impossible: a call that may be made again, and has changed something.
 */
import { describe, expect, test } from "vitest";
import { openHub, type Store } from "../../src/index.js";
import { failing, key, options, plainStore } from "../durable/support.js";

const HELD = 16;
const batch = Float64Array.from({ length: 20 }, (_, i) => i);
const open = (store: Store) => openHub({ ...options, threshold: "shared", holdout: HELD, store, key });

interface Failure {
  readonly code?: string;
  readonly retryable?: boolean;
}

/** Makes a call until it succeeds, or until making it again is not allowed. */
async function insist(call: () => Promise<unknown>): Promise<"done" | "in doubt"> {
  for (let attempt = 1; ; attempt++)
    try {
      await call();
      return "done";
    } catch (error) {
      const { code, retryable } = error as Failure;
      if (code === "in-doubt") return "in doubt";
      expect(retryable).toBe(true);
      if (attempt > 20) throw error;
    }
}

/** Values that count somewhere: held out, and received by the streams. */
async function counted(store: Store): Promise<number[]> {
  const hub = open(store);
  const [a, b] = [await hub.progress("a"), await hub.progress("b")];
  return [a.holdout.received, a.received, b.received];
}

test("the stream of the batch cannot be read: nothing is held out, and the call may be made again", async () => {
  const inner = plainStore();
  let broken = true;
  const get: Store["get"] = (name) =>
    broken && name === "b" ? Promise.reject(new Error("no line")) : inner.get(name);
  const hub = open({ ...inner, get });
  await hub.pushMany("a", batch.subarray(0, 8));
  await expect(hub.pushMany("b", batch)).rejects.toMatchObject({ code: "unavailable", retryable: true });
  expect((await hub.progress("a")).holdout.received).toBe(8);
  broken = false;
  expect(await hub.pushMany("b", batch)).toHaveLength(12);
  expect(await counted(inner)).toEqual([HELD, 0, 12]);
});

test("the stream of the batch cannot be stored: the call must not be made again", async () => {
  const inner = plainStore();
  const put: Store["put"] = (name, ...rest) =>
    name === "b" ? Promise.reject(new Error("disk full")) : inner.put(name, ...rest);
  const hub = open({ ...inner, put });
  await hub.pushMany("a", batch.subarray(0, 8));
  await expect(hub.pushMany("b", batch)).rejects.toMatchObject({ code: "in-doubt", retryable: false });
  expect(await counted(inner)).toEqual([HELD, 0, 0]);
});

test("others store the stream of the batch again and again: the call must not be made again", async () => {
  const inner = plainStore();
  const taken = Object.assign(new Error("taken"), { code: "conflict" });
  const put: Store["put"] = (name, ...rest) =>
    name === "b" ? Promise.reject(taken) : inner.put(name, ...rest);
  const hub = open({ ...inner, put });
  await expect(hub.pushMany("b", batch)).rejects.toMatchObject({ code: "in-doubt", retryable: false });
});

test("another call meets a conflict just after this one was stored: nothing is held out twice", async () => {
  const inner = plainStore();
  let puts = 0;
  // Another process stores between the first and the second commit of this hub.
  const put: Store["put"] = async (...snapshot) => {
    if (++puts === 2) await open(inner).push("x", 1);
    return inner.put(...snapshot);
  };
  const hub = open({ ...inner, put });
  const calls = [hub.push("a", 1)];
  for (let turn = 0; calls.length < 5; turn++) {
    await Promise.resolve(); // a turn of microtasks later each, so that some come between a commit and its answer
    if (turn % 4 === 0) calls.push(hub.push("b", 1));
  }
  await Promise.all(calls);
  expect(puts).toBeGreaterThan(2);
  expect(await counted(inner)).toEqual([6, 0, 0]); // five of this hub, one of the other
});

test("calls at any moment around the last held-out value: no stream begins without the shared θ", async () => {
  for (let turns = 0; turns < 60; turns++) {
    const store = plainStore();
    const hub = open(store);
    await hub.pushMany("a", batch.subarray(0, HELD - 2));
    const first = hub.push("a", 1);
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    await Promise.all([first, hub.push("b", 1), hub.push("b", 1), hub.push("c", 1)]);
    const { threshold } = await hub.statement("b");
    expect((await hub.statement("c")).threshold).toBe(threshold);
    expect(threshold).not.toBeNull();
    expect(await counted(store)).toEqual([HELD, 0, 1]);
  }
});

describe("each call of the store failing in turn", () => {
  const scenarios = [false, true].flatMap((after) => [1, 3, 7].map((length) => ({ after, length })));
  test.each(scenarios)("$length in a row, after its work: $after", async ({ after, length }) => {
    const run = async (store: Store) => {
      const hub = open(store);
      const first = await insist(() => hub.pushMany("a", batch.subarray(0, 8)));
      const second = await insist(() => hub.pushMany("b", batch));
      return [first, second].includes("in doubt") ? "in doubt" : "done";
    };
    const faultless = failing(plainStore(), { fails: () => false, after });
    expect(await run(faultless)).toBe("done");
    for (let n = 1; n <= faultless.calls; n++) {
      const inner = plainStore();
      const outcome = await run(failing(inner, { fails: (call) => call >= n && call < n + length, after }));
      const [held, a, b] = await counted(inner);
      if (outcome === "done") expect([held, a, b]).toEqual([HELD, 0, 12]);
      expect(held! + a! + b!).toBeLessThanOrEqual(8 + batch.length); // no value twice
    }
  });
});

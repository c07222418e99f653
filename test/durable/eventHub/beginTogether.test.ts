/** Two processes that begin one hub at the same time: one of them is held up halfway. */
import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { openHub, type Store } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, TEN } from "./support.js";

/** A process's way to a store: from a chosen call on, calls wait until they are let go. */
function held(inner: Store, holds: (method: "get" | "put", name: string) => boolean) {
  let letGo = (): void => undefined;
  const gate = new Promise<void>((resolve) => (letGo = resolve));
  let waits = false;
  const pass = (method: "get" | "put", name: string): Promise<void> => {
    waits ||= holds(method, name);
    return waits ? gate : Promise.resolve();
  };
  const store: Store = {
    durable: true,
    get: async (name) => {
      await pass("get", name);
      return inner.get(name);
    },
    put: async (name, sequence, bytes) => {
      await pass("put", name);
      await inner.put(name, sequence, bytes);
    },
  };
  const isWaiting = async (): Promise<void> => {
    while (!waits) await setImmediate();
  };
  return { store, letGo, isWaiting };
}

const open = (store: Store, epsilon: number, clock: Clock) =>
  openHub({
    metrics: { orders: { epsilon, every: "1s", levels: ["1s"], of: "count", keys: ["berlin"] } },
    ...{ store, key, clock: clock.read, commitEvery: 0 },
  });

const MOMENTS: Record<string, (method: "get" | "put", name: string) => boolean> = {
  "it has seen that there is no catalogue": (_, name) => name.includes("/requests/"),
  "it has read everything": (method) => method === "put",
  "it has stored its catalogue": (method, name) => method === "put" && !name.endsWith("/catalogue"),
};

// At ε = 128 the noise of scale 1/128 is 0 but for odds of 2·e⁻¹²⁸; at ε = 1 it says whether all have one secret.
for (const [epsilon, closes] of [128, 1].flatMap((one) =>
  [true, false].map((close) => [one, close] as const),
))
  test.each(Object.keys(MOMENTS))(
    `ε = ${epsilon}, the other ${closes ? "stores all" : "goes on"}: events count once, under one secret; held up when %s`,
    async (moment) => {
      const inner = plainStore();
      const clock = new Clock();
      const { store, letGo, isWaiting } = held(inner, MOMENTS[moment]!);
      const slow = open(store, epsilon, clock);
      await isWaiting();
      const fast = open(inner, epsilon, clock);
      for (let i = 0; i < 3; i++) await fast.add("orders", "berlin");
      if (closes) await fast.close();
      letGo();
      for (let i = 0; i < 2; i++) await slow.add("orders", "berlin");
      if (!closes) await fast.add("orders", "berlin");
      clock.now += 1000;
      await slow.advance();
      const [first, other] = await Promise.all(
        [slow, open(inner, epsilon, clock)].map((hub) => hub.between("orders", "berlin", TEN, TEN + 1000)),
      );
      expect(other!.value).toBe(first!.value);
      if (epsilon === 128) expect(first!.value).toBeCloseTo(closes ? 5 : 6, 6);
    },
  );

/**
 * The attacker makes a commit of a hub without a store fail halfway: a kernel traps while ticks are closed. If the hub begins
 * anew then, limits of people begin anew too, and a person gets twice the share of ε. What must be impossible: any answer after it.
 */
import { expect, test } from "vitest";
import { jsNoise } from "../../src/core/js/index.js";
import { openHub } from "../../src/index.js";
import { Countdown, failingMethods } from "../support/faults.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const open = (clock = () => TEN) =>
  openHub({
    metrics: {
      orders: {
        ...{ epsilon: 1, every: "1s", of: "count", keys: ["a"], core: "js", perPerson: 1 },
      },
    },
    clock,
    commitEvery: 0,
  });

test("a hub without a store that fails halfway says so for ever, and never begins anew", async () => {
  const hub = open();
  await hub.add("orders", "a", 1, { person: "p" });
  const closing = failingMethods(jsNoise, new Countdown(1), "before", () => hub.advance(TEN + 5000));
  await expect(closing).rejects.toThrow("injected");
  const lost = "hub: a commit failed halfway, and no store has its state; make another hub";
  await expect(hub.add("orders", "a", 1, { person: "p" })).rejects.toThrow(lost);
  await expect(hub.advance(TEN + 5000)).rejects.toThrow(lost);
  await expect(hub.between("orders", "a", TEN, TEN + 1000)).rejects.toThrow(lost);
  await expect(hub.stats()).rejects.toThrow(lost);
});

test("a call that fails before anything has changed leaves the hub as it was", async () => {
  let now = () => TEN;
  const hub = open(() => now());
  await hub.add("orders", "a", 1, { person: "p" });
  now = () => {
    throw new Error("no time");
  };
  await expect(hub.add("orders", "a", 1, { person: "q" })).rejects.toThrow("no time");
  await expect(hub.advance()).rejects.toThrow("no time");
  now = () => TEN;
  await hub.add("orders", "a", 1, { person: "p" });
  expect(await hub.dropped("orders")).toEqual({ late: 0, early: 0, overLimit: 1 }); // p is remembered
  expect(await hub.advance(TEN + 2000)).toEqual([{ metric: "orders", from: TEN, to: TEN + 2000 }]);
});

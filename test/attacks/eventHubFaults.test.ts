/**
 * The attacker makes calls of a hub of events fail: memory runs out, a kernel traps, the store fails before or after its work,
 * the clock throws. A caller adds an event again if the hub says that it was not stored. If it was, the event counts
 * twice and costs twice its ε; if ticks are closed twice, two answers differ by true counts. What must be impossible: to
 * tell, from anything the hub says later, that a failed call was ever made.
 */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { type EventHubOptions, openHub, type Store } from "../../src/index.js";
import { failing, key, plainStore } from "../durable/support.js";
import {
  type Countdown,
  everyFault,
  failingClock,
  failingLaterAllocations,
  failingMethods,
} from "../support/faults.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const second = (tick: number) => TEN + 1000 * tick;
const keys = ["a", "b"];
const base = {
  ...{ epsilon: 1, every: "1s", origin: TEN, maxRange: "8s", keys, unsafeSeed: "faults" },
  tuning: { fanout: 2, skipLevels: 1 },
} as const;
const perPerson = { events: 2, every: "1m", people: 8 } as const;
const metrics: EventHubOptions["metrics"] = {
  orders: { ...base, of: "count", perPerson },
  latency: { ...base, edges: [1, 4] },
  spent: { ...base, of: "mean", max: 50, holdout: "3s", perTick: 4 },
};

type Hub = ReturnType<typeof openHub<typeof metrics>>;

/** @param clock counts as the caller's code: it fails like the rest */
const open = (store?: Store): Hub =>
  openHub({
    ...{ metrics, commitEvery: 0, clock: () => Date.now() * 0 + second(5) },
    ...(store === undefined ? {} : { store, key }),
  });

/** Calls in their order: events of all metrics, of people who come again, and ticks that choose θ and publish. */
const calls: ((hub: Hub) => Promise<unknown>)[] = [0, 2, 4, 7].flatMap((tick, round) => [
  (hub: Hub) => hub.add("orders", keys[round % 2]!, 1, { at: second(tick), person: `p${round % 3}` }),
  (hub: Hub) =>
    hub.addMany(
      "spent",
      [3, 10, 30].map((value, i) => ({ key: keys[i % 2]!, value, at: second(tick) })),
    ),
  (hub: Hub) => hub.addMany("latency", [{ key: "a", value: round, at: second(tick + 1) }]),
  (hub: Hub) => hub.advance(second(tick + 1)),
]);

/** Everything that a hub says of what is published. */
async function said(hub: Hub): Promise<string> {
  const answers = [];
  for (const metric of Object.keys(metrics))
    for (const shop of keys) answers.push(await hub.between(metric, shop, second(3), second(8)));
  return JSON.stringify([answers, (await hub.stats()).metrics, await hub.statement("spent", "a")]);
}

interface Outcome {
  /** A call was refused, and nobody knows whether it has happened. */
  doubt: boolean;
  /** The hub gives no answers any more. */
  lost: boolean;
}

/** Makes every call until it succeeds. */
async function run(hub: Hub): Promise<Outcome> {
  for (const call of calls)
    for (let attempt = 1; ; attempt++)
      try {
        await call(hub);
        break;
      } catch (error) {
        const { code, message } = error as { code?: string; message: string };
        if (code === "in-doubt") return { doubt: true, lost: false };
        if (message.startsWith("hub: a commit failed halfway")) return { doubt: false, lost: true };
        if (attempt > 20) throw error;
      }
  return { doubt: false, lost: false };
}

const expected = await (async () => {
  const hub = open();
  await run(hub);
  return said(hub);
})();

type Breaking = (fault: Countdown, act: () => Promise<Outcome>) => Promise<Outcome>;

const ways: Record<string, Breaking> = {
  "each allocation": failingLaterAllocations,
  "each kernel call, before its work": (fault, act) => failingMethods(chooseCore(), fault, "before", act),
  "each kernel call, after its work": (fault, act) => failingMethods(chooseCore(), fault, "after", act),
  "each read of a clock": failingClock,
};

describe.each(Object.keys(ways))("%s failing in turn", (way) => {
  test("with a store: as if it had not failed, in this process and in the next", async () => {
    const failures = await everyFault(async (fault) => {
      const store = plainStore();
      const hub = open(store);
      await hub.stats();
      expect(await ways[way]!(fault, () => run(hub))).toEqual({ doubt: false, lost: false });
      expect(await said(hub)).toBe(expected);
      expect(await said(open(store))).toBe(expected);
    });
    expect(failures).toBeGreaterThan(8);
  });

  test("without a store: as if it had not failed, or no answer at all", async () => {
    await everyFault(async (fault) => {
      const hub = open();
      await hub.stats();
      const { lost } = await ways[way]!(fault, () => run(hub));
      if (lost) await expect(hub.stats()).rejects.toThrow("make another hub");
      else expect(await said(hub)).toBe(expected);
    });
  });
});

describe("each call of the store failing in turn", () => {
  const scenarios = [false, true].flatMap((after) => [1, 2, 7].map((length) => ({ after, length })));
  test.each(scenarios)("$length in a row, after its work: $after", async ({ after, length }) => {
    const faultless = failing(plainStore(), { fails: () => false, after });
    await run(open(faultless));
    let doubts = 0;
    for (let n = 1; n <= faultless.calls; n++) {
      const inner = plainStore();
      const store = failing(inner, { fails: (call) => call >= n && call < n + length, after });
      const hub = open(store);
      const { doubt } = await run(hub);
      if (doubt) doubts++;
      else {
        expect(await said(hub)).toBe(expected);
        expect(await said(open(inner))).toBe(expected);
      }
    }
    if (length < 3) expect(doubts).toBe(0);
    else expect(doubts).toBeGreaterThan(0);
  });
});

/**
 * The attacker makes calls of a hub of events fail: memory runs out, a kernel traps, the store fails before or after its work,
 * the clock throws. A caller adds an event again if the hub says that it was not stored. If it was, the event counts
 * twice and costs twice its ε; if ticks are closed twice, two answers differ by true counts. What must be impossible: to
 * tell, from anything the hub says later, that a failed call was ever made.
 */
import { describe, expect, test } from "vitest";
import { chooseNoise } from "../../src/core/choose.js";
import { type EventHubOptions, openHub, type Store } from "../../src/index.js";
import { failing, key, plainStore } from "../durable/support.js";
import {
  type Countdown,
  everyFault,
  failingClock,
  failingLaterAllocations,
  failingMethods,
} from "../support/faults.js";

/** Three hours before midnight. */
const START = Date.UTC(2026, 2, 1, 21);
const hour = (n: number) => START + 3_600_000 * n;
const keys = ["a", "b"];
const base = { epsilon: 64, every: "1h", keys, unsafeSeed: "faults" } as const;
const perPerson = { events: 2, people: 8 } as const;
const metrics: EventHubOptions["metrics"] = {
  orders: { ...base, epsilon: 1, of: "count", perPerson },
  latency: { ...base, epsilon: 1, edges: [1, 4] },
  spent: { ...base, of: "mean", max: 50, holdout: 0 },
};

type Hub = ReturnType<typeof openHub<typeof metrics>>;

/** The time of the clock, which the calls turn. */
let now = START;

/** The clock counts as the caller's code: it fails like the rest. */
const open = (store?: Store): Hub =>
  openHub({
    ...{ metrics, commitEvery: 0, clock: () => Date.now() * 0 + now },
    ...(store === undefined ? {} : { store, key }),
  });

/** Calls in their order: events of all metrics, of people who come again, and periods that choose θ and publish. */
const calls: ((hub: Hub) => Promise<unknown>)[] = [0, 1, 2, 3].flatMap((n) => [
  (hub: Hub) => {
    now = hour(n);
    return hub.stats(); // the first one begins the hub
  },
  (hub: Hub) => hub.add("orders", keys[n % 2]!, 1, { person: `p${n % 2}` }),
  (hub: Hub) =>
    hub.addMany(
      "spent",
      [3, 10, 30, 10, 20, 9].map((value, i) => ({ key: keys[i % 2]!, value })),
    ),
  (hub: Hub) => hub.addMany("latency", [{ key: "a", value: n }]),
  (hub: Hub) => {
    now = hour(n + 1);
    return hub.advance();
  },
]);

/** Everything that a hub says of what is published. */
async function said(hub: Hub): Promise<string> {
  const answers = [];
  for (const metric of Object.keys(metrics))
    for (const shop of keys) answers.push(await hub.between(metric, shop, hour(2), hour(4)));
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
  now = START;
  const hub = open();
  await run(hub);
  return said(hub);
})();

type Breaking = (fault: Countdown, act: () => Promise<Outcome>) => Promise<Outcome>;

const ways: Record<string, Breaking> = {
  "each allocation": failingLaterAllocations,
  "each kernel call, before its work": (fault, act) => failingMethods(chooseNoise(), fault, "before", act),
  "each kernel call, after its work": (fault, act) => failingMethods(chooseNoise(), fault, "after", act),
  "each read of a clock": failingClock,
};

describe.each(Object.keys(ways))("%s failing in turn", (way) => {
  test("with a store: as if it had not failed, in this process and in the next", async () => {
    const failures = await everyFault(async (fault) => {
      const store = plainStore();
      now = START;
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
      now = START;
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
    now = START;
    await run(open(faultless));
    let doubts = 0;
    for (let n = 1; n <= faultless.calls; n++) {
      const inner = plainStore();
      const store = failing(inner, { fails: (call) => call >= n && call < n + length, after });
      now = START;
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

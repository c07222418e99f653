/** Drives an object that is kept in a store through faults: every call is repeated until it is stored, and answers as without faults. */
import { expect, test } from "vitest";
import { chooseData, chooseNoise } from "../../src/core/choose.js";
import type { Store } from "../../src/index.js";
import { failing, plainStore } from "../durable/support.js";
import {
  type Countdown,
  everyFault,
  failingClock,
  failingLaterAllocations,
  failingMethods,
} from "./faults.js";

export interface Kept {
  readonly ended: boolean;
  readonly sequence: number;
}

/** A scenario: how to open the object, the calls in order, and all answers afterwards. */
export interface Scenario<T extends Kept> {
  readonly open: (store: Store) => Promise<T>;
  readonly calls: readonly ((kept: T) => Promise<unknown>)[];
  readonly said: (kept: T) => Promise<unknown>;
}

/** Makes every call until it is stored. */
async function run<T extends Kept>({ open, calls }: Scenario<T>, store: Store): Promise<T> {
  const again = async (): Promise<T> => {
    for (let attempt = 1; ; attempt++)
      try {
        return await open(store);
      } catch (error) {
        if (attempt > 20) throw error;
      }
  };
  let kept = await again();
  for (const call of calls)
    for (let attempt = 1; ; attempt++) {
      const { sequence } = kept;
      try {
        await call(kept);
        break;
      } catch (error) {
        if (attempt > 20) throw error;
        if (!kept.ended) continue;
        kept = await again();
        if (kept.sequence > sequence) break; // it was stored
      }
    }
  return kept;
}

type Breaking = <T>(fault: Countdown, act: () => Promise<T>) => Promise<T>;

/** Runs `act` while the methods count that streams of events or aggregators call. */
const failingKernels =
  (when: "before" | "after"): Breaking =>
  (fault, act) =>
    failingMethods(chooseData(), fault, when, () => failingMethods(chooseNoise(), fault, when, act));

const ways: Record<string, Breaking> = {
  allocation: failingLaterAllocations,
  "kernel call, before its work": failingKernels("before"),
  "kernel call, after its work": failingKernels("after"),
  "read of a clock": failingClock,
};

/** Declares the tests of a scenario. */
export function everyFaultOf<T extends Kept>(scenario: Scenario<T>): void {
  const say = async (kept: T) =>
    JSON.stringify(await scenario.said(kept), (_, x: unknown) => (x instanceof Float64Array ? [...x] : x));

  test.each(Object.keys(ways))("each %s failing in turn", async (way) => {
    const expected = await say(await run(scenario, plainStore()));
    const failures = await everyFault(async (fault) => {
      const store = plainStore();
      expect(await say(await ways[way]!(fault, () => run(scenario, store)))).toBe(expected);
      expect(await say(await scenario.open(store))).toBe(expected);
    });
    expect(failures).toBeGreaterThan(0);
  });

  test.each([
    [1, false],
    [1, true],
    [4, false],
    [4, true],
  ])("each call of the store failing in turn, %d in a row, after its work: %s", async (length, after) => {
    const faultless = failing(plainStore(), { fails: () => false, after });
    const expected = await say(await run(scenario, faultless));
    for (let n = 1; n <= faultless.calls; n++) {
      const inner = plainStore();
      const store = failing(inner, { fails: (call) => call >= n && call < n + length, after });
      expect(await say(await run(scenario, store))).toBe(expected);
      expect(await say(await scenario.open(inner))).toBe(expected);
    }
  });
}

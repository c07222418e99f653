/** The budget's arithmetic. Storage, tabs and sending are tested in a browser: test/browser/device.test.ts. */
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  charge,
  limitsOf,
  NOTHING_SPENT,
  originsOf,
  promiseOf,
  reportsLeft,
} from "../../src/device/budget.js";
import { checkTerms } from "../../src/device/terms.js";
import { device } from "../../src/device.js";

const HOUR = 3_600_000;

test("two reports an hour, by hand", () => {
  const limits = limitsOf({ reports: 2, every: "1h" });
  const one = charge(limits, NOTHING_SPENT, 10.25 * HOUR)!;
  expect(one).toEqual({ until: 11 * HOUR, reports: 1, total: 1 });
  const two = charge(limits, one, 10.75 * HOUR)!;
  expect(two).toEqual({ until: 11 * HOUR, reports: 2, total: 2 });
  expect(charge(limits, two, 11 * HOUR - 1)).toBeUndefined();
  expect(charge(limits, two, 0)).toBeUndefined();
  expect(charge(limits, two, 11 * HOUR)).toEqual({ until: 12 * HOUR, reports: 1, total: 3 });
});

test("whatever the clock does, no period of it has more reports than granted, nor has the lifetime", () => {
  const times = fc.array(fc.integer({ min: 0, max: 20 * HOUR }), { maxLength: 60 });
  fc.assert(
    fc.property(
      times,
      fc.integer({ min: 1, max: 4 }),
      fc.integer({ min: 1, max: 20 }),
      (times, reports, lifetime) => {
        const limits = limitsOf({ reports, every: "1h", lifetime });
        let spent = NOTHING_SPENT;
        const granted = new Map<number, number>();
        for (const now of times) {
          const left = reportsLeft(limits, spent, now);
          const next = charge(limits, spent, now);
          expect(next === undefined).toBe(left === 0);
          if (next === undefined) continue;
          granted.set(next.until, (granted.get(next.until) ?? 0) + 1);
          spent = next;
        }
        expect(Math.max(0, ...granted.values())).toBeLessThanOrEqual(reports);
        expect(spent.total).toBeLessThanOrEqual(lifetime);
        expect([...granted.keys()]).toEqual([...granted.keys()].sort((a, b) => a - b));
      },
    ),
  );
});

test("terms are own properties, and learning has no θ", () => {
  expect(checkTerms({ threshold: 5, more: 1 })).toEqual({ threshold: 5 });
  for (const wrong of [null, 5, "learn", [], {}, Object.create({ threshold: 5 }), { threshold: "5" }])
    expect(() => checkTerms(wrong)).toThrow(/^terms: expected a number as threshold, got/);
});

test("without a browser's storage there is no device", () => {
  const budget = { reports: 1, every: "1d" };
  expect(() => device({ name: "x", epsilon: 1, max: 1, budget, url: "/" })).toThrow(
    /^indexedDB: expected a browser's storage, got none/,
  );
});

test("the attacker serves one page from four origins: the statement says so, or the page refuses", () => {
  const limits = limitsOf({ reports: 3, every: "1d", lifetime: 300 });
  const origins = ["a", "b", "c", "d"].map((name) => `https://${name}.example`);
  const promise = (listed: readonly string[] | undefined, here: string) =>
    promiseOf(limits, 0.5, originsOf(listed, here));
  expect(promise(undefined, origins[0]!)).toEqual({
    ...{ unit: "one device and origin, per day", epsilonPerReport: 0.5, epsilon: 1.5, lifetimeEpsilon: 150 },
  });
  expect(promise([...origins, "https://a.example/page"], origins[3]!)).toEqual({
    ...{ unit: "one device, per day", epsilonPerReport: 0.5, epsilon: 6, lifetimeEpsilon: 600 },
  });
  expect(() => promise(origins.slice(0, 3), origins[3]!)).toThrow(
    "origins: expected https://a.example, https://b.example, https://c.example, got a page at https://d.example",
  );
  for (const wrong of [[], "https://a.example", [7], ["a"]])
    expect(() => promise(wrong as string[], origins[0]!)).toThrow();
});

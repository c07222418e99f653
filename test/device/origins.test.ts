/**
 * A person visits one page at several origins, many times. What servers receive must be at most what the statement of the page
 * says. The device is the one that runs in browsers; storage, locks and servers are stand-ins (test/support/browser.ts).
 */
import { afterEach, expect, test, vi } from "vitest";
import { device } from "../../src/device.js";
import { Browser } from "../support/browser.js";

afterEach(() => void vi.unstubAllGlobals());

const ORIGINS = ["a", "b", "c", "d"].map((name) => `https://${name}.example`);
const REPORT_BYTES = 8;

function page(origins: readonly string[] | undefined) {
  const budget = { reports: 2, every: "1d", lifetime: 5 } as const;
  const listed = origins === undefined ? {} : { origins };
  return device({
    name: "x",
    epsilon: 0.5,
    max: 10,
    budget,
    url: "/reports",
    wait: 0,
    ...listed,
  });
}

/** The statement of a page that is open for a moment. */
function statementOf(origins: readonly string[] | undefined) {
  const here = page(origins);
  here.close();
  return here.statement();
}

/** Visits each origin twice and reports five times a visit. @returns reports that servers received */
async function visits(origins: readonly string[], listed: readonly string[] | undefined): Promise<number> {
  const browser = new Browser();
  for (const origin of [...origins, ...origins]) {
    browser.visit(origin);
    const here = page(listed);
    for (let i = 0; i < 5; i++) await here.report(i);
    await here.flush();
    here.close();
  }
  return browser.received / REPORT_BYTES;
}

test("one origin: as many reports as its budget has, whatever the number of visits", async () => {
  expect(await visits([ORIGINS[0]!], undefined)).toBe(2);
});

test("four origins: four budgets are spent, and the statement of a page that lists them says so", async () => {
  const received = await visits(ORIGINS, ORIGINS);
  expect(received).toBe(8);
  const { epsilon, lifetimeEpsilon, unit } = statementOf(ORIGINS);
  expect({ epsilon, lifetimeEpsilon, unit }).toEqual({
    epsilon: 4,
    lifetimeEpsilon: 10,
    unit: "one device, per day",
  });
  expect(received * 0.5).toBeLessThanOrEqual(epsilon);
});

test("a page that lists none speaks of one origin, and says what it leaves out", async () => {
  expect(await visits(ORIGINS, undefined)).toBe(8);
  const { epsilon, unit, notProtected } = statementOf(undefined);
  expect([epsilon, unit]).toEqual([1, "one device and origin, per day"]);
  expect(notProtected.join()).toMatch(
    /several origins that `origins` does not list.*frames on pages of several sites/,
  );
});

test("a page at an origin that is not listed, or without one, reports nothing", () => {
  new Browser().visit(ORIGINS[3]!);
  expect(() => page(ORIGINS.slice(0, 3))).toThrow(/^origins: expected .* got a page at https:\/\/d.example/);
  expect(() => page([...ORIGINS, "file:///page.html"])).toThrow(
    /^origins: expected addresses that have an origin/,
  );
});

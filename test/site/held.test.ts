/** Coverage of every interval that a page labels "95 %": over fixed seeds in Node, and once in the page. `npm run web -- intervals` runs 3,000 seeds. */
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { type Answers, countHeld, SITE_INTERVALS } from "../support/siteIntervals.js";
import { sharedBrowser, textOf, visit } from "./visit.js";

const browser = sharedBrowser();

/** Seeds, and the fewest that may hold: below with odds under 10⁻⁸ for an interval that holds with 95 %. */
const CASES: readonly (readonly [page: string, seeds: number, least: number])[] = [
  ["story, ε = 0.1", 100, 79],
  ["lab, ε = 0.05", 100, 79],
  ["lab, events of people", 40, 27],
  ["devices", 30, 19],
];

/** Shrinks the intervals of answers to a third of their width. */
const narrowed =
  (answers: Answers): Answers =>
  async (seed) =>
    Object.fromEntries(
      Object.entries(await answers(seed)).map(([name, { low, high, truth }]) => {
        const [middle, reach] = [(low + high) / 2, (high - low) / 6];
        return [name, { low: middle - reach, high: middle + reach, truth }];
      }),
    );

test.each(CASES)(
  "%s: every interval holds as often as it says; a third of it does not",
  async (page, seeds, least) => {
    const known = new Map<string, Awaited<ReturnType<Answers>>>();
    const answers: Answers = async (seed) => {
      if (!known.has(seed)) known.set(seed, await SITE_INTERVALS[page]!(seed));
      return known.get(seed)!;
    };
    const held = await countHeld(answers, seeds);
    for (const [name, count] of held) expect(count, name).toBeGreaterThanOrEqual(least);
    const fewer = await countHeld(narrowed(answers), seeds);
    expect(Math.min(...fewer.values())).toBeLessThan(least);
  },
);

/** How many of so many runs held, by what the page says. */
async function counted(page: Page, place: string, runs: RegExp): Promise<[held: number, of: number]> {
  const said = await textOf(page, `${place} [aria-hidden]`, runs);
  return /^(\d+) of (\d+) intervals hold the truth/.exec(said)!.slice(1).map(Number) as [number, number];
}

test("the story runs its answers 200 times, tells a screen reader the end, and forgets them with another ε", async () => {
  await visit(browser(), "", async (page) => {
    await textOf(page, "#first-say", /off/);
    for (const place of ["#first-runs", "#day-runs"]) {
      await page.click(`${place} button`);
      const [held] = await counted(page, place, /of 200/);
      expect(held).toBeGreaterThanOrEqual(169); // below with odds under 10⁻⁸
      expect(await page.locator(`${place} .run-held`).count()).toBe(held);
      expect(await page.locator(`${place} .run-cross`).count()).toBe(200 - held);
      await textOf(page, `${place} [role=status]`, new RegExp(`^${held} of 200`));
    }
    await page.locator("#first-epsilon").press("End");
    expect(await page.locator("#first-runs .run-held").count()).toBe(0);
  });
});

test("lab and devices run theirs; stopped, they stay as they are", async () => {
  const watch = async (page: Page, place: string) => {
    await page.click(`${place} button`);
    await counted(page, place, /of ([3-9]|\d\d+) /);
    await page.click(`${place} button`);
    const stopped = await page.locator(`${place} [aria-hidden]`).textContent();
    const [held, of] = await counted(page, place, /of \d+ /);
    expect(of - held).toBeLessThanOrEqual(3 + 0.2 * of);
    await textOf(page, `${place} button`, /^Run this 200 times$/);
    await page.waitForTimeout(300);
    expect(await page.locator(`${place} [aria-hidden]`).textContent()).toBe(stopped);
  };
  await visit(browser(), "play/?at=150000&from=81920&to=139264", async (page) => {
    await textOf(page, "#answer-sum", /\d/);
    await watch(page, "#answer-runs");
    await page.locator("#timeline").scrollIntoViewIfNeeded();
    await page.locator("#timeline-table table").waitFor();
    await watch(page, "#timeline-runs");
  });
  await visit(browser(), "play/?as=events&at=4500&question=day", async (page) => {
    await textOf(page, "#card-day .card-interval", /^95\s%: [\d,]+ to [\d,]+$/);
    await watch(page, "#log-runs");
  });
  await visit(
    browser(),
    "devices/?devices=4000",
    async (page) => {
      await page.locator("#replay:enabled").waitFor();
      for (const place of ["#histogram-runs", "#mean-runs", "#median-runs"]) await watch(page, place);
    },
    { reducedMotion: "reduce" },
  );
});

/** Percentiles over time: what the lab shows is what the library's event streams answer, in Node and in the page. */
import { expect, test } from "vitest";
import { amount } from "../../site/src/look/format.js";
import { tickOf, Timeline } from "../../site/src/workers/timeline.js";
import { exampleStream } from "../../src/cli/example.js";
import { sharedBrowser, textOf, visit } from "./visit.js";

const browser = sharedBrowser();
const values = exampleStream("brume");
const AT = 150_000;
const START = Date.UTC(2024, 0, 1);
const settings = { epsilon: 0.05, max: 1000, pace: 1, start: START, seed: "brume" };

test("ticks: by hand", () => {
  expect(tickOf(1_114_112, 1)).toBe(600_000);
  expect(tickOf(150_000, 1)).toBe(120_000);
  expect(tickOf(1000, 60)).toBe(600_000); // 8 values
  expect(tickOf(100_000_000, 60)).toBe(86_400_000); // a day at most
});

test("counts, means and percentiles lie in their intervals; all ticks are taken, a range is whole ticks", () => {
  const timeline = new Timeline(values.subarray(0, AT), settings);
  const { from, to, count, mean, quantiles } = timeline.ask({ from: 80_050, to: 140_000 }, [0.5, 0.9]);
  expect([from, to]).toEqual([80_040, 140_040]);
  expect(count!.truth).toBe(60_000);
  // At 95 % each, by a fixed seed: they hold here, and a quarter less would not.
  for (const found of [count!, mean!])
    expect(found.low <= found.truth && found.truth <= found.high).toBe(true);
  for (const { low, high, truth } of quantiles) expect(low! <= truth && truth <= high!).toBe(true);
  expect(quantiles[0]!.low! <= 0.75 * quantiles[0]!.truth).toBe(false);
});

test("the page shows them for the range that is asked for, draws the percentile chosen, and clears what is stale", async () => {
  await visit(browser(), `play/?at=${AT}&from=80050&to=140000`, async (page) => {
    await page.locator("#timeline").scrollIntoViewIfNeeded();
    await textOf(
      page,
      "#timeline-note",
      /^The 50th percentile of every .*95 % interval\. A tick is 2\smin\.$/,
    );
    const timeline = new Timeline(values.subarray(0, AT), settings);
    const { count, quantiles } = timeline.ask({ from: 80_050, to: 140_000 }, [0.5, 0.9, 0.95, 0.99]);
    const rows = page.locator("#timeline-table tbody tr");
    expect(await rows.count()).toBe(6);
    expect(await rows.first().textContent()).toContain(`${amount(count!.low)} to ${amount(count!.high)}`);
    expect(await rows.nth(2).textContent()).toContain(
      `${amount(quantiles[0]!.value!)}\u00a0queries/s${amount(quantiles[0]!.low!)} to ${amount(quantiles[0]!.high!)}`,
    );
    await page.locator("input[name=percentile][value='90']").check({ force: true });
    await textOf(page, "#timeline-note", /^The 90th/);
    await page.click("#play"); // a stream that runs has none
    await textOf(page, "#timeline-note", /^Percentiles follow when the stream pauses or ends/);
    expect(await rows.count()).toBe(0);
  });
});

/** Percentiles over time: what the lab shows is what the library's event streams answer, in Node and in the page. */
import { expect, test } from "vitest";
import { amount } from "../../site/src/look/format.js";
import { periodOf, Timeline } from "../../site/src/workers/timeline.js";
import { exampleStream } from "../../src/cli/example.js";
import { sharedBrowser, textOf, visit } from "./visit.js";

const browser = sharedBrowser();
const values = exampleStream("brume");
const AT = 150_000;
const START = Date.UTC(2024, 0, 1);
const settings = { epsilon: 0.05, max: 1000, pace: 1, start: START, seed: "brume" };

test("periods: by hand", () => {
  expect(periodOf(1_114_112, 1)).toBe(600_000);
  expect(periodOf(150_000, 1)).toBe(120_000);
  expect(periodOf(1000, 60)).toBe(600_000); // 8 values
  expect(periodOf(100_000_000, 60)).toBe(86_400_000); // a day at most
});

test("what the lab shows beside 95 % holds the truth: over draws of the noise, of a minute and of most of the stream", () => {
  const DRAWS = 200;
  const held = new Map<string, number>();
  const part = values.subarray(20_000, 22_000);
  for (let draw = 0; draw < DRAWS; draw++) {
    const timeline = new Timeline(part, { ...settings, epsilon: 1, seed: `draw ${draw}` });
    for (const [name, range] of [
      ["a minute", { from: 1000, to: 1060 }],
      ["most", { from: 200, to: 1800 }],
    ] as const) {
      const { count, mean, quantiles } = timeline.ask(range, [0.5, 0.95]);
      const shown = { count: count!, mean: mean!, p50: quantiles[0]!, p95: quantiles[1]! };
      for (const [what, { low = 0, high = Infinity, truth }] of Object.entries(shown)) {
        const key = `${what} of ${name}`;
        held.set(key, (held.get(key) ?? 0) + (low <= truth && truth <= high ? 1 : 0));
      }
    }
  }
  // At 95 %, 178 of 200 or fewer hold with odds of 2·10⁻⁴ a number; seeds are fixed.
  for (const [name, count] of held) expect(count, name).toBeGreaterThan(178);
  expect(held.size).toBe(8);
});

test("counts, means and percentiles lie in their intervals; all periods are taken, a range is whole periods", () => {
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

test("values above the bound are counted: a mean takes them as the bound", () => {
  const timeline = new Timeline(Float64Array.of(...values.subarray(0, 1000), 5000, 7000), settings);
  expect(timeline.ask({ from: 0, to: 1010 }, []).above).toBe(2);
  expect(timeline.ask({ from: 0, to: 500 }, []).above).toBe(0);
});

test("the page shows them for the range that is asked for, draws the percentile chosen, and clears what is stale", async () => {
  await visit(browser(), `play/?at=${AT}&from=80050&to=140000`, async (page) => {
    await page.locator("#timeline").scrollIntoViewIfNeeded();
    await textOf(
      page,
      "#timeline-note",
      /^The 50th percentile of every .*95 % interval\. A period is 2\smin\.$/,
    );
    const timeline = new Timeline(values.subarray(0, AT), settings);
    const { count, quantiles } = timeline.ask({ from: 80_050, to: 140_000 }, [0.5, 0.9, 0.95, 0.99]);
    const rows = page.locator("#timeline-table tbody tr");
    expect(await rows.count()).toBe(6);
    expect(await rows.first().textContent()).toContain(`${amount(count!.low)} to ${amount(count!.high)}`);
    expect(await rows.nth(2).textContent()).toContain(
      `${amount(quantiles[0]!.value!)}\u00a0queries/s${amount(quantiles[0]!.low!)} to ${amount(quantiles[0]!.high!)}`,
    );
    // Each of the page's own intervals holds the truth in the column beside it; the seed is fixed.
    for (const cells of await rows.evaluateAll((all) =>
      all.map((tr) => [...tr.querySelectorAll("td")].map((td) => td.textContent)),
    )) {
      const number = (text: string) =>
        Number(/[\d.,−]+/.exec(text)![0].replaceAll(",", "").replace("−", "-"));
      const [low, high] = cells[1]!.split(" to ");
      expect(low === "open" ? 0 : number(low!)).toBeLessThanOrEqual(number(cells[2]!));
      expect(high === "open" ? Infinity : number(high!)).toBeGreaterThanOrEqual(number(cells[2]!));
    }
    await page.locator("input[name=percentile][value='90']").check({ force: true });
    await textOf(page, "#timeline-note", /^The 90th/);
    await page.click("#play"); // a stream that runs has none
    await textOf(page, "#timeline-note", /^Percentiles follow when the stream pauses or ends/);
    expect(await rows.count()).toBe(0);
  });
});

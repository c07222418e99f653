/** Numbers of the dashboard that need whole days, or are below zero: what it shows is what the service says, and holds the truth. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { amount } from "../../../../site/src/look/format.js";
import { launch, open } from "../../../../test/support/chromium.js";
import type { Config } from "../../src/config/types.js";
import { pass, type Running, send, startService, temporaryFolder, testConfig } from "../support.js";
import { bounds, holds, literal, numberOf, pick, text, WAIT } from "./page.js";

const HOUR = 3_600_000;
const eight = [0, 1, 2, 3, 4, 5, 6, 7];
const keys = eight.map((i) => `k${i}`);
const hours = { every: "1h", levels: ["1h"], lateness: "0s" } as const;
const visits = { type: "count", epsilon: 8, perPerson: 3, ...hours } as const;
const metrics: Config["metrics"] = {
  temperature: {
    ...{
      type: "mean",
      epsilon: 8,
      min: -40,
      max: 60,
      threshold: 60,
      unit: "°C",
      perPerson: 1,
      keys,
      ...hours,
    },
  },
  balance: { type: "sum", epsilon: 8, min: -900, max: 100, threshold: 100, perPerson: 1, keys, ...hours },
  load: { type: "sum", epsilon: 8, max: 10_000, perPerson: 1, keys, ...hours },
  ...Object.fromEntries(eight.map((i) => [`visits${i}`, visits])),
};

/** Values of the day that the page shows, by key or by metric: so many that noise hides their sign with odds below 10⁻⁷. */
const temperatures = (i: number): number[] => Array.from({ length: 60 }, (_, k) => -3 * i - 14 + (k % 5));
const balances = (i: number): number[] => Array.from({ length: 60 }, (_, k) => -50 * i - 20 - (k % 40));
const above = (i: number): number => 120 + 20 * i;
/** People with one visit, and with five, of which three count. */
const people = (i: number): { readonly few: number; readonly many: number } => ({
  few: 150,
  many: 30 + 15 * i,
});
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

let persons = 0;
const by = (metric: string, key: string | undefined, value: number) => ({
  ...{ metric, value, person: `p${persons++}` },
  ...(key === undefined ? {} : { key }),
});

async function sendAll(running: Running, events: readonly object[]): Promise<void> {
  for (let at = 0; at < events.length; at += 500)
    expect((await send(running.app, events.slice(at, at + 500))).statusCode).toBe(202);
}

/** In steps of half an hour: a longer jump of the clock would have to be confirmed. */
async function passHours(running: Running, count: number): Promise<void> {
  for (let half = 0; half < 2 * count; half++) await pass(running, HOUR / 2);
}

/** From noon to the second midnight θ is chosen; the day after that is the one that is shown. */
async function fill(running: Running): Promise<void> {
  const small = Array.from({ length: 800 }, (_, k) => by("load", keys[k % 8], 20 + (k % 60)));
  await sendAll(running, small);
  await passHours(running, 36 + 6);
  const visitsOf = (i: number): object[] => {
    const { few, many } = people(i);
    return Array.from({ length: few + many }, (_, person) =>
      Array.from({ length: person < many ? 5 : 1 }, () => ({
        metric: `visits${i}`,
        person: `visitor ${person}`,
      })),
    ).flat();
  };
  await sendAll(
    running,
    eight.flatMap((i) => [
      ...temperatures(i).map((value) => by("temperature", keys[i], value)),
      ...balances(i).map((value) => by("balance", keys[i], value)),
      ...Array.from({ length: above(i) }, () => by("load", keys[i], 9000)),
      ...Array.from({ length: 50 }, () => by("load", keys[i], 10)),
      ...visitsOf(i),
    ]),
  );
  await passHours(running, 18);
}

let browser: Browser;
beforeAll(async () => {
  browser = await launch(inject("chromium"));
});
afterAll(() => browser.close());

const titles = (page: Page): Promise<string[]> =>
  page.locator("#keys tr").evaluateAll((rows) => rows.map((row) => (row as HTMLElement).title));

test("means and sums below zero, values above the bound, people above their limit: as the service says, beside the truth", async () => {
  const running = await startService(testConfig(temporaryFolder(), { metrics, epsilon: 100 }));
  await fill(running);
  const asked = async (metric: string, key?: string) =>
    (
      await running.app.inject(`/v1/query?metric=${metric}${key === undefined ? "" : `&key=${key}`}&last=24h`)
    ).json<{
      value: number;
      limited: { share: number; low: number; high: number };
      clipped: { events: number; low: number; high: number };
    }>();
  const { page, errors } = await open(browser, await running.app.listen({ host: "127.0.0.1", port: 0 }));
  page.setDefaultTimeout(WAIT);
  /** Per interval: whether it holds the truth, and whether it would hold what a fault makes of it. */
  const right: boolean[] = [];
  const wrong: boolean[] = [];
  const compare = (interval: readonly [number, number], truth: number, faulty: number): void => {
    right.push(holds(interval, truth));
    wrong.push(holds(interval, faulty));
  };

  // Below zero: the headline, its interval, the rows of all keys with their bars, and the line.
  for (const [metric, truthOf] of [
    ["temperature", (i: number) => sumOf(temperatures(i)) / 60],
    ["balance", (i: number) => sumOf(balances(i))],
  ] as const) {
    const { value } = await asked(metric, "k5");
    await pick(page, "#metric", metric);
    await pick(page, "#key", "k5");
    await text(page, "#headline", new RegExp(`^${literal(amount(value))}`));
    expect(value).toBeLessThan(0);
    expect((await page.locator("#margin").textContent())!).toMatch(/probability between −[\d.,]+ and −/);
    const readBars = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("#keys .bar")].map((bar) => {
          const { left, width } = bar.getBoundingClientRect();
          return [...bar.children].map((part) => {
            const box = part.getBoundingClientRect();
            return [(box.left - left) / width, (box.right - left) / width] as const;
          });
        }),
      );
    // The rows follow the headline, and bars move to their new lengths: all of them end at 0, on the right, but for a margin.
    await expect
      .poll(async () => (await readBars()).map(([filled]) => filled![1] > 0.9), { timeout: WAIT })
      .toEqual(eight.map(() => true));
    const bars = await readBars();
    const shown = await titles(page);
    expect(shown).toHaveLength(8);
    for (const title of shown) compare(bounds(title), truthOf(Number(/^k(\d)/.exec(title)![1])), 0);
    expect(bars).toHaveLength(8);
    for (const [, margin] of bars) {
      expect(margin![0]).toBeGreaterThanOrEqual(0);
      expect(margin![1]).toBeLessThanOrEqual(1.02);
    }
    expect(bars[7]![0]![0]).toBeLessThan(bars[0]![0]![0]); // the lowest has the longest bar
    await page.waitForTimeout(500); // the plot is painted with the next frame
    const box = (await page.locator("#chart .u-over").boundingBox())!;
    await page.mouse.move(box.x + (box.width * 6.4) / 24, box.y + 50);
    expect(await page.locator(".chart-tip").innerText()).toMatch(/private\s+−[\d.,]+[^]*from\s+−[\d.,]+/);
  }

  // Values above θ: about as many as there were, per key.
  await pick(page, "#metric", "load");
  for (const i of eight) {
    const { clipped, value } = await asked("load", keys[i]);
    await pick(page, "#key", keys[i]!);
    await text(page, "#headline", new RegExp(`^${literal(amount(value))}`));
    const words = (await page.locator("#margin").textContent())!;
    const [, about, low, high] =
      /About ([\d.,]+) values \(([\d.,]+) to ([\d.,]+)\) were above the bound/.exec(words)!;
    expect([about, high]).toEqual([amount(clipped.events), amount(clipped.high)]);
    compare([numberOf(low!), numberOf(high!)], above(i), above(i) + 50);
  }

  // People above their limit: the share of them, per metric.
  for (const i of eight) {
    const { limited, value } = await asked(`visits${i}`);
    await pick(page, "#metric", `visits${i}`);
    await text(page, "#headline", new RegExp(`^${literal(amount(value))}`));
    const words = (await page.locator("#margin").textContent())!;
    const [, about, low, high] =
      /About (\d+)\s% of people \((\d+)\s% to (\d+)\s%\) had more; true numbers are higher/.exec(words)!;
    expect(Number(about)).toBe(Math.round(100 * limited.share));
    const { few, many } = people(i);
    // The page rounds to whole points.
    compare(
      [Number(low) - 0.5, Number(high) + 0.5],
      (100 * many) / (few + many),
      (500 * many) / (few + 5 * many),
    );
  }

  // 32 independent intervals at 95 %: 11 or more of them miss with odds of 3·10⁻⁷.
  expect([right.length, right.filter((held) => held).length > 21]).toEqual([32, true]);
  expect(wrong.filter((held) => held).length).toBeLessThan(12);
  expect(errors).toEqual([]);
  await page.context().close();
});

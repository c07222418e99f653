/** The dashboard in Chromium: it shows what the service published, at three widths, light and dark. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { reporter } from "brume";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { packReport } from "../../../../src/reporter.js";
import { amount } from "../../../../site/src/look/format.js";
import { faults } from "../../../../test/support/axe.js";
import { launch, open } from "../../../../test/support/chromium.js";
import type { Config } from "../../src/config/types.js";
import { bounds, holds, literal, pick, text, WAIT } from "./page.js";
import { importLog } from "../../src/import/importLog.js";
import { FROM, importConfig, logOf, TO, visits } from "../madeLog.js";
import { KEY, listen, pass, type Running, send, startService } from "../support.js";
import { temporaryFolder, testConfig, TestClock } from "../support.js";

const MINUTE = 60_000;
const MINUTES = 60;
/** Where people can look at them. */
const PICTURES = "build/dashboard";

/** ε of all metrics together. The histogram has most of it: at 4, one p95 in ten of the fewest events is hidden by noise. */
const EPSILON = 52;

const minutes = { every: "1m", levels: ["1m"], lateness: "0s", perPerson: 5 } as const;
const keys = ["home", "search", "checkout"];
const metrics: Config["metrics"] = {
  requests: { type: "count", epsilon: 4, keys, ...minutes },
  latency: { type: "histogram", epsilon: 40, keys, min: 5, max: 5000, buckets: 32, unit: "ms", ...minutes },
  basket: { type: "mean", epsilon: 4, max: 200, threshold: 200, unit: "EUR", ...minutes },
  pageload: { type: "local", epsilon: 4, max: 10_000, unit: "ms" },
};

let browser: Browser;
let running: Running;
let url: string;
beforeAll(async () => {
  mkdirSync(PICTURES, { recursive: true });
  browser = await launch(inject("chromium"));
});
afterAll(() => browser.close());

interface Event {
  readonly metric: string;
  readonly key?: string;
  readonly person: string;
  readonly value?: number;
}

/** An hour of a shop, minute by minute. Nobody comes more often than the limit allows. */
const hour: readonly (readonly Event[])[] = Array.from({ length: MINUTES }, (_, minute) =>
  Array.from({ length: Math.round(60 + 40 * Math.sin(minute / 8)) }, (_, i): Event[] => {
    const person = `p${minute % 20}-${i}`;
    const key = keys[i % 7 < 4 ? 0 : i % 7 < 6 ? 1 : 2]!;
    const value = 40 * (1 + keys.indexOf(key)) + ((i * 53) % 120);
    return [
      { metric: "requests", key, person },
      { metric: "latency", key, person, value },
      ...(key === "checkout" ? [{ metric: "basket", person, value: 20 + (i % 60) }] : []),
    ];
  }).flat(),
);
const eventsOf = (events: readonly Event[], metric: string, key?: string): readonly Event[] =>
  events.filter((event) => event.metric === metric && event.key === key);

async function fill(): Promise<void> {
  for (const events of hour) {
    expect((await send(running.app, events)).statusCode).toBe(202);
    await pass(running, MINUTE);
  }
  const device = reporter({ epsilon: 4, max: 10_000 });
  const payload = Buffer.concat(
    Array.from({ length: 400 }, (_, i) => packReport(device.report(800 + (i % 900)))),
  );
  await running.app.inject({ method: "POST", url: "/v1/reports?metric=pageload&batch=1", payload });
}

beforeEach(async () => {
  running = await startService(testConfig(temporaryFolder(), { metrics, epsilon: EPSILON }));
  url = await running.app.listen({ host: "127.0.0.1", port: 0 });
  await fill();
});
afterEach(() => running.stop());

/** The range of one hour. */
const pickHour = (page: Page) => page.locator("#ranges label:nth-of-type(2) input").check({ force: true });

/** Pixels of the chart that are not background: a chart with a line has many. */
const inked = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const canvas = document.querySelector<HTMLCanvasElement>("#chart canvas")!;
    const { data } = canvas.getContext("2d")!.getImageData(0, 0, canvas.width, canvas.height);
    return data.filter((value, i) => i % 4 === 3 && value > 0).length;
  });

test("what it says is what the service answers; each control acts; nothing is wider than the page", async () => {
  const query = `last=${MINUTES}m`;
  const asked = async (question: string) =>
    (await running.app.inject(`/v1/query?${question}&${query}`)).json<{
      value: number;
      quantiles: { value: number }[];
    }>();
  const requests = await asked("metric=requests&key=home");
  const latency = await asked("metric=latency&key=search&quantiles=0.5,0.9,0.95,0.99");
  for (const [width, height] of [
    [360, 800],
    [768, 1024],
    [1280, 900],
  ] as const)
    for (const colorScheme of ["light", "dark"] as const) {
      const name = (what: string) => join(PICTURES, `${what}-${width}-${colorScheme}.png`);
      const { page, errors, strayRequests } = await open(browser, url, {
        viewport: { width, height },
        colorScheme,
        reducedMotion: "reduce",
      });
      page.setDefaultTimeout(WAIT);
      await text(page, "#headline", /requests$/);
      await pickHour(page);
      await text(page, "#headline", new RegExp(`^${literal(amount(requests.value))}\\srequests$`));
      await text(page, "#state", /Live/);
      expect(await inked(page)).toBeGreaterThan(1000);
      expect(await page.locator("#legend").textContent()).toMatch(
        /^Minutes, the (finest|longest) level.* with 95 % probability\./,
      );
      expect(await page.locator("#margin").textContent()).toContain("Next number at 13:01 (UTC).");
      expect(await page.locator("#margin").textContent()).toContain(
        "At most 5 events of a person and day count. How many people had more is not known yet.",
      );
      expect(await page.locator("#empty").isVisible()).toBe(false);
      await page.screenshot({ path: name("requests"), fullPage: true });
      await pick(page, "#metric", "latency");
      await pick(page, "#key", "search");
      await text(page, "#headline", new RegExp(`^${literal(amount(latency.quantiles[2]!.value))}\\sms$`));
      expect(await page.locator("#percentiles tbody tr").count()).toBe(4);
      expect(await page.locator("#keys tbody tr").count()).toBe(3);
      await page.screenshot({ path: name("latency"), fullPage: true });
      await pick(page, "#metric", "pageload");
      await text(page, "#margin", /From 400 reports\. Every value up to the metric's max counts/);
      await text(
        page,
        "#legend",
        /^One number per day: .* The last band is today so far\. Days without a number are gaps\.$/,
      );
      await page.screenshot({ path: name("pageload"), fullPage: true });
      for (const [view, place] of [
        ["operation", 2],
        ["privacy", 3],
      ] as const) {
        await page.locator(`#views label:nth-of-type(${place}) input`).check({ force: true });
        await text(page, view === "privacy" ? "#statement" : "#intake", /requests/);
        await page.screenshot({ path: name(view), fullPage: true });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
        expect(await faults(page)).toEqual([]);
      }
      expect(await page.locator("#plan").textContent()).toContain(`of a yearε = ${amount(365 * EPSILON)}`);
      await page.locator("#views label:nth-of-type(1) input").check({ force: true });
      await page.waitForSelector('#numbers[aria-busy="false"]');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      expect(await faults(page)).toEqual([]);
      expect({ errors, strayRequests }).toEqual({ errors: [], strayRequests: [] });
      await page.context().close();
    }
});

test("the truth is in the intervals that the page shows: of every minute, of the hour, of every key and percentile", async () => {
  const { page } = await open(browser, url);
  page.setDefaultTimeout(WAIT);
  await text(page, "#headline", /requests$/);
  await pickHour(page);
  await text(page, "#about", /last 1 h$/);
  await text(page, "#legend", /^Minutes/);
  await page.waitForTimeout(500); // the plot is painted with the next frame
  const box = (await page.locator("#chart .u-over").boundingBox())!;
  const minutes: [number, number][] = [];
  for (let minute = 0; minute < MINUTES; minute++) {
    await page.mouse.move(box.x + (box.width * (minute + 0.4)) / MINUTES, box.y + 50);
    const tip = await page.locator(".chart-tip").innerText();
    const [, from] = /1 Mar, 12:(\d\d) to 1[23]:\d\d/.exec(tip)!;
    const [, low, high] = /margin, from\s+([\d.]+)\srequests\s+to\s+([\d.]+)\srequests/.exec(tip)!;
    minutes[Number(from)] = [Number(low), Number(high)];
  }
  expect(minutes.filter((found) => (found as unknown) !== undefined).length).toBe(MINUTES);
  const held = (more: number): number =>
    minutes.filter((ends, i) => holds(ends, eventsOf(hour[i]!, "requests", "home").length + more)).length;
  // 60 independent intervals at 95 %: 15 or more of them miss with odds of 2·10⁻⁷. Six events that do not count are seen.
  expect(held(0)).toBeGreaterThan(45);
  expect(held(6)).toBeLessThan(45);

  const all = hour.flat();
  const found: boolean[] = [];
  const margin = async (): Promise<[number, number]> =>
    bounds((await page.locator("#margin").textContent())!);
  found.push(holds(await margin(), eventsOf(all, "requests", "home").length));
  for (const title of await page
    .locator("#keys tr")
    .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).title)))
    found.push(holds(bounds(title), eventsOf(all, "requests", title.split(":")[0]).length));
  await pick(page, "#metric", "latency");
  await text(page, "#headline", /ms$/);
  const values = eventsOf(all, "latency", "home")
    .map(({ value }) => value!)
    .sort((a, b) => a - b);
  for (const cells of await page.locator("#percentiles tbody tr").allInnerTexts())
    found.push(
      holds(bounds(cells), values[Math.ceil((Number(/^p(\d+)/.exec(cells)![1]) / 100) * values.length) - 1]!),
    );
  await pick(page, "#metric", "basket");
  await text(page, "#headline", /EUR$/);
  const baskets = eventsOf(all, "basket").map(({ value }) => value!);
  found.push(holds(await margin(), baskets.reduce((sum, value) => sum + value, 0) / baskets.length));
  // Nine intervals: six or more of them miss with odds of 10⁻⁶.
  expect([found.length, found.filter((right) => right).length > 3]).toEqual([9, true]);
  await page.context().close();
});

const DAY = 24 * 60 * MINUTE;

/** θ of the day, when it is stored. */
async function thresholdOf({ app, clock, service }: Running): Promise<number> {
  for (;;) {
    const { threshold, until } = (await app.inject("/v1/local/pageload")).json<{
      threshold: number;
      until: number;
    }>();
    if (until > clock.wall()) return threshold;
    await new Promise((resolve) => setTimeout(resolve, 20));
    await service.flush();
  }
}

test("days of devices: a line and a band that hold the truth, a band alone where it is wide, and gaps", async () => {
  const local = await startService(testConfig(temporaryFolder(), { metrics, epsilon: EPSILON }));
  const LEAST = [800, 0, 200, 1100];
  const values = (day: number, count: number): number[] =>
    Array.from({ length: count }, (_, i) => LEAST[day]! + ((i * 37) % 900));
  /** Many, none, a few, many so far today. */
  const counts = [2000, 0, 4, 800];
  for (const [day, count] of counts.entries()) {
    if (day > 0) await pass(local, DAY);
    const threshold = await thresholdOf(local);
    const device = reporter({ epsilon: 4, max: 10_000, threshold, unsafeSeed: `day ${day}` });
    const payload = Buffer.from(device.reportMany(values(day, count)));
    if (count > 0)
      await local.app.inject({ method: "POST", url: `/v1/reports?metric=pageload&batch=${day}`, payload });
  }
  const now = local.clock.wall();
  const { answers } = (
    await local.app.inject(`/v1/query?metric=pageload&from=${now - 7 * DAY}&to=${now}&every=1d`)
  ).json<{ answers: { reports: number; value: number | null; low: number; high: number }[] }>();
  expect(answers.map(({ reports }) => reports)).toEqual([0, 0, 0, 0, ...counts]);
  const few = answers[6]!;
  expect(few.value).not.toBeNull();
  expect((few.high - few.low) / 2).toBeGreaterThan(Math.abs(few.value!)); // or the test shows nothing

  const { page, errors } = await open(browser, await local.app.listen({ host: "127.0.0.1", port: 0 }), {
    viewport: { width: 1280, height: 900 },
  });
  page.setDefaultTimeout(WAIT);
  await text(page, "#headline", /./);
  await pick(page, "#metric", "pageload");
  await text(page, "#about", /^pageload, mean, last 8 days, noise added on the devices$/);
  await text(
    page,
    "#legend",
    /a band and no line\. The last band is today so far\. Days without a number are gaps\.$/,
  );
  /** Tooltip of each day, just before its middle; empty where there is none. */
  const tips = async (): Promise<string[]> => {
    await page.waitForTimeout(500); // the plot is painted with the next frame
    const box = (await page.locator("#chart .u-over").boundingBox())!;
    const found: string[] = [];
    for (let day = 0; day < 8; day++) {
      await page.mouse.move(box.x + (box.width * (day + 0.3)) / 8, box.y + 50);
      const tip = page.locator(".chart-tip");
      found.push((await tip.isVisible()) ? (await tip.innerText()).replaceAll(/\s+/g, " ") : "");
    }
    return found;
  };
  const shape = (tip: string): string =>
    tip === "" ? "gap" : [/private|so far/, /margin/].map((part) => (part.test(tip) ? "1" : "0")).join("");
  const ends = (tip: string): [number, number] => {
    const [, low, high] = /margin, from ([\d.,]+) ms to ([\d.,]+) ms/.exec(tip)!;
    return [low!, high!].map((end) => Number(end.replaceAll(",", ""))) as [number, number];
  };
  const means = await tips();
  expect(means.map(shape)).toEqual(["gap", "gap", "gap", "gap", "11", "gap", "01", "11"]);
  expect(means[4]).toContain("1 Mar, 00:00 to 2 Mar, 00:00");
  // Reports have fixed seeds: this holds or it does not. A mean that is 40 % off would be noticed.
  for (const day of [0, 2, 3]) {
    const all = values(day, counts[day]!);
    const truth = all.reduce((sum, value) => sum + value, 0) / all.length;
    expect([day, holds(ends(means[4 + day]!), truth)]).toEqual([day, true]);
    if (day !== 2) expect([day, holds(ends(means[4 + day]!), 1.4 * truth)]).toEqual([day, false]);
  }
  await page.screenshot({ path: join(PICTURES, "pageload-days.png"), fullPage: true });

  await page.locator("#daily label:nth-of-type(2) input").check({ force: true });
  await text(page, "#about", /^pageload, p50, last 8 days/);
  await text(page, "#legend", /^One number per day: each band holds the p50 of that day/);
  const medians = await tips();
  for (const day of [0, 3])
    expect([day, holds(ends(medians[4 + day]!), LEAST[day]! + 450)]).toEqual([day, true]);
  expect(errors).toEqual([]);
  await page.context().close();
  await local.stop();
});

test("a service that has published nothing says that it is empty, and when its first number comes", async () => {
  const empty = await startService(testConfig(temporaryFolder(), { metrics, epsilon: EPSILON }));
  const { page, errors } = await open(browser, await empty.app.listen({ host: "127.0.0.1", port: 0 }));
  await text(page, "#headline", /^No number yet$/);
  await text(page, "#margin", /Next number at 12:01 \(UTC\)\.$/);
  await text(page, "#empty", /^This service is empty so far\. Next number at 12:01 \(UTC\)\.$/);
  await text(page, "#legend", /^Nothing was measured in this range/);
  expect(await page.locator("#chart").isVisible()).toBe(false);
  expect(errors).toEqual([]);
  await page.context().close();
  await empty.stop();
});

test("a service that a log of last year filled is not empty: its days are shown, and how to get there", async () => {
  const folder = temporaryFolder();
  const made = visits(2000);
  const clock = new TestClock();
  clock.pass(TO + 300 * DAY - clock.wall());
  await importLog(importConfig(folder), logOf(made), { key: KEY, clock, from: FROM, to: TO });
  const filled = await startService(importConfig(folder), clock);
  const { page, errors } = await open(browser, await listen(filled));
  await text(page, "#margin", /^Nothing has been published of this metric since /);
  expect(await page.locator("#empty").isVisible()).toBe(false);
  await page.getByRole("button", { name: "Show it" }).click();
  await text(page, "#about", /^visits, events, /);
  await text(page, "#headline", /visits$/);
  await page.waitForURL(/until=/);
  expect(await page.locator("#chart").isVisible()).toBe(true);
  expect(errors).toEqual([]);
  await page.context().close();
  await filled.stop();
});

test("a new number appears without a reload", async () => {
  const { page } = await open(browser, url);
  await text(page, "#state", /Live/);
  await text(page, "#headline", /requests$/);
  const before = await page.locator("#headline").textContent();
  const crowd = Array.from({ length: 2000 }, (_, i) => ({
    metric: "requests",
    key: "home",
    person: `new-${i}`,
  }));
  await send(running.app, crowd);
  await pass(running, MINUTE);
  await page.waitForFunction((old) => document.querySelector("#headline")!.textContent !== old, before, {
    timeout: WAIT,
  });
  expect(
    Number.parseFloat((await page.locator("#headline").textContent())!.replaceAll(",", "")),
  ).toBeGreaterThan(3500);
  await page.context().close();
});

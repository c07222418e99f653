/** The dashboard's three readers: changes and marked ranges beside the truth, files, links; operation; privacy. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launch, open } from "../../../../test/support/chromium.js";
import type { Config } from "../../src/config/types.js";
import { listen, pass, type Running, send, startService, temporaryFolder, testConfig } from "../support.js";
import { bounds, holds, numberOf, pick, text, WAIT } from "./page.js";

const HOUR = 3_600_000;
const eight = [0, 1, 2, 3, 4, 5, 6, 7];
const keys = eight.map((i) => `k${i}`);
const visits = {
  type: "count",
  epsilon: 0.5,
  every: "1h",
  levels: ["1h"],
  lateness: "0s",
  perPerson: 1,
} as const;
const metrics: Config["metrics"] = { visits: { ...visits, keys }, clicks: { ...visits, epsilon: 0.25 } };

/** Visits of a key: a week ago, yesterday, today. Half of the keys change by much more than the noise, since yesterday. */
const weekAgo = (i: number): number => 900 + 10 * i;
const yesterday = (i: number): number => 700 + 10 * i;
const today = (i: number): number => yesterday(i) + (i < 4 ? 0 : 400);

let persons = 0;
async function sendDay(running: Running, visitsOf: (i: number) => number): Promise<void> {
  const events = eight.flatMap((i) =>
    Array.from({ length: visitsOf(i) }, () => ({ metric: "visits", key: keys[i], person: `p${persons++}` })),
  );
  for (let at = 0; at < events.length; at += 2000)
    expect((await send(running.app, events.slice(at, at + 2000))).statusCode).toBe(202);
}

/** In steps of half an hour: a longer jump of the clock would have to be confirmed. */
async function passHours(running: Running, count: number): Promise<void> {
  for (let half = 0; half < 2 * count; half++) await pass(running, HOUR / 2);
}

/** From noon of 1 March to the midnight that ends 9 March; visits come at six in the morning. */
async function fill(running: Running): Promise<void> {
  await passHours(running, 12 + 6);
  await sendDay(running, weekAgo);
  await passHours(running, 6 * 24);
  await sendDay(running, yesterday);
  await passHours(running, 24);
  await sendDay(running, today);
  await passHours(running, 18);
}

let browser: Browser;
beforeAll(async () => {
  browser = await launch(inject("chromium"));
});
afterAll(() => browser.close());

/** Both sentences about earlier times, once they are those of the key. */
async function changes(page: Page, key: string): Promise<[yesterday: string, week: string]> {
  await pick(page, "#key", key);
  await page.waitForSelector('#numbers[aria-busy="false"]');
  const found = await page.locator("#comparison li").allInnerTexts();
  expect(found).toHaveLength(2);
  return found as [string, string];
}

test("an analyst: changes since yesterday and last week, a marked range, a table, a picture and a link", async () => {
  const running = await startService(testConfig(temporaryFolder(), { metrics }));
  await fill(running);
  const now = running.clock.wall();
  const { page, errors } = await open(browser, await listen(running));
  page.setDefaultTimeout(WAIT);

  // By how much a number changed: 16 intervals, each from two that hold with 97.5 %.
  const right: boolean[] = [];
  const wrong: boolean[] = [];
  for (const i of eight) {
    const [sinceYesterday, sinceWeek] = await changes(page, keys[i]!);
    expect(sinceYesterday).toMatch(/^A day earlier: /);
    for (const [words, truth] of [
      [sinceYesterday, today(i) - yesterday(i)],
      [sinceWeek, today(i) - weekAgo(i)],
    ] as const) {
      const [, low, high] = /\(([+−]?[\d.,]+) to ([+−]?[\d.,]+).*with 95 % probability/.exec(words)!;
      const ends = [numberOf(low!), numberOf(high!)] as const;
      right.push(holds(ends, truth));
      wrong.push(holds(ends, truth + 150)); // as if 150 of today's visits counted twice
      // 400 is more than ten standard errors of a difference.
      if (truth === 400) expect(words).toMatch(/It rose by more than noise explains/);
      expect(/Noise can explain/.test(words)).toBe(holds(ends, 0));
    }
  }
  // Margins of both numbers are added, so that an interval misses with odds of 0.0016: 4 or more of 16 with 10⁻⁸.
  expect([right.length, right.filter((held) => held).length > 12]).toEqual([16, true]);
  expect(wrong.filter((held) => held).length).toBeLessThan(4);

  // Numbers of another key are greyed out until those of the chosen one are there.
  const shown = await page.locator("#headline").textContent();
  let answer = (): void => {};
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/v1/query?*", async (route) => {
    await held;
    await route.continue();
  });
  await pick(page, "#key", "k0");
  await page.waitForSelector('#numbers[aria-busy="true"]');
  await page.waitForFunction(() => getComputedStyle(document.querySelector("#headline")!).opacity === "0.35");
  expect(await page.locator("#headline").textContent()).toBe(shown);
  answer();
  await changes(page, "k7");
  await page.unroute("**/v1/query?*");

  // A marked range, with the mouse.
  await page.waitForTimeout(500); // the plot is painted with the next frame
  const box = (await page.locator("#chart .u-over").boundingBox())!;
  await page.mouse.move(box.x + (box.width * 3) / 24, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + (box.width * 10) / 24, box.y + 60, { steps: 5 });
  await page.mouse.up();
  await text(page, "#marked", /^Marked, 9 Mar, 0[345]:00 to (09|10|11):00: .* with 95 % probability between/);
  const marked = (await page.locator("#marked").textContent())!;
  // Noise of seven hours, with a standard error of 7.5: 60 are eight of them.
  expect(Math.abs((bounds(marked)[0] + bounds(marked)[1]) / 2 - today(7))).toBeLessThan(60);

  // The address tells all of it, and going back takes it away.
  await page.waitForFunction(() => location.search.includes("from="));
  expect(page.url()).toMatch(/\?key=k7&from=\d+&to=\d+$/);
  const second = await open(browser, page.url());
  await text(second.page, "#marked", new RegExp(`^${marked.slice(0, 30)}`));
  expect(await second.page.locator("#key").inputValue()).toBe("k7");
  await second.page.context().close();

  // An earlier day, by its date; one before the service began; and back to now.
  await page.locator("#until").fill("2026-03-08");
  await text(page, "#about", /^visits, events, 8 Mar, 00:00 to 9 Mar, 00:00$/);
  const earlier = bounds((await page.locator("#margin").textContent())!);
  expect(Math.abs((earlier[0] + earlier[1]) / 2 - yesterday(7))).toBeLessThan(60);
  await page.waitForURL(new RegExp(`until=${Date.UTC(2026, 2, 9)}`));
  await page.locator("#until").fill("2026-02-20");
  await text(page, "#headline", /^No number$/);
  await text(page, "#legend", /^Nothing was measured in this range/);
  expect(await page.locator("#chart").isVisible()).toBe(false);
  await page.locator("#until").fill("");
  await text(page, "#about", /^visits, events, last 24 h$/);
  expect(await page.locator("#chart").isVisible()).toBe(true);
  await page.goto(second.page.url());
  await text(page, "#marked", /^Marked/);

  // Files.
  const saved = async (button: string): Promise<Buffer> => {
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(button).click()]);
    return readFileSync(await file.path());
  };
  const table = (await saved("#save-csv")).toString().trim().split("\n");
  expect(table[0]).toMatch(/^from,to,/);
  expect(table.length).toBeGreaterThan(20);
  const [values, from] = ["value", "from"].map((name) => table[0]!.split(",").indexOf(name)) as [
    number,
    number,
  ];
  const hours = table.slice(1).map((line) => line.split(","));
  expect(hours.some((cells) => Number(cells[values]) > 1000)).toBe(true);
  expect(hours.every((cells) => Number(cells[from]) >= now - 24 * HOUR)).toBe(true);
  expect((await saved("#save-png")).subarray(1, 4).toString()).toBe("PNG");

  // All metrics beside each other; a click shows one.
  expect(await page.locator("#metrics tbody tr").allInnerTexts()).toHaveLength(2);
  await page.locator("#metrics button", { hasText: "clicks" }).click();
  await text(page, "#about", /^clicks, events/);
  await page.keyboard.press("Tab");
  expect(errors).toEqual([]);
  await page.context().close();
});

test("a range is marked with keys alone, and cleared", async () => {
  const running = await startService(testConfig(temporaryFolder(), { metrics }));
  await passHours(running, 24);
  const { page } = await open(browser, await listen(running));
  page.setDefaultTimeout(WAIT);
  await text(page, "#marked", /^Drag over the chart/);
  await page.locator("#chart").focus();
  for (const key of ["ArrowRight", ...new Array<string>(18).fill("Shift+ArrowRight"), "Enter"])
    await page.keyboard.press(key);
  await text(page, "#marked", /^Marked, 1 Mar, 1\d:00 to /);
  await page.keyboard.press("Escape");
  await text(page, "#marked", /^Drag over the chart/);
  await page.context().close();
});

test("an operator: whether events are taken, the clock, the next number, how limits fit", async () => {
  const running = await startService(testConfig(temporaryFolder(), { metrics }));
  await passHours(running, 13);
  const { page, errors } = await open(browser, `${await listen(running)}/?view=operation`);
  page.setDefaultTimeout(WAIT);
  await text(page, "#ready", /^Events are taken and stored\.$/);
  await text(
    page,
    "#clock",
    /^It is 2 Mar, 01:00 for the service \(UTC\), .* before the time of this browser\.$/,
  );
  await expect
    .poll(() => page.locator("#intake tbody tr").allInnerTexts(), { timeout: WAIT })
    .toEqual([
      expect.stringMatching(/^visits\s+1h\s+02:00\s+/),
      expect.stringMatching(/^clicks\s+1h\s+02:00\s+/),
    ]);
  expect(errors).toEqual([]);
  running.clock.jump(-3 * HOUR); // somebody sets the clock
  await page.reload();
  await text(page, "#ready", /^clock: the machine's clock jumped/);
  await page.context().close();
});

test("a data protection officer: who is protected, what changed and when, the statement on paper and for the registry", async () => {
  const folder = temporaryFolder();
  const before = await startService(testConfig(folder, { metrics }));
  await passHours(before, 2);
  await before.stop();
  const { clicks, ...others } = metrics;
  const changed = {
    ...others,
    visits: { ...metrics["visits"], epsilon: 1 },
    taps: clicks,
  } as Config["metrics"];
  const running = await startService(testConfig(folder, { metrics: changed }), before.clock);
  await passHours(running, 14);
  const { page, errors } = await open(browser, `${await listen(running)}/?view=privacy`);
  page.setDefaultTimeout(WAIT);
  await text(
    page,
    "#protected",
    /^Every person is protected, day by day \(UTC\): .* no published number is more than 3\.49 times as likely \(ε = 1\.25\)\.$/,
  );
  expect(await page.locator("#plan").textContent()).toMatch(/one dayε = 1\.25.*of a yearε = 456/);
  const rows = (await page.locator("#changes tbody tr").allInnerTexts()).map((row) =>
    row.replaceAll(/\s+/g, " "),
  );
  // The first day that is kept shows no beginnings; a metric that left is gone the day after.
  expect(rows).toEqual([
    expect.stringMatching(
      /^2026-03-02 clicks spends nothing of a person's budget count, ε = 0\.25\. The first event/,
    ),
    expect.stringMatching(/^2026-03-01 visits count, ε = 1\. The first event .* count, ε = 0\.5\. The first/),
  ]);
  expect(await page.locator("#statement").textContent()).toContain(
    "Since 2026-03-02, clicks: spends nothing of a person's budget (before: count",
  );
  // On paper: the statement without controls.
  await page.emulateMedia({ media: "print" });
  expect(await page.locator("#views").isVisible()).toBe(false);
  expect(await page.locator("#statement").isVisible()).toBe(true);
  await page.pdf({ path: join("build/dashboard", "statement.pdf") });
  await page.emulateMedia({ media: "screen" });
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator("#registry").click()]);
  expect(JSON.parse(readFileSync(await file.path(), "utf8"))).toBeTypeOf("object");
  expect(errors).toEqual([]);
  await page.context().close();
});

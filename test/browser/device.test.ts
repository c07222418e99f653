/** Devices with a budget in Chromium: reloads, two tabs, killed pages, servers that fail, and clocks that are wrong. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { software } from "../../src/core/software.js";
import type { Device, DeviceOptions } from "../../src/device.js";
import { packReport } from "../../src/local/report.js";
import { gridOf } from "../../src/local/report.js";
import { launch } from "../support/chromium.js";
import { collect, type Collector, counted } from "../support/collector.js";

const file = (name: string) =>
  readFileSync(join(inject("app"), "node_modules/brume/dist/browser", name), "utf8");

declare const brume: { device(options: DeviceOptions): Device };
declare global {
  var mine: Device;
}

const OPTIONS: DeviceOptions = {
  name: "load",
  epsilon: 1,
  max: 60_000,
  budget: { reports: 3, every: "1d" },
  url: "/reports",
  wait: 0,
};

let browser: Browser;
let context: BrowserContext;
let server: Collector;
beforeAll(async () => void (browser = await launch(inject("chromium"))));
afterAll(() => browser.close());
beforeEach(async () => {
  server = await collect({ classic: file("device.iife.js"), module: file("device.js") });
  context = await browser.newContext();
});
afterEach(async () => {
  await context.close();
  await server.close();
});

/** A page with a device of its own, `mine`. */
async function visit(options: Partial<DeviceOptions> = {}): Promise<Page> {
  const page = await context.newPage();
  await page.goto(server.url);
  await start(page, options);
  return page;
}

const start = (page: Page, options: Partial<DeviceOptions> = {}) =>
  page.evaluate((all) => void (globalThis.mine = brume.device(all)), { ...OPTIONS, ...options });

/** A report as hexadecimal text, or null when the budget was spent. */
async function report(page: Page, value: number, id?: string): Promise<string | null> {
  const made = await page.evaluate(
    async ([value, id]) => (await mine.report(value, id === undefined ? {} : { id })) ?? null,
    [value, id] as const,
  );
  return made && Buffer.from(packReport(made)).toString("hex");
}

const flushed = (page: Page) => page.evaluate(() => mine.flush());
const left = (page: Page) => page.evaluate(() => mine.left());

test("a reload keeps the budget; an id has one report for ever, and it is counted once", async () => {
  const page = await visit();
  const first = await report(page, 1234, "visit 1");
  expect(await report(page, 9999, "visit 1")).toBe(first);
  expect(await left(page)).toBe(2);
  expect(await flushed(page)).toBe(true);
  await page.reload();
  await start(page);
  expect(await report(page, 1234, "visit 1")).toBe(first);
  const others = [await report(page, 1, "visit 2"), await report(page, 2)];
  expect([await report(page, 3), await left(page)]).toEqual([null, 0]);
  expect(await report(page, 3, "visit 2")).toBe(others[0]);
  expect(await flushed(page)).toBe(true);
  expect(counted(server.batches).sort()).toEqual([first, ...others].sort());
});

test("two tabs share one budget, and one report for an id", async () => {
  const options = { budget: { reports: 20, every: "1d" } };
  const tabs = [await visit(options), await visit(options)];
  const both = await Promise.all(tabs.map((tab) => report(tab, 50, "same")));
  expect(both[0]).toBe(both[1]);
  const many = await Promise.all(
    tabs.map((tab) =>
      tab.evaluate(async () => {
        const made = await Promise.all(Array.from({ length: 30 }, (_, i) => mine.report(i)));
        return made.filter((report) => report !== undefined).length;
      }),
    ),
  );
  expect(many[0]! + many[1]!).toBe(19);
  for (const tab of tabs) await flushed(tab);
  expect(await flushed(tabs[0]!)).toBe(true);
  expect(counted(server.batches)).toHaveLength(20);
});

/** A budget without a transaction (read, add one, write) must overspend, or the test of the real budget could not fail. */
test("a budget that is read and written in two steps is overspent", async () => {
  const granted = await (
    await visit()
  ).evaluate(async () => {
    let spent = 0;
    const spend = async () => {
      const read = spent;
      await new Promise((resolve) => setTimeout(resolve));
      if (read < 20) spent = read + 1;
      return read < 20;
    };
    return (await Promise.all(Array.from({ length: 60 }, spend))).filter(Boolean).length;
  });
  expect(granted).toBeGreaterThan(20);
});

test("a killed page leaves its report behind; the next page sends it as it was, once", async () => {
  server.status = "never";
  const page = await visit();
  const made = await report(page, 777, "killed");
  await server.came(1);
  const crashed = page.waitForEvent("crash");
  const session = await context.newCDPSession(page);
  void session.send("Page.crash").catch(() => undefined);
  await crashed;
  server.status = 204;
  const next = await visit();
  await server.came(2);
  expect(await report(next, 1, "killed")).toBe(made);
  expect(await left(next)).toBe(2);
  expect(await flushed(next)).toBe(true);
  expect(counted(server.batches)).toEqual([made]);
  expect(new Set(server.batches.map(({ id }) => id)).size).toBe(1);
});

test("a page that leaves sends what waits, without a cookie, a referrer or a content type", async () => {
  const page = await visit({ wait: "1h" });
  await context.addCookies([{ name: "who", value: "me", url: server.url }]);
  const made = [await report(page, 1), await report(page, 2)];
  expect(server.batches).toHaveLength(0);
  await page.goto(`${server.url}empty`);
  await server.came(1);
  expect(counted(server.batches)).toEqual(made);
  const [{ id, headers }] = server.batches as [(typeof server.batches)[0]];
  expect(id).toMatch(/^[0-9a-f]{32}$/);
  expect([headers.cookie, headers.referer, headers["content-type"]]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a batch is sent again until it is acknowledged, and dropped when it is refused for good", async () => {
  server.status = 503;
  const page = await visit();
  const made = await report(page, 5);
  await server.came(2); // the second one by itself, after a pause
  expect(await flushed(page)).toBe(false);
  server.status = 204;
  expect(await flushed(page)).toBe(true);
  expect(counted(server.batches)).toEqual([made]);
  server.status = 400;
  await report(page, 6);
  expect(await flushed(page)).toBe(true);
  expect(await page.evaluate(() => mine.sent)).toEqual({ acknowledged: 1, refused: 1 });
});

test("the server's terms decide θ; terms that are none spend nothing", async () => {
  const page = await context.newPage();
  await page.goto(server.url);
  await page.evaluate((all) => void (globalThis.mine = brume.device(all)), { ...OPTIONS, terms: "/terms" });
  const tried = () =>
    page.evaluate(() =>
      mine.report(1).then(
        (report) => report!.grid,
        (error: Error) => error.message,
      ),
    );
  expect(await tried()).toBe(gridOf(undefined, 1, 60_000));
  server.terms = '{"threshold":1875}';
  expect(await tried()).toBe(gridOf(undefined, 1, 1875));
  server.terms = '{"threshold":1876}';
  expect(await tried()).toMatch(/^threshold: expected one of the 321 public thresholds/);
  for (const [terms, message] of [
    ["{}", /^terms: expected a number as threshold/],
    ['{"__proto__":{"threshold":1875}}', /^terms: expected a number as threshold/],
    ["no JSON", /^terms: expected the server's threshold/],
    [`{"threshold":1875${" ".repeat(2000)}}`, /^terms: expected the server's threshold/],
  ] as const) {
    server.terms = terms;
    expect(await tried()).toMatch(message);
  }
  expect(await left(page)).toBe(1);
});

test("a clock that goes back grants nothing; a new period grants the budget again, up to the lifetime", async () => {
  const page = await visit({ budget: { reports: 2, every: "1h", lifetime: 3 } });
  const at = (hours: number) =>
    page.evaluate((time) => void (Date.now = () => time), Date.UTC(2026, 0, 1) + 3_600_000 * hours);
  await at(10.5);
  expect([await report(page, 1), await report(page, 1), await report(page, 1)]).toEqual([
    expect.any(String),
    expect.any(String),
    null,
  ]);
  await at(3);
  expect(await report(page, 1)).toBeNull();
  await at(11);
  expect([await left(page), (await report(page, 1)) === null, await left(page)]).toEqual([1, false, 0]);
  await at(9000);
  expect(await report(page, 1)).toBeNull();
});

test("no value and no id is stored, and no message quotes one", async () => {
  const page = await visit();
  await report(page, 31_415.9, "customer 271828182845");
  const stored = await page.evaluate(async () => {
    const names = (await indexedDB.databases()).map(({ name }) => name!);
    const open = (name: string) =>
      new Promise<IDBDatabase>((resolve) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
      });
    const all: unknown[] = [];
    for (const name of names) {
      const database = await open(name);
      for (const store of database.objectStoreNames) {
        const objects = database.transaction(store).objectStore(store);
        for (const request of [objects.getAll(), objects.getAllKeys()])
          all.push(await new Promise((resolve) => (request.onsuccess = () => resolve(request.result))));
      }
    }
    return JSON.stringify([names, all]);
  });
  expect(stored).toMatch(/"order":1,.*"secret","spent"/);
  expect(stored).not.toMatch(/31415\.9|customer|271828182845/);
  const message = (value: unknown, id: unknown) =>
    page.evaluate(
      ([value, id]) =>
        mine.report(value as number, { id: id as string }).catch((error: Error) => error.message),
      [value, id],
    );
  expect(await message("31415", "a")).toBe("value: expected a finite number");
  expect(await message(1, 271828)).toBe("id: expected a string that is not empty");
  expect(await message(1, "")).toBe("id: expected a string that is not empty");
  expect(await report(page, 1, "x".repeat(2 ** 20))).toEqual(expect.any(String));
});

test("as one module too; its statement says what the budget adds up to", async () => {
  const page = await context.newPage();
  await page.goto(server.url);
  const options = JSON.stringify({ ...OPTIONS, budget: { reports: 3, every: "1d", lifetime: 30 } });
  const statement = await page.evaluate(
    `import("/device.js").then(({ device }) => device(${options}).statement())`,
  );
  expect(statement).toMatchObject({
    unit: "one device and origin, per day",
    epsilonPerReport: 1,
    epsilon: 3,
    lifetimeEpsilon: 30,
    software,
    core: "js",
  });
});

test("one file, under 9 KB gzipped, without wasm, seedrandom or an import", () => {
  expect(gzipSync(file("device.js")).length).toBeLessThan(9 * 1024);
  for (const text of [file("device.js"), file("device.iife.js")])
    expect(text).not.toMatch(/WebAssembly|seedrandom|AGFzbQ|\bimport\b/);
});

test("wrong options are refused by name", async () => {
  const page = await visit();
  for (const [wrong, message] of [
    [{ name: "" }, /^name: expected 1 to 128 characters/],
    [{ budget: { reports: 0, every: "1d" } }, /^budget.reports: expected/],
    [{ budget: { reports: 1, every: "often" } }, /^budget.every: expected a duration/],
    [{ budget: { reports: 1, every: "1d", lifetime: 0 } }, /^budget.lifetime: expected/],
    [{ epsilon: 99 }, /^epsilon: expected/],
    [{ phase: "learn" }, /unknown option "phase"/],
    [{ threshold: 7 }, /^threshold: expected one of the 321/],
    [{ terms: "/terms", threshold: 60_000 }, /^terms: expected either/],
    [{ wait: "x" }, /^wait: expected a duration/],
    [{ url: 5 }, /^url: expected a string/],
    [{ sample: 0.1 }, /unknown option "sample"/],
  ] as const)
    expect(
      await page.evaluate(
        (options) => {
          try {
            return brume.device(options as unknown as DeviceOptions).statement().unit;
          } catch (error) {
            return (error as Error).message;
          }
        },
        { ...OPTIONS, ...wrong },
      ),
    ).toMatch(message);
});

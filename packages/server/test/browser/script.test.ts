/** The script tag of one line, in a page of another origin: one report per visit, and a budget that a reload keeps. */
import { readFileSync } from "node:fs";
import type { Browser, BrowserContext } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launch } from "../../../../test/support/chromium.js";
import { serve, type Server } from "../../../../test/support/server.js";
import { atEnd, startService, temporaryFolder, testConfig } from "../support.js";

const WAIT = 60_000;
let browser: Browser;
beforeAll(async () => void (browser = await launch(inject("chromium"))));
afterAll(() => browser.close());

async function start(perPerson: number) {
  const metrics = { pageload: { type: "local", epsilon: 2, max: 10_000, perPerson } } as const;
  const config = testConfig(temporaryFolder(), { metrics, epsilon: 20, cors: ["*"] });
  const running = await startService(config);
  const url = await running.app.listen({ host: "127.0.0.1", port: 0 });
  const page = readFileSync("examples/tasks/pageload.html", "utf8").replace("https://stats.example", url);
  const shop: Server = await serve({ files: { "/index.html": page } });
  atEnd(() => shop.close());
  const counted = async () =>
    (await running.app.inject("/v1/query?metric=pageload")).json<{ reports: number }>().reports;
  return { shop: shop.url, counted };
}

/** In the page: how many reports wait for the server's answer. */
async function waitingReports(): Promise<number> {
  const done = <T>(request: IDBRequest<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error!);
    });
  let waiting = 0;
  for (const { name } of await indexedDB.databases()) {
    const database = await done(indexedDB.open(name!));
    waiting += await done(database.transaction("outbox").objectStore("outbox").count());
    database.close();
  }
  return waiting;
}

/** A visit that ends when its report is there, or when there is none to wait for. */
async function visit(context: BrowserContext, shop: string, reports: boolean): Promise<void> {
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  const sent = page
    .waitForResponse((response) => response.url().includes("/v1/reports"), {
      timeout: reports ? WAIT : 1500,
    })
    .then((response) => response.status())
    .catch(() => undefined);
  await page.goto(shop);
  expect(await sent).toBe(reports ? 204 : undefined);
  // A page that is left before it has noted the answer sends the same report again with the next visit.
  await expect.poll(() => page.evaluate(waitingReports), { timeout: WAIT }).toBe(0);
  expect(errors).toEqual([]);
  await page.close();
}

test("two visits a day are reported, the third is not; another device has a budget of its own", async () => {
  const { shop, counted } = await start(2);
  const first = await browser.newContext();
  for (const reports of [true, true, false]) await visit(first, shop, reports);
  expect(await counted()).toBe(2);
  const second = await browser.newContext();
  await visit(second, shop, true);
  expect(await counted()).toBe(3);
  await first.close();
  await second.close();
});

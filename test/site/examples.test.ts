/** The examples as they stand in the folder, with the built library beside them. */
import { readFileSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launch, open } from "../support/chromium.js";
import { serve } from "../support/server.js";
import { textOf } from "./visit.js";

let browser: Browser;
beforeAll(async () => void (browser = await launch(inject("chromium"))));
afterAll(() => browser.close());

const brume = readFileSync("dist/browser/brume.js", "utf8");

test("a plain page: the whole day's sum with its error", async () => {
  await using server = await serve({ folders: { "/": "examples" }, files: { "/brume.js": brume } });
  const { page, errors, strayRequests } = await open(browser, `${server.url}plain.html`);
  const text = await textOf(page, "#sum", /steps/);
  const [sum, low, high] = text.match(/-?\d+(?= (steps|to|\)))|-?\d+(?=\))/g)!.map(Number);
  expect(low! < sum! && sum! < high!).toBe(true);
  expect(errors.concat(strayRequests)).toEqual([]);
  await page.context().close();
});

test("a service worker answers with private statistics of its own requests", async () => {
  await using server = await serve({
    folders: { "/": "examples/service-worker" },
    files: { "/brume.js": brume },
  });
  const { page, errors, strayRequests } = await open(browser, server.url);
  const text = await textOf(page, "#mean", /ms ± .* over \d+ requests/);
  expect(Number(text.match(/over (\d+)/)![1])).toBeGreaterThanOrEqual(300);
  expect(errors.concat(strayRequests)).toEqual([]);
  await page.context().close();
});

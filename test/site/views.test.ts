/** The other two views: a run of ToPL with many browsers, and the comparison of methods. */
import { mkdirSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { evaluate } from "../../research/evaluate.js";
import { exampleStream } from "../../src/cli/example.js";
import { launch } from "../support/chromium.js";
import { addressState, downloaded, textOf, visit, WITHOUT_WASM } from "./playground.js";

let browser: Browser;
beforeAll(async () => {
  browser = await launch(inject("chromium"));
  mkdirSync("build/screenshots", { recursive: true });
});
afterAll(() => browser.close());

async function screenshots(page: Page, view: string): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1360, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
      await page.screenshot({
        path: `build/screenshots/${view}-${width}-${colorScheme}.png`,
        fullPage: true,
      });
    }
}

const numbers = (text: string) =>
  text.match(/\d[\d,]*(\.\d+)?/g)!.map((word) => Number(word.replaceAll(",", "")));

test("from devices: reports, distribution, θ, stream, and a sum within its error", async () => {
  await visit(browser, "?devices=160000&learners=50&deviceEpsilon=2", async (page) => {
    await page.click("#tab-devices");
    await textOf(page, "#devices-answer", /Mean/);
    await textOf(page, "[data-step=learn] output", /^80,000 reports$/);
    await textOf(page, "[data-step=estimate] output", /^[\d,]+ EM updates, θ = [\d.]+\squeries\/s$/);
    await textOf(page, "[data-step=release] output", /^80,000 values$/);
    await textOf(page, "#devices-answer pre", /local differential privacy with ε = 2/);
    const [truth, released, error] = (
      await page.locator("#devices-answer tbody tr:first-child td").allTextContents()
    ).map(numbers);
    const values = exampleStream("brume").subarray(80_000, 160_000);
    expect(truth).toEqual([values.reduce((a, b) => a + b)]);
    // Unbiased for values clamped to θ. The bar is 1.96 σ of noise that is drawn anew: six bars are never passed.
    const theta = numbers((await page.locator("[data-step=estimate] output").textContent())!)[1]!;
    const clamped = values.reduce((sum, value) => sum + Math.min(value, theta), 0);
    expect(Math.abs(released![0]! - clamped)).toBeLessThan(6 * error![0]!);
    await screenshots(page, "devices");
  });
});

test("from devices: every control and stop, without wasm", async () => {
  await visit(
    browser,
    "?view=devices&devices=1000000",
    async (page) => {
      await textOf(page, "[data-step=learn] output", /reports$/);
      await page.click("#devices-stop");
      await textOf(page, "[data-step=release] output", /^Stopped\.$/);
      await page.fill("#devices", "20000");
      await page.fill("#deviceEpsilon", "4");
      await page.fill("#learners", "50");
      await page.selectOption("#estimator", "ems");
      const state = await addressState(page, "estimator", "ems");
      expect(state).toMatchObject({ devices: 20_000, deviceEpsilon: 4, learners: 50 });
      await page.click("#devices-run");
      await textOf(page, "#devices-answer pre", /learn: Square Wave on \[0, 1000\], ε = 4, 10000 reports/);
    },
    WITHOUT_WASM,
  );
});

const SMALL = "view=compare&holdout=4096&maxRange=16384&queries=50&epsilons=0.1,1";

test("compare: the errors are those of the lab, as a picture, a table, CSV and SVG", async () => {
  await visit(browser, `?${SMALL}&repeat=3`, async (page) => {
    await page.getByRole("checkbox", { name: "Flat Laplace" }).check();
    await page.getByRole("checkbox", { name: /^PAK/ }).uncheck();
    await addressState(page, "methods", "tops,paper,flat");
    await page.click("#compare-run");
    await textOf(page, "#compare-status", /^18 runs done\.$/);

    const [head, ...rows] = (await downloaded(page, "#compare-csv")).trimEnd().split("\n");
    expect(head).toBe("method,epsilon,runs,mse,mse_error95,mae,theta_median,seconds_median");
    const shown = rows.map((row) => row.split(",").slice(0, 4));
    const options = {
      data: exampleStream("brume"),
      max: 1000,
      epsilons: [0.1, 1],
      repeat: 3,
      queries: 50,
      holdout: 4096,
      maxRange: 16_384,
      seed: "brume",
    };
    const ours = evaluate({ ...options, methods: ["tops", "flat"], variant: "default" }).results;
    const printed = evaluate({ ...options, methods: ["tops"], variant: "paper" }).results;
    const expected = [...ours.slice(0, 2), ...printed, ...ours.slice(2)].map(({ epsilon, mse }) => [
      String(epsilon),
      "3",
      String(mse.mean),
    ]);
    expect(shown.map(([, ...cells]) => cells)).toEqual(expected);
    expect(shown.map(([method]) => method)).toEqual(["tops", "tops", "paper", "paper", "flat", "flat"]);

    const picture = await downloaded(page, "#compare-svg");
    expect(picture).toMatch(/^<svg [^>]*xmlns="http:\/\/www.w3.org\/2000\/svg"/);
    expect(picture).toContain("Flat Laplace");
    expect(await page.locator("#results tbody tr").count()).toBe(6);
    await screenshots(page, "compare");
  });
});

test("compare: stops when asked, and says what is wrong with a budget", async () => {
  await visit(browser, `?${SMALL}&repeat=100`, async (page) => {
    await page.click("#compare-run");
    await textOf(page, "#compare-status", /^[1-9]\d* of 600 runs$/);
    await page.click("#compare-stop");
    await textOf(page, "#compare-status", /^Stopped after \d+ of 600 runs\.$/);
    await page.fill("#epsilons", "0.1,99");
    await page.click("#compare-run");
    await textOf(page, "#compare-error", /^Privacy budgets: expected numbers from 0\.001 to 10/);
  });
});

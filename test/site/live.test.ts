/** The live view in Chromium: what it shows is what the library publishes, to the last bit. */
import { mkdirSync } from "node:fs";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { exampleStream } from "../../src/cli/example.js";
import { amount } from "../../site/src/look/format.js";
import { initialState } from "../../site/src/state.js";
import { makePublisher } from "../../site/src/workers/publisher.js";
import { launch } from "../support/chromium.js";
import { addressState, downloaded, textOf, visit, WITHOUT_WASM } from "./playground.js";

let browser: Browser;
beforeAll(async () => void (browser = await launch(inject("chromium"))));
afterAll(() => browser.close());

const AT = 150_000;
const values = exampleStream("brume");

test("streams at once: values are published, truth and account stand beside them", async () => {
  await visit(browser, "", async (page) => {
    await textOf(page, "#progress-note", /published/);
    const first = await page.locator("#progress-note").textContent();
    await page.waitForFunction(
      (before) => document.querySelector("#progress-note")!.textContent !== before,
      first,
    );
    await textOf(page, "#account", /ε = 0.05, δ = 0/);
    await textOf(page, "#account", /Threshold θ\s*\d+\squeries\/s/);
    await textOf(page, "#core-note", /WebAssembly\.$/);
    expect(await page.locator("#data-status, #data-error, #release-error").allTextContents()).toEqual([
      "",
      "",
      "",
    ]);
  });
});

test.each([
  ["wasm allowed", undefined, /^Core: WebAssembly\.$/],
  [
    "wasm forbidden: the js core, and the page says so",
    WITHOUT_WASM,
    /^Core: plain JavaScript, because .* may not/,
  ],
] as const)("the published stream is Node's, bit for bit: %s", async (_, policy, note) => {
  await visit(
    browser,
    `?at=${AT}`,
    async (page) => {
      await textOf(page, "#progress-note", /^150,000 of/);
      expect(await page.locator("#core-note").textContent()).toMatch(note);
      const [head, ...rows] = (await downloaded(page, "#download-stream")).trimEnd().split("\n");
      const published = makePublisher(initialState()).pushMany(values.subarray(0, AT));
      expect(head).toBe("position,private");
      expect(rows).toEqual(Array.from(published, (value, i) => `${AT - published.length + i},${value}`));
    },
    policy,
  );
});

test("a range is dragged with the mouse, typed, asked for in whole, and cleared with a click", async () => {
  await visit(browser, `?at=${AT * 4}`, async (page) => {
    await textOf(page, "#progress-note", /published/);
    const box = (await page.locator("#stream-plot .u-over").boundingBox())!;
    const middle = box.y + box.height / 2;
    await page.mouse.move(box.x + 0.2 * box.width, middle);
    await page.mouse.down();
    await page.mouse.move(box.x + 0.3 * box.width, middle);
    await page.mouse.move(box.x + 0.4 * box.width, middle);
    await page.mouse.up();
    const { from, to } = await addressState(page, "to");
    const pixel = values.length / box.width;
    expect(Math.abs(from - 0.2 * values.length)).toBeLessThan(1.5 * pixel);
    expect(Math.abs(to - 0.4 * values.length)).toBeLessThan(1.5 * pixel);

    const truth = amount(values.subarray(from, to).reduce((a, b) => a + b));
    await textOf(page, "#answer", /95 % error/);
    const cells = await page.locator("#answer tbody tr").first().locator("td").allTextContents();
    expect(cells[0]).toBe(truth);
    expect(cells[2]).toMatch(/^± [\d,.]+$/);
    expect(await page.locator("#answer svg").getAttribute("aria-label")).toMatch(/95 % between .* truth/);

    await page.fill("#from", "100000");
    await page.fill("#to", "200000");
    await page.keyboard.press("Tab");
    await textOf(page, "#answer", /day 2, 03:46 to day 3, 07:33: 1\sd 3\sh/);

    await page.click("#ask-all");
    await textOf(page, "#answer", /day 1, 18:12 to day 7/);

    await page.mouse.click(box.x + 0.7 * box.width, middle);
    await textOf(page, "#answer", /^Drag over the plot/);
  });
});

test("pause, speed, restart and the moving average", async () => {
  await visit(browser, "?speed=1000", async (page) => {
    await textOf(page, "#progress-note", /published/);
    await page.click("#play");
    const { at } = await addressState(page, "at");
    await textOf(page, "#progress-note", new RegExp(`^${at.toLocaleString("en")} of`));
    expect(await page.locator("#play").textContent()).toBe("Play");

    await page.click("#restart");
    await page.waitForFunction(() => {
      const published = /([\d,]+) published/.exec(
        document.querySelector("#progress-note")!.textContent ?? "",
      );
      return Number(published?.[1]?.replaceAll(",", "") ?? 0) < 50_000;
    });

    await page.selectOption("#speed", "1000000");
    await textOf(page, "#progress-note", /^1,114,112 of 1,114,112 values, 1,048,576 published/);
    expect(await page.locator("#play").textContent()).toBe("Ended");

    await page.click("#controls summary");
    await page.fill("#window", "3600");
    await textOf(page, "#average-note", /^Moving averages over 1\sh$/);
  });
});

test("on a phone and in the dark nothing is cut off", async () => {
  mkdirSync("build/screenshots", { recursive: true });
  await visit(browser, `?at=700000&from=300000&to=500000`, async (page) => {
    await textOf(page, "#answer", /95 % error/);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      for (const [name, width, height] of [
        ["desk", 1360, 850],
        ["phone", 390, 844],
      ] as const) {
        await page.setViewportSize({ width, height });
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
        await page.waitForFunction(
          ([from, to]) => {
            const [over, chosen] = [".u-over", ".u-select"].map((at) =>
              document.querySelector(`#stream-plot ${at}`)!.getBoundingClientRect(),
            );
            const off = (edge: number, share: number) => Math.abs(edge - over!.left - share * over!.width);
            return off(chosen!.left, from!) < 2 && off(chosen!.right, to!) < 2;
          },
          [300_000 / values.length, 500_000 / values.length],
        );
        await page.screenshot({ path: `build/screenshots/live-${name}-${colorScheme}.png`, fullPage: true });
      }
    }
  });
});

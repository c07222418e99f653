/** Every control of the live view acts at once, and what is shown is what the library answers in Node. */
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { exampleStream } from "../../src/cli/example.js";
import { amount } from "../../site/src/look/format.js";
import { initialState, type State } from "../../site/src/state.js";
import { makePublisher } from "../../site/src/workers/publisher.js";
import { launch } from "../support/chromium.js";
import { addressState, says, textOf, visit } from "./playground.js";

let browser: Browser;
beforeAll(async () => void (browser = await launch(inject("chromium"))));
afterAll(() => browser.close());

/** A paused stream with enough behind the hold-out, small enough to be made again in Node at once. */
const AT = 150_000;
const [FROM, TO] = [80_000, 140_000];
const PAUSED = `?at=${AT}&from=${FROM}&to=${TO}`;

const values = exampleStream("brume");

/** The private sum that the answer must show. */
function sumInNode(state: State): string {
  const publisher = makePublisher(state);
  publisher.pushMany((state.seed === "brume" ? values : exampleStream(state.seed)).subarray(0, AT));
  return amount(publisher.range(FROM - state.holdout, TO - state.holdout).sum);
}

const SUM = "#answer td.private";

/** Every control that decides what is published: how a visitor sets it, and what then must be in force. */
const CONTROLS: [
  name: string,
  act: (page: Page) => Promise<unknown>,
  key: keyof State,
  value: State[keyof State],
][] = [
  ["ε, field", (page) => page.fill("#epsilon", "0.5"), "epsilon", 0.5],
  ["ε, slider", (page) => slide(page, "epsilon", 0), "epsilon", 0.001],
  ["hold-out, field", (page) => page.fill("#holdout", "5000"), "holdout", 5000],
  ["hold-out, slider", (page) => slide(page, "holdout", 0), "holdout", 256],
  ["longest range, field", (page) => page.fill("#maxRange", "100000"), "maxRange", 100_000],
  ["longest range, slider", (page) => slide(page, "maxRange", 8), "maxRange", 2 ** 16],
  ["smoother", (page) => page.selectOption("#smoother", "mean"), "smoother", "mean"],
  ["smoother, moving", (page) => smoothBy(page, "moving", "blocks", "7"), "blocks", 7],
  ["smoother, exponential", (page) => smoothBy(page, "exponential", "alpha", "0.2"), "alpha", 0.2],
  ["skipped levels", (page) => page.selectOption("#skip", "1"), "skip", "1"],
  ["skipped levels, paper", (page) => page.selectOption("#skip", "paper"), "skip", "paper"],
  ["largest value", (page) => page.fill("#max", "300"), "max", 300],
  ["method, paper", (page) => page.getByText("Paper", { exact: true }).click(), "variant", "paper"],
  ["method, PAK", (page) => page.getByText("PAK", { exact: true }).click(), "variant", "pak"],
];

test("every control acts at once, and the answer is the library's", async () => {
  await visit(browser, PAUSED, async (page) => {
    await says(page, SUM, sumInNode(initialState()));
    for (const [name, act, key, value] of CONTROLS) {
      await act(page);
      const state = await addressState(page, key, value);
      expect(state[key], name).toBe(value);
      await says(page, SUM, sumInNode(state));
      await page.click("#defaults");
      await page.waitForURL((url) => !url.searchParams.has(key));
    }

    await page.click("#controls summary");
    await page.click("#new-seed");
    const state = await addressState(page, "seed");
    await says(page, SUM, sumInNode(state)); // another stream and other noise
    await page.selectOption("#noise", "secret");
    await textOf(page, "#account pre", /platform's cryptographic generator/);
    await page.waitForFunction(
      ([at, seeded]) => document.querySelector(at!)!.textContent !== seeded,
      [SUM, sumInNode(state)],
    );
    expect(await page.locator("#account .notice").count()).toBe(0);
  });
});

test("settings that cannot be: the field says so, the page goes on", async () => {
  await visit(browser, PAUSED, async (page) => {
    const sum = sumInNode(initialState());
    await says(page, SUM, sum);
    await page.fill("#epsilon", "-1");
    expect(await page.locator("#epsilon").getAttribute("aria-invalid")).toBe("true");
    await page.locator("#epsilon").blur();
    expect(await page.inputValue("#epsilon")).toBe("0.05");

    await page.selectOption("#skip", "4");
    await page.fill("#maxRange", "1000"); // three levels: there is no fourth to skip
    await textOf(page, "#release-error", /^tuning.skipLevels: expected .* whole number from 0 to 2/);
    await page.selectOption("#skip", "auto");
    await says(page, "#release-error", "");
  });
});

test("a link shows the same picture; nonsense in it is ignored", async () => {
  await visit(
    browser,
    `${PAUSED}&epsilon=0.2&smoother=median&window=1000&maxRange=-5&holdout=x`,
    async (page) => {
      const state = { ...initialState(), epsilon: 0.2, smoother: "median" as const };
      await says(page, SUM, sumInNode(state));
      expect(await page.inputValue("#window")).toBe("1000");
      expect(await page.inputValue("#maxRange")).toBe("1048576");
    },
  );
});

test("with the keyboard: tabs and sliders by arrow keys", async () => {
  await visit(browser, PAUSED, async (page) => {
    await page.locator("#tab-live").focus();
    await page.keyboard.press("ArrowLeft");
    await textOf(page, "#tab-compare[aria-selected=true]", /Compare/);
    await page.keyboard.press("ArrowRight");
    await textOf(page, "#tab-live[aria-selected=true]", /Live/);
    await page.locator("[data-slides=epsilon]").focus();
    await page.keyboard.press("ArrowRight");
    const state = await addressState(page, "epsilon");
    expect(state.epsilon).toBeGreaterThan(0.05);
    await says(page, SUM, sumInNode(state));
  });
});

async function smoothBy(page: Page, smoother: string, field: string, value: string): Promise<void> {
  await page.selectOption("#smoother", smoother);
  await page.fill(`[name=${field}]`, value);
}

async function slide(page: Page, field: string, to: number): Promise<void> {
  await page.locator(`[data-slides=${field}]`).fill(String(to));
}

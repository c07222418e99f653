/** The lab in Chromium: what it shows is what the library publishes, and what is stale is gone. */
import { expect, test } from "vitest";
import { readState } from "../../site/src/look/state.js";
import { amount } from "../../site/src/look/format.js";
import { costOf, sureness } from "../../site/src/play/chooser.js";
import { FIELDS, releaseSettings, type State } from "../../site/src/play/state.js";
import { makePublisher } from "../../site/src/workers/publisher.js";
import { exampleStream } from "../../src/cli/example.js";
import {
  coverage,
  downloaded,
  dragOver,
  framesOf,
  sharedBrowser,
  textOf,
  visit,
  WITHOUT_WASM,
} from "./visit.js";

const browser = sharedBrowser();
const values = exampleStream("brume");
const AT = 150_000;
const [FROM, TO] = [80_000, 140_000];
const PAUSED = `play/?at=${AT}&from=${FROM}&to=${TO}`;

const stateOf = (query: string): State => readState(FIELDS, query);

/** The private sum that the answer must show. */
function sumInNode(query: string): string {
  const state = stateOf(query);
  const publisher = makePublisher(releaseSettings(state));
  publisher.pushMany(values.subarray(0, AT));
  return amount(publisher.range(FROM - state.holdout, TO - state.holdout).sum);
}

test("the margin holds the truth in 93 to 97 % of the columns, with an average of 2 hours and of 10 minutes", async () => {
  await visit(browser(), `play/?at=${values.length}`, async (page) => {
    for (const [window, epsilon] of [
      [7200, "0.05"],
      [600, "0.05"],
      [7200, "10"],
    ] as const) {
      await page.evaluate(() =>
        document.querySelector<HTMLDetailsElement>("#advanced")!.setAttribute("open", ""),
      );
      await page.fill("#window", String(window));
      await page.fill("#epsilon", epsilon);
      await page.locator("#epsilon").blur();
      await textOf(page, "#progress-note", /1,114,112 of 1,114,112 values/);
      await textOf(
        page,
        "#average-note",
        epsilon === "10" ? /over 2\sh\./ : window === 7200 ? /2\sh 16\smin/ : /1\sh 8\smin/,
      );
      const { inside, columns } = await coverage(page);
      expect(columns).toBeGreaterThan(500);
      expect(inside / columns).toBeGreaterThanOrEqual(0.93);
      expect(inside / columns).toBeLessThanOrEqual(0.97);
    }
  });
});

test("the answer is the library's; noise and what is cut off are two labelled segments with readable ends", async () => {
  await visit(browser(), PAUSED, async (page) => {
    await textOf(page, "#answer-sum", new RegExp(`^${sumInNode("")}$`));
    expect(await page.locator("#answer .segment-noise").count()).toBe(1);
    expect(await page.locator("#answer .segment-clamped").count()).toBe(1);
    await textOf(page, "#answer .interval", /noise/);
    await textOf(page, "#answer .interval", /may be cut off by θ/);
    // No two texts of the bar lie on each other, and none leaves the picture.
    const boxes = await page.locator("#answer .interval text").evaluateAll((texts) =>
      texts.map((text) => {
        const { left, right, top, bottom } = text.getBoundingClientRect();
        return { left, right, top, bottom };
      }),
    );
    const frame = (await page.locator("#answer").boundingBox())!;
    for (const [i, a] of boxes.entries()) {
      expect(a.left >= frame.x && a.right <= frame.x + frame.width).toBe(true);
      for (const b of boxes.slice(i + 1))
        expect(a.right <= b.left || b.right <= a.left || a.bottom <= b.top + 4 || b.bottom <= a.top + 4).toBe(
          true,
        );
    }
    // The truth lies within noise and cut-off together, where noise alone would miss it by far.
    const state = stateOf("");
    const publisher = makePublisher(releaseSettings(state));
    publisher.pushMany(values.subarray(0, AT));
    const { low, high, hidden } = publisher.range(FROM - state.holdout, TO - state.holdout);
    const theta = publisher.statement().threshold!;
    const part = values.subarray(FROM, TO);
    const [truth, cut] = part.reduce(([a, b], v) => [a + v, b + Math.max(0, v - theta)], [0, 0]);
    expect(truth >= low && truth <= high + cut).toBe(true);
    expect(cut <= hidden!.high && truth <= high + hidden!.high).toBe(true);
    await textOf(
      page,
      "#answer-parts",
      new RegExp(`about ${amount(hidden!.sum)}, at most ${amount(hidden!.high)}, by private counts`),
    );
    await textOf(page, "#answer-secret", new RegExp(`^${amount(cut)} is cut off`));
  });
});

test("a dragged range is visible while the stream runs, when it is paused, at its end and without motion", async () => {
  const isVisible = async (page: Parameters<typeof dragOver>[0]) => {
    await dragOver(page, 0.3, 0.6);
    await page.waitForURL(/from=\d+&to=\d+/);
    const [range, over] = await Promise.all(
      [".chart-range", ".u-over"].map((at) => page.locator(`#chart ${at}`).boundingBox()),
    );
    expect(range!.width / over!.width).toBeCloseTo(0.3, 1);
    expect(range!.height).toBeGreaterThan(100);
    await textOf(page, "#answer-sum", /\d/);
  };
  await visit(browser(), "play/?speed=1000000", isVisible);
  await visit(browser(), "play/?at=800000", isVisible);
  await visit(browser(), "play/", isVisible, { reducedMotion: "reduce" });
});

test("no answer outlives its range or settings, and the page says where there is none", async () => {
  await visit(browser(), PAUSED, async (page) => {
    await textOf(page, "#answer-sum", new RegExp(`^${sumInNode("")}$`));
    await page.fill("#from", "1000");
    await page.fill("#to", "60000");
    await page.locator("#to").blur();
    await textOf(page, "#answer", /No answer yet: these values are held out/);
    await page.fill("#to", "900000");
    await page.fill("#from", "800000");
    await page.locator("#from").blur();
    await textOf(page, "#answer", /No answer yet: this range is not streamed yet/);
    await page.fill("#to", String(TO));
    await page.fill("#from", String(FROM));
    await page.locator("#from").blur();
    await page.locator("input[name=method][value=paper]").check({ force: true });
    await textOf(page, "#answer-sum", new RegExp(`^${sumInNode("method=paper")}$`));
    await page.fill("#epsilon", "0.5");
    await textOf(page, "#answer-sum", new RegExp(`^${sumInNode("method=paper&epsilon=0.5")}$`));
  });
});

test("every method answers as in Node, also where WebAssembly is forbidden", async () => {
  await visit(
    browser(),
    PAUSED,
    async (page) => {
      for (const method of ["pak", "naive", "ours"]) {
        await page.locator(`input[name=method][value=${method}]`).check({ force: true });
        await textOf(page, "#answer-sum", new RegExp(`^${sumInNode(`method=${method}`)}$`));
      }
      await textOf(page, "#core-note", /plain JavaScript/);
    },
    { policy: WITHOUT_WASM },
  );
});

test("nothing is sent when nothing changes; CSV has every published number", async () => {
  await visit(browser(), PAUSED, async (page) => {
    await textOf(page, "#answer-sum", /\d/);
    const before = await framesOf(page);
    expect(before).toBeLessThan(8);
    const file = (await downloaded(page, "#save-csv")).toString().trimEnd().split("\n");
    const state = stateOf("");
    const published = makePublisher(releaseSettings(state)).pushMany(values.subarray(0, AT));
    expect(file[0]).toBe("position,private");
    expect(file.length - 1).toBe(published.length);
    expect(file[1]).toBe(`${state.holdout},${published[0]}`);
    expect(file.at(-1)).toBe(`${AT - 1},${published.at(-1)}`);
    expect(await framesOf(page)).toBe(before);
  });
});

test("with keys: arrows move, Shift and arrows select, Enter asks, plus zooms; buttons tell their state", async () => {
  await visit(browser(), `play/?at=${AT}`, async (page) => {
    await textOf(page, "#progress-note", /published/);
    await page.locator("#chart").focus();
    for (let i = 0; i < 4; i++) await page.keyboard.press("PageDown");
    await textOf(page, "#announce", /private/);
    for (let i = 0; i < 3; i++) await page.keyboard.press("Shift+PageUp");
    await page.keyboard.press("Enter");
    await page.waitForURL(/from=\d+&to=\d+/);
    await textOf(page, "#answer-sum, #answer .empty", /\d|No answer yet/);
    await page.keyboard.press("+");
    await page.waitForURL(/right=\d+/);
    expect(await page.locator("#whole").isVisible()).toBe(true);
    const pressed = () => page.locator("#peek").getAttribute("aria-pressed");
    expect(await pressed()).toBe("true");
    await page.click("#peek");
    expect(await pressed()).toBe("false");
    expect(await page.locator("body").getAttribute("class")).toContain("fogged");
  });
});

test("twenty more releases, four methods side by side, and code to take along", async () => {
  await visit(
    browser(),
    PAUSED,
    async (page) => {
      await textOf(page, "#answer-sum", /\d/);
      await page.click("#again");
      await page.waitForFunction(() => !document.querySelector<HTMLButtonElement>("#again")!.disabled);
      await page.locator("#multiples").scrollIntoViewIfNeeded();
      for (const method of ["ours", "paper", "pak", "naive"])
        await textOf(page, `[data-off=${method}]`, /off by [\d,.]+/);
      await page.click("#copy-code");
      const code = await page.evaluate(() => navigator.clipboard.readText());
      expect(code).toContain(
        "privateStream({ epsilon: 0.05, max: 1000, holdout: 65536, maxRange: 1048576 })",
      );
    },
    { permissions: ["clipboard-read", "clipboard-write"] },
  );
});

test("ε by its odds: what each allows and costs on these numbers, used by a click, told in a statement", async () => {
  expect(sureness(Math.log(3))).toBeCloseTo(0.75, 12);
  expect(costOf({ low: 90, high: 110, truth: 50 })).toBeCloseTo(0.2, 12);
  await visit(browser(), PAUSED, async (page) => {
    await textOf(page, "#answer-sum", /\d/);
    await page.locator("#choose").scrollIntoViewIfNeeded();
    const rows = page.locator("#choose-table tbody tr");
    await rows.last().getByText("±").waitFor();
    expect(await rows.count()).toBe(9);
    await textOf(page, "#choose-table tr[aria-current]", /^0\.0551\.3\s%±/);
    const cost = (row: number) => rows.nth(row).locator("td").nth(1).textContent();
    const of = (text: string | null) => Number(/[\d.]+/.exec(text!)![0]);
    expect(of(await cost(0))).toBeGreaterThan(2 * of(await cost(8))); // 0.01 and 5: noise is secret, widths vary
    await page.getByRole("button", { name: "Use ε = 1" }).click();
    await textOf(page, "#choose-table tr[aria-current]", /^173\.2\s%/);
    await page.waitForURL(/epsilon=1/);
    await textOf(page, "#account", /ε = 1/);
    const statement = (await downloaded(page, "#choose-export")).toString();
    expect(statement).toContain(
      "ε = 1. Replacing any one value by another between 0 and 1,000\u00a0queries/s",
    );
    expect(statement).toContain("more than 2.718 times as likely");
    expect(statement).toContain("at most 73.2\u00a0% sure of the right one");
    expect(statement).toMatch(/10 values: ε = 10, at most 100\s% sure/);
    expect(statement).toMatch(
      /The sum over .* is off by at most [\d.]+\s% from noise, with 95 % probability/,
    );
    expect(statement).toContain("not for publication");
  });
});

/** Files of a visitor's own: read in a Worker, shown like the example, refused with a sentence when they are no stream. */
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { amount } from "../../site/src/look/format.js";
import { launch } from "../support/chromium.js";
import { dropFile, says, textOf, visit } from "./playground.js";

let browser: Browser;
beforeAll(async () => void (browser = await launch(inject("chromium"))));
afterAll(() => browser.close());

const COUNT = 3000;
const numbers = Array.from({ length: COUNT }, (_, i) => 40 + ((i * 7919) % 53));
const lines = (line: (value: number, i: number) => string) => numbers.map(line).join("\n");
/** The hold-out that the page chooses for so many values: an eighth of the power of two below. */
const HOLDOUT = 256;
const truth = amount(numbers.slice(HOLDOUT).reduce((a, b) => a + b, 0));

const FILES: [what: string, name: string, content: string, unit: string][] = [
  ["a plain list", "list.txt", lines(String), "value"],
  ["CSV, header, times", "log.csv", `time,host,load\n${lines((v, i) => `${1e9 + i},a,${v}`)}\n`, "load"],
  ["CSV, semicolons, quotes, no header", "bare.csv", lines((v) => `"a;b";${v}`), "column 2"],
  [
    "NDJSON, inner field",
    "log.ndjson",
    lines((v, i) => JSON.stringify({ time: i, net: { bytes: v } })),
    "net.bytes",
  ],
];

test("streams plain lists, CSV and NDJSON, and goes back to the example", async () => {
  await visit(browser, "", async (page) => {
    for (const [, name, content, unit] of FILES) {
      await dropFile(page, name, content);
      await says(page, "#data-name", name);
      await textOf(page, "#progress-note", /^3,000 of 3,000 values, 2,744 published/);
      await page.click("#ask-all");
      await says(page, "#answer td", truth);
      await says(page, "#answer tbody th", `Sum ${unit}`);
      expect(await page.inputValue("#max")).toBe("100");
    }
    await page.click("#use-example");
    await textOf(page, "#account", /between 0 and 1,000\squeries\/s/);
  });
});

test("another column is chosen; rows without a number are left out and counted", async () => {
  const csv = `a,b,c\n${lines((v, i) => `${i % 10 === 0 ? "n/a" : v},${3 * v},x`)}`;
  await visit(browser, "", async (page) => {
    await dropFile(page, "table.csv", csv);
    await textOf(page, "#data-status", /^300 rows without a number/);
    await page.selectOption("#column", { label: "b" });
    await textOf(page, "#data-size", /^3,000 values/);
    expect(await page.inputValue("#max")).toBe("500");
    // A column of letters: said, and the stream shown before goes on.
    await page.selectOption("#column", { label: "c (no numbers)" });
    await textOf(page, "#data-error", /^table\.csv: Column “c” holds no numbers/);
    await textOf(page, "#data-size", /^3,000 values/);
  });
});

const BAD: [name: string, content: string, message: RegExp][] = [
  ["empty.csv", "", /^empty\.csv: The file is empty\. Expected one number per line/],
  ["blank.txt", "\n\n  \n", /^blank\.txt: The file is empty/],
  ["letters.txt", "lorem\nipsum\ndolor\n".repeat(100), /^letters\.txt: No column of numbers found/],
  ["photo.png", "\x89PNG\0\0\0\r", /^photo\.png: This is not a text file/],
  ["short.txt", "1\n2\n3\n", /^short\.txt: 3 values found, at least 64 are needed/],
  ["broken.ndjson", '{"a": 1\n'.repeat(100), /^broken\.ndjson: No column of numbers found/],
];

test("refuses what is no stream with a sentence, and the example goes on", async () => {
  await visit(browser, "?speed=1000", async (page) => {
    await textOf(page, "#progress-note", /published/);
    for (const [name, content, message] of BAD) {
      await dropFile(page, name, content);
      await textOf(page, "#data-error", message);
    }
    expect(await page.locator("#data-name").textContent()).toMatch(/^Example/);
    const before = await page.locator("#progress-note").textContent();
    await page.waitForFunction(
      (text) => document.querySelector("#progress-note")!.textContent !== text,
      before,
    );
    await textOf(page, ".data-note", /read in your browser and never\s+uploaded/);
  });
});

test("a file of 50 MB is read in a Worker while the page goes on", async () => {
  await visit(browser, "", async (page) => {
    const rows = await page.evaluate(() => {
      const part = Array.from(
        { length: 1000 },
        (_, i) => `2024-01-01T00:00:00Z,host-${i % 7},${(i * 37) % 400}\n`,
      );
      const parts = Math.ceil((50 * 2 ** 20) / part.join("").length);
      const data = new DataTransfer();
      data.items.add(new File(Array<string>(parts).fill(part.join("")), "large.csv"));
      document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
      return 1000 * parts;
    });
    await textOf(page, "#data-status", /^Reading large\.csv: \d+ %/);
    await textOf(page, "#data-name", /^large\.csv$/);
    await says(page, "#data-size", `${rows.toLocaleString("en")} values`);
    await textOf(page, "#progress-note", /published/);
  });
});

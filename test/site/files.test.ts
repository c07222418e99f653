/** Files of a visitor's own: looked at first, read in a Worker, kept over a reload, refused with a sentence that helps. */
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { amount } from "../../site/src/look/format.js";
import { dropFile, sharedBrowser, textOf, visit } from "./visit.js";

const browser = sharedBrowser();
const COUNT = 3000;
const numbers = Array.from({ length: COUNT }, (_, i) => 40.5 + ((i * 7919) % 53));
const lines = (line: (value: number, i: number) => string) => numbers.map(line).join("\n");
/** The hold-out that the page chooses for so many values: an eighth of the power of two below. */
const HOLDOUT = 256;
const truth = amount(numbers.slice(HOLDOUT).reduce((a, b) => a + b, 0));
const comma = (value: number) => String(value).replace(".", ",");
const moment = (i: number) => new Date(Date.UTC(2024, 0, 1) + 60_000 * i).toISOString();

const FILES: [name: string, content: string | Buffer, unit: string][] = [
  ["list.txt", lines(String), ""],
  ["log.csv", `time,host,load (ms)\n${lines((v, i) => `${moment(i)},a,${v}`)}\n`, "ms"],
  ["german.csv", `zeit;id;wert [kW]\n${lines((v, i) => `${moment(i)};${i + 1};${comma(v)}`)}`, "kW"],
  ["tabs.tsv", `n\tamount\n${lines((v) => `x\t${v}`)}`, ""],
  ["packed.csv.gz", gzipSync(`id,load_ms\n${lines((v, i) => `${i},${v}`)}`), "ms"],
  ["array.json", JSON.stringify(numbers), ""],
  ["objects.json", JSON.stringify(numbers.map((v, i) => ({ time: i, net: { bytes: v } }))), "bytes"],
  ["log.ndjson", lines((v, i) => JSON.stringify({ time: moment(i), net: { bytes: v } })), "bytes"],
];

async function stream(page: Page, name: string, content: string | Buffer): Promise<void> {
  await dropFile(page, name, content);
  await textOf(page, "#preview-title", new RegExp(`^${name}$`));
  await page.click("#preview-go");
  await textOf(page, "#data-name", new RegExp(`^${name}$`));
}

test("lists, CSV, decimal commas, tabs, gzip, JSON arrays and NDJSON: the right column is found and streamed", async () => {
  await visit(browser(), "play/", async (page) => {
    for (const [name, content, unit] of FILES) {
      await stream(page, name, content);
      await textOf(page, "#progress-note", /^3,000 of 3,000 values, 2,744 published/);
      await page.click("#ask-all");
      await textOf(page, "#answer .interval", new RegExp(`true ${truth}`));
      await textOf(page, "#answer-mean", new RegExp(`^mean [\\d.,]+${unit && `\\s${unit}`}$`));
    }
    await page.click("#use-example");
    await textOf(page, "#data-name", /^Example/);
    await page.waitForURL((address) => (address.searchParams.get("file") ?? "") === "");
  });
});

test("a look before anything runs: 20 rows, a card per column, times offered as the axis, long names kept in place", async () => {
  const long = "a very long heading ".repeat(12).trim();
  const csv = `when,${long},row id\n${lines((v, i) => `${moment(i)},${v},${i}`)}`;
  await visit(
    browser(),
    "play/",
    async (page) => {
      await dropFile(page, "long.csv", csv);
      await textOf(page, "#preview-title", /long\.csv/);
      expect(await page.locator("#preview-rows tbody tr").count()).toBe(20);
      expect(await page.locator(".column-card").allTextContents()).toEqual([
        expect.stringMatching(/^when.*times.*time axis/),
        expect.stringMatching(/^a very long.*numbers/),
        expect.stringMatching(/^row id.*ids/),
      ]);
      expect(await page.locator("#time-column option:checked").textContent()).toBe("when");
      expect(await page.locator("#data-name").textContent()).toMatch(/^Example/);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
      await page.click("#preview-go");
      await textOf(page, "#data-status", /ε = [\d.]+ is suggested for 3,000 values/);
      await page.click("#ask-all");
      await textOf(page, "#answer-range", /2024-01-01 04:16 to 2024-01-03 02:00/);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(320);
    },
    { viewport: { width: 320, height: 800 } },
  );
});

test("a file survives a reload; a link without it says so, and shows no other stream under its name", async () => {
  await visit(browser(), "play/", async (page) => {
    await stream(page, "mine.txt", lines(String));
    await page.waitForURL(/file=[a-z0-9]+/);
    expect(page.url()).not.toContain("mine"); // a shared link tells nobody the file's name
    await textOf(page, "#progress-note", /of 3,000 values/);
    await page.reload();
    await textOf(page, "#data-name", /^mine\.txt$/);
    await textOf(page, "#progress-note", /of 3,000 values/);
  });
  await visit(browser(), "play/?file=abc123", async (page) => {
    await textOf(page, "#data-error", /made with a file that this browser does not have/);
    expect(await page.locator("#progress-note").textContent()).toBe("");
    await page.click("#use-example");
    await textOf(page, "#progress-note", /of 1,114,112 values/);
  });
});

/** Two days of calls, a row a minute; one person has a third of them. */
const people = `started,caller_id,minutes\n${numbers
  .slice(0, 2880)
  .map((value, i) => `${moment(i)},caller-${i % 3 === 0 ? "x" : i % 977},${Math.round(value)}`)
  .join("\n")}`;

test("people and times are detected and can be changed; events protect people; no id and no name leaves the page", async () => {
  await visit(
    browser(),
    "play/",
    async (page) => {
      await dropFile(page, "calls.csv", people);
      await textOf(page, "#preview-found", /^Times: “started”\. People: “caller_id”\./);
      await textOf(
        page,
        "#preview-unit",
        /ε protects all that one person does on a day.*As values: ε protects one row/,
      );
      await page.selectOption("#person-column", { label: "none: protect single rows" });
      await textOf(page, "#preview-unit", /Either way ε protects one row, not a person/);
      await page.selectOption("#person-column", { label: "caller_id" });
      await page.click("#preview-events");
      await textOf(page, "#data-status", /People: “caller_id”, 978 of them/);
      await textOf(page, "#card-day .card-interval", /^95\s%: [\d,]+ to [\d,]+$/);
      await textOf(
        page,
        "#log-person",
        /one person does on one day \(UTC\) is protected together, with ε = 1/,
      );
      await textOf(page, "#log-limits-table", /20( least error in all)?3\d\s%/);
      // A day is marked with two lists; the card has its interval, beside the truth of the file.
      await page.selectOption("#log-from", { label: "Mon 1 Jan" });
      await page.selectOption("#log-to", { label: "Mon 1 Jan" });
      await textOf(page, "#card-range h3", /Mon 1 Jan$/);
      await textOf(page, "#card-range .secret", /1,440 in all$/);
      await page.locator("input[name=protect][value=event]").check({ force: true });
      await textOf(page, "#log-person", /^One event is protected.*A person is not/);
      await textOf(page, "#card-range .secret", /^Truth: 1,440$/);
      await page.waitForURL(/protect=event/);
      expect(decodeURIComponent(page.url())).not.toMatch(/calls|caller|minutes|started/);
      const kept = await page.evaluate(
        async () =>
          [
            JSON.stringify({ ...localStorage, ...sessionStorage }),
            (await indexedDB.databases()).length,
          ] as const,
      );
      expect(kept).toEqual(["{}", 0]);
      await page.reload();
      await textOf(page, "#data-error", /Such files are never stored/);
      await page.click("#use-example");
      await textOf(page, "#card-day .card-interval", /^95/);
    },
    { reducedMotion: "reduce", timezoneId: "UTC" },
  );
});

const BAD: [name: string, content: string, message: RegExp][] = [
  ["empty.csv", "", /^empty\.csv: The file is empty\. Expected one number per line/],
  ["letters.txt", "lorem\nipsum\ndolor\n".repeat(100), /^letters\.txt: No column of numbers found/],
  ["photo.png", "\x89PNG\0\0\0\r", /^photo\.png: This is not a text file/],
];

test("what is no stream is refused with a sentence; negatives and huge values are explained", async () => {
  await visit(browser(), "play/", async (page) => {
    for (const [name, content, message] of BAD) {
      await dropFile(page, name, content);
      await textOf(page, "#data-error", message);
    }
    await dropFile(page, "short.txt", "1\n2\n3\n");
    await textOf(page, "#preview-title", /short/);
    await page.click("#preview-go");
    await textOf(page, "#data-error", /^short\.txt: 3 values found, at least 64 are needed/);
    await dropFile(
      page,
      "huge.txt",
      lines((v) => String(v * 1e10)),
    );
    await textOf(page, "#preview-title", /huge/);
    await page.click("#preview-go");
    await textOf(
      page,
      "#data-error",
      /values up to .* the lab takes at most 1,000,000,000\. If they are times or ids/,
    );
    expect(await page.locator("#data-name").textContent()).toMatch(/^Example/);
    await stream(
      page,
      "below.txt",
      lines((v, i) => String(i % 10 === 0 ? -v : v)),
    );
    await textOf(page, "#data-status", /300 values are below 0 and are clamped to 0/);
  });
});

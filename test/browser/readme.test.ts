/** Every html block of the README works as it stands, in Chromium. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, inject, test } from "vitest";
import { launch, open } from "../support/chromium.js";
import { serve } from "../support/server.js";

const blocks = [...readFileSync("README.md", "utf8").matchAll(/^```html\n(.*?)^```/gms)].map(
  ([, html]) => html!,
);

test.each(blocks.map((html, i) => [i + 1, html] as const))("block %i shows its numbers", async (_, html) => {
  const browser = await launch(inject("chromium"));
  await using server = await serve({
    folders: { "/node_modules/": join(inject("app"), "node_modules") },
    files: { "/index.html": html },
  });
  const { page, errors, strayRequests } = await open(browser, server.url);
  await page.waitForFunction("document.querySelector('output').textContent.length > 0");
  expect(await page.textContent("output")).toMatch(/^\d+ \(\d+ to \d+\)$/);
  expect({ errors, strayRequests }).toEqual({ errors: [], strayRequests: [] });
  await browser.close();
});

test("there is a block to show", () => expect(blocks.length).toBeGreaterThan(0));

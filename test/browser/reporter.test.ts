/** The device's part of the installed package in Chromium: as modules, as one file, and from a classic script tag. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { launch, open } from "../support/chromium.js";
import { serve } from "../support/server.js";

type Reporter = typeof import("../../src/reporter.js").reporter;

const dist = join(inject("app"), "node_modules/brume/dist");
const file = (name: string) => readFileSync(join(dist, "browser", name), "utf8");

/** A device's program: reports with and without a threshold, singly and in a batch. The page runs its source text. */
const program = (reporter: Reporter) => {
  const options = { epsilon: 1, max: 512 };
  const first = reporter({ ...options, unsafeSeed: "anywhere" });
  const later = reporter({ ...options, threshold: 40, unsafeSeed: "anywhere" });
  const { private: secret } = reporter(options);
  return [first.report(12), later.report(600), [...first.reportMany([1, 2, 3])], secret];
};

let browser: Browser;
let expected: unknown;
beforeAll(async () => {
  browser = await launch(inject("chromium"));
  const entry = (await import(pathToFileURL(join(dist, "lib/reporter.js")).href)) as { reporter: Reporter };
  expected = program(entry.reporter);
});
afterAll(() => browser.close());

test.each([
  [
    "modules without a bundler or an import map",
    `<script type="module">import { reporter } from "/dist/lib/reporter.js"; globalThis.answer = (${String(program)})(reporter);</script>`,
  ],
  [
    "one file",
    `<script type="module">import { reporter } from "/dist/browser/reporter.js"; globalThis.answer = (${String(program)})(reporter);</script>`,
  ],
  [
    "a classic script tag",
    `<script src="/dist/browser/reporter.iife.js"></script><script>globalThis.answer = (${String(program)})(brume.reporter);</script>`,
  ],
])("%s: the same reports as in Node", async (_, body) => {
  await using server = await serve({
    folders: { "/dist/": dist },
    files: { "/index.html": `<!doctype html><meta charset="utf-8">${body}` },
  });
  const { page, errors, strayRequests } = await open(browser, server.url);
  expect(await page.evaluate("globalThis.answer")).toEqual(expected);
  expect({ errors, strayRequests }).toEqual({ errors: [], strayRequests: [] });
  await page.context().close();
});

test("one file, under 4 KB gzipped, without wasm, seedrandom or an import", () => {
  const code = file("reporter.js");
  expect(gzipSync(code).length).toBeLessThan(4096);
  for (const text of [code, file("reporter.iife.js")])
    expect(text).not.toMatch(/WebAssembly|seedrandom|AGFzbQ|\bimport\b/); // AGFzbQ: how wasm begins in base64
});

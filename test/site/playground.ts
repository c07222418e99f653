/** Opens the built playground as a visitor's browser would, under a strict policy, and reads it. */
import { readFileSync } from "node:fs";
import type { Browser, Page } from "playwright-core";
import { expect, inject } from "vitest";
import { readState, type State } from "../../site/src/state.js";
import { open } from "../support/chromium.js";
import { serve } from "../support/server.js";

/** Nothing inline, nothing from elsewhere, no wasm unless it is named. */
const POLICY =
  "default-src 'none'; style-src 'self'; img-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; script-src 'self'";

/** For what hangs, in milliseconds: a busy machine takes its time. */
const WAIT = 60_000;

export const WITH_WASM = `${POLICY} 'wasm-unsafe-eval'`;
export const WITHOUT_WASM = POLICY;

/** Runs `visit` on the page at `query`, then checks that nothing went wrong behind its back. */
export async function visit(
  browser: Browser,
  query: string,
  visitor: (page: Page) => Promise<void>,
  policy = WITH_WASM,
): Promise<void> {
  await using server = await serve({
    folders: { "/": inject("site") },
    headers: { "content-security-policy": policy },
  });
  const { page, errors, strayRequests } = await open(browser, `${server.url}${query}`);
  await visitor(page);
  expect({ errors, strayRequests }).toEqual({ errors: [], strayRequests: [] });
  await page.context().close();
}

/** Waits for a condition on the page's text. */
export async function textOf(page: Page, selector: string, pattern: RegExp): Promise<string> {
  await page
    .locator(selector)
    .filter({ hasText: pattern })
    .first()
    .waitFor({ state: "attached", timeout: WAIT });
  return (await page.locator(selector).first().textContent()) ?? "";
}

/** Waits until the first such element says exactly this. */
export async function says(page: Page, selector: string, text: string): Promise<void> {
  const asked = [selector, text] as const;
  const same = ([at, wanted]: typeof asked) => document.querySelector(at)?.textContent === wanted;
  await page.waitForFunction(same, asked, { timeout: WAIT }).catch(async () => {
    expect(await page.locator(selector).first().textContent(), selector).toBe(text);
  });
}

/** The state in the page's address, once it has `key`; once `key` has this value. */
export async function addressState(page: Page, key: keyof State, value?: State[keyof State]): Promise<State> {
  const there = ({ searchParams }: URL) =>
    value === undefined ? searchParams.has(key) : searchParams.get(key) === String(value);
  await page.waitForURL(there, { timeout: WAIT });
  return readState(new URL(page.url()).search);
}

/** What a click hands to the visitor as a file. */
export async function downloaded(page: Page, selector: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator(selector).click()]);
  return readFileSync(await file.path(), "utf8");
}

/** Drops a file on the page, as a drag from the desktop does. */
export async function dropFile(page: Page, name: string, content: string): Promise<void> {
  const transfer = await page.evaluateHandle(
    ([fileName, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([text!], fileName!));
      return data;
    },
    [name, content],
  );
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

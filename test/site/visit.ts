/** Opens the built site as a visitor's browser would: in a folder, under a strict policy. Watches and reads it. */
import { readFileSync } from "node:fs";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, inject } from "vitest";
import type { Frame } from "../../site/src/workers/protocol.js";
import { launch, open } from "../support/chromium.js";
import { type Server, serve } from "../support/server.js";

/** Nothing inline, nothing from elsewhere, no wasm unless it is named. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; worker-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'";
export const WITH_WASM = POLICY.replace("script-src 'self'", "script-src 'self' 'wasm-unsafe-eval'");
export const WITHOUT_WASM = POLICY;

/** The folder that the site is in: nothing in it may think that it is the root. */
const FOLDER = "some/folder/";

/** For what hangs, in milliseconds: a busy machine takes its time. */
export const WAIT = 60_000;

export interface VisitOptions extends BrowserContextOptions {
  readonly policy?: string;
  readonly prepare?: (page: Page) => Promise<unknown>;
  /** Addresses that a test makes fail. */
  readonly mayFail?: RegExp;
}

export const serveSite = (policy = WITH_WASM): Promise<Server> =>
  serve({ folders: { [`/${FOLDER}`]: inject("site") }, headers: { "content-security-policy": policy } });

/** One browser for a file of tests. */
export function sharedBrowser(): () => Browser {
  let browser: Browser;
  beforeAll(async () => void (browser = await launch(inject("chromium"))));
  afterAll(() => browser.close());
  return () => browser;
}

/** Runs `visitor` on the page at `path`, then checks that nothing went wrong behind its back. */
export async function visit(
  browser: Browser,
  path: string,
  visitor: (page: Page) => Promise<void>,
  { policy = WITH_WASM, prepare, mayFail, ...options }: VisitOptions = {},
): Promise<void> {
  await using server = await serveSite(policy);
  const { page, errors, strayRequests } = await open(
    browser,
    `${server.url}${FOLDER}${path}`,
    { serviceWorkers: "block", ...options },
    async (page) => {
      page.setDefaultTimeout(WAIT);
      await page.addInitScript(recordFrames);
      await prepare?.(page);
    },
  );
  await visitor(page);
  const unexpected = errors.filter((error) => !(mayFail?.test(error) ?? false));
  expect({ errors: unexpected, strayRequests }).toEqual({ errors: [], strayRequests: [] });
  await page.context().close();
}

interface Recorded {
  frames: number;
  last: Frame | undefined;
}

/** In the page: counts what Workers send, and keeps the newest frame. */
function recordFrames(): void {
  const recorded: Recorded = { frames: 0, last: undefined };
  Object.assign(globalThis, { recorded });
  const Original = Worker;
  globalThis.Worker = class extends Original {
    constructor(url: string | URL, options?: WorkerOptions) {
      super(url, options);
      this.addEventListener("message", ({ data }: MessageEvent<{ type?: string } | undefined>) => {
        if (data?.type !== "frame") return;
        recorded.frames++;
        recorded.last = data as unknown as Frame;
      });
    }
  };
}

const recordedOf = (page: Page): Promise<Recorded> =>
  page.evaluate(() => (globalThis as unknown as { recorded: Recorded }).recorded);

export const framesOf = async (page: Page): Promise<number> => (await recordedOf(page)).frames;

/** How many columns of the newest frame have the truth inside their margin, and how many have a margin. */
export const coverage = (page: Page): Promise<{ inside: number; columns: number }> =>
  page.evaluate(() => {
    const { lines } = (globalThis as unknown as { recorded: { last: Frame } }).recorded.last;
    let [inside, columns] = [0, 0];
    lines.private.forEach((value, j) => {
      if (Number.isNaN(value)) return;
      columns++;
      if (lines.low[j]! <= lines.secret![j]! && lines.secret![j]! <= lines.clampedHigh![j]!) inside++;
    });
    return { inside, columns };
  });

/** Waits for a condition on an element's text, and gives the text back. */
export async function textOf(page: Page, selector: string, pattern: RegExp): Promise<string> {
  await page
    .locator(selector)
    .filter({ hasText: pattern })
    .first()
    .waitFor({ state: "attached", timeout: WAIT });
  return (await page.locator(selector).first().textContent()) ?? "";
}

/** Bytes of the file that a click downloads. */
export async function downloaded(page: Page, selector: string): Promise<Buffer> {
  const [file] = await Promise.all([page.waitForEvent("download"), page.locator(selector).click()]);
  return readFileSync(await file.path());
}

/** Drops a file on the page, as a drag from the desktop does. */
export async function dropFile(page: Page, name: string, content: string | Buffer): Promise<void> {
  const bytes = Buffer.from(content).toString("base64");
  const transfer = await page.evaluateHandle(
    ([fileName, text]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(text!), (char) => char.charCodeAt(0))], fileName!));
      return data;
    },
    [name, bytes],
  );
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
}

/** Drags over the lab's plot, from and to shares of its width. */
export async function dragOver(page: Page, from: number, to: number): Promise<void> {
  await page.locator("#chart").scrollIntoViewIfNeeded();
  const box = (await page.locator("#chart .u-over").boundingBox())!;
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + from * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + ((from + to) / 2) * box.width, y);
  await page.mouse.move(box.x + to * box.width, y);
  await page.mouse.up();
}

/**
 * How fast the lab is, on a machine with nothing else to do: when its first frame is on the plot, and which tasks of the
 * main thread take more than 50 ms while somebody uses it for a minute.
 *
 *     npm run web -- speed
 */
import { buildSite } from "../site/build.js";
import { chromiumPath, launch } from "../test/support/chromium.js";
import { serve } from "../test/support/server.js";

const SITE = "build/site";
const SECONDS = 60;
const VISITS = 5;

await buildSite(SITE);
await using server = await serve({ folders: { "/": SITE } });
const browser = await launch(await chromiumPath());

/** Milliseconds from the request to the first frame of the stream on the plot. */
async function firstFrame(): Promise<number> {
  const page = await browser.newPage({ serviceWorkers: "block" });
  await page.goto(`${server.url}play/`);
  await page.waitForFunction(() => document.querySelector("#progress-note")?.textContent !== "", undefined, {
    polling: "raf",
  });
  const at = await page.evaluate(() => performance.now());
  await page.close();
  return at;
}

const firsts: number[] = [];
for (let i = 0; i < VISITS; i++) firsts.push(await firstFrame());
firsts.sort((a, b) => a - b);
console.log(
  `first frame: median ${firsts[VISITS >> 1]!.toFixed(0)} ms, slowest ${firsts[VISITS - 1]!.toFixed(0)} ms of ${VISITS}`,
);

const page = await browser.newPage({ serviceWorkers: "block" });
await page.addInitScript(() => {
  const tasks: string[] = [];
  Object.assign(globalThis, { tasks });
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries())
      tasks.push(`${duration.toFixed(0)} ms at ${(startTime / 1000).toFixed(1)} s`);
  }).observe({ type: "longtask", buffered: true });
});
await page.goto(`${server.url}play/`);
const end = performance.now() + SECONDS * 1000;
for (let i = 0; performance.now() < end; i++) {
  const box = (await page.locator("#chart .u-over").boundingBox())!;
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + (0.2 + 0.05 * (i % 5)) * box.width, y);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.7 * box.width, y, { steps: 10 });
  await page.mouse.up();
  await page.fill("#epsilon", String([0.05, 0.1, 0.5][i % 3]));
  await page.locator(`input[name=method][value=${["ours", "paper", "pak"][i % 3]}]`).check({ force: true });
  await page.mouse.wheel(0, i % 2 === 0 ? 400 : -400);
  await page.waitForTimeout(1500);
}
const tasks = await page.evaluate(() => (globalThis as unknown as { tasks: string[] }).tasks);
console.log(`tasks above 50 ms in ${SECONDS} s: ${tasks.length === 0 ? "none" : tasks.join(", ")}`);
await browser.close();

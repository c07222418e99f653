/**
 * `npm run bench -- web`: does the page stay at the screen's pace while a million values a second stream through it?
 * Opens the built playground in Chromium and counts its frames until the stream ends.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "vite";
import { chromiumPath, launch } from "../test/support/chromium.js";
import { serve } from "../test/support/server.js";

const outDir = mkdtempSync(join(tmpdir(), "brume-web-"));
await build({ configFile: "site/vite.config.ts", logLevel: "error", build: { outDir, emptyOutDir: true } });
const browser = await launch(await chromiumPath());
const server = await serve({ folders: { "/": outDir } });
try {
  const page = await browser.newPage({ viewport: { width: 1360, height: 850 } });
  await page.goto(`${server.url}?at=65536`);
  await page
    .locator("#progress-note")
    .filter({ hasText: /^65,536 of/ })
    .waitFor();
  await page.selectOption("#speed", "1000000");
  const intervals = await page.evaluate(async () => {
    const frames: number[] = [];
    const note = document.querySelector("#progress-note")!;
    document.querySelector<HTMLElement>("#play")!.click();
    while (!note.textContent.startsWith("1,114,112 of"))
      frames.push(await new Promise<number>((drawn) => requestAnimationFrame(drawn)));
    return frames.slice(1).map((time, i) => time - frames[i]!);
  });
  const sorted = intervals.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(1);
  const seconds = intervals.reduce((a, b) => a + b, 0) / 1000;
  console.log(
    `${cpus().length} × ${cpus()[0]?.model}, Chromium ${browser.version()}\n` +
      `1,048,576 values in ${seconds.toFixed(2)} s: ${intervals.length} frames, ${(intervals.length / seconds).toFixed(1)} a second; ` +
      `interval in ms: median ${at(0.5)}, 99 % ${at(0.99)}, longest ${at(1)}`,
  );
} finally {
  await browser.close();
  await server.close();
  rmSync(outDir, { recursive: true });
}

/**
 * Pictures of every page of the site, light and dark, at 1280, 1920 and 390 px, into build/site-pictures:
 *
 *     npm run web:pictures
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildSite } from "../site/build.js";
import { chromiumPath, launch } from "../test/support/chromium.js";
import { serve } from "../test/support/server.js";

const OUT = "build/site-pictures";
const WIDTHS = [1280, 1920, 390];
const SCHEMES = ["light", "dark"] as const;

/** Address, and the element that has text when the page is ready. */
const PAGES: Record<string, readonly [path: string, ready: string]> = {
  story: ["", "#day-say"],
  play: ["play/?at=700000&from=299008&to=360448", "#answer-sum"],
  attack: ["attack/", "#round"],
  devices: ["devices/?devices=40000", "#percentiles tbody"],
  compare: ["compare/", "#results tbody"],
  docs: ["docs/", "h1"],
  guide: ["docs/documents/privacy.html", "h1"],
};
const STEPS = 7;

const site = "build/site";
await buildSite(site);
mkdirSync(OUT, { recursive: true });
await using server = await serve({ folders: { "/": site } });
const browser = await launch(chromiumPath());
for (const width of WIDTHS)
  for (const colorScheme of SCHEMES) {
    const context = await browser.newContext({
      viewport: { width, height: width < 500 ? 844 : 900 },
      colorScheme,
      reducedMotion: "reduce",
      serviceWorkers: "block",
    });
    const page = await context.newPage();
    const take = async (name: string, fullPage = true) => {
      await page.screenshot({ path: join(OUT, `${name}-${width}-${colorScheme}.png`), fullPage });
      console.log(`${name}, ${width} px, ${colorScheme}`);
    };
    for (const [name, [path, ready]] of Object.entries(PAGES)) {
      await page.goto(`${server.url}${path}`);
      await page.locator(ready).filter({ hasText: /\S/ }).first().waitFor({ state: "attached" });
      await page.evaluate(() => document.fonts.ready);
      if (name !== "story") await take(name);
      for (let step = 0; name === "story" && step < STEPS; step++) {
        await page.locator(`.step[data-step="${step}"]`).scrollIntoViewIfNeeded();
        await page
          .locator(`.step[data-step="${step}"]`)
          .evaluate((element) => element.scrollIntoView({ block: "center" }));
        await page.locator(`.step.active[data-step="${step}"]`).waitFor();
        await page.locator("#stage-note").filter({ hasText: /\S/ }).waitFor();
        await take(`story-${step}`, false);
      }
    }
    await context.close();
  }
await browser.close();

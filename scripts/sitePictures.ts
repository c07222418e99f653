/**
 * Pictures of every page of the site, light and dark, at 1280, 1920 and 390 px, into build/site-pictures:
 *
 *     npm run web -- pictures
 *     npm run web -- pictures play story 390 dark    # those pages, that width, those colours
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { buildSite } from "../site/build.js";
import { chromiumPath, launch } from "../test/support/chromium.js";
import { serve } from "../test/support/server.js";

const OUT = "build/site-pictures";
const WIDTHS = [1280, 1920, 390];
const SCHEMES = ["light", "dark"] as const;

/** Address, and what the page has when it is ready. */
const PAGES: Record<string, readonly [path: string, ready: string]> = {
  story: ["", "#first-say:not(:empty)"],
  play: ["play/?at=700000&from=299008&to=360448", "[data-off=naive]:not(:empty)"],
  attack: ["attack/", "#round:not(:empty)"],
  devices: ["devices/?devices=40000", "#replay:enabled"],
  paper: ["paper/", "#compare-status:text('Frozen')"],
  docs: ["docs/", "h1"],
  guide: ["docs/documents/privacy.html", "h1"],
};
const STEPS = 7;

const asked = process.argv.slice(2);
/** The items that the command line names; all of them if it names none. */
const chosen = <T extends string | number>(all: readonly T[]): readonly T[] => {
  const some = all.filter((one) => asked.includes(String(one)));
  return some.length > 0 ? some : all;
};

const site = "build/site";
await buildSite(site);
mkdirSync(OUT, { recursive: true });
await using server = await serve({ folders: { "/": site } });
const browser = await launch(await chromiumPath());
for (const width of chosen(WIDTHS))
  for (const colorScheme of chosen(SCHEMES)) {
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
    for (const name of chosen(Object.keys(PAGES))) {
      const [path, ready] = PAGES[name]!;
      await page.goto(`${server.url}${path}`);
      if (name === "play") await page.locator("#multiples").scrollIntoViewIfNeeded(); // drawn when seen
      await page.locator(ready).first().waitFor({ state: "attached" });
      await page.evaluate(() => document.fonts.ready);
      if (name !== "story") await take(name);
      for (let step = 0; name === "story" && step < STEPS; step++) {
        await page
          .locator(`.step[data-step="${step}"]`)
          .evaluate((element) => element.scrollIntoView({ block: "center" }));
        await page.locator(`.stage[data-shows="${step}"]`).waitFor();
        await take(`story-${step}`, false);
      }
    }
    await context.close();
  }
await browser.close();

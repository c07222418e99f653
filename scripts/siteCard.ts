/**
 * Takes site/public/card.jpg, the picture that other sites show beside a link to this one: the first screen.
 *
 *     npm run web -- card
 */
import { buildSite } from "../site/build.js";
import { chromiumPath, launch } from "../test/support/chromium.js";
import { serve } from "../test/support/server.js";

const SITE = "build/site";

await buildSite(SITE);
await using server = await serve({ folders: { "/": SITE } });
const browser = await launch(await chromiumPath());
const page = await browser.newPage({
  viewport: { width: 1200, height: 630 },
  colorScheme: "light",
  serviceWorkers: "block",
});
await page.goto(server.url);
await page.locator("#first-say:not(:empty)").waitFor();
await page.evaluate(() => document.fonts.ready);
await page.screenshot({ path: "site/public/card.jpg", type: "jpeg", quality: 82 });
await browser.close();

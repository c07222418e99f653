/** The site as a whole: offline, in a folder, back and forward, on a phone, for everybody, small. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { expect, inject, test } from "vitest";
import { faults } from "../support/axe.js";
import { open } from "../support/chromium.js";
import { downloaded, serveSite, sharedBrowser, textOf, visit } from "./visit.js";

const browser = sharedBrowser();

const PAGES: [path: string, title: RegExp, ready: string, text: RegExp][] = [
  ["", /^Brume: publish/, "#first-say", /off/],
  ["play/?at=150000&from=80000&to=140000", /^Brume lab/, "#answer-sum", /\d/],
  ["play/?as=events&at=7200&from=1440&to=4320", /^Brume lab/, "#card-range .card-interval", /95/],
  ["attack/", /attack/, "#round", /Round 1/],
  ["devices/?devices=4000", /nobody is trusted/, "#scrub-note", /reports/],
  ["paper/?methods=tops&epsilons=1&repeat=2", /compared/, "#compare-status", /runs done/],
  ["docs/documents/limits.html", /Limits/, "h1", /Limits/],
];

test.each(PAGES)(
  "/%s: a title of its own, axe finds nothing, light and dark; 320 px are enough; no target under 44 px",
  async (path, title, ready, text) => {
    await visit(
      browser(),
      path,
      async (page) => {
        await textOf(page, ready, text);
        expect(await page.title()).toMatch(title);
        const own = !path.startsWith("docs/");
        /** TypeDoc's frame has links inside the headings of its list, and smaller targets. */
        const found = async () =>
          (await faults(page)).filter((fault) => own || !fault.startsWith("nested-interactive:"));
        expect(await found()).toEqual([]);
        await page.emulateMedia({ colorScheme: "dark", reducedMotion: "reduce" });
        expect(await found()).toEqual([]);
        await page.emulateMedia({ forcedColors: "active" });
        expect(await found()).toEqual([]);
        await page.setViewportSize({ width: 320, height: 700 });
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(320); // plots follow
        if (!own) return;
        const small = await page
          .locator(
            "button:visible, .button:visible, select:visible, input:visible, summary:visible, nav a:visible",
          )
          .evaluateAll((all) =>
            all
              .map(
                (element) =>
                  element.closest("label:has(> input[type=radio]), label:has(> input[type=checkbox])") ??
                  element,
              )
              .filter(
                (element) =>
                  element.getBoundingClientRect().height < 43.5 &&
                  !element.classList.contains("visually-hidden"),
              )
              .map((element) => element.outerHTML.slice(0, 120)),
          );
        expect(small).toEqual([]);
      },
      { reducedMotion: "reduce" },
    );
  },
);

test("on a phone ε is beside the plot", async () => {
  await visit(
    browser(),
    "play/?at=150000",
    async (page) => {
      await textOf(page, "#progress-note", /published/);
      const [epsilon, chart] = await Promise.all(
        ["#epsilon", "#chart"].map((at) => page.locator(at).boundingBox()),
      );
      expect(chart!.y - epsilon!.y).toBeLessThan(300);
    },
    { viewport: { width: 390, height: 844 } },
  );
});

test("offline: every page works after one visit, a document once it was read, and nothing was ever asked from elsewhere", async () => {
  await using server = await serveSite();
  const url = `${server.url}some/folder/`;
  const { page, errors, strayRequests } = await open(browser(), url, { reducedMotion: "reduce" });
  await textOf(page, "#offline-note", /Works offline/);
  await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  for (const [path, , ready, text] of PAGES.filter(([path]) => path.startsWith("docs/"))) {
    await page.goto(`${url}${path}`);
    await textOf(page, ready, text);
  }
  await server.close();
  for (const [path, title, ready, text] of PAGES) {
    await page.goto(`${url}${path}`);
    expect(await page.title()).toMatch(title);
    await textOf(page, ready, text);
  }
  await page.goto(`${url}play?at=150000`); // as people type it
  await textOf(page, "#progress-note", /published/);
  expect({ errors, strayRequests }).toEqual({ errors: [], strayRequests: [] });
  await page.context().close();
});

test("back and forward bring settings back", async () => {
  await visit(browser(), "play/?at=150000", async (page) => {
    await page.locator("input[name=method][value=pak]").check({ force: true });
    await page.waitForURL(/method=pak/);
    await page.fill("#epsilon", "0.5");
    await page.waitForURL(/epsilon=0\.5/);
    await page.goBack();
    await page.waitForURL((address) => !address.searchParams.has("epsilon"));
    await page.waitForFunction(
      () => document.querySelector<HTMLInputElement>("[data-slides=epsilon]")!.ariaValueText === "0.05",
    );
    await page.goBack();
    expect(await page.locator("input[name=method][value=ours]").isChecked()).toBe(true);
    await page.goForward();
    expect(await page.locator("input[name=method][value=pak]").isChecked()).toBe(true);
  });
});

test("what could not be loaded says so and recovers", async () => {
  let failing = true;
  await visit(
    browser(),
    "play/?at=150000",
    async (page) => {
      await textOf(page, ".failure", /could not be loaded/);
      failing = false;
      await page.getByRole("button", { name: "Try again" }).click();
      await textOf(page, "#progress-note", /published/);
    },
    {
      mayFail: /Failed to load resource|ERR_FAILED/,
      prepare: (page) =>
        page.route(/assets\/stream-/, (route) => (failing ? route.abort() : route.continue())),
    },
  );
});

test("pictures taken in the dark are readable: light text on their own dark ground", async () => {
  await visit(
    browser(),
    "play/?at=150000",
    async (page) => {
      await textOf(page, "#progress-note", /published/);
      const svg = (await downloaded(page, "#save-svg")).toString();
      const ground = /<rect width="1200" height="560" fill="rgb\((\d+), (\d+), (\d+)\)"/
        .exec(svg)!
        .slice(1)
        .map(Number);
      const words = [...svg.matchAll(/<text fill="rgb\((\d+), (\d+), (\d+)\)"/g)].map((match) =>
        match.slice(1).map(Number),
      );
      expect(words.length).toBeGreaterThan(8);
      for (const word of words) expect(contrast(word, ground)).toBeGreaterThan(4.5);
      const png = await downloaded(page, "#save-png");
      expect(png.subarray(1, 4).toString()).toBe("PNG");
      expect(png.readUInt32BE(16)).toBe(2400);
    },
    { colorScheme: "dark" },
  );
});

/** WCAG's contrast of two colours. */
function contrast(a: readonly number[], b: readonly number[]): number {
  const luminance = (colour: readonly number[]) => {
    const [red, green, blue] = colour.map((c) =>
      c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
  };
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

test("the documentation has every guide of docs/, with search; its examples run in the page", async () => {
  const site = inject("site");
  for (const name of readdirSync("docs").filter((file) => file.endsWith(".md"))) {
    const heading = /^# (.+)$/m.exec(readFileSync(join("docs", name), "utf8"))![1]!;
    const page = readFileSync(join(site, "docs/documents", name.replace(/md$/, "html")), "utf8");
    expect(page.replace(/<[^>]+>/g, "").replaceAll("&#39;", "'"), name).toContain(
      heading.replace(/[`*]/g, ""),
    );
  }
  await visit(browser(), "docs/", async (page) => {
    await page.locator(".brume-run").first().click();
    await textOf(page, ".brume-output", /mean [\d.]+\s+their sum is between/);
    await page.locator("#tsd-search-trigger").click();
    await page.locator("#tsd-search-input").fill("privateStream");
    await page.locator("#tsd-search-results li").first().waitFor();
  });
});

test("the first visit loads at most 1 MB for later, compressed as hosts do", () => {
  const site = inject("site");
  const files = JSON.parse(
    /const FILES = (\[.*?\]);/.exec(readFileSync(join(site, "sw.js"), "utf8"))![1]!,
  ) as string[];
  const size = files
    .map((address) => readFileSync(join(site, address.endsWith("/") ? `${address}index.html` : address)))
    .reduce((sum, bytes) => sum + gzipSync(bytes).length, 0);
  expect(files).toContain("./");
  expect(files).toContain("./paper/");
  expect(size).toBeLessThan(1_000_000);
});

test("the page says what it is: version, licence, doors that exist, a picture for links", async () => {
  const site = inject("site");
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const home = readFileSync(join(site, "index.html"), "utf8");
  const card = /property="og:image" content="\.\/([^"]+)"/.exec(home)![1]!;
  expect(readFileSync(join(site, card)).length).toBeLessThan(100_000);
  await visit(browser(), "", async (page) => {
    await textOf(page, "footer", new RegExp(`Brume ${version}, MIT licence`));
    const names = await page.locator("header nav a").allTextContents();
    expect(names).toEqual(["Story", "Lab", "Attack", "Devices", "Paper", "Docs"]);
    for (const link of await page.locator(".doors a").all()) {
      const path = (await link.getAttribute("href"))!;
      readFileSync(join(site, path.endsWith("/") ? `${path}index.html` : path));
    }
    expect(await page.locator("#install").textContent()).toBe("npm install brume");
    const size = await page.evaluate(async (src) => {
      const image = Object.assign(new Image(), { src });
      await image.decode();
      return [image.naturalWidth, image.naturalHeight];
    }, card);
    expect(size).toEqual([1200, 630]);
  });
});

test("the lab is under 400 KB gzipped without fonts", () => {
  const site = inject("site");
  const assets = readdirSync(join(site, "assets"));
  const needed = new Set<string>();
  const visitFile = (path: string) => {
    if (needed.has(path)) return;
    needed.add(path);
    const text = readFileSync(join(site, path), "utf8");
    for (const asset of assets)
      if (!asset.endsWith(".woff2") && text.includes(asset)) visitFile(`assets/${asset}`);
  };
  visitFile("play/index.html");
  const size = [...needed].reduce((sum, path) => sum + gzipSync(readFileSync(join(site, path))).length, 0);
  expect(needed.size).toBeGreaterThan(4);
  expect(size).toBeLessThan(400_000);
});

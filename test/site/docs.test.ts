/** The documentation as it is hosted: search finds the right page first, no link is dead, lost visitors are led back. */
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { expect, inject, test } from "vitest";
import { GROUPS } from "../../site/docs/groups.js";
import { open } from "../support/chromium.js";
import { serve } from "../support/server.js";
import { sharedBrowser, textOf, visit, WITH_WASM } from "./visit.js";

const browser = sharedBrowser();

test("search finds the right page first", async () => {
  const wanted: readonly [words: string, page: string][] = [
    ["GDPR", "data-protection"],
    ["unique visitors", "people-and-keys"],
    ["MAU", "people-and-keys"],
    ["choose epsilon", "choose-epsilon"],
    ["epsilon", "choose-epsilon"],
    ["p95", "events"],
    ["restart", "restarts"],
    ["backup", "restarts"],
    ["in-doubt", "errors"],
  ];
  await visit(browser(), "docs/", async (page) => {
    await page.locator("#tsd-search-trigger").click();
    for (const [words, name] of wanted) {
      await page.locator("#tsd-search-input").fill(words);
      const first = page.locator("#tsd-search-results li a").first();
      await expect.poll(() => first.getAttribute("href")).toContain(`documents/${name}.html`);
    }
  });
});

test("the lists have the groups, in their order", async () => {
  await visit(browser(), "docs/", async (page) => {
    await textOf(page, ".site-menu", /Look up/);
    const shown = (await page.locator(".site-menu").textContent()) ?? "";
    const places = GROUPS.map(({ title }) => shown.indexOf(title));
    expect(places.every((place) => place >= 0)).toBe(true);
    expect(places).toEqual([...places].sort((a, b) => a - b));
  });
});

/** Every relative link of the built pages that leads to no file, or to a place that its page does not have. */
function deadLinks(site: string): string[] {
  const pages = readdirSync(site, { recursive: true, encoding: "utf8" }).filter(
    (path) => path.endsWith(".html") && path !== "404.html",
  );
  const read = (path: string): string => readFileSync(join(site, path), "utf8");
  const places = new Map<string, Set<string>>();
  const placesOf = (path: string): Set<string> => {
    if (!places.has(path))
      places.set(path, new Set([...read(path).matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!)));
    return places.get(path)!;
  };
  return pages.flatMap((page) =>
    [...new Set([...read(page).matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link!))]
      .filter((link) => !/^(https?:|data:|mailto:)/.test(link))
      .filter((link) => {
        const [path, place = ""] = link.replaceAll("&amp;", "&").split("?")[0]!.split("#") as [
          string,
          string?,
        ];
        let target = path === "" ? page : normalize(join(dirname(page), decodeURIComponent(path)));
        if (
          target.endsWith("/") ||
          target === "." ||
          !existsSync(join(site, target)) ||
          statSync(join(site, target)).isDirectory()
        )
          target = join(target, "index.html");
        if (!existsSync(join(site, target))) return true;
        return place !== "" && target.endsWith(".html") && !placesOf(target).has(decodeURIComponent(place));
      })
      .map((link) => `${page}: ${link}`),
  );
}

test("no page has a style in an attribute, which the policy forbids; columns of numbers are to the right", () => {
  const site = inject("site");
  const pages = readdirSync(site, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith(".html"),
  );
  expect(pages.length).toBeGreaterThan(100);
  expect(pages.filter((path) => / style="/.test(readFileSync(join(site, path), "utf8")))).toEqual([]);
  const errors = readFileSync(join(site, "docs/documents/choose-epsilon.html"), "utf8");
  expect(errors.match(/<td class="brume-right">/g)?.length).toBeGreaterThan(40);
});

test("no link of any page is dead", () => expect(deadLinks(inject("site"))).toEqual([]));

test("an address that leads nowhere has a page with ways back, wherever it is", async () => {
  const site = inject("site");
  const page = readFileSync(join(site, "404.html"), "utf8");
  await using server = await serve({
    folders: { "/": site },
    files: { "/docs/old/place.html": page },
    headers: { "content-security-policy": WITH_WASM },
  });
  const { page: shown, errors } = await open(browser(), `${server.url}docs/old/place.html`, {
    serviceWorkers: "block",
  });
  expect(await shown.locator("h1").textContent()).toBe("There is no such page");
  await shown.locator("main a").first().click();
  await textOf(shown, "h1", /Start: a first private number/);
  expect(errors).toEqual([]);
  const links = [...page.matchAll(/href="\/([^"]*)"/g)].map(([, path]) => path!);
  expect(links.length).toBeGreaterThan(10);
  for (const link of links) expect([link, existsSync(join(site, link))]).toEqual([link, true]);
  await shown.context().close();
});

test("llms.txt names files that are there, as plain Markdown", () => {
  const site = inject("site");
  const links = [...readFileSync(join(site, "llms.txt"), "utf8").matchAll(/\]\(([^)]+)\)/g)].map(
    ([, path]) => path!,
  );
  expect(links.length).toBeGreaterThan(50);
  expect(links.filter((path) => !existsSync(join(site, path)))).toEqual([]);
});

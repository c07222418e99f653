/** Documents name files and link to pages: all of them are there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const pagesIn = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".md"))
    .map((name) => `${folder}/${name}`);
const PAGES = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...["docs", "docs/reference", "research/notes", "examples/tasks"].flatMap(pagesIn),
];

/** Places in a page that a link can lead to, as GitHub and the site name them. */
const placesIn = (text: string): string[] =>
  [...text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, title]) =>
    title!
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\- ]/gu, "")
      .replaceAll(" ", "-"),
  );

/** Paths of the project in a text; NAME stands for one of yours, * for any. */
const pathsIn = (text: string): string[] =>
  [
    ...text.matchAll(
      /\b(?:src|test|research|assembly|bench|scripts|docs|examples|packages|site)\/[\w./-]+\.\w+/g,
    ),
  ]
    .map(([path]) => path)
    .filter((path) => !/NAME|\*/.test(path));

/** Relative links: the file, which is the page itself if there is none, and the place in it. */
const linksIn = (text: string): [path: string, place: string][] =>
  [...text.matchAll(/\]\(([^)#:\s]*)(?:#([^)\s]*))?\)/g)].map(([, path, place]) => [path!, place ?? ""]);

function isDead(page: string, text: string, [path, place]: [string, string]): boolean {
  const target = join(dirname(page), path);
  if (path !== "" && !existsSync(target)) return true;
  const there = path === "" ? text : place === "" ? "" : readFileSync(target, "utf8");
  return place !== "" && !placesIn(there).includes(place);
}

const missing = (page: string, text: string): string[] => [
  ...pathsIn(text).filter((path) => !existsSync(path)),
  ...linksIn(text)
    .filter((link) => isDead(page, text, link))
    .map(([path, place]) => (place === "" ? path : `${path}#${place}`)),
];

test.each(PAGES)("%s names files that exist", (page) => {
  expect(missing(page, readFileSync(page, "utf8"))).toEqual([]);
});

test("a file, a page and a place that do not exist are noticed", () => {
  const text =
    "## Here\n`src/nowhere.ts`, [there](nowhere.md#x), [place](privacy.md#nowhere), [own](#there), [here](#here)";
  expect(missing("docs/a.md", text)).toEqual([
    "src/nowhere.ts",
    "nowhere.md#x",
    "privacy.md#nowhere",
    "#there",
  ]);
});

test("a page of the README that somebody saves as it is shows its characters in every browser", () => {
  const pages = [...readFileSync("README.md", "utf8").matchAll(/^```html\n([\s\S]*?)^```/gm)].map(
    ([, page]) => page!,
  );
  const whole = pages.filter((page) => page.startsWith("<!doctype html>"));
  expect(whole.length).toBeGreaterThan(0);
  for (const page of whole) expect(page.split("\n")[1]).toBe('<meta charset="utf-8" />');
});

test("a reader who takes range(from, to) for received values is told: the README and the texts of both calls speak of positions", () => {
  const readme = readFileSync("README.md", "utf8");
  const [first] = /^```js\n[\s\S]*?^```/m.exec(readme)!;
  expect(first).toContain("position 0 is the first value after the hold-out");
  expect(first).toContain("received.from");
  for (const file of ["src/stream/system.ts", "src/durable/durableStream.ts", "src/durable/hub/hub.ts"]) {
    const text = readFileSync(file, "utf8");
    const [comment] = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s+range\(/.exec(text) ?? [""];
    expect([file, comment]).toEqual([file, expect.stringContaining("position")]);
  }
});

/** Documents name files and link to pages: all of them are there. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";

const PAGES = [
  ...["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"],
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .map((name) => `docs/${name}`),
];

/** Paths of the project in a text; NAME stands for one of yours, * for any. */
const pathsIn = (text: string): string[] =>
  [
    ...text.matchAll(
      /\b(?:src|test|research|assembly|bench|scripts|docs|examples|packages|site)\/[\w./-]+\.\w+/g,
    ),
  ]
    .map(([path]) => path)
    .filter((path) => !/NAME|\*/.test(path));

/** Targets of relative links, without their anchors. */
const linksIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)#:\s]+)(?:#[^)]*)?\)/g)].map(([, target]) => target!);

const missing = (page: string, text: string): string[] => [
  ...pathsIn(text).filter((path) => !existsSync(path)),
  ...linksIn(text).filter((target) => !existsSync(join(dirname(page), target))),
];

test.each(PAGES)("%s names files that exist", (page) => {
  expect(missing(page, readFileSync(page, "utf8"))).toEqual([]);
});

test("a file and a page that do not exist are noticed", () => {
  expect(missing("docs/a.md", "`src/nowhere.ts`, [there](nowhere.md#x)")).toEqual([
    "src/nowhere.ts",
    "nowhere.md",
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
  for (const file of ["src/stream/system.ts", "src/durable/openStream.ts", "src/durable/hub.ts"]) {
    const text = readFileSync(file, "utf8");
    const [comment] = /\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s+range\(/.exec(text) ?? [""];
    expect([file, comment]).toEqual([file, expect.stringContaining("position")]);
  }
});

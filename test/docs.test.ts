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

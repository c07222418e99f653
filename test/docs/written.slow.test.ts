/** Documents equal the output of `npm run docs`: tables, reference pages, outputs, the picture, llms.txt. */
import { readdirSync, readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { parts, withParts, writtenFiles } from "../../scripts/docs.js";

const known = parts();
let written: ReadonlyMap<string, string>;
beforeAll(async () => void (written = await writtenFiles(known)));

test("every file is as it would be written now", () => {
  for (const [path, text] of written) expect([path, readFileSync(path, "utf8")]).toEqual([path, text]);
});

test("reference pages of functions that are gone are gone", () => {
  const pages = readdirSync("docs/reference").map((name) => `docs/reference/${name}`);
  expect(pages.filter((path) => !written.has(path))).toEqual([]);
});

test("every option, method and field of the reference is explained, by a sentence that stands alone", () => {
  for (const [path, text] of written) {
    if (!path.startsWith("docs/reference/")) continue;
    const rows = text.split("\n").filter((line) => line.startsWith("| `"));
    expect(rows.length).toBeGreaterThan(2);
    const poor = rows.filter((row) => /\|\s*(The same|Of|What|Its)\b[^|]*\|$|\|\s*\|$/.test(row));
    expect([path, poor]).toEqual([path, []]);
  }
});

test("a part that is out of step is noticed, one that does not exist, and one that no page shows", () => {
  const page = "<!-- npm run docs: odds -->\n\n| old |\n\n<!-- end -->";
  expect(withParts(page, known)).toContain("73.1 %");
  expect(() => withParts(page.replace("odds", "no"), known)).toThrow('no part is called "no"');
  const used = [...written.values()].join("\n");
  for (const name of Object.keys(known)) expect(used).toContain(`<!-- npm run docs: ${name} -->`);
});

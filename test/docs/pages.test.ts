/** Pages for users: each in one group, at most three screens long, and found under the words that people search for. */
import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { GROUPS } from "../../site/docs/groups.js";

const pageOf = (name: string): string => readFileSync(`docs/${name}.md`, "utf8");
const there = readdirSync("docs")
  .filter((name) => name.endsWith(".md"))
  .map((name) => name.replace(/\.md$/, ""));

test("every page is in exactly one group", () => {
  const listed = GROUPS.flatMap(({ pages }) => pages);
  expect(listed).toEqual([...new Set(listed)]);
  expect(there.filter((name) => !listed.includes(name))).toEqual([]);
});

const COLUMNS = 100;
const LINES = 45;

/** Lines of a window of 100 columns: text is wrapped, a row of a table has the lines of its longest cell. */
function linesOf(page: string): number {
  let [lines, fenced] = [0, false];
  for (const line of page.replaceAll(/<!--.*?-->/g, "").split("\n")) {
    if (line.startsWith("```")) fenced = !fenced;
    else if (line.startsWith("|")) {
      const cells = line.split(/(?<!\\)\|/).slice(1, -1);
      const text = cells.map((cell) => cell.trim().replaceAll(/\]\([^)]*\)/g, "]").length);
      if (!/^[|\s:-]+$/.test(line)) lines += rowLines(text);
    } else if (line.trim() !== "")
      lines += fenced ? 1 : Math.ceil(line.replaceAll(/\]\([^)]*\)/g, "]").length / COLUMNS);
    else if (!fenced) lines += 0.5;
  }
  return lines;
}

/** Cells share the width as browsers share it: by the length of their text. */
function rowLines(cells: readonly number[]): number {
  const all = cells.reduce((sum, length) => sum + length, 0);
  return Math.max(1, Math.ceil(all / COLUMNS));
}

test.each(there)("%s has at most three screens", (name) =>
  expect(linesOf(pageOf(name))).toBeLessThanOrEqual(3 * LINES),
);

test("a page of four screens would be noticed", () => {
  expect(linesOf(`${"word ".repeat(20).trim()}\n`.repeat(4 * LINES))).toBeGreaterThan(3 * LINES);
});

test.each([
  ["unique visitors", "people-and-keys"],
  ["DAU, WAU, MAU", "people-and-keys"],
  ["GDPR", "data-protection"],
  ["Choose ε (epsilon)", "choose-epsilon"],
  ["50 % to at most 73 %", "choose-epsilon"],
  ["p95", "events"],
  ["restart", "restarts"],
  ["Back up", "restarts"],
])("%s stands in %s", (words, page) => expect(pageOf(page).toLowerCase()).toContain(words.toLowerCase()));

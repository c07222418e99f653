/** The folder of evidence: a figure says what it was measured on, and one of another commit is not taken for one of this. */
import { expect, test } from "vitest";
import { coverageTable, listed, mutantTotal, type Origin, withHeading } from "../scripts/evidence/folder.js";

const now: Origin = {
  version: "1.2.3",
  commit: "ab".repeat(20),
  runs: "short",
  node: "v24.0.0",
  cpu: "A CPU, fast",
};
const text = withHeading(now, "2026-11-19", "first\nlast\n\n");

test("a file names its origin in its first line and its summary in its last", () => {
  expect(text).toBe(
    `# brume 1.2.3, commit ${"ab".repeat(20)}, short runs, 2026-11-19, node v24.0.0, A CPU, fast\nfirst\nlast\n`,
  );
  const found = listed("a.txt", text, now);
  expect(found).toEqual({ file: "a.txt", ...now, date: "2026-11-19", summary: "last", current: true });
});

test.each<[string, Partial<Origin>]>([
  ["commit", { commit: "cd".repeat(20) }],
  ["version", { version: "1.2.4" }],
  ["length of runs", { runs: "long" }],
  ["version of Node", { node: "v22.0.0" }],
  ["processor", { cpu: "another" }],
])("a figure of another %s is listed with its own origin, and is not current", (_, other) => {
  const measured = withHeading({ ...now, ...other }, "2026-11-18", "figure");
  expect(listed("a.txt", measured, now)).toMatchObject({ ...other, summary: "figure", current: false });
});

test("a checkout that has changes is never the same as another, and a file without an origin is no figure", () => {
  const changed = { ...now, commit: null };
  expect(listed("a.txt", withHeading(changed, "2026-11-19", "x"), changed)).toMatchObject({
    commit: null,
    current: false,
  });
  expect(listed("a.txt", "12 audits, 0 violations\n", now)).toBeUndefined();
  expect(listed("a.txt", "", now)).toBeUndefined();
});

test("coverage is a row per data set, question and ε, with the lowest cell at the end", () => {
  const cell = { what: "counts", data: "burst", epsilon: 1, runs: 5000 };
  const rows = [
    { ...cell, question: "the day", held: 0.9612 },
    { ...cell, question: "an hour", held: 0.9504 },
  ];
  expect(coverageTable(rows)).toBe(
    [
      "what    data set  question  ε  runs  held",
      "counts  burst     the day   1  5000  96.12 %",
      "counts  burst     an hour   1  5000  95.04 %",
      "95 % intervals in 2 cells: the lowest holds in 95.04 % of 5000 runs (counts, burst, an hour, ε = 1)",
    ].join("\n"),
  );
});

test("the score of mutants is that of all groups", () => {
  const printed =
    "survived: a.ts:1: + → -\nkernels: 9 of 10 noticed\nkernels: 38 of 40 mutants noticed (of 900 there are)\nlayers: 5 of 5 mutants noticed (of 7 there are)\n";
  expect(mutantTotal(printed)).toBe("43 of 45 mutants noticed, in 2 groups");
});

/** Mutation testing knows every file of the library's heart, and has a test for each. */
import { expect, test } from "vitest";
import { mutantsOf } from "../scripts/mutate/mutants.js";
import { allSubjects } from "../scripts/mutate/subjects.js";

test("every subject has a test that may notice", () => {
  const groups = allSubjects();
  const all = Object.fromEntries(Object.values(groups).flatMap((group) => Object.entries(group)));
  expect(Object.keys(all)).toEqual(
    expect.arrayContaining(["assembly/laplace.ts", "src/stream/answer/rangeIndex.ts", "src/local/report.ts"]),
  );
  expect(Object.keys(all).filter((file) => all[file]!.length === 0)).toEqual([]);
  const [own] = all["src/stream/answer/rangeIndex.ts"]!.filter(
    (test) => test !== "test/stream/pinned.slow.test.ts",
  );
  expect(own).toBe("test/stream/answer/rangeIndex.test.ts");
  expect(all["src/durable/eventHub/hubDiscovery.ts"]).toContain("test/durable/eventHub/discovery.test.ts");
});

test("a mutant changes one place", () => {
  const text = "export const f = (x: number): number => (x < 2 ? x + 1 : 3);\n";
  const found = mutantsOf("f.ts", text).map(({ before, after, text: changed }) => {
    expect(changed).not.toBe(text);
    return `${before} → ${after}`;
  });
  expect(found).toEqual(["x < 2 → !(x < 2)", "< → <=", "2 → (2 + 1)", "+ → -", "1 → (1 + 1)", "3 → (3 + 1)"]);
});

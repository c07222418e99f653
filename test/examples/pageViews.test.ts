/** The example of page views: pages that many see are found on the first day and counted from the third, those of one person are not. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

test("pages that nobody listed are found, counted and explained", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...["--import", "tsx", "examples/page-views.ts"],
  ]);
  // 210 votes or more for each page where 40 are enough: missed with odds below e^(−50).
  const [first] = stdout.split("\n");
  for (const page of ["/pricing", "/docs", "/jobs", "/imprint"]) expect(first).toContain(page);
  expect(stdout).not.toContain("/account/");
  const shown = [...stdout.matchAll(/\/pricing +(\d+) .*truth (\d+)/g)].map(
    ([, a, b]) => Number(a) - Number(b),
  );
  expect(shown).toHaveLength(2);
  // Noise of scale 3.5: beyond 70 with odds of e^(−20).
  for (const error of shown) expect(Math.abs(error)).toBeLessThan(70);
  expect(stdout).toContain("is the probability that a key that only one person used on a day becomes public");
});

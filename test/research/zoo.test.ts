import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { measureZoo } from "../../research/zoo/measure.js";
import { pairedRatio, toStill } from "../../research/zoo/paired.js";
import { recordedCell } from "../../research/zoo/recorded.js";
import { ZOO, zooMax, zooStream } from "../../research/zoo/zoo.js";

const names = [...Object.keys(ZOO.tuning), ...Object.keys(ZOO.fresh)];

test("at least 30 streams in two groups that share none", () => {
  expect(names.length).toBeGreaterThanOrEqual(30);
  expect(new Set(names).size).toBe(names.length);
});

/** The streams of Table 1 take seconds to make; datasets.test.ts is about them. */
const quick = names.filter((name) => !name.endsWith("-like"));

test.each(quick)("%s: the same numbers every time, in [0, max], not all alike unless constant", (name) => {
  const values = zooStream(name, 40_000);
  expect(zooStream(name, 40_000)).toEqual(values);
  expect(values.every((value) => value >= 0 && value <= zooMax(name))).toBe(true);
  expect(new Set(values).size > 1).toBe(name !== "constant");
});

test("every stream has recorded figures at the usual budgets", () => {
  for (const name of names)
    for (const epsilon of [0.01, 0.02, 0.05, 0.1, 0.5, 1])
      expect(recordedCell(name, epsilon)!.paper.mean).toBeGreaterThan(0);
});

test("measures files and streams, keeps what is done, and compares with the paper", async () => {
  const folder = mkdtempSync(join(tmpdir(), "brume-zoo-"));
  const file = join(folder, "runs.ndjson");
  const told: number[] = [];
  const options = {
    groups: ["tuning"],
    streams: ["constant", "file"],
    systems: ["default", "paper"],
    ...{ epsilons: [1], runs: 4, queries: 20, holdout: 256, maxRange: 4096, seed: "zoo test" },
    ...{ files: [{ name: "file", max: 10, values: Float64Array.of(1, 2, 3, 9) }], file, workers: 0 },
    progress: (done: number) => told.push(done),
  } as const;
  const report = await measureZoo(options);
  expect(told).toEqual([1, 2, 3, 4]); // two streams, two systems
  expect(report.cells.map(({ stream }) => stream)).toEqual(["constant", "file"]);
  const [cell] = report.cells;
  expect(cell!.ratios["answers to paper"]!.mean).toBeCloseTo(
    cell!.answers.mean / (cell!.published.mean / cell!.ratios["published to paper"]!.mean),
    9,
  );
  expect(cell!.ratios["answers to first"]).toBeUndefined(); // recorded at other settings
  expect(report.summary.map(({ comparison }) => comparison)).toEqual([
    "answers to paper",
    "published to paper",
  ]);
  const again = await measureZoo(options);
  expect(again).toEqual(report);
  expect(told).toHaveLength(4); // nothing was done twice
  expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(4);
  rmSync(folder, { recursive: true });
});

test("following is compared run by run, worked by hand", () => {
  // (3 + 5)/(2 + 2) = 2, and both are off by 1: √(2·2/1)/4 = 1/2.
  expect(pairedRatio([3, 5], [2, 2])).toEqual({ mean: 2, se: 0.5 });
  const run = (answers: number[], changes: number[]) => ({
    ...{ answers, changes, published: answers, theta: [1, 1], skipLevels: [0, 0] },
    ...{ clampedCoverage: [1, 1], trueCoverage: [1, 1], hiddenCoverage: [1, 1] },
  });
  const still = run([2, 2], [0, 0]);
  expect(toStill(run([90, 70], [0, 0]), still, "answers").mean).toBeCloseTo((32 / 31) ** 2, 12);
  expect(toStill(run([90, 70], [0, 3]), still, "answers").mean).toBeCloseTo(
    (2 * (32 / 31) ** 2 + 70) / 4,
    12,
  );
});

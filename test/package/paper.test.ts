/** The figures as built: worker threads, and the command line around them. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fromNumbers } from "../../src/lab/data/source.js";
import { figure3 } from "../../src/lab/figures/systems.js";
import { figure8 } from "../../src/lab/figures/localThresholds.js";
import type * as Runs from "../../src/lab/figures/runs.js";
import { longTailedStream } from "../reference/streams.js";

const DIST = join(import.meta.dirname, "../../dist");
const folder = mkdtempSync(join(tmpdir(), "brume-paper-"));

test("worker threads give what one thread gives", async () => {
  const { runAll } = (await import(join(DIST, "lab/figures/runs.js"))) as typeof Runs;
  const settings = {
    ...{ seed: "threads", repeat: 1, queries: 10, holdout: 256, maxRange: 1024 },
    ...{ epsilons: [1], localEpsilons: [1] },
  };
  const datasets = [fromNumbers("DNS", "threads.txt", longTailedStream(1280, 160, "threads"))];
  const jobs = [figure3, figure8].flatMap((figure) => figure.jobs({ settings, datasets }));
  const alone = await runAll(jobs, datasets, { file: join(folder, "alone.ndjson"), workers: 0 });
  const threads = await runAll(jobs, datasets, { file: join(folder, "threads.ndjson"), workers: 2 });
  expect(jobs.map(threads)).toEqual(jobs.map(alone));
});

test("a wrong figure or data set is named", () => {
  const failing = (...args: string[]) =>
    spawnSync(process.execPath, [join(DIST, "cli/main.js"), "paper", ...args], { encoding: "utf8" });
  expect(failing("--figure", "12")).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('got "12"') as string,
  });
  expect(failing("--data", "weather=a.txt")).toMatchObject({
    status: 2,
    stderr: expect.stringContaining('got "weather=a.txt"') as string,
  });
  expect(failing("--data", "POS=nowhere.txt", "--figure", "table1")).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("nowhere.txt: no such file") as string,
  });
});

test("--help tells how data sets are given", () => {
  const help = execFileSync(process.execPath, [join(DIST, "cli/main.js"), "paper", "--help"], {
    encoding: "utf8",
  });
  expect(help).toContain("--data NAME=FILE");
});

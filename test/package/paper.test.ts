/** The figures as built: worker threads, and the command line around them. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { fromNumbers } from "../../research/data/source.js";
import { figure3 } from "../../research/figures/systems.js";
import { figure8 } from "../../research/figures/localThresholds.js";
import { runAll } from "../../research/figures/allJobs.js";
import { longTailedStream } from "../support/streams.js";

const DIST = join(import.meta.dirname, "../../dist");
const folder = mkdtempSync(join(tmpdir(), "brume-paper-"));

test("worker threads give what one thread gives", async () => {
  const script = pathToFileURL(join(DIST, "../research/dist/jobWorker.js"));
  const settings = {
    ...{ seed: "threads", repeat: 1, queries: 10, holdout: 256, maxRange: 1024 },
    ...{ epsilons: [1], localEpsilons: [1] },
  };
  const datasets = [fromNumbers("DNS", "threads.txt", longTailedStream(1280, 160, "threads"))];
  const jobs = [figure3, figure8].flatMap((figure) => figure.jobs({ settings, datasets }));
  const alone = await runAll(jobs, datasets, { file: join(folder, "alone.ndjson"), workers: 0 });
  const threads = await runAll(jobs, datasets, { file: join(folder, "threads.ndjson"), workers: 2, script });
  expect(jobs.map(threads)).toEqual(jobs.map(alone));
});

test("a wrong figure or data set is named", () => {
  const failing = (...args: string[]) =>
    spawnSync(process.execPath, [join(DIST, "lib/cli/main.js"), "paper", ...args], { encoding: "utf8" });
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
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const table1 = (data: string) => failing("--data", data, "--figure", "table1", "--out", folder);
  expect(table1(`POS=${file("empty.txt", "")}`)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("empty.txt: expected at least one number, got none") as string,
  });
  expect(table1(`Fare=${file("rides.csv", "id,fare\n1,7.5\n")}`)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('rides.csv: expected a column "fare_amount" in its header') as string,
  });
});

test("real files: one number a line, transactions, taxi records", () => {
  const baskets = "1 2 3\n".repeat(40) + "7\n".repeat(10);
  writeFileSync(join(folder, "baskets.dat.gz"), gzipSync(baskets));
  writeFileSync(join(folder, "taxi.csv"), `VendorID,fare_amount\n${"1,7.5\n2,12.25\n".repeat(20)}`);
  writeFileSync(join(folder, "dns.txt"), "4\n5\n6\n".repeat(20));
  const given = ["Kosarak=baskets.dat.gz", "fare=taxi.csv", "DNS=dns.txt"].flatMap((entry) => {
    const [name, file] = entry.split("=") as [string, string];
    return ["--data", `${name}=${join(folder, file)}`];
  });
  const args = ["paper", "--figure", "table1", "--out", join(folder, "real"), ...given];
  execFileSync(process.execPath, [join(DIST, "lib/cli/main.js"), ...args]);
  const { data } = JSON.parse(readFileSync(join(folder, "real/table1.json"), "utf8")) as {
    data: { origin: string; n: number; p100: number; mean: number }[];
  };
  expect(data).toMatchObject([
    { origin: "dns.txt", n: 60, p100: 6, mean: 5 },
    { origin: "taxi.csv", n: 40, p100: 1225, mean: 987.5 },
    { origin: "baskets.dat.gz", n: 50, p100: 3, mean: 2.6 },
    { origin: "built in", n: 515597 },
  ]);
});

test("--help says how to give data sets", () => {
  const help = execFileSync(process.execPath, [join(DIST, "lib/cli/main.js"), "paper", "--help"], {
    encoding: "utf8",
  });
  expect(help).toContain("--data NAME=FILE");
});

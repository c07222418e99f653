import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { describe, expect, test } from "vitest";
import { DATASET_NAMES } from "../../research/data/datasets.js";
import { fromNumbers } from "../../research/data/source.js";
import { runCentral, thetaBy } from "../../research/figures/central.js";
import type { Lab } from "../../research/figures/figure.js";
import { codeFingerprint } from "../../research/figures/fingerprint.js";
import { FIGURES } from "../../research/figures/index.js";
import type { CentralJob } from "../../research/figures/job.js";
import { makeFigures } from "../../research/figures/make.js";
import { aboutData, claim, type Claim } from "../../research/figures/readings.js";
import { meansOf } from "../../research/figures/runJob.js";
import { Stream } from "../../research/figures/jobStream.js";
import { longTailedStream } from "../support/streams.js";
import { openTags } from "../support/xml.js";

/** Everything as in the paper but a thousandth of the size. */
const lab: Lab = {
  settings: {
    seed: "tiny",
    repeat: 2,
    queries: 10,
    holdout: 256,
    maxRange: 1024,
    epsilons: [0.5, 1],
    localEpsilons: [1, 2],
  },
  datasets: DATASET_NAMES.map((name) => fromNumbers(name, `${name}.txt`, longTailedStream(900, 160, name))),
};

const fresh = () => mkdtempSync(join(tmpdir(), "brume-figures-"));

async function make(
  folder: string,
  ids?: readonly string[],
  settings = lab.settings,
  code = "this code",
): Promise<number> {
  let runs = 0;
  const figures = FIGURES.filter(({ id }) => ids?.includes(id) ?? true);
  const progress = () => runs++;
  await makeFigures(figures, { ...lab, settings }, { folder, about: "a test", workers: 0, progress, code });
  return runs;
}

describe("all figures", () => {
  const folder = fresh();
  const made = make(folder);
  const read = (name: string) => readFileSync(join(folder, name), "utf8");

  test.each(FIGURES.map(({ id }) => [/^\d/.test(id) ? `figure-${id}` : id]))(
    "%s is data and a picture of the same series",
    async (name) => {
      await made;
      const { panels, reading } = JSON.parse(read(`${name}.json`)) as {
        panels: { series: { name: string; points: { y: number | null }[] }[] }[];
        reading: { paper: string; got: string; why: string; claims: Claim[] };
      };
      const points = panels.flatMap(({ series }) => series.flatMap((one) => one.points));
      expect(points.length).toBeGreaterThan(0);
      expect(points.every(({ y }) => typeof y === "number")).toBe(true);
      expect(read(`${name}.csv`).trimEnd().split("\n")).toHaveLength(points.length + 1);
      const svg = read(`${name}.svg`);
      expect(openTags(svg)).toEqual([]);
      expect(svg).not.toMatch(/NaN|undefined/);
      for (const { series } of panels)
        for (const one of series) expect(svg).toContain(`data-series="${one.name}"`);
      for (const text of [reading.paper, reading.got, reading.why])
        expect(text).not.toMatch(/NaN|undefined|^$/);
      for (const { found } of reading.claims)
        for (const { holds, of } of found) expect(holds).toBeLessThanOrEqual(of);
    },
  );

  test("the report shows each of them and loads nothing", async () => {
    await made;
    const html = read("report.html");
    for (const { id } of FIGURES) expect(html).toContain(`<section id="${id}">`);
    expect(html.match(/<div class="panels"/g)).toHaveLength(FIGURES.length);
    expect(openTags(html.slice(html.indexOf("<body>"), html.indexOf("</html>")))).toEqual([]);
    expect(html).not.toMatch(/<script|<link|<img|src=|href="(?!#)/);
  });

  test("nothing is run twice, and the second time gives the same bytes", async () => {
    expect(await made).toBeGreaterThan(100);
    const before = read("figure-3.json");
    expect(await make(folder)).toBe(0);
    expect(read("figure-3.json")).toBe(before);
  });
});

test("a run that was cut off resumes where it stopped", async () => {
  const folder = fresh();
  const all = await make(folder, ["4"]);
  expect(all).toBe(4 * 5 * 2 * 2); // data sets, smoothers, budgets, runs
  const [json, file] = [readFileSync(join(folder, "figure-4.json"), "utf8"), join(folder, "runs.ndjson")];
  truncateSync(file, statSync(file).size - 20); // in the middle of the last line
  expect(await make(folder, ["4"])).toBe(1);
  expect(readFileSync(join(folder, "figure-4.json"), "utf8")).toBe(json);
  appendFileSync(file, "not a result\n");
  expect(await make(folder, ["4"])).toBe(0);
});

test("runs of other code are not taken for this one's", async () => {
  const folder = fresh();
  const runs = await make(folder, ["9"]);
  expect(await make(folder, ["9"])).toBe(0);
  expect(await make(folder, ["9"], lab.settings, "other code")).toBe(runs);

  const source = mkdtempSync(join(tmpdir(), "brume-code-"));
  const write = (name: string, text: string) => {
    mkdirSync(dirname(join(source, name)), { recursive: true });
    writeFileSync(join(source, name), text);
    return codeFingerprint(pathToFileURL(`${source}/`));
  };
  const before = write("src/stream/stream.js", "1");
  expect(write("site/page.js", "1")).toBe(before);
  expect(write("src/stream/stream.d.ts", "1")).toBe(before);
  expect(write("src/stream/stream.js", "2")).not.toBe(before);
  expect(write("src/stream/stream.js", "1")).toBe(before);

  const { metafile } = await build({
    entryPoints: ["research/figures/runJob.ts"],
    ...{ bundle: true, platform: "node", format: "esm", write: false, metafile: true },
  });
  const imported = Object.keys(metafile.inputs).filter((name) => /^(src|research)\//.test(name));
  expect(imported.length).toBeGreaterThan(50);
  let last = before;
  for (const name of imported) {
    const now = write(name, "1");
    expect(now, name).not.toBe(last);
    last = now;
  }
});

test("other parameters are other runs, and figures share the runs they have in common", async () => {
  const folder = fresh();
  const runs = await make(folder, ["3"]);
  expect(await make(folder, ["10", "ours"])).toBe(0);
  expect(await make(folder, ["3"], { ...lab.settings, seed: "other" })).toBe(runs);
  expect(await make(folder, ["3"], { ...lab.settings, queries: 11 })).toBe(runs);
});

describe("a θ with an ε of its own", () => {
  const values = longTailedStream(1280, 160, "rules");
  const job: CentralJob = {
    kind: "central",
    data: "",
    max: 200,
    seed: "rules",
    run: 0,
    queries: 1,
    holdout: 256,
    maxRange: 1024,
    method: "hhatc16",
    epsilon: 1,
    variant: "paper",
    answer: "published",
  };
  const stream = new Stream(values, 256);
  const held = stream.read;

  test("a percentile is the value of its rank", () => {
    const sorted = held.slice().sort();
    expect(thetaBy({ name: "percentile", percentile: 0.9 }, job, stream)).toBe(sorted[Math.floor(256 * 0.9)]);
  });

  test("noisy max with almost no noise is the highest Eq. 6 for the release's ε", () => {
    const slope = ((3 * 256) / (60 * 1024)) * Math.sqrt(2 * 15 * (Math.log(1024) / Math.log(16)) ** 3);
    for (const epsilon of [0.05, 1]) {
      const cost = (theta: number) =>
        held.filter((value) => value > theta).length + (slope * theta) / epsilon;
      const best = Array.from({ length: 200 }, (_, i) => i + 1).reduce((a, b) => (cost(b) < cost(a) ? b : a));
      const theta = thetaBy({ name: "nm-e", epsilon: 60, noise: "laplace" }, { ...job, epsilon }, stream);
      expect(cost(theta) - cost(best)).toBeLessThan(1); // e^−60 against one value more
    }
  });

  test("θ far above the bound is published, θ = 0 publishes zeros", () => {
    const thetas = Array.from({ length: 24 }, (_, run) => {
      const answers = runCentral({ ...job, run, rule: { name: "s-p", epsilon: 0.01 } }, stream);
      const sum = answers.sum(0, 1024);
      const theta = thetaBy({ name: "s-p", epsilon: 0.01 }, { ...job, run }, stream);
      expect(sum === 0).toBe(theta === 0);
      return theta;
    });
    // S-P adds symmetric noise, here many times the bound: half of all θ are 0. 24 on one side have odds of 2⁻²⁴.
    expect(Math.min(...thetas)).toBe(0);
    expect(Math.max(...thetas)).toBeGreaterThan(200);
  });
});

test("means of intervals that do not divide the length", () => {
  const sum = (from: number, to: number) => to - from;
  expect(meansOf(sum, 10, 3)).toEqual([1, 1, 1]);
  const ends: [number, number][] = [];
  meansOf((from, to) => ends.push([from, to]), 10, 3);
  expect(ends).toEqual([
    [0, 3],
    [3, 6],
    [6, 10],
  ]);
});

describe("readings", () => {
  const series = (name: string, ...ys: number[]) => ({
    name,
    points: ys.map((y, i) => ({ x: i + 1, y })),
  });
  const axis = { label: "" };
  const panels = [
    { title: "one", x: axis, y: axis, series: [series("a", 1, 2, 3), series("b", 2, 2, 2)] },
    { title: "two", x: axis, y: axis, series: [series("a", 5, 6, 7), series("b", 1, 1, 1)] },
  ];

  test("a claim is counted point by point, where it says anything", () => {
    const found = claim("a is below b", panels, (y, x) => (x === 3 ? undefined : y("a") < y("b")));
    expect(found.found).toEqual([
      { panel: "one", holds: 1, of: 2 },
      { panel: "two", holds: 0, of: 2 },
    ]);
    expect(claim("grows", panels, (y, x) => y("a", 1) <= y("a", x)).found[1]).toMatchObject({ holds: 3 });
  });

  test("the description of the data is that of the data used", async () => {
    expect(aboutData(lab, ["DNS", "POS"])).toBe(
      "DNS is read from DNS.txt (900 values); POS is read from POS.txt (900 values).",
    );
    const datasets = lab.datasets.map(({ origin, ...dataset }) =>
      dataset.name === "POS" ? { ...dataset, origin: "<real>.dat" } : dataset,
    );
    expect(aboutData({ ...lab, datasets })).toBe(
      "POS is read from <real>.dat (900 values); DNS, Fare and Kosarak are made to Table 1, not the paper's data.",
    );
    const folder = fresh();
    const figures = FIGURES.filter(({ id }) => ["table1", "1"].includes(id));
    await makeFigures(figures, { ...lab, datasets }, { folder, about: "a test", workers: 0 });
    const html = readFileSync(join(folder, "report.html"), "utf8");
    expect(html).toContain(">POS (&lt;real&gt;.dat)</text>");
    expect(html).not.toContain("<real>");
    expect(html).toContain("DNS is made to Table 1, not the paper's data.");
  });
});

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bestTheta } from "../../../research/opponents/bestTheta.js";
import { figureOf } from "../../../research/opponents/figure.js";
import { makeOpponent, OPPONENT_NAMES, OPPONENTS } from "../../../research/opponents/list.js";
import { keptBytes } from "../../../research/opponents/memory.js";
import { measureOpponents, type OpponentsReport } from "../../../research/opponents/measure.js";
import { defeats, markdownOf, ranked, tableOf } from "../../../research/opponents/table.js";
import type { OpponentJob } from "../../../research/opponents/trial.js";
import { prefixSums } from "../../../research/metrics.js";
import { OPPONENTS as MECHANISMS } from "../../../research/systems/opponents.js";
import { openTags } from "../../support/xml.js";

const folder = mkdtempSync(join(tmpdir(), "brume-opponents-"));
const file = join(folder, "runs.ndjson");
const told: number[] = [];
const options = {
  groups: ["fresh"],
  streams: ["yes or no", "weibull"],
  opponents: ["default", "zeros", "k-ary", "blt", "bd", "fast"],
  ...{ epsilons: [1], runs: 2, queries: 20, holdout: 256, maxRange: 1024, seed: "test", file, workers: 0 },
  code: "this",
  progress: (done: number) => told.push(done),
} as const;
let report: OpponentsReport;

beforeAll(async () => {
  report = await measureOpponents(options);
});
afterAll(() => rmSync(folder, { recursive: true }));

describe("the comparison", () => {
  test("runs every opponent with a public θ, and by the rule where the unit of privacy allows it", () => {
    expect(report.rows.map(({ opponent, theta }) => `${opponent}, ${theta}`)).toEqual([
      ...["default, best", "default, rule", "zeros, best", "zeros, rule"],
      ...["k-ary, best", "k-ary, rule", "blt, best", "blt, rule", "bd, best", "fast, best"],
    ]);
    expect(report.cells).toHaveLength(20);
    expect(told).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
  });

  test("compares with the default for the same kind of θ", () => {
    for (const { opponent, ratio, perValueRatio } of report.cells)
      if (opponent === "default") expect([ratio.mean, perValueRatio]).toEqual([1, 1]);
    const [cell] = report.cells.filter(({ opponent }) => opponent === "k-ary");
    const ours = report.cells.find(
      ({ opponent, theta, stream }) =>
        opponent === "default" && theta === cell!.theta && stream === cell!.stream,
    );
    expect(cell!.ratio.mean).toBeCloseTo(cell!.mse.mean / ours!.mse.mean, 12);
  });

  test("a second time nothing is run", async () => {
    const lines = readFileSync(file, "utf8");
    expect(await measureOpponents(options)).toEqual(report);
    expect(told).toHaveLength(20);
    expect(readFileSync(file, "utf8")).toBe(lines);
  });

  test("kept bytes are those of what is kept", () => {
    const bytes = keptBytes(() => ({ numbers: new Float64Array(2 ** 17) }));
    expect(bytes).toBeGreaterThan(2 ** 20 * 0.9);
    expect(bytes).toBeLessThan(2 ** 20 * 1.5);
  });

  test("measures time and memory", () => {
    for (const { seconds } of report.rows) expect(seconds).toBeGreaterThan(0);
    expect(Object.keys(report.memory)).toEqual([...options.opponents]);
  });
});

describe("its table", () => {
  test("has a block per unit of privacy, and none is ranked among another's", () => {
    const { head, rows } = tableOf(report);
    expect(rows.map(([unit]) => unit)).toEqual([
      ...["ε for one value", "ε for one value", "ε for one value"],
      ...["(ε, δ) for one value", "ε for any 100 values in a row", "ε for all values of the horizon"],
    ]);
    expect(ranked(report, "event")).toHaveLength(3);
    const text = markdownOf({ head, rows }).split("\n");
    expect(text).toHaveLength(8);
    for (const line of text) expect(line.split("|")).toHaveLength(head.length + 2);
    expect(rows.at(-1)![3]).toBe("–"); // no θ by a rule for a whole horizon
  });

  test("cells that we lose are listed, largest loss first", () => {
    const cell = report.cells.find(({ opponent }) => opponent === "k-ary")!;
    const won = { ...cell, ratio: { mean: 0.5, se: 0.1 } };
    const more = { ...cell, stream: "other", ratio: { mean: 0.2, se: 0.01 } };
    const unsure = { ...cell, ratio: { mean: 0.5, se: 0.3 } };
    const { rows } = defeats({ ...report, cells: [won, unsure, more] });
    expect(rows.map((row) => row[2])).toEqual(["other", cell.stream]);
  });

  test("its figure has a line for each but the default, and is well-formed", () => {
    const svg = figureOf(report);
    expect(svg.match(/data-system="([^"]+)"/g)).toHaveLength(5);
    expect(svg).not.toMatch(/NaN|undefined|Infinity/);
    expect(openTags(svg)).toEqual([]);
  });
});

describe("the list", () => {
  test("has every mechanism, and every name makes a system", () => {
    const methods = OPPONENT_NAMES.map((name) => OPPONENTS[name].method as string);
    for (const name of Object.keys(MECHANISMS)) expect(methods).toContain(name);
    for (const name of OPPONENT_NAMES) {
      const shared = { epsilon: 1, max: 16, holdout: 64, maxRange: 256, unsafeSeed: "list" };
      const system = makeOpponent(name, 8, shared);
      expect(system.pushMany(new Float64Array(64 + 256).fill(2))).toHaveLength(256);
      const { delta, unit } = system.statement();
      expect(delta > 0).toBe(OPPONENTS[name].unit === "event-delta");
      expect(unit === "one value").toBe(["event", "event-delta"].includes(OPPONENTS[name].unit));
    }
  });
});

describe("the best θ", () => {
  const job = (opponent: OpponentJob["opponent"], epsilon: number): OpponentJob => ({
    ...{ data: 1, stream: "made here", max: 64, opponent, theta: "best", epsilon, seed: "best" },
    ...{ runs: 1, queries: 50, holdout: 0, maxRange: 1024, memory: false },
  });
  const values = Float64Array.from({ length: 1024 }, (_, i) => (i % 128 === 0 ? 64 : 4));
  const stream = { max: 64, holdout: 0, values, truth: prefixSums(values) };

  test("with little noise it clamps nothing, with much it clamps what is rare", () => {
    expect(bestTheta(job("k-ary", 100), stream)).toBe(64);
    const small = bestTheta(job("k-ary", 1), stream);
    expect(small).toBeLessThan(32);
    expect(small).toBeGreaterThanOrEqual(4);
    expect(bestTheta(job("k-ary", 0.01), stream)).toBeLessThan(small);
  });

  test("is found by trial where the error depends on the data", () => {
    expect(bestTheta(job("partition", 600), stream)).toBe(64);
    expect(bestTheta(job("partition", 0.001), stream)).toBeLessThanOrEqual(4);
  });
});

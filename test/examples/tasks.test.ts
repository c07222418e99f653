/**
 * The tasks of examples/tasks give right answers with nothing set but what a user knows: over 5,000 draws of the noise on
 * fixed data, and once each on the command line. `packages/server/test/tasks.test.ts` has those of the service.
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  DAY,
  MONDAY,
  type Order,
  orders,
  pageLoads,
  type Reading,
  readings,
  requests,
  writeData,
} from "../../examples/tasks/data.js";
import { metricsOf } from "../../packages/server/src/config/metrics.js";
import type { Config } from "../../packages/server/src/config/types.js";
import { Arguments } from "../../src/cli/command.js";
import { EventFile } from "../../src/cli/eventFile.js";
import { metricOptions } from "../../src/cli/eventOptions.js";
import { release } from "../../src/cli/release.js";
import { eventAnswer } from "../../src/events/answer/answers.js";
import { checkQuery, histogramAnswer } from "../../src/events/answer/histogramAnswers.js";
import type { EventMetric } from "../../src/events/eventMetric.js";
import { type EventStreamOptions, type HistogramOptions, resolveEvents } from "../../src/events/options.js";
import { planEvents } from "../../src/events/plan.js";
import type { Range } from "../../src/events/answer/queries.js";
import { aggregator, reporter } from "../../src/index.js";
import { drawn } from "../support/eventCoverage.js";

const FOLDER = "examples/tasks";
const [ORDERS, READINGS, LOG] = [orders(), readings(), requests()];
const HOUR = DAY / 24;
const DRAWS = 5000;
/** A draw of a histogram has 66 columns. BRUME_DRAWS=5000 takes as many as the others have. */
const HISTOGRAM_DRAWS = Number(process.env["BRUME_DRAWS"] ?? 1000);
type Options = EventStreamOptions | HistogramOptions;

/** Arguments of `brume release` in a script. */
const wordsOf = (script: string): string[] =>
  readFileSync(join(FOLDER, script), "utf8")
    .replaceAll(/^#.*$/gm, "")
    .replaceAll("\\\n", " ")
    .trim()
    .split(/\s+/)
    .slice(2);
const optionsOf = (script: string): Options =>
  metricOptions(new Arguments(release, wordsOf(script))) as Options;
const configOf = (file: string): Config => JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Config;
const config = configOf("brume.json");
const dashboard = configOf("log-dashboard.json");
/** The options of a metric of a service's config. */
const served = (name: string, { zone, ...rest } = config): Options =>
  ({ zone, ...metricsOf(rest as Config).find((metric) => metric.name === name)!.options }) as Options;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
const counts = (times: readonly number[], length: number, periods: number): number[] => {
  const found = Array.from({ length: periods }, () => 0);
  for (const at of times) {
    const period = Math.floor((at - MONDAY) / length);
    if (period < periods) found[period]!++;
  }
  return found;
};

/** An interval, and the truth that it should hold. */
interface Case {
  readonly low: number | null;
  readonly high: number | null;
  readonly truth: number;
}
const holds = ({ low, high, truth }: Case): boolean =>
  (low ?? -Infinity) <= truth && truth <= (high ?? Infinity);

/** How often each of several questions is answered rightly. */
function shares(draws: number, draw: (index: number) => readonly Case[]): number[] {
  const hits: number[] = [];
  for (let index = 0; index < draws; index++)
    draw(index).forEach((found, i) => (hits[i] = (hits[i] ?? 0) + (holds(found) ? 1 : 0)));
  return hits.map((count) => count / draws);
}

/** Answers of sums and counts over ranges, beside the true sums. */
const casesOf = (metric: EventMetric, ranges: readonly (readonly [Range, truth: number])[]): Case[] =>
  ranges.map(([range, truth]) => {
    const { low, high } = eventAnswer(metric, metric.release(""), range, 0.95);
    return { low, high, truth };
  });
const hoursFrom = (from: number, to: number): Range => [MONDAY + from * HOUR, MONDAY + to * HOUR];

describe(`${DRAWS} draws on fixed data`, () => {
  const times = LOG.map(({ at }) => at);

  test("requests per minute, as a gauge: a minute in the night, a busy one, an hour", () => {
    const options = served("requests");
    const minutes = counts(times, HOUR / 60, 60 * 2);
    const at = (from: number, to: number) =>
      [[MONDAY + (from * HOUR) / 60, MONDAY + (to * HOUR) / 60], sum(minutes.slice(from, to))] as const;
    const found = shares(DRAWS, (i) =>
      casesOf(drawn(options, [minutes], i, MONDAY), [at(0, 1), at(119, 120), at(60, 120)]),
    );
    for (const share of found) expect(share).toBeGreaterThanOrEqual(0.94);
  });

  test("daily users of a country: a day, a week", () => {
    const days = [812, 790, 805, 0, 1200, 640, 3];
    const at = (from: number, to: number) =>
      [[MONDAY + from * DAY, MONDAY + to * DAY], sum(days.slice(from, to))] as const;
    const found = shares(DRAWS, (i) =>
      casesOf(drawn(served("users"), [days], i, MONDAY), [at(0, 1), at(3, 4), at(6, 7), at(0, 7)]),
    );
    for (const share of found) expect(share).toBeGreaterThanOrEqual(0.94);
  });

  test.each([
    ["a picture of a log", () => optionsOf("dashboard.sh")],
    ["a dashboard of a log", () => served("requests", dashboard)],
  ])("%s: a quiet hour, the hour of trouble, the day", (_, made) => {
    const hours = counts(times, HOUR, 24);
    const at = (from: number, to: number) => [hoursFrom(from, to), sum(hours.slice(from, to))] as const;
    const options = made();
    const found = shares(DRAWS, (i) =>
      casesOf(drawn(options, [hours], i, MONDAY), [at(4, 5), at(14, 15), at(0, 24)]),
    );
    for (const share of found) expect(share).toBeGreaterThanOrEqual(0.94);
    // Half of the reach in place of all of it is seen.
    const narrow = shares(1000, (i) =>
      casesOf(drawn(options, [hours], i, MONDAY), [at(4, 5)]).map(({ low, high, truth }) => {
        const [middle, half] = [(low! + high!) / 2, (high! - low!) / 4];
        return { low: middle - half, high: middle + half, truth };
      }),
    );
    expect(narrow[0]).toBeLessThan(0.9);
  });

  test.each([
    ["latency of a route, per hour", () => served("latency")],
    ["percentiles of a log", () => optionsOf("log.sh")],
    ["percentiles of a log, on a dashboard", () => served("latency", dashboard)],
  ])("%s: median and p95 of a quiet hour and of three, and the number of events", (_, made) => {
    const options = made();
    const { edges } = resolveEvents(options).buckets!;
    const HOURS = 3;
    const values = Array.from({ length: HOURS }, (_, hour) =>
      LOG.filter(({ at }) => Math.floor((at - MONDAY) / HOUR) === hour).map(({ ms }) => ms),
    );
    const columns = Array.from({ length: edges.length + 1 }, (_, bucket) =>
      values.map((own) => own.filter((ms) => edges.filter((edge) => edge <= ms).length === bucket).length),
    );
    const ranked = (from: number, to: number) =>
      values
        .slice(from, to)
        .flat()
        .sort((a, b) => a - b);
    const query = checkQuery({ quantiles: [0.5, 0.95] });
    const found = shares(HISTOGRAM_DRAWS, (i) => {
      const metric = drawn(options, columns, i, MONDAY);
      return (
        [
          [1, 2],
          [0, 3],
        ] as const
      ).flatMap(([from, to]): Case[] => {
        const own = ranked(from, to);
        const { total, quantiles } = histogramAnswer(metric, metric.release(""), hoursFrom(from, to), query);
        return [
          { ...total!, truth: own.length },
          ...quantiles.map(({ p, low, high }) => ({ low, high, truth: own[Math.ceil(p * own.length) - 1]! })),
        ];
      });
    });
    for (const share of found) expect(share).toBeGreaterThanOrEqual(0.94);
  });

  test("the day of a home is protected: the sum of a day, and of three", () => {
    const options = optionsOf("meters-home.sh");
    const { resolution } = resolveEvents(options, true).grid!;
    const days = Array.from({ length: 3 }, (_, day) =>
      sum(
        READINGS.filter(({ at }) => Math.floor((at - MONDAY) / DAY) === day).map(({ kwh }) =>
          Math.round(kwh / resolution),
        ),
      ),
    );
    const at = (from: number, to: number) =>
      [[MONDAY + from * DAY, MONDAY + to * DAY], resolution * sum(days.slice(from, to))] as const;
    const found = shares(DRAWS, (i) => casesOf(drawn(options, [days], i, MONDAY), [at(0, 1), at(0, 3)]));
    for (const share of found) expect(share).toBeGreaterThanOrEqual(0.94);
  });
});

/** A finished file, as `brume release` takes it: θ by all rows, then all rows once more. */
function finished(
  script: string,
  rows: readonly { at: number; value: number; group?: string }[],
  seed: string,
  to: number,
) {
  const keys = new Arguments(release, wordsOf(script)).text("keys")?.split(",");
  const options = { ...optionsOf(script), unsafeSeed: seed } as unknown as Record<string, unknown>;
  const file = EventFile.begin({ options, flags: {}, keys, from: MONDAY, columns: {} }, to);
  const takeAll = () => {
    for (const { at, value, group } of rows) file.take({ at, value, person: undefined, group });
  };
  takeAll();
  expect(file.metric.chooseFinished()).toBe(true);
  takeAll();
  file.close(to, () => undefined);
  return file;
}

describe("θ is chosen by the rows themselves: all of the run is drawn again", () => {
  const RUNS = 200;

  test("the mean basket of a shop and day", () => {
    const rows = ORDERS.map(({ at, basket, shop }) => ({ at, value: basket, group: shop }));
    const truth = (shop: string, day: number) => mean(ORDERS, shop, day);
    const means = ["berlin", "oslo"].flatMap((shop) =>
      [0, 6].map((day) => [shop, day, truth(shop, day)] as const),
    );
    const found = shares(RUNS, (i) => {
      const file = finished("baskets.sh", rows, `run ${i}`, MONDAY + 7 * DAY);
      return means.map(([shop, day, truth]) => {
        const { found } = file.answer(shop, [MONDAY + day * DAY, MONDAY + (day + 1) * DAY], [], 0.95);
        const { low, high } = found as { low: number; high: number };
        return { low, high, truth };
      });
    });
    expect(sum(found) / found.length).toBeGreaterThanOrEqual(0.94);
  });

  test("one reading of a meter is protected: the sum of a quarter of an hour", () => {
    const rows = READINGS.map(({ at, kwh }) => ({ at, value: kwh }));
    const found = shares(25, (i) => {
      const file = finished("meters-reading.sh", rows, `run ${i}`, MONDAY + 3 * DAY);
      return [0, 20, 76, 120].map((quarter) => {
        const range: Range = [MONDAY + (quarter * HOUR) / 4, MONDAY + ((quarter + 1) * HOUR) / 4];
        const { low, high } = file.answer("all", range, [], 0.95).found as { low: number; high: number };
        return { low, high, truth: used(READINGS, range) };
      });
    });
    expect(sum(found) / found.length).toBeGreaterThanOrEqual(0.94);
  });
});

describe("page-load times: every report has noise of its own, so that a draw costs all of them", () => {
  const { epsilon, local } = metricsOf(config).find(({ name }) => name === "pageload")!;
  const { max, threshold: first } = local!;
  const RUNS = 40;

  /** Two days of visits: mean, median and p95 of each, beside the truth of values that θ of the day clamps. */
  async function visits(run: number): Promise<Case[]> {
    let now = MONDAY + DAY / 2;
    const server = aggregator({ epsilon, max, threshold: first!, zone: config.zone!, clock: () => now });
    const found: Case[] = [];
    for (const day of [0, 1]) {
      const { threshold } = await server.terms();
      const device = reporter({ epsilon, max, threshold, unsafeSeed: `run ${run}, day ${day}` });
      const loads = pageLoads(day).map((ms) => Math.min(ms, threshold));
      server.add(device.reportMany(loads));
      const range = { from: MONDAY + day * DAY, to: MONDAY + (day + 1) * DAY };
      const { low, high } = server.between(range.from, range.to);
      found.push({ low, high, truth: sum(loads) / loads.length });
      loads.sort((a, b) => a - b);
      for (const p of [0.5, 0.95])
        found.push({ ...(await server.quantile(p, range)), truth: loads[Math.ceil(p * loads.length) - 1]! });
      now += DAY;
    }
    return found;
  }

  test("mean, median and p95 of the first day, and of the next, whose θ follows the reports", async () => {
    const runs: Case[][] = [];
    for (let run = 0; run < RUNS; run++) runs.push(await visits(run));
    const found = shares(RUNS, (run) => runs[run]!);
    expect(found).toHaveLength(6);
    // Seeds are fixed. Of 40 draws at 95 %, 9 or more miss with odds of 10⁻⁴.
    for (const share of found) expect(share).toBeGreaterThanOrEqual(0.8);
    expect(sum(found) / found.length).toBeGreaterThanOrEqual(0.94);
    // A mean that is 600 ms off is seen: of 2 s, the second day is known to a quarter of a second or so.
    const off = shares(RUNS, (run) => [{ ...runs[run]![3]!, truth: runs[run]![3]!.truth + 600 }]);
    expect(off[0]).toBeLessThan(0.2);
  });
});

function mean(all: readonly Order[], shop: string, day: number): number {
  const own = all.filter((order) => order.shop === shop && Math.floor((order.at - MONDAY) / DAY) === day);
  return sum(own.map(({ basket }) => basket)) / own.length;
}
const used = (all: readonly Reading[], [from, to]: Range): number =>
  sum(all.filter(({ at }) => at >= from && at < to).map(({ kwh }) => kwh));

test("periods that are levels have at most 1.25 × L times the noise of that question alone; n days √n times a day", () => {
  const made = [
    served("requests"),
    served("users"),
    ...["dashboard.sh", "log.sh", "meters-home.sh"].map(optionsOf),
  ];
  for (const options of made) {
    const { levels, errors } = planEvents(options);
    const day = errors.find(({ period }) => period === "1d")!;
    for (const { period, standardError, plain } of errors)
      if (levels.includes(period)) expect(standardError).toBeLessThanOrEqual(1.25 * levels.length * plain);
    expect(errors.find(({ period }) => period === "7d")!.standardError).toBeCloseTo(
      Math.sqrt(7) * day.standardError,
      6,
    );
  }
});

describe("on the command line", () => {
  const folder = mkdtempSync(join(tmpdir(), "brume-tasks-"));
  beforeAll(() => {
    writeData(folder);
    const loader = pathToFileURL(resolve("node_modules/tsx/dist/loader.mjs")).href;
    writeFileSync(
      join(folder, "brume"),
      `#!/bin/sh\nexec "${process.execPath}" --import "${loader}" "${resolve("src/cli/main.ts")}" "$@"\n`,
    );
    chmodSync(join(folder, "brume"), 0o755);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = async (script: string): Promise<string> => {
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env["PATH"]}` };
    return (await promisify(execFile)("sh", [resolve(FOLDER, script)], { cwd: folder, env })).stdout;
  };
  const csv = async (script: string): Promise<Record<string, string>[]> => {
    const [head, ...rows] = (await run(script)).trim().split("\n");
    const names = head!.split(",");
    return rows.map((row) => Object.fromEntries(row.split(",").map((cell, i) => [names[i]!, cell])));
  };
  const end = (text: string): number | null => (text === "" ? null : Number(text));
  const rangeOf = ({ from, to }: Record<string, string>): Range => [Date.parse(from!), Date.parse(to!)];
  const missed = (cases: readonly Case[]): number => cases.filter((found) => !holds(found)).length;

  test("the mean basket of each shop and day", async () => {
    const rows = await csv("baskets.sh");
    const found = rows.map((row): Case => {
      const truth = mean(ORDERS, row["group"]!, Math.round((Date.parse(row["from"]!) - MONDAY) / DAY));
      return { low: end(row["mean_low"]!), high: end(row["mean_high"]!), truth };
    });
    // Ten or more of 21 miss with odds of 3·10⁻⁸ at 95 %.
    expect([rows.length, missed(found) < 10]).toEqual([21, true]);
    expect(rows.every((row) => Number(row["mean_high"]) - Number(row["mean_low"]) < 40)).toBe(true);
  });

  test("100 meters: one reading protected, and the day of a home", async () => {
    const casesIn = (rows: readonly Record<string, string>[]): Case[] =>
      rows.map((row) => ({
        ...{ low: end(row["sum_low"]!), high: end(row["sum_high"]!) },
        truth: used(READINGS, rangeOf(row)),
      }));
    const quarters = casesIn(await csv("meters-reading.sh"));
    expect([quarters.length, missed(quarters) < 50]).toEqual([288, true]); // 14 are expected; nine standard deviations
    const days = casesIn(await csv("meters-home.sh"));
    expect(days.length).toBe(3);
    // Laplace noise lies five times as far as its 95 % with odds of 3·10⁻⁷.
    for (const { low, high, truth } of days)
      expect(Math.abs(truth - (low! + high!) / 2)).toBeLessThan((5 * (high! - low!)) / 2);
  });

  test("a log in NDJSON: requests and percentiles of each hour", async () => {
    const rows = await csv("log.sh");
    const found = rows.map((row): Case[] => {
      const [from, to] = rangeOf(row);
      const own = LOG.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms);
      own.sort((a, b) => a - b);
      const of = (name: string, truth: number): Case => ({
        ...{ low: end(row[`${name}_low`]!), high: end(row[`${name}_high`]!), truth },
      });
      const rank = (p: number) => own[Math.ceil(p * own.length) - 1]!;
      return [of("count", own.length), of("p50", rank(0.5)), of("p95", rank(0.95))];
    });
    // Ten or more of 24 miss with odds of 10⁻⁷ at 95 %.
    for (const column of [0, 1, 2]) expect(missed(found.map((cases) => cases[column]!))).toBeLessThan(10);
    expect(found.length).toBe(24);
  });

  test("a picture of a log in one command: every row holds the truth, the hour of trouble too", async () => {
    const hours = counts(
      LOG.map(({ at }) => at),
      HOUR,
      24,
    );
    const rows = (await run("dashboard.sh")).trimEnd().split("\n").slice(2);
    const found = rows.map((row, hour): Case => {
      const [, low, high] = /([\d.-]+) … ([\d.]+)/.exec(row)!;
      expect(row).toContain("●");
      return { low: Number(low), high: Number(high), truth: hours[hour]! };
    });
    expect([found.length, missed(found) < 10]).toEqual([24, true]);
  });
});

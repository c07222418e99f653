/**
 * Output of the recipes: scripts and metrics of examples/tasks as they are, and what they print beside the truth. Noise is
 * drawn from a seed here, so that the page can be made again; nothing else differs from a run of a reader.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { DAY, MONDAY, orders, pageLoads, readings, requests, writeData } from "../../examples/tasks/data.js";
import { metricsOf } from "../../packages/server/src/config/metrics.js";
import type { Config } from "../../packages/server/src/config/types.js";
import type { EventStreamOptions, HistogramOptions } from "../../src/index.js";
import { aggregator, privateCounter, privateHistogram, reporter } from "../../src/index.js";
import { digits, markdown } from "./tables.js";

const FOLDER = "examples/tasks";
const HOUR = DAY / 24;
const MINUTE = HOUR / 60;
const unsafeSeed = "docs";
const configOf = (file: string): Config => JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Config;
const config = configOf("brume.json");

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0);
const mean = (numbers: readonly number[]): number => sum(numbers) / numbers.length;
const ranked = (numbers: readonly number[], p: number): number =>
  [...numbers].sort((a, b) => a - b)[Math.ceil(p * numbers.length) - 1]!;

/** A published number, its interval, and what it should be. */
interface Found {
  readonly of: string;
  readonly value: number | string | null;
  readonly low: number | string | null;
  readonly high: number | string | null;
  readonly truth: number;
}
const shown = (x: number | string | null, open: string): string =>
  x === null || x === "" ? open : digits(Number(x));
const outcome = (rows: readonly Found[]): string =>
  markdown(
    ["published", "number", "95 % interval", "truth"],
    rows.map(({ of, value, low, high, truth }) => [
      of,
      shown(value, "–"),
      `${shown(low, "…")} to ${shown(high, "…")}`,
      digits(truth),
    ]),
  );

const fenced = (language: string, text: string): string =>
  `\`\`\`${language}\n${text.replace(/^\n+/, "").trimEnd()}\n\`\`\``;
const script = (name: string): string => fenced("sh", readFileSync(join(FOLDER, name), "utf8"));
const metric = (name: keyof typeof config.metrics): string =>
  fenced("json", `{ "${name}": ${JSON.stringify(config.metrics[name])} }`);

/** Runs a script of examples/tasks, with a seed in place of secret noise. */
function run(name: string, folder: string): string {
  const text = readFileSync(join(FOLDER, name), "utf8").replaceAll(/^#.*$/gm, "").replaceAll("\\\n", " ");
  const words = text.trim().split(/\s+/).slice(1);
  const loader = pathToFileURL(resolve("node_modules/tsx/dist/loader.mjs")).href;
  const command = ["--import", loader, resolve("src/cli/main.ts"), ...words, "--unsafe-seed", unsafeSeed];
  return execFileSync(process.execPath, command, {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}
type Line = Readonly<Record<string, string>>;
function csvOf(text: string): Line[] {
  const [head, ...rows] = text.trim().split("\n");
  const names = head!.split(",");
  return rows.map((row) => Object.fromEntries(row.split(",").map((cell, i) => [names[i]!, cell])));
}
const within = (at: number, { from, to }: Line): boolean => at >= Date.parse(from!) && at < Date.parse(to!);

const clockOf = (time: number): string =>
  new Date(time).toLocaleTimeString("en-GB", {
    timeZone: "Europe/Berlin",
    hour: "2-digit",
    minute: "2-digit",
  });

/** The commands: what a script prints, a few rows of it. */
function commands(folder: string): Record<string, string> {
  const baskets = csvOf(run("baskets.sh", folder)).filter((row) => within(MONDAY, row));
  const log = csvOf(run("log.sh", folder)).filter(
    (row) => within(MONDAY + 13 * HOUR, row) || within(MONDAY + 14 * HOUR, row),
  );
  const quarters = csvOf(run("meters-reading.sh", folder)).filter((row) => within(MONDAY + 19 * HOUR, row));
  const homes = csvOf(run("meters-home.sh", folder)).slice(0, 1);
  const took = (row: Line) =>
    requests()
      .filter(({ at }) => within(at, row))
      .map(({ ms }) => ms);
  const used = (row: Line) =>
    sum(
      readings()
        .filter(({ at }) => within(at, row))
        .map(({ kwh }) => kwh),
    );
  const picture = run("dashboard.sh", folder).trimEnd().split("\n");
  return {
    "recipe-baskets": `${script("baskets.sh")}\n\n${outcome(
      baskets.map((row) => ({
        of: `${row["group"]}, Monday, EUR`,
        ...{ value: row["mean"]!, low: row["mean_low"]!, high: row["mean_high"]! },
        truth: mean(
          orders()
            .filter(({ at, shop }) => shop === row["group"] && within(at, row))
            .map(({ basket }) => basket),
        ),
      })),
    )}`,
    "recipe-log": `${script("log.sh")}\n\n${outcome(
      log.flatMap((row) => {
        const hour = clockOf(Date.parse(row["from"]!));
        const found = (of: string, name: string, truth: number): Found => ({
          ...{
            of: `${hour}: ${of}`,
            value: row[name]!,
            low: row[`${name}_low`]!,
            high: row[`${name}_high`]!,
            truth,
          },
        });
        return [
          found("requests", "count", took(row).length),
          found("p95, ms", "p95", ranked(took(row), 0.95)),
        ];
      }),
    )}`,
    "recipe-meters": `${script("meters-reading.sh")}\n\n${script("meters-home.sh")}\n\n${outcome(
      [...quarters, ...homes].map((row, i) => ({
        of:
          i === 0 ? "a quarter of an hour, one reading protected, kWh" : "a day, a home's day protected, kWh",
        ...{ value: row["sum"]!, low: row["sum_low"]!, high: row["sum_high"]! },
        truth: used(row),
      })),
    )}`,
    "recipe-dashboard": `${script("dashboard.sh")}\n\n${fenced("text", [...picture.slice(0, 2), ...picture.slice(14, 19)].join("\n"))}`,
  };
}

/** The metrics of the service, on the streams that it runs. */
function served(): Record<string, string> {
  const options = (name: string) => ({
    ...{ zone: config.zone, unsafeSeed, clock: () => now },
    ...metricsOf(config).find((found) => found.name === name)!.options,
  });
  let now = MONDAY;
  const gauge = privateCounter(options("requests") as EventStreamOptions);
  const latency = privateHistogram(options("latency") as HistogramOptions);
  const log = requests().filter(({ at }) => at < MONDAY + 15 * HOUR);
  for (const { at, ms } of log.sort((a, b) => a.at - b.at)) {
    now = at;
    gauge.add();
    latency.add(ms);
  }
  const [minute, hour] = [MONDAY + 12 * HOUR, MONDAY + 13 * HOUR];
  now = MONDAY + 16 * HOUR;
  gauge.advance();
  latency.advance();
  const one = gauge.between(minute, minute + MINUTE);
  const { quantiles } = latency.between(hour, hour + HOUR, { quantiles: [0.5, 0.95] });
  const times = log.filter(({ at }) => at >= hour && at < hour + HOUR).map(({ ms }) => ms);

  now = MONDAY;
  const users = privateCounter(options("users") as EventStreamOptions);
  const PEOPLE = 812;
  for (let visit = 0; visit < 3 * PEOPLE; visit++) users.add({ person: `user ${visit % PEOPLE}` });
  now = MONDAY + DAY + HOUR;
  const [day] = users.advance();

  const { epsilon, local } = metricsOf(config).find(({ name }) => name === "pageload")!;
  const { max, threshold } = local!;
  const server = aggregator({ epsilon, max, threshold: threshold!, clock: () => MONDAY + DAY / 2 });
  const device = reporter({ epsilon, max, threshold: threshold!, unsafeSeed });
  server.add(device.reportMany(pageLoads(0)));
  const loads = pageLoads(0).map((ms) => Math.min(ms, threshold!));
  const load = server.last("1d");
  return {
    "recipe-requests": `${metric("requests")}\n\n${outcome([
      {
        of: `requests from ${clockOf(minute)} to ${clockOf(minute + MINUTE)}`,
        ...one,
        truth: log.filter(({ at }) => at >= minute && at < minute + MINUTE).length,
      },
    ])}`,
    "recipe-latency": `${metric("latency")}\n\n${outcome(
      quantiles.map(({ p, value, low, high }) => ({
        of: `p${100 * p} from ${clockOf(hour)} to ${clockOf(hour + HOUR)}, ms`,
        value,
        low,
        high,
        truth: ranked(times, p),
      })),
    )}`,
    "recipe-users": `${metric("users")}\n\n${outcome([{ of: "users of a day, who came three times each", ...day!, truth: PEOPLE }])}`,
    "recipe-pageload": `${metric("pageload")}\n\n${outcome([
      {
        of: `mean of ${loads.length.toLocaleString("en")} loads, ms`,
        value: load.mean,
        low: load.low,
        high: load.high,
        truth: mean(loads),
      },
    ])}`,
  };
}

/** The log of a day on a dashboard: what the streams behind `brume serve --import` publish of it. */
function imported(): Record<string, string> {
  const own = configOf("log-dashboard.json");
  const options = (name: string) => ({
    ...{ zone: own.zone, unsafeSeed, clock: () => now },
    ...metricsOf(own).find((found) => found.name === name)!.options,
  });
  let now = MONDAY;
  const counter = privateCounter(options("requests") as EventStreamOptions);
  const latency = privateHistogram(options("latency") as HistogramOptions);
  const log = requests().sort((a, b) => a.at - b.at);
  for (const { at, ms } of log) {
    now = at;
    counter.add();
    latency.add(ms);
  }
  now = MONDAY + DAY + HOUR;
  counter.advance();
  latency.advance();
  const rows = [13, 14].flatMap((hour): Found[] => {
    const [from, to] = [MONDAY + hour * HOUR, MONDAY + (hour + 1) * HOUR];
    const times = log.filter(({ at }) => at >= from && at < to).map(({ ms }) => ms);
    const [p95] = latency.between(from, to, { quantiles: [0.95] }).quantiles;
    return [
      { of: `${clockOf(from)}: requests`, ...counter.between(from, to), truth: times.length },
      { of: `${clockOf(from)}: p95, ms`, ...p95!, truth: ranked(times, 0.95) },
    ];
  });
  return { "recipe-log-dashboard": `${script("log-dashboard.sh")}\n\n${outcome(rows)}` };
}

/** Every part of docs/recipes.md that is written, by its name. */
export function recipeParts(): Readonly<Record<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), "brume-recipes-"));
  try {
    writeData(folder);
    return { ...commands(folder), ...served(), ...imported() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Releases of events on the command line: from a file to answers, over several runs. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { brume, file } from "./brume.js";

const TEN = Date.UTC(2026, 2, 1, 10);
/** 6000 events in an hour, for two shops, each by a person of its own; the last quarter has other values. */
const events = Array.from({ length: 6000 }, (_, i) => ({
  ts: new Date(TEN + 600 * i).toISOString(),
  ms: i < 4500 ? 20 + (i % 10) : 200,
  user: `user ${i}`,
  shop: i % 3 === 0 ? "berlin" : "paris",
}));
const csv = file(
  "events.csv",
  ["ts;ms;user;shop", ...events.map(({ ts, ms, user, shop }) => `${ts};${ms};"${user}";${shop}`)].join("\n"),
);
const columns = [
  "--time",
  "ts",
  "--value",
  "ms",
  "--person",
  "user",
  "--group-by",
  "shop",
  "--delimiter",
  ";",
];
const release = (state: string, to: string, ...more: string[]) =>
  brume(["release", csv, "--every", "1m", ...columns, "--state", state, "--to", to, ...more]);
const first = [
  ...["--epsilon", "8", "--per-person", "1", "--edges", "1:1000"],
  ...["--keys", "berlin,paris", "--from", "2026-03-01T10:00Z", "--report", "30m"],
];
interface Answer {
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}
type Row = Record<"count" | "sum" | "mean" | "p50", Answer> & {
  group: string;
  from: string;
  to: string;
  complete: boolean;
};
const query = async (state: string, ...args: string[]) => {
  const { out, err, code } = await brume(["query", "--state", state, "--format", "json", ...args]);
  expect(err).toBe("");
  expect(code).toBe(0);
  return JSON.parse(out) as Row[];
};
const folder = (name: string) => join(dirname(csv), name);

const good = ["--from", "2026-03-01T10:00Z", "--keys", "berlin"];

describe("brume release --every", () => {
  test("goes on where the run before stopped, and brume query tells the truth to within its interval", async () => {
    const state = folder("shop");
    const half = await release(state, "2026-03-01T10:30Z", ...first);
    expect([half.code, half.out.split("\n").length]).toEqual([0, 4]); // a header and a line for each shop
    expect(half.err).toContain("Protected: one person, per day (UTC).");
    const [berlin] = await query(state);
    expect(Math.abs(berlin!.count.value! - 1000)).toBeLessThan(160); // eight standard errors
    const whole = await release(state, "2026-03-01T11:00Z"); // the options are in the state
    expect(whole.out).toContain("berlin,2026-03-01T10:30:00.000Z,2026-03-01T10:31:00.000Z");
    const again = await release(state, "2026-03-01T11:00:59Z"); // no minute has ended: nothing changes
    expect([again.code, again.out]).toEqual([3, ""]);
    expect(again.err).toContain("nothing is published: no period of --every ends between");
    const [, paris] = await query(state, "--from", "10:45", "--to", "11:00", "--quantiles", "0.5");
    expect(paris!.group).toBe("paris");
    expect(Math.abs(paris!.count.value! - 1000)).toBeLessThan(120); // eight standard errors
    expect(paris!.p50.low).toBeLessThanOrEqual(200);
    expect(paris!.p50.high).toBeGreaterThanOrEqual(200);
    expect(await query(state, "--last", "15m", "--quantiles", "0.5")).toEqual([expect.anything(), paris]);
    expect(readdirSync(state).sort()).toEqual(["claim-1", "claim-2", "release.json", "run-2"]);
    expect(readFileSync(join(state, "run-2"), "latin1")).not.toContain("user 1");
  });

  test("shows periods that have no number as null, empty or a dash, and the running one as not complete", async () => {
    const state = folder("gaps");
    const count = ["--time", "ts", "--epsilon", "8", "--delimiter", ";", "--unsafe-seed", "gaps"];
    const times = ["--from", "2026-03-01T10:00Z", "--to", "2026-03-01T10:30Z"];
    const run = (...more: string[]) =>
      brume(["release", csv, "--every", "1m", ...count, ...times, "--report", "1h", ...more]);
    const { out } = await run("--state", state);
    expect(out.split("\n")[1]).toMatch(
      /^2026-03-01T10:00:00.000Z,2026-03-01T10:30:00.000Z,\d+[^,]*,\d[^,]*,\d[^,]*,false$/,
    );
    const asked = ["--from", "2026-03-01T09:00Z", "--report", "1h"];
    const [before, running] = await query(state, ...asked);
    expect(before!.count).toEqual({ value: null, low: null, high: null });
    expect([running!.complete, running!.to]).toEqual([false, "2026-03-01T10:30:00.000Z"]);
    expect(running!.count.low! <= 3000 && 3000 <= running!.count.high!).toBe(true);
    const csvOut = await brume(["query", "--state", state, ...asked]);
    expect(csvOut.out.split("\n")[1]).toBe("2026-03-01T09:00:00.000Z,2026-03-01T10:00:00.000Z,,,,false");
    const table = await brume(["query", "--state", state, ...asked, "--format", "table"]);
    expect(table.out.split("\n")[2]).toMatch(/^ {2}2026-03-01 09:00 +2026-03-01 10:00 +– +–$/);
    expect((await run("--format", "table")).out).toContain("95 % interval");
  });

  test("--plot draws every number and its interval, and nothing where there is none", async () => {
    const state = folder("plot");
    const count = ["--time", "ts", "--epsilon", "8", "--delimiter", ";", "--unsafe-seed", "plot"];
    const times = ["--from", "2026-03-01T10:00Z", "--to", "2026-03-01T10:03Z"];
    const { out } = await brume([
      ...["release", csv, "--every", "1m", "--levels", "1m", ...count, ...times, "--plot", "--state", state],
    ]);
    const [head, , ...rows] = out.trimEnd().split("\n");
    expect(head).toMatch(/95 % interval +0 +\d+ count$/);
    expect(rows.length).toBe(3);
    const top = Number(/(\d+) count$/.exec(head!)![1]);
    for (const row of rows) {
      const [, value, picture] = /:\d\d +(\d+) +\d[\d.]* … \d[\d.]* {2}(.*)$/.exec(row)!;
      // 100 events in a minute, to within half a per cent; the picture has 48 places.
      expect(Math.abs(Number(value) - 100)).toBeLessThan(3);
      expect(picture!.indexOf("●")).toBe(Math.round((Number(value) / top) * 47));
    }
    const asked = await brume([
      "query",
      "--state",
      state,
      "--from",
      "2026-03-01T09:59Z",
      "--report",
      "1m",
      "--plot",
    ]);
    expect(asked.out.split("\n")[2]).toMatch(/09:59 +2026-03-01 10:00 +– +–$/);
    expect(asked.out).toContain("●");
    // Values below 0: the picture begins with the lowest end, and the mean of -20 lies left of the middle.
    const cold = file(
      "cold.csv",
      ["ts,t", ...Array.from({ length: 400 }, () => "2026-03-01T10:00:30Z,-20")].join("\n"),
    );
    const signed = await brume([
      ...["release", cold, "--every", "1m", "--levels", "1m", "--time", "ts", "--value", "t", "--of", "mean"],
      ...["--min", "-40", "--max", "40", "--threshold", "40", "--epsilon", "8", "--unsafe-seed", "plot"],
      ...["--from", "2026-03-01T10:00Z", "--to", "2026-03-01T10:01Z", "--plot"],
    ]);
    expect(signed.out.split("\n")[0]).toMatch(/95 % interval +-2\d(\.\d)? +1 mean$/);
    expect(signed.out.split("\n")[2]).toMatch(/ -\S+ … -\S+ +├?─*●/);
    const both = await brume(["query", "--state", state, "--plot", "--format", "json"]);
    expect([both.code, both.err]).toEqual([2, expect.stringContaining("--plot: expected a table")]);
  });

  test("hours and days of a zone: midnight, and 10:00 on a day whose clocks change", async () => {
    const state = folder("zone");
    const rows = ["ts", ...Array.from({ length: 100 }, () => "2026-03-29T08:30:00Z")].join("\n");
    const times = ["--from", "2026-03-28T23:00Z", "--to", "2026-03-29T22:00Z"];
    const zone = ["--zone", "Europe/Berlin", "--every", "1h", "--time", "ts", "--epsilon", "64"];
    const path = file("berlin.csv", rows);
    const { out } = await brume(["release", path, ...zone, ...times, "--state", state, "--report", "1d"]);
    expect(out.split("\n").slice(1)).toEqual([
      expect.stringMatching(/^2026-03-28T23:00:00.000Z,2026-03-29T22:00:00.000Z,.*,true$/), // 23 hours
      "",
    ]);
    const [ten] = await query(state, "--from", "10:00", "--to", "11:00");
    expect([ten!.from, Math.round(ten!.count.value!)]).toEqual(["2026-03-29T08:00:00.000Z", 100]);
    const other = await brume([
      "release",
      path,
      "--every",
      "1h",
      "--zone",
      "UTC",
      "--time",
      "ts",
      "--state",
      state,
      "--to",
      "2026-03-30T22:00Z",
    ]);
    expect([other.code, other.err]).toEqual([
      2,
      expect.stringContaining("--zone: the release in --state has Europe/Berlin"),
    ]);
  });

  test("reads fields of nested JSON objects, and publishes a mean", async () => {
    const lines = events
      .map(({ ts, ms }) => JSON.stringify({ at: Date.parse(ts) / 1000, m: { ms } }))
      .join("\n");
    const args = ["--every", "15m", "--time", "at", "--time-unit", "s", "--value", "m.ms", "--of", "mean"];
    const range = ["--from", "2026-03-01T10:00Z", "--to", "2026-03-01T11:00Z"];
    const more = ["--epsilon", "8", "--max", "1000", "--threshold", "300"];
    const statement = ["--statement", folder("statement.json")];
    const path = file("events.ndjson", lines);
    const { out } = await brume(["release", path, ...args, ...range, ...more, ...statement]);
    expect((await brume(["explain", folder("statement.json")])).out).toContain(
      "Values above θ = 300 are clamped to θ.",
    );
    const rows = out.trim().split("\n").slice(1);
    const means = rows.map((line) => line.split(",").slice(2, 5).map(Number));
    expect(means.length).toBe(4);
    for (const [value, low, high] of means) expect(low! <= value! && value! <= high!).toBe(true);
    expect(Math.abs(means[0]![0]! - 24.5)).toBeLessThan(1);
    expect(Math.abs(means[3]![0]! - 200)).toBeLessThan(1);
  });

  test.each([
    [["--keys", "berlin"], "--from: missing"],
    [["--from", "2026-03-01T10:00Z"], "--keys: expected with --group-by"],
    [["--from", "2026-03-01T10:00Z", "--keys", "berlin,berlin"], "--keys: expected every group once"],
    [["--from", "noon", "--keys", "berlin"], "--from: expected a Date, ISO text"],
    [["--per-tick", "5"], "--per-tick: no longer an option; use nothing: every number is measured"],
    [["--finest", "5m"], "--finest: no longer an option; use --every"],
    [["--period", "1d"], "--period: no longer an option; use --zone"],
    [
      [...good, "--max-range", "30d"],
      "--max-range: expected none with --every; use nothing: noise ends with the day",
    ],
    [[...good, "--smoother", "mean"], "--smoother: expected none with --every"],
    [[...good, "--holdout", "1d"], "--holdout: expected none with --every; use --threshold"],
    [[...good, "--levels", "1h,1d"], "--levels: expected the first to be every = 1m"],
    [[...good, "--zone", "Mars"], "--zone: expected the name of a time zone"],
    [[...good, "--per-person", "often"], "--per-person: expected K, choose, events:K,perHour:N or sum:S"],
  ])("says what is missing or wrong: %j", async (args, message) => {
    const options = ["--epsilon", "1", "--per-person", "1", "--edges", "1:1000", ...args];
    const { code, err } = await release(folder("wrong"), "2026-03-01T11:00Z", ...options);
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  });

  test.each([
    ["ts;ms\n2026-03-01T10:00Z;12\nsecret;13\n", 'line 3: expected a time in "ts"'],
    ["ts;ms\n2026-03-01T10:00Z;secret\n", 'line 2: expected a finite number in "ms"'],
    ["ts;ms\n2026-03-01T10:00Z;1;secret\n", "line 2: expected valid CSV"],
  ])(
    "a bad row stops the run, which publishes nothing and quotes nothing: case %#",
    async (text, message) => {
      const path = file("bad.csv", text);
      const args = [
        "--every",
        "1m",
        "--time",
        "ts",
        "--value",
        "ms",
        "--delimiter",
        ";",
        "--max",
        "100",
        "--threshold",
        "50",
      ];
      const range = ["--epsilon", "1", "--from", "2026-03-01T10:00Z", "--to", "2026-03-01T11:00Z"];
      const state = folder(`bad ${message.length}`);
      const { code, err, out } = await brume(["release", path, ...args, ...range, "--state", state]);
      expect([code, out]).toEqual([1, ""]);
      expect(err).toContain(message);
      expect(err).not.toContain("secret");
      expect(readdirSync(state)).toEqual([]);
    },
  );

  test("--to is never guessed", async () => {
    const args = ["--every", "1h", "--time", "ts", "--delimiter", ";", "--epsilon", "1"];
    const { code, err } = await brume(["release", csv, ...args, "--from", "2026-03-01T10:00Z"]);
    expect([code, err]).toEqual([2, expect.stringContaining("--to: missing")]);
  });

  test("another key does not open the state", async () => {
    const state = folder("locked");
    await release(state, "2026-03-01T10:10Z", ...first);
    writeFileSync(`${state}.other`, `${"0".repeat(64)}\n`);
    const { code, err } = await brume(["query", "--state", state, "--key", `${state}.other`]);
    expect(code).toBe(1);
    expect(err).toContain("wrong key");
  });
});

describe("θ of a finished file", () => {
  const DAY = 86_400_000;
  const START = Date.UTC(2026, 2, 1);
  const SHOPS = ["berlin", "paris", "oslo"];
  /** A week of orders in no order of time; baskets from 5 to 104, with other means by shop. */
  const orders = Array.from({ length: 21_000 }, (_, i) => {
    const n = (i * 7919) % 21_000;
    const shop = n % 3;
    return {
      at: START + (7 * DAY * n) / 21_000,
      shop: SHOPS[shop]!,
      basket: 5 + 10 * shop + ((n * 31) % 80),
    };
  });
  const text = (rows: typeof orders) =>
    ["ts,shop,basket", ...rows.map(({ at, shop, basket }) => `${Math.round(at)},${shop},${basket}`)].join(
      "\n",
    );
  const week = file("orders.csv", text(orders));
  const flags = [
    ...["--every", "1h", "--time", "ts", "--value", "basket", "--of", "mean", "--max", "10000"],
    ...["--group-by", "shop", "--keys", SHOPS.join(), "--epsilon", "1", "--from", "2026-03-01T00:00Z"],
  ];
  const to = (day: number) => ["--to", new Date(START + day * DAY).toISOString()];
  const truth = (shop: string, from: number, end: number): number => {
    const own = orders.filter((order) => order.shop === shop && order.at >= from && order.at < end);
    return own.reduce((sum, { basket }) => sum + basket, 0) / own.length;
  };

  test("means of a week by shop hold the truth, without a hold-out, from rows in any order", async () => {
    const statement = folder("week.json");
    const seeded = [...flags, ...to(7), "--report", "1d", "--unsafe-seed", "week"];
    const { out, err } = await brume(["release", week, ...seeded, "--statement", statement]);
    const { threshold, shares } = JSON.parse(readFileSync(statement, "utf8")) as {
      threshold: number;
      shares: Record<string, number>;
    };
    expect(shares).toEqual({ release: 27, limited: 0, clipped: 1, threshold: 4, discovery: 0 });
    expect(threshold).toBeGreaterThan(60); // of 10,000
    expect(threshold).toBeLessThan(256);
    expect(err).toContain("4/32 of ε chose θ.");
    expect(err).toMatch(/About \d+ events were above θ/);
    const rows = out
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => line.split(","));
    expect(rows.length).toBe(21);
    // At 95 % each: at least 16 of 21 hold, but for odds of 4e-4, and the seed is fixed.
    const held = rows.filter(([shop, from, end, , low, high]) => {
      const mean = truth(shop!, Date.parse(from!), Date.parse(end!));
      return Number(low) <= mean && mean <= Number(high) && Number(high) - Number(low) < 12;
    });
    expect(held.length).toBeGreaterThanOrEqual(16);
    const inOrder = file("sorted.csv", text([...orders].sort((a, b) => a.at - b.at)));
    expect((await brume(["release", inOrder, ...seeded])).out).toBe(out);
  });

  test("rows that this run does not publish have no say in θ", async () => {
    const seeded = [...flags, ...to(3), "--report", "1d", "--unsafe-seed", "say"];
    const few = orders.filter(({ at }) => at < START + 3 * DAY);
    const others = Array.from({ length: 9000 }, (_, i) => ({
      ...{ at: START + 3 * DAY + i, shop: "oslo", basket: 9999 },
      ...(i % 3 === 0 ? { at: START - 1 - i } : i % 3 === 1 ? { at: START + i, shop: "rome" } : {}),
    }));
    const alone = await brume(["release", file("alone.csv", text(few)), ...seeded]);
    const beside = await brume(["release", file("beside.csv", text([...others, ...few])), ...seeded]);
    expect(alone.code).toBe(0);
    expect(beside.out).toBe(alone.out);
  });

  test("a later run on the grown file neither chooses again nor counts twice", async () => {
    const state = folder("grown");
    const statements = [folder("one.json"), folder("two.json")];
    const seed = ["--unsafe-seed", "grown"];
    const growing = file("growing.csv", text(orders.filter(({ at }) => at < START + 3.5 * DAY)));
    await brume([
      "release",
      growing,
      ...flags,
      ...to(3.5),
      ...seed,
      "--state",
      state,
      "--statement",
      statements[0]!,
    ]);
    // From now on baskets are a hundred times larger: θ stays.
    const later = orders.map((order) => (order.at < START + 3.5 * DAY ? order : { ...order, basket: 5000 }));
    writeFileSync(growing, text(later));
    const run = ["release", growing, ...flags, ...to(7), ...seed, "--report", "1d", "--state", state];
    expect((await brume([...run, "--statement", statements[1]!])).code).toBe(0);
    const [one, two] = statements.map(
      (path) => JSON.parse(readFileSync(path, "utf8")) as { threshold: number },
    );
    expect(two!.threshold).toBe(one!.threshold);
    const days = await query(state, "--report", "1d", "--group", "paris");
    expect(days.length).toBe(7);
    expect(days.every(({ complete }) => complete)).toBe(true);
    const { value } = days[0]!.mean;
    expect(Math.abs(value! - truth("paris", START, START + DAY))).toBeLessThan(20);
    expect(days[6]!.mean.high).toBe(two!.threshold); // all of them above θ, and an interval that says so
  });

  test("too few values: an error that asks for --threshold; no single row decides", async () => {
    const codes = async (count: number, seed: number) => {
      const path = file(`few-${count}.csv`, text(orders.slice(0, count)));
      const state = folder(`few-${count}-${seed}`);
      const { code, err, out } = await brume([
        ...["release", path, ...flags, ...to(7), "--state", state, "--unsafe-seed", `few ${seed}`],
      ]);
      if (code === 3) {
        expect(out).toBe("");
        expect(err).toContain("fewer than 320 values");
        expect(err).toContain("Give a public --threshold");
        expect(readdirSync(state)).toEqual([]);
      }
      return code;
    };
    expect([await codes(0, 0), await codes(2000, 0)]).toEqual([3, 0]);
    const near = new Set<number>();
    for (let i = 0; i < 40 && near.size < 2; i++) near.add(await codes(320, i)); // odds of one code only: 2⁻³⁹
    expect([...near].sort()).toEqual([0, 3]);
  });

  test("standard input is read once: it needs --threshold", async () => {
    const { code, err } = await brume(["release", "-", "--input-format", "csv", ...flags, ...to(7)]);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining("--threshold: missing; θ is chosen from all rows"),
    ]);
    const given = ["--threshold", "100"];
    const run = await brume(
      ["release", "-", "--input-format", "csv", ...flags, ...to(7), ...given],
      text(orders),
    );
    expect(run.code).toBe(0);
  });
});

describe("limits of a person", () => {
  const START = Date.UTC(2026, 2, 1);
  /** 200 people with 6 events each in the first hour of a day, of 10 each. */
  const rows = Array.from({ length: 1200 }, (_, i) => `${START + i},person ${i % 200},10`);
  const path = file("people.csv", ["ts,user,kwh", ...rows].join("\n"));
  const run = (...more: string[]) =>
    brume([
      ...["release", path, "--every", "1d", "--time", "ts", "--person", "user", "--epsilon", "512"],
      ...["--from", "2026-03-01T00:00Z", "--to", "2026-03-02T00:00Z", "--format", "json", ...more],
    ]);
  test.each([
    [["--per-person", "4"], "count", 800],
    [["--per-person", "events:4,perHour:1"], "count", 200],
    [["--per-person", "sum:25", "--value", "kwh", "--max", "100"], "sum", 5000],
    [["--per-person", "4", "--value", "kwh", "--max", "100", "--of", "mean"], "mean", 10], // people count anew after θ
  ])("%j", async (flags, name, expected) => {
    const { out, err } = await run(...flags);
    const [row] = JSON.parse(out) as [Record<string, Answer>];
    expect(Math.abs(row[name]!.value! - expected)).toBeLessThan(5);
    expect(err).toMatch(/About (100|99) % of people .* had .*more than|a sum above/);
  });
});

interface Plan {
  readonly levels: string[];
  readonly errors: { period: string; standardError: number; plain: number }[];
}

describe("brume plan", () => {
  test("recommends levels for the periods that are asked about, with the errors of the contract", async () => {
    const plan = async (...args: string[]) => {
      const { out } = await brume(["plan", "--epsilon", "1", "--json", ...args]);
      return (JSON.parse(out) as [{ plan: Plan }])[0].plan;
    };
    const both = await plan("--ask", "1h,1d");
    expect(both.levels).toEqual(["1h", "1d"]);
    expect(both.errors.map(({ period, standardError }) => [period, standardError.toFixed(2)])).toEqual([
      ["1h", "2.74"],
      ["1d", "2.74"],
      ["7d", "7.26"],
      ["30d", "15.02"],
    ]);
    expect(both.errors[0]!.plain).toBeCloseTo(1.357, 3);
    expect((await plan("--ask", "1h")).levels).toEqual(["1h"]);
    expect((await plan("--ask", "1m,1h,1d")).levels).toEqual(["1m", "1h", "1d"]);
    expect((await plan("--ask", "1d,7d")).levels).toEqual(["1d"]);
    const { out } = await brume(["plan", "--ask", "1h,1d", "--rate", "200/1h", "--epsilon", "1"]);
    expect(out).toContain("Recommended: --levels 1h,1d");
    expect(out).toContain("With 200 events per hour, 1h is known to ± 3.15 %.");
    const sums = await brume(["plan", "--every", "1h", "--max", "9", "--epsilon", "1"]);
    expect(sums.out).toContain("errors are 1.15 times these"); // 31/27
  });

  test("compares limits of a person's events", async () => {
    const { out } = await brume([
      "plan",
      "--every",
      "1m",
      "--per-person",
      "1,2,4",
      "--epsilon",
      "1",
      "--json",
    ]);
    const rows = JSON.parse(out) as { perPerson: { events: number }; plan: { epsilonPerEvent: number } }[];
    expect(rows.map(({ perPerson, plan }) => [perPerson.events, plan.epsilonPerEvent])).toEqual([
      [1, 31 / 32],
      [2, 31 / 64],
      [4, 31 / 128],
    ]);
  });

  test("tells what limits would drop from a file, exactly, by the zone's days", async () => {
    // Ann has 4 events on one day of Berlin, 2 of them in one hour; Ben 1 each on two days.
    const rows = ["ts,user,v", ...["00:10", "00:20", "08:00", "21:00"].map((t) => `2026-03-02T${t}Z,ann,10`)];
    rows.push("2026-03-02T21:30Z,ben,30", "2026-03-02T23:30Z,ben,50");
    const path = file("limits.csv", rows.join("\n"));
    const asked = ["plan", path, "--every", "1h", "--time", "ts", "--person", "user", "--epsilon", "1"];
    const losses = async (...args: string[]) => {
      const { out } = await brume([...asked, "--zone", "Europe/Berlin", "--json", ...args]);
      return (JSON.parse(out) as { loss: { notCounted: number; limitedDays: number } }[]).map(({ loss }) => [
        Math.round(60 * loss.notCounted),
        Math.round(60 * loss.limitedDays),
      ]);
    };
    expect(await losses("--per-person", "1,2,4")).toEqual([
      [30, 20],
      [20, 20],
      [0, 0],
    ]);
    expect(await losses("--per-person", "events:4,perHour:1")).toEqual([[10, 20]]);
    const sums = ["--of", "sum", "--max", "100", "--value", "v"];
    expect(await losses(...sums, "--per-person", "sum:40")).toEqual([[5, 20]]); // 10 of Ben's 50, of 120 in all
    const { out } = await brume([...asked, "--per-person", "2"]);
    expect(out).toContain("This limit does not count 33.3 % of events, and meets 50 % of people's days.");
    expect(out).toContain("are exact, so they are private");
    expect((await brume([...asked.slice(0, 6), "--epsilon", "1", "--per-person", "2"])).err).toContain(
      "--person: missing; expected with FILE",
    );
    expect((await brume(asked)).err).toContain("--per-person: missing; expected with FILE");
  });

  test("finds the smallest ε for a target", async () => {
    const asked = ["--every", "1m", "--rate", "200/1m", "--range", "1h", "--json"];
    const { out } = await brume(["plan", ...asked, "--target", "1%"]);
    const [{ epsilon, plan }] = JSON.parse(out) as [{ epsilon: number; plan: Plan }];
    const hour = plan.errors.find(({ period }) => period === "1h")!;
    expect(hour.standardError / 12_000).toBeLessThanOrEqual(0.01);
    expect(hour.standardError / 12_000).toBeGreaterThan(0.0099);
    expect(epsilon).toBeLessThan(1);
    expect((await brume(["plan", "--max", "1000", "--target", "1%"])).out).toContain(
      "is the smallest that meets the target",
    );
  });
});

describe("brume release --of people", () => {
  const DAY = 86_400_000;
  const MONDAY = Date.UTC(2026, 5, 1);
  /** Ann is there every day, and in both shops from Wednesday on; every day has one person more. */
  const visits = file(
    "visits.csv",
    [
      "ts,user,shop",
      ...Array.from({ length: 14 }, (_, day) => {
        const ts = new Date(MONDAY + day * DAY + 1000).toISOString();
        return [`${ts},ann,berlin`, `${ts},ann,${day % 7 > 1 ? "paris" : "berlin"}`, `${ts},p${day},paris`];
      }).flat(),
    ].join("\n"),
  );
  const people = (...more: string[]) =>
    brume([
      ...["release", visits, "--of", "people", "--time", "ts", "--person", "user", "--epsilon", "100"],
      ...["--from", "2026-06-01T00:00Z", "--to", "2026-06-15T00:00Z", "--format", "json", ...more],
    ]);
  const numbers = (text: string) =>
    (JSON.parse(text) as { people: Answer }[]).map(({ people: { value } }) => Math.round(value!));

  test("different people of a day, of a week, and by groups; brume query asks for a week", async () => {
    expect(numbers((await people("--every", "1d")).out)).toEqual(Array.from({ length: 14 }, () => 2));
    expect(numbers((await people("--every", "1w")).out)).toEqual([8, 8]);
    const grouped = ["--group-by", "shop", "--keys", "berlin,paris", "--keys-per-person", "2"];
    const state = folder("people");
    const { out, err } = await people("--every", "1w", "--state", state, ...grouped);
    expect(numbers(out)).toEqual([1, 1, 8, 8]);
    expect(err).toContain("one person, per week (UTC)");
    const rows = await query(state, "--last", "1w", "--group", "paris");
    expect(rows.map(({ from }) => from)).toEqual(["2026-06-08T00:00:00.000Z"]);
    const { low, high } = (rows[0] as unknown as { people: { low: number; high: number } }).people;
    expect([Math.round((low + high) / 2), high - low < 1.5]).toEqual([8, true]);
  });

  test("what is missing or makes no sense is told", async () => {
    for (const [more, words] of [
      [["--every", "1h"], "over: expected"],
      [["--every", "1d", "--per-person", "1"], "--per-person: expected none where people are counted"],
      [["--every", "1d", "--group-by", "shop", "--keys", "berlin,paris"], "--keys-per-person: missing"],
      [["--every", "1d", "--keys-per-person", "2"], "--keys-per-person: expected with --group-by alone"],
    ] as const) {
      const { code, err } = await people(...more);
      expect(code).not.toBe(0);
      expect(err).toContain(words);
    }
    const { out } = await brume(["plan", "--of", "people", "--every", "1w", "--epsilon", "1"]);
    expect(out).toMatch(/different people of a week[^]*1w\s+1\.36/);
  });
});

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
  ...["--epsilon", "8", "--per-person", "1", "--per-tick", "100", "--edges", "1:1000"],
  ...["--keys", "berlin,paris", "--from", "2026-03-01T10:00Z", "--report", "30m"],
];
const query = async (state: string, ...args: string[]) => {
  const { out, err, code } = await brume(["query", "--state", state, "--format", "json", ...args]);
  expect(err).toBe("");
  expect(code).toBe(0);
  return JSON.parse(out) as Record<string, number & string>[];
};
const folder = (name: string) => join(dirname(csv), name);

describe("brume release --every", () => {
  test("goes on where the run before stopped, and brume query tells the truth to within its interval", async () => {
    const state = folder("shop");
    const half = await release(state, "2026-03-01T10:30Z", ...first);
    expect([half.code, half.out.split("\n").length]).toEqual([0, 4]); // a header and a line for each shop
    expect(half.err).toContain("Protected: one person, per day.");
    const [berlin] = await query(state);
    expect(Math.abs(berlin!.count! - 1000)).toBeLessThan(200);
    const whole = await release(state, "2026-03-01T11:00Z"); // the options are in the state
    expect(whole.out).toContain("berlin,2026-03-01T10:30:00.000Z,2026-03-01T10:31:00.000Z");
    const again = await release(state, "2026-03-01T11:00Z"); // nothing is due: nothing changes
    expect(again.out.split("\n").length).toBe(2);
    const [, paris] = await query(state, "--from", "10:45", "--to", "11:00", "--quantiles", "0.5");
    expect(paris!.group).toBe("paris");
    expect(Math.abs(paris!.count! - 1000)).toBeLessThan(200);
    expect(paris!.p50_low).toBeLessThan(230); // the bucket of 200 is from 178 to 224, or so
    expect(paris!.p50_high).toBeGreaterThan(175);
    expect(readdirSync(state).sort()).toEqual(["release.json", "run-3"]);
    for (const name of readdirSync(join(state, "run-3")))
      expect(readFileSync(join(state, "run-3", name), "latin1")).not.toContain("user 1");
  });

  test("reads fields of nested JSON objects, and publishes a mean", async () => {
    const lines = events
      .map(({ ts, ms }) => JSON.stringify({ at: Date.parse(ts) / 1000, m: { ms } }))
      .join("\n");
    const args = ["--every", "1m", "--time", "at", "--time-unit", "s", "--value", "m.ms", "--of", "mean"];
    const range = ["--from", "2026-03-01T10:00Z", "--to", "2026-03-01T11:00Z", "--report", "15m"];
    const more = ["--epsilon", "8", "--max", "1000", "--threshold", "300", "--per-tick", "100"];
    const statement = ["--statement", folder("statement.json")];
    const { out } = await brume([
      "release",
      file("events.ndjson", lines),
      ...args,
      ...range,
      ...more,
      ...statement,
    ]);
    expect((await brume(["explain", folder("statement.json")])).out).toContain(
      "Values above θ = 300 count as θ.",
    );
    const means = out
      .trim()
      .split("\n")
      .slice(1)
      .map((line) => Number(line.split(",")[2]));
    expect(means.length).toBe(4);
    expect(Math.abs(means[0]! - 24.5)).toBeLessThan(3);
    expect(Math.abs(means[3]! - 200)).toBeLessThan(15);
  });

  test.each([
    [["--keys", "berlin"], "--from: missing"],
    [["--from", "2026-03-01T10:00Z"], "--keys: expected with --group-by"],
    [["--from", "2026-03-01T10:00:30Z", "--keys", "berlin"], "origin: expected a whole number of ticks"],
    [["--from", "noon", "--keys", "berlin"], "--from: expected a Date, ISO text"],
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

  test("another key does not open the state", async () => {
    const state = folder("locked");
    await release(state, "2026-03-01T10:10Z", ...first);
    writeFileSync(`${state}.other`, `${"0".repeat(64)}\n`);
    const { code, err } = await brume(["query", "--state", state, "--key", `${state}.other`]);
    expect(code).toBe(1);
    expect(err).toContain("wrong key");
  });
});

describe("brume plan", () => {
  test("compares limits of a person's events", async () => {
    const { out } = await brume([
      "plan",
      "--every",
      "1m",
      "--per-tick",
      "200",
      "--per-person",
      "1,2,4",
      "--epsilon",
      "1",
      "--json",
    ]);
    const rows = JSON.parse(out) as { perPerson: number; plan: { epsilonPerEvent: number } }[];
    expect(rows.map(({ perPerson, plan }) => [perPerson, plan.epsilonPerEvent])).toEqual([
      [1, 1],
      [2, 0.5],
      [4, 0.25],
    ]);
  });

  test("finds the smallest ε for a target", async () => {
    const asked = ["--every", "1m", "--per-tick", "200", "--range", "1h", "--json"];
    const { out } = await brume(["plan", ...asked, "--target", "1%"]);
    const [{ epsilon, plan }] = JSON.parse(out) as [
      { epsilon: number; plan: { errors: { range: string; standardError: number }[] } },
    ];
    const hour = plan.errors.find(({ range }) => range === "1h")!;
    expect(hour.standardError / 12_000).toBeLessThanOrEqual(0.01);
    expect(hour.standardError / 12_000).toBeGreaterThan(0.0099);
    expect(epsilon).toBeLessThan(1);
    expect((await brume(["plan", "--max", "1000", "--target", "1%"])).out).toContain(
      "is the smallest that meets the target",
    );
  });
});

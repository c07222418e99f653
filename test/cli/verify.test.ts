/** brume verify: what was released passes; a number, a statement, a state or a store that was changed does not. */
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/run.js";
import { checkStatement } from "../../src/cli/checkStatement.js";
import {
  aggregator,
  memoryStore,
  openHub,
  openStream,
  privateCounter,
  privateHistogram,
  privateStream,
} from "../../src/index.js";
import { fileStore } from "../../src/node.js";

const folder = mkdtempSync(join(tmpdir(), "brume-verify-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

/** Runs a command in this process. */
async function brume(...argv: string[]): Promise<{ code: number; out: string; err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const spies = [
    vi.spyOn(console, "log").mockImplementation((line: string) => void out.push(line)),
    vi.spyOn(console, "error").mockImplementation((line: string) => void err.push(line)),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => (err.push(String(text)), true)),
  ];
  try {
    const code = await runCommand(argv);
    return { code, out: out.join("\n"), err: err.join("\n") };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

beforeAll(async () => {
  const rows = Array.from({ length: 300 }, (_, i) => {
    const time = new Date(Date.UTC(2026, 2, 1, 10, i)).toISOString();
    return `${time},${i % 2 === 0 ? "berlin" : "oslo"},${10 + (i % 30)}`;
  });
  writeFileSync(at("events.csv"), ["ts,shop,amount", ...rows].join("\n"));
  writeFileSync(at("values.txt"), Array.from({ length: 400 }, (_, i) => i % 50).join("\n"));
  const events = ["release", at("events.csv"), "--every", "1h", "--time", "ts", "--value", "amount"];
  const options = ["--max", "100", "--threshold", "50", "--epsilon", "1", "--group-by", "shop"];
  const range = ["--keys", "berlin,oslo", "--from", "2026-03-01T10:00Z", "--to", "2026-03-01T15:00Z"];
  const written = ["--state", at("shop"), "--statement", at("events.json"), "--out", at("published.csv")];
  expect((await brume(...events, ...options, ...range, ...written)).code).toBe(0);
  const values = ["release", at("values.txt"), "--epsilon", "1", "--max", "100", "--threshold", "60"];
  const files = ["--max-range", "1024", "--statement", at("values.json"), "--out", at("published.txt")];
  expect((await brume(...values, ...files)).code).toBe(0);
});

test("a release of events, its state and its statement belong together", async () => {
  const all = ["--state", at("shop"), "--release", at("published.csv")];
  const { code, out } = await brume("verify", at("events.json"), ...all);
  expect(out.split("\n").filter((line) => !/^[✓?]/.test(line))).toEqual([]);
  expect(out).toContain("shares of ε sum to 1 (32/32)");
  expect(out).toContain("10 rows with numbers (UTC) are as the state says, intervals too");
  expect(code).toBe(0);
  const { out: json } = await brume("verify", at("events.json"), ...all, "--json");
  expect(JSON.parse(json)).toMatchObject({ verified: true });
});

test("a release of values has as many numbers as its statement says", async () => {
  expect((await brume("verify", at("values.json"), "--release", at("published.txt"))).code).toBe(0);
  writeFileSync(at("fewer.txt"), readFileSync(at("published.txt"), "utf8").split("\n").slice(1).join("\n"));
  const fewer = await brume("verify", at("values.json"), "--release", at("fewer.txt"));
  expect(fewer).toMatchObject({ code: 1, err: expect.stringContaining("checks failed") as string });
});

test.each([
  ["CSV", ["--format", "csv"]],
  ["gzip", ["--gzip"]],
  ["doubles", ["--format", "f64"]],
])("a release of values as %s has as many numbers as stated", async (_, format) => {
  const values = ["release", at("values.txt"), "--epsilon", "1", "--max", "100", "--threshold", "60"];
  const files = ["--max-range", "1024", "--statement", at("format.json"), "--out", at("format.out")];
  expect((await brume(...values, ...files, ...format)).code).toBe(0);
  const { code, out } = await brume("verify", at("format.json"), "--release", at("format.out"));
  expect([code, out]).toEqual([0, expect.stringContaining("✓ 400 numbers, as many as were published (400)")]);
  writeFileSync(at("format.out"), readFileSync(at("format.out")).subarray(0, -20));
  expect((await brume("verify", at("format.json"), "--release", at("format.out"))).code).toBe(1);
});

test("a release of events as JSON is as the state says, and a changed one is not", async () => {
  const events = ["release", at("events.csv"), "--every", "1h", "--time", "ts", "--epsilon", "1", "--json"];
  const range = ["--from", "2026-03-01T10:00Z", "--to", "2026-03-01T15:00Z"];
  const files = ["--state", at("json"), "--statement", at("json.json"), "--out", at("json.out")];
  expect((await brume(...events, ...range, ...files)).code).toBe(0);
  const all = ["--state", at("json"), "--release", at("json.out")];
  const whole = await brume("verify", at("json.json"), ...all);
  expect([whole.code, whole.out]).toEqual([0, expect.stringContaining("✓ 5 rows with numbers")]);
  const rows = JSON.parse(readFileSync(at("json.out"), "utf8")) as { count: { low: number } }[];
  rows[4]!.count.low += 1;
  writeFileSync(at("json.out"), JSON.stringify(rows));
  expect((await brume("verify", at("json.json"), ...all)).out).toContain("✗ 5 rows with numbers");
});

const changed = (name: string, change: (statement: Record<string, unknown>) => void): string => {
  const statement = JSON.parse(readFileSync(at(name), "utf8")) as Record<string, unknown>;
  change(statement);
  writeFileSync(at("changed.json"), JSON.stringify(statement));
  return at("changed.json");
};

test.each<[string, string, (statement: Record<string, unknown>) => void, string]>([
  [
    "less noise than ε needs",
    "events.json",
    (s) => (s["noiseScale"] = 0.9 * (s["noiseScale"] as number)),
    "✗ noise of scale",
  ],
  ["a smaller ε than the noise has", "events.json", (s) => (s["epsilon"] = 0.5), "✗ one event has"],
  ["shares above 1", "events.json", (s) => (s["shares"] = { release: 32, limited: 1 }), "✗ shares of ε"],
  [
    "better standard errors",
    "events.json",
    (s) => (s["standardErrors"] = { "1h": 1, "1d": 1 }),
    "✗ standard errors",
  ],
  ["a seed", "values.json", (s) => (s["private"] = false), "✗ the noise came from no seed"],
  [
    "a seed that its randomness tells",
    "events.json",
    (s) => (s["randomness"] = "ChaCha20, keyed from a seed: repeatable, NOT PRIVATE"),
    "✗ the noise came from no seed",
  ],
  [
    "a unit that no limit keeps",
    "events.json",
    (s) => (s["unit"] = "one person, per day (UTC)"),
    "✗ the unit",
  ],
  [
    "two stages that read the same values with all of ε",
    "values.json",
    (s) => (s["stages"] as object[]).push((s["stages"] as object[])[0]!),
    "✗ no value meets stages",
  ],
  ["less noise of values", "values.json", (s) => (s["noiseScale"] = 1), "✗ noise of scale"],
  [
    "another noise version",
    "values.json",
    (s) => (s["software"] = { name: "brume", noiseVersion: 1 }),
    "✗ software",
  ],
])("%s is found", async (_, name, change, said) => {
  const { code, out } = await brume("verify", changed(name, change));
  expect(out).toContain(said);
  expect(code).toBe(1);
});

/** Paths of all numbers, texts and truth values of a statement. */
const placesIn = (value: unknown, path: readonly string[] = []): (readonly string[])[] =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, own]) => placesIn(own, [...path, name]))
    : [path];

type Fields = Record<string, unknown>;

/** Other values in the place of one. */
const othersOf = (value: unknown): unknown[] =>
  typeof value === "number"
    ? [1.01 * value, value + 1, -value - 1, value === 0 ? 2 : 0]
    : typeof value === "string"
      ? [`${value} x`, ""]
      : typeof value === "boolean"
        ? [!value]
        : [1, "x"];

/** Fields of which a statement with another value says something else that is as true of another release, or of another moment. */
const FREE =
  /^(software\.(version|commit)|core.*|firstNumber|published|settled|smoother|lateness|max|min|maxRange|fanout|resolution|perPerson\.(perHour|most)|expectedClipping|follow|reports|rejected\..*|stages\.\d\.(reports|values\.\d)|thresholds\.0\.from|clampedShare\.(count|of))$/;

test.each<[string, () => object, also?: string]>([
  ["values", () => privateStream({ epsilon: 0.5, max: 100, threshold: 20, maxRange: 256 }).statement()],
  [
    "θ that is chosen and followed",
    () => {
      const stream = privateStream({ epsilon: 1, max: 100, holdout: 4096, maxRange: 4096 });
      stream.pushMany(Float64Array.from({ length: 6000 }, (_, i) => i % 37));
      return stream.statement();
    },
  ],
  [
    "sums",
    () => privateStream({ epsilon: 1, every: "1h", max: 99.5, min: -10.3, threshold: 20 }).statement(),
  ],
  [
    "means",
    () => privateStream({ epsilon: 0.01, every: "1h", of: "mean", max: 100, threshold: 20 }).statement(),
  ],
  [
    "a person's sum",
    () => privateStream({ epsilon: 1, every: "1h", max: 9, perPerson: { sum: 50 } }).statement(),
  ],
  ["θ to be chosen", () => privateStream({ epsilon: 1, every: "1h", max: 100, perPerson: 2 }).statement()],
  ["events", () => privateCounter({ epsilon: 1, every: "1h", zone: "Europe/Berlin" }).statement()],
  [
    "people's events",
    () => privateCounter({ epsilon: 2, every: "5m", perPerson: { events: 3, perHour: 2 } }).statement(),
  ],
  [
    "k to be chosen",
    () => privateCounter({ epsilon: 2, every: "1h", perPerson: { events: "choose", most: 9 } }).statement(),
    // Nothing that is stated before k is chosen depends on ε.
    "epsilon",
  ],
  ["people", () => privateCounter({ epsilon: 2, of: "people", over: "1w" }).statement()],
  [
    "buckets",
    () =>
      privateHistogram({ epsilon: 1, every: "1h", edges: { min: 1, max: 1000, buckets: 64 } }).statement(),
  ],
  ["reports", () => aggregator({ epsilon: 2, max: 100, threshold: 25 }).statement()],
  [
    "reports of the paper",
    () => aggregator({ epsilon: 2, max: 100, threshold: 50, maxRange: 256, variant: "paper" }).statement(),
  ],
])(
  "an honest statement of %s holds; with another value in any place that is not free it does not",
  (_, make, also = "") => {
    const honest = JSON.parse(JSON.stringify(make())) as Fields;
    expect(checkStatement(honest as never).filter(({ holds }) => !holds)).toEqual([]);
    const accepted = placesIn(honest).flatMap((path) => {
      const place = (root: Fields) => path.slice(0, -1).reduce((own, name) => own[name] as Fields, root);
      const value = place(honest)[path.at(-1)!];
      const others = othersOf(value).filter((other) => other !== value);
      return others.flatMap((other) => {
        const copy = structuredClone(honest);
        place(copy)[path.at(-1)!] = other;
        return checkStatement(copy as never).every(({ holds }) => holds) ? [path.join(".")] : [];
      });
    });
    expect([...new Set(accepted)].filter((name) => !FREE.test(name)).join()).toBe(also);
  },
);

test("a hub that chooses θ for all its streams states what holds", async () => {
  const common = { store: memoryStore(), key: randomBytes(32) };
  const values = openHub({
    ...common,
    epsilon: 1,
    max: 100,
    holdout: 2048,
    maxRange: 4096,
    threshold: "shared",
  });
  await values.pushMany(
    "a",
    Float64Array.from({ length: 3000 }, (_, i) => i % 40),
  );
  const stated = await values.statement("a");
  await values.close();
  const failed = (one: object) =>
    checkStatement(one as never).flatMap(({ what, holds }) => (holds ? [] : [what]));
  expect(failed(stated)).toEqual([]);
  const [first, ...others] = stated.stages;
  expect(failed({ ...stated, stages: others })).not.toEqual([]);
  expect(failed({ ...stated, stages: [{ ...first, epsilon: 0.5 }, ...others] })).not.toEqual([]);
});

/** The release with its lines changed. */
function release(name: string, change: (lines: string[]) => readonly string[]): string {
  const lines = readFileSync(at("published.csv"), "utf8").trimEnd().split("\n");
  writeFileSync(at(name), `${change(lines).join("\n")}\n`);
  return at(name);
}

/** A line with one of its numbers moved. */
const moved = (line: string, column: number, by: number): string =>
  line
    .split(",")
    .map((cell, i) => (i === column ? String(Number(cell) + by) : cell))
    .join(",");

/** A line without its numbers. */
const emptied = (line: string): string =>
  line
    .split(",")
    .map((cell, i) => (i >= 3 && i <= 5 ? "" : cell))
    .join(",");

test.each<[string, (lines: string[]) => readonly string[], string]>([
  ["a number", (lines) => lines.with(3, moved(lines[3]!, 3, 1)), "✗ 10 rows with numbers"],
  ["the low end of an interval", (lines) => lines.with(3, moved(lines[3]!, 4, 1)), "✗ 10 rows with numbers"],
  [
    "the high end of an interval",
    (lines) => lines.with(3, moved(lines[3]!, 5, -1)),
    "✗ 10 rows with numbers",
  ],
  [
    "a number of a period that is said to be open",
    (lines) => lines.with(3, moved(lines[3]!, 3, 1).replace("true", "false")),
    "✗ 10 rows with numbers",
  ],
  [
    "the name of a group",
    (lines) => lines.with(3, lines[3]!.replace("berlin", "rome")),
    "✗ 10 rows with numbers",
  ],
  ["a row that is there twice", (lines) => [...lines, lines[1]!], "✗ 11 rows, no period twice"],
  ["a row that is left out", (lines) => lines.toSpliced(3, 1), "✗ no period is missing"],
  [
    "a number outside its interval",
    (lines) => lines.with(3, moved(lines[3]!, 4, 1e6)),
    "✗ every number lies",
  ],
  ["numbers that are taken out", (lines) => lines.with(3, emptied(lines[3]!)), "✗ every row has a sum"],
  [
    "numbers of the last period that are taken out",
    (lines) => lines.with(5, emptied(lines[5]!).replace("true", "false")),
    "✗ 9 rows with numbers",
  ],
  [
    "a period between others that is said to be open",
    (lines) => lines.with(3, lines[3]!.replace("true", "false")),
    "✗ every row has a sum",
  ],
  [
    "a column that no release has",
    (lines) => lines.map((line, i) => `${line},${i === 0 ? "exact" : i}`),
    "✗ no other columns",
  ],
])("%s of a release is found", async (_, change, said) => {
  const changedRelease = release("other.csv", change);
  const { code, out } = await brume(
    "verify",
    at("events.json"),
    "--state",
    at("shop"),
    "--release",
    changedRelease,
  );
  expect(out).toContain(said);
  expect(code).toBe(1);
});

test("a release that ends early in all groups alike passes, and the command says that it cannot see it", async () => {
  const early = release("early.csv", (lines) => lines.filter((line) => !line.includes("T15:00")));
  const { code, out } = await brume("verify", at("events.json"), "--release", early);
  expect([code, out]).toEqual([0, expect.stringContaining("8 rows, no period twice")]);
  expect(out).toContain("? not seen from files: whether the version and the commit");
  expect(out).toContain("? not seen from files: whether the release is all of it");
  expect(out).toContain("--state compares them");
  const beside = await brume("verify", at("events.json"), "--state", at("shop"), "--release", early);
  expect([beside.code, beside.out]).toEqual([0, expect.stringContaining("whether the release is all of it")]);
  const alone = await brume("verify", at("events.json"), "--json");
  expect((JSON.parse(alone.out) as { notSeen: string[] }).notSeen).toHaveLength(1);
});

test("a row that is cut, a group that is left out, and a state with other options are found", async () => {
  const whole = readFileSync(at("published.csv"), "utf8");
  writeFileSync(at("cut.csv"), whole.slice(0, whole.indexOf("\n", 300) - 20));
  const cut = await brume("verify", at("events.json"), "--release", at("cut.csv"));
  expect(cut).toMatchObject({ code: 1, err: expect.stringContaining("got a row that is cut") as string });
  const berlin = release("berlin.csv", (lines) => lines.filter((line) => !line.startsWith("oslo")));
  const half = await brume("verify", at("events.json"), "--state", at("shop"), "--release", berlin);
  expect([half.code, half.out]).toEqual([1, expect.stringContaining("✗ every group that the state lists")]);
  cpSync(at("shop"), at("moved"), { recursive: true });
  writeFileSync(at("moved/release.json"), "{}");
  const moved = await brume("verify", at("events.json"), "--state", at("moved"), "--key", at("shop.key"));
  expect([moved.code, moved.err]).toEqual([
    1,
    expect.stringContaining("release.json as brume release wrote it"),
  ]);
});

test("the release of another ε, or of another statistic, is found without a state", async () => {
  const events = ["release", at("events.csv"), "--every", "1h", "--time", "ts", "--group-by", "shop"];
  const range = ["--keys", "berlin,oslo", "--from", "2026-03-01T10:00Z", "--to", "2026-03-01T15:00Z"];
  const sums = ["--value", "amount", "--max", "100", "--threshold", "50", "--epsilon", "0.2"];
  expect((await brume(...events, ...range, ...sums, "--out", at("other-epsilon.csv"))).code).toBe(0);
  expect((await brume(...events, ...range, "--epsilon", "1", "--out", at("counts.csv"))).code).toBe(0);
  for (const name of ["other-epsilon.csv", "counts.csv"]) {
    const { code, out } = await brume("verify", at("events.json"), "--release", at(name));
    expect([code, out]).toEqual([1, expect.stringContaining("✗ every row has a sum")]);
  }
});

test("a row of a day that was measured in part has no number, or one that the state gives; a mean of few events has none", async () => {
  const events = ["release", at("events.csv"), "--every", "1h", "--time", "ts", "--epsilon"];
  const range = ["--from", "2026-03-01T10:00Z", "--to", "2026-03-03T05:00Z"];
  const mean = ["0.001", "--value", "amount", "--of", "mean", "--max", "100", "--threshold", "50"];
  for (const options of [["1", "--report", "1d"], mean]) {
    rmSync(at("parts"), { recursive: true, force: true });
    const files = ["--state", at("parts"), "--statement", at("parts.json"), "--out", at("parts.csv")];
    expect((await brume(...events, ...options, ...range, ...files)).code).toBe(0);
    expect(readFileSync(at("parts.csv"), "utf8")).toMatch(/Z,,/);
    const all = ["--state", at("parts"), "--release", at("parts.csv")];
    const { code, out } = await brume("verify", at("parts.json"), ...all);
    expect([code, out.split("\n").filter((line) => line.startsWith("✗"))]).toEqual([0, []]);
  }
});

test("a release in which no mean has a number is as the state says; with a number put in it is not", async () => {
  const events = ["release", at("events.csv"), "--every", "1h", "--time", "ts", "--epsilon", "0.001"];
  const range = ["--from", "2026-03-01T10:00Z", "--to", "2026-03-01T11:00Z"];
  const mean = ["--value", "amount", "--of", "mean", "--max", "100", "--threshold", "50"];
  const files = ["--state", at("none"), "--statement", at("none.json"), "--out", at("none.csv")];
  let [row, tries] = ["", 0];
  // A mean of few events has a number in less than one of two releases: fifty with one are not seen once in 10¹⁵ runs.
  while (!/Z,,/.test(row) && tries++ < 50) {
    rmSync(at("none"), { recursive: true, force: true });
    expect((await brume(...events, ...mean, ...range, ...files)).code).not.toBe(1);
    row = readFileSync(at("none.csv"), "utf8").trim().split("\n").at(-1)!;
  }
  const all = ["verify", at("none.json"), "--state", at("none"), "--release", at("none.csv")];
  const { code, out } = await brume(...all);
  expect([code, out.split("\n").filter((line) => line.startsWith("✗"))]).toEqual([0, []]);
  const text = readFileSync(at("none.csv"), "utf8");
  writeFileSync(at("none.csv"), text.replace("Z,,", "Z,25,"));
  expect((await brume(...all)).code).toBe(1);
});

test("periods that a state keeps no more are said to be not compared", async () => {
  const days = Array.from({ length: 40 }, (_, i) => `2026-01-01T00:${10 + (i % 40)}:00Z`);
  writeFileSync(at("fine.csv"), ["ts", ...days].join("\n"));
  const fine = [
    "release",
    at("fine.csv"),
    "--every",
    "30m",
    "--time",
    "ts",
    "--epsilon",
    "1",
    "--report",
    "30m",
  ];
  const range = ["--from", "2026-01-01T00:00Z", "--to", "2026-02-07T00:00Z"];
  const files = ["--state", at("fine"), "--statement", at("fine.json"), "--out", at("fine.out")];
  expect((await brume(...fine, ...range, ...files)).code).toBe(0);
  const all = ["--state", at("fine"), "--release", at("fine.out")];
  const { code, out } = await brume("verify", at("fine.json"), ...all);
  expect(out).toContain("✓ 96 older rows are finer than what the state keeps: not compared");
  expect(out).toContain("✓ 1680 rows with numbers");
  expect(code).toBe(0);
});

test("the statement of another release is found beside a state", async () => {
  const other = changed("events.json", (s) => (s["zone"] = "Europe/Berlin"));
  expect((await brume("verify", other, "--state", at("shop"))).out).toContain("✗ the state opens");
});

test("votes for keys: δ and k must be those of the noise", async () => {
  const events = ["release", at("events.csv"), "--every", "1d", "--time", "ts", "--group-by", "shop"];
  const people = ["--person", "amount", "--per-person", "2", "--epsilon", "1", "--discover", "1e-6"];
  const range = ["--from", "2026-03-01T00:00Z", "--to", "2026-03-02T00:00Z"];
  const files = ["--statement", at("votes.json"), "--out", at("votes.csv")];
  expect((await brume(...events, ...people, ...range, ...files)).code).toBe(0);
  const honest = await brume("verify", at("votes.json"), "--release", at("votes.csv"));
  expect([honest.code, honest.out]).toEqual([0, expect.stringContaining("✓ k = 47 of ε·8/32 has δ = ")]);
  expect(JSON.parse(readFileSync(at("votes.json"), "utf8"))).toMatchObject({ discovery: { cells: 65_536 } });
  const none = changed("votes.json", (s) => (s["delta"] = 0));
  expect((await brume("verify", none)).out).toContain("✗ ε = 1, δ = 0");
  const lower = changed("votes.json", (s) => Object.assign(s["discovery"] as object, { k: 40 }));
  expect((await brume("verify", lower)).out).toContain("✗ k = 40");
  const hidden = changed("votes.json", (s) => Object.assign(s, { delta: 0, discovery: null }));
  expect((await brume("verify", hidden)).out).toContain("✗ votes find no keys");
});

test.each<[string, readonly string[]]>([
  ["θ that is chosen from all rows", ["--value", "amount", "--max", "100"]],
  ["a mean whose θ is chosen", ["--value", "amount", "--max", "100", "--of", "mean", "--min", "-10"]],
  [
    "different people of groups that votes find",
    [
      ...["--of", "people", "--person", "amount", "--group-by", "shop", "--every", "1d"],
      ...["--keys-per-person", "2", "--discover", "1e-6"],
    ],
  ],
])("an honest release of a finished file holds: %s", async (_, options) => {
  const every = options.includes("--every") ? [] : ["--every", "1h"];
  const events = ["release", at("many.csv"), ...every, "--time", "ts", "--epsilon", "4"];
  const rows = Array.from({ length: 3000 }, (_, i) => {
    const time = new Date(Date.UTC(2026, 2, 1, 0, i % 1440)).toISOString();
    return `${time},${i % 2 === 0 ? "berlin" : "oslo"},${i % 300}`;
  });
  writeFileSync(at("many.csv"), ["ts,shop,amount", ...rows].join("\n"));
  const range = ["--from", "2026-03-01T00:00Z", "--to", "2026-03-02T00:00Z"];
  const name = `finished-${options.length}`;
  const files = ["--state", at(name), "--statement", at("finished.json"), "--out", at("finished.csv")];
  expect((await brume(...events, ...options, ...range, ...files)).code).toBe(0);
  const all = ["--state", at(name), "--release", at("finished.csv")];
  const { code, out } = await brume("verify", at("finished.json"), ...all);
  expect([code, out.split("\n").filter((line) => line.startsWith("✗"))]).toEqual([0, []]);
});

test("a store whose snapshots open passes; with another key, a flipped bit, or another statement it does not", async () => {
  const key = randomBytes(32);
  const store = fileStore(at("store"));
  const options = { epsilon: 1, max: 100, threshold: 60, maxRange: 64 };
  const stream = await openStream({ name: "s", store, key, ...options });
  await stream.pushMany(Float64Array.of(1, 2, 3));
  writeFileSync(at("stored.json"), JSON.stringify(await stream.statement()));
  await stream.close();
  writeFileSync(at("store.key"), key.toString("hex"));
  const verified = await brume("verify", at("stored.json"), "--store", at("store"));
  expect(verified.out).toContain("✓ 1 snapshots of the store open with the key");
  expect(verified.out).toContain("✓ 1 of them were made with the options of the statement");
  expect(verified.code).toBe(0);
  for (const [name, value] of [
    ["epsilon", 2],
    ["max", 90],
    ["maxRange", 128],
    ["threshold", 50],
    ["system", "ToPS, as in the paper"],
  ] as const) {
    const other = changed("stored.json", (s) => (s[name] = value));
    expect((await brume("verify", other, "--store", at("store"))).out).toContain("✗ 0 of them were made");
  }
  writeFileSync(at("other.key"), randomBytes(32).toString("hex"));
  const other = await brume("verify", at("stored.json"), "--store", at("store"), "--key", at("other.key"));
  expect(other.out).toContain("✗ 1 snapshots");
  expect(other.code).toBe(1);
  // The snapshot of another stream, as somebody could copy it.
  await fileStore(at("copied")).put("t", 1, (await store.get("s"))!.bytes);
  const copied = ["--store", at("copied"), "--key", at("store.key")];
  expect((await brume("verify", at("stored.json"), ...copied)).out).toContain("✗ 1 snapshots");
  const path = readdirSync(at("store"), { recursive: true, encoding: "utf8" })
    .map((name) => join(at("store"), name))
    .filter((name) => statSync(name).isFile() && statSync(name).size > 100)[0]!;
  const bytes = readFileSync(path);
  bytes[bytes.length - 40]! ^= 1;
  writeFileSync(path, bytes);
  expect((await brume("verify", at("stored.json"), "--store", at("store"))).code).toBe(1);
});

test("the store of a hub belongs to the statement of each of its metrics, and to no other", async () => {
  const key = randomBytes(32);
  const keys = ["a", "b"];
  const hub = openHub({
    ...{ store: fileStore(at("hub")), key, zone: "Europe/Berlin" },
    metrics: {
      orders: { of: "count", epsilon: 0.5, every: "1h", keys, perPerson: { events: 3, perHour: 2 } },
      basket: { of: "mean", epsilon: 2, every: "1h", keys, max: 100, threshold: 40, lateness: "90s" },
      chosen: { of: "count", epsilon: 1, every: "1h", keys, perPerson: { events: "choose", most: 64 } },
      visitors: { of: "people", over: "1w", epsilon: 1, keys, keysPerPerson: 1 },
    },
  });
  await hub.addMany("orders", [{ key: "a", person: "p" }]);
  const names = ["orders", "basket", "chosen", "visitors"] as const;
  const statements = await Promise.all(names.map((name) => hub.statement(name, "a")));
  await hub.close();
  writeFileSync(at("hub.key"), key.toString("hex"));
  for (const statement of statements) {
    writeFileSync(at("metric.json"), JSON.stringify(statement));
    const { code, out } = await brume("verify", at("metric.json"), "--store", at("hub"));
    expect([code, out.split("\n").filter((line) => line.startsWith("✗"))]).toEqual([0, []]);
    writeFileSync(at("metric.json"), JSON.stringify({ ...statement, zone: "UTC" }));
    expect((await brume("verify", at("metric.json"), "--store", at("hub"))).out).toContain(
      "✗ 0 of them were made",
    );
  }
});

test("a log with a damaged write is found, and verify changes nothing of it", async () => {
  const key = randomBytes(32);
  const hub = openHub({
    ...{ store: fileStore(at("damaged")), key },
    metrics: { orders: { of: "count", epsilon: 1, every: "1h", keys: ["a"] } },
  });
  for (let i = 0; i < 5; i++) await hub.addMany("orders", [{ key: "a" }]);
  writeFileSync(at("damaged.json"), JSON.stringify(await hub.statement("orders", "a")));
  await hub.close();
  writeFileSync(at("damaged.key"), key.toString("hex"));
  const all = ["verify", at("damaged.json"), "--store", at("damaged")];
  const honest = await brume(...all);
  expect([honest.code, honest.out]).toEqual([
    0,
    expect.stringContaining("? not seen from files: whether the state or the store is the newest"),
  ]);
  const path = join(at("damaged"), "1.log");
  const whole = readFileSync(path);
  const turned = (place: number) => whole.map((byte, i) => (i === place ? byte ^ 1 : byte));
  // The first write says how far older logs count; its length is at 0, its checksum at 8.
  for (const place of [10, Math.floor(whole.length / 2)]) {
    writeFileSync(path, turned(place));
    const { code, out } = await brume(...all);
    expect(code).toBe(1);
    expect(out).toContain("✗ the logs of the store are as they were written");
    expect(readdirSync(at("damaged"))).toEqual(["1.log"]);
    expect(readFileSync(path).equals(Buffer.from(turned(place)))).toBe(true);
  }
});

test("what is missing is named", async () => {
  expect((await brume("verify")).err).toContain("STATEMENT.json: missing");
  expect((await brume("verify", at("nothing.json"))).code).toBe(1);
  expect((await brume("verify", at("values.txt"))).err).toContain("expected a statement written by");
  expect((await brume("verify", at("values.json"), "--release", at("nothing"))).err).toContain("cannot read");
});

test("noise of values below zero must cover all that lies above min", async () => {
  writeFileSync(at("below.txt"), Array.from({ length: 400 }, (_, i) => (i % 50) - 40).join("\n"));
  const values = [
    "release",
    at("below.txt"),
    "--epsilon",
    "1",
    "--min",
    "-40",
    "--max",
    "60",
    "--threshold",
    "10",
  ];
  const files = ["--max-range", "1024", "--statement", at("below.json"), "--out", at("below.out")];
  expect((await brume(...values, ...files)).code).toBe(0);
  expect((await brume("verify", at("below.json"), "--release", at("below.out"))).code).toBe(0);
  const statement = JSON.parse(readFileSync(at("below.json"), "utf8")) as {
    noiseScale: number;
    levels: number;
  };
  expect(statement.noiseScale).toBeCloseTo(50 * statement.levels, 6);
  // Enough for values up to θ = 10, and not for a change from -40 to 10.
  writeFileSync(at("below.json"), JSON.stringify({ ...statement, noiseScale: 10 * statement.levels }));
  expect((await brume("verify", at("below.json"))).code).not.toBe(0);
});

test.each([
  ["values far above 0", { min: 100, max: 110, threshold: 105 }],
  ["values below 0", { min: -50, max: -20, threshold: -35 }],
  ["values far from 0 and close together", { min: 1e6, max: 1e6 + 10, threshold: 1e6 + 1 / 3 }],
  ["θ that will be refined", { max: 100, holdout: 2048, tuning: { follow: true, refine: true } }],
])("an honest statement holds, and one with less noise does not: %s", async (_, bounds) => {
  const stream = privateStream({ epsilon: 1, maxRange: 4096, ...bounds });
  stream.pushMany(Array.from({ length: 6000 }, (_, i) => ("min" in bounds ? bounds.min : 0) + (i % 10)));
  const stated = stream.statement();
  writeFileSync(at("bounds.json"), JSON.stringify(stated));
  expect((await brume("verify", at("bounds.json"))).code).toBe(0);
  writeFileSync(at("bounds.json"), JSON.stringify({ ...stated, noiseScale: stated.noiseScale! * 0.9 }));
  expect((await brume("verify", at("bounds.json"))).out).toMatch(/✗ noise of scale/);
});

test.each(["private", "stages", "min", "neighbours", "blockLength"])(
  "a statement whose field %s was taken out is none",
  async (field) => {
    const { [field]: _, ...rest } = JSON.parse(readFileSync(at("values.json"), "utf8")) as Record<
      string,
      unknown
    >;
    writeFileSync(at("lacking.json"), JSON.stringify(rest));
    for (const command of [["verify"], ["statement", "--registry"]]) {
      const { code, err } = await brume(command[0]!, at("lacking.json"), ...command.slice(1));
      expect([code, err]).toEqual([1, expect.stringContaining("expected a statement written by brume")]);
    }
  },
);

/** brume verify: what was released passes; a number, a statement, a state or a store that was changed does not. */
import { randomBytes } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/run.js";
import { openStream, privateStream } from "../../src/index.js";
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
  expect(out.split("\n").filter((line) => !line.startsWith("✓"))).toEqual([]);
  expect(out).toContain("shares of ε sum to 1 (32/32)");
  expect(out).toContain("10 whole periods (UTC) are as the state says");
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

test("a number that was changed, a row that is there twice, and another statement are found", async () => {
  const text = readFileSync(at("published.csv"), "utf8");
  const lines = text.trimEnd().split("\n");
  const cells = lines[3]!.split(",");
  cells[3] = String(Number(cells[3]) + 1);
  writeFileSync(at("other.csv"), [...lines.slice(0, 3), cells.join(","), ...lines.slice(4)].join("\n"));
  const all = ["--state", at("shop"), "--release"];
  expect((await brume("verify", at("events.json"), ...all, at("other.csv"))).out).toContain(
    "✗ 10 whole periods",
  );
  writeFileSync(at("twice.csv"), [...lines, lines[1]].join("\n"));
  expect((await brume("verify", at("events.json"), ...all, at("twice.csv"))).out).toContain("✗ 11 rows");
  const other = changed("events.json", (s) => (s["zone"] = "Europe/Berlin"));
  expect((await brume("verify", other, "--state", at("shop"))).out).toContain("✗ the state opens");
});

test("a store whose snapshots open passes; with another key, or a flipped bit, it does not", async () => {
  const key = randomBytes(32);
  const store = fileStore(at("store"));
  const stream = await openStream({
    name: "s",
    store,
    key,
    epsilon: 1,
    max: 100,
    threshold: 60,
    maxRange: 64,
  });
  await stream.pushMany(Float64Array.of(1, 2, 3));
  await stream.close();
  writeFileSync(at("store.key"), key.toString("hex"));
  const verified = await brume("verify", at("values.json"), "--store", at("store"));
  expect(verified.out).toContain("✓ 1 snapshots of the store open with the key");
  writeFileSync(at("other.key"), randomBytes(32).toString("hex"));
  const other = await brume("verify", at("values.json"), "--store", at("store"), "--key", at("other.key"));
  expect(other.out).toContain("✗ 1 snapshots");
  expect(other.code).toBe(1);
  const path = readdirSync(at("store"), { recursive: true, encoding: "utf8" })
    .map((name) => join(at("store"), name))
    .filter((name) => statSync(name).isFile() && statSync(name).size > 100)[0]!;
  const bytes = readFileSync(path);
  bytes[bytes.length - 40]! ^= 1;
  writeFileSync(path, bytes);
  expect((await brume("verify", at("values.json"), "--store", at("store"))).code).toBe(1);
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

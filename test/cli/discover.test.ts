/** brume release --discover: groups of a file that nobody listed, found by votes of people and then counted. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/run.js";

const folder = mkdtempSync(join(tmpdir(), "brume-discover-"));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

async function brume(...argv: string[]): Promise<{ code: number; err: string }> {
  const err: string[] = [];
  const spies = [
    vi.spyOn(console, "error").mockImplementation((line: string) => void err.push(line)),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => (err.push(String(text)), true)),
  ];
  try {
    return { code: await runCommand(argv), err: err.join("\n") };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** Two days in no order: pages that many see, one of each day, and a page that each person has alone. */
const row = (hour: number, person: string, page: string): string =>
  `${new Date(Date.UTC(2026, 2, 1, hour)).toISOString()},${person},${page}`;
const people = (count: number, name: string) => Array.from({ length: count }, (_, i) => `${name}${i}`);
const rows = [
  ...people(40, "b").map((person) => row(30, person, "/pricing")),
  ...people(40, "a").flatMap((person) => [row(5, person, "/"), row(6, person, "/docs")]),
  ...people(12, "c").map((person) => row(7, person, `/account/${person}`)),
  ...people(5, "a").map((person) => row(31, person, "/docs")),
];
writeFileSync(at("log.csv"), ["ts,user,page", ...rows].join("\n"));

const COMMON = [
  ...["release", at("log.csv"), "--every", "1d", "--levels", "1d", "--time", "ts", "--group-by", "page"],
  ...["--epsilon", "40", "--from", "2026-03-01", "--to", "2026-03-03", "--out", at("out.csv")],
  ...["--statement", at("statement.json"), "--unsafe-seed", "pages"],
];
const PEOPLE = ["--person", "user", "--per-person", "3"];

test("groups that many people have are found, and all of their rows count; the others count together", async () => {
  const { code, err } = await brume(...COMMON, ...PEOPLE, "--discover", "1e-9", "--keys", "/");
  expect(err).toContain("A person votes once a day");
  expect(code).toBe(0);
  const published = new Map<string, number[]>();
  for (const line of readFileSync(at("out.csv"), "utf8").trim().split("\n").slice(1)) {
    const [group, , , count] = line.split(",");
    published.set(group!, [...(published.get(group!) ?? []), Math.round(Number(count))]);
  }
  expect([...published.keys()].sort()).toEqual(["(other)", "/", "/docs", "/pricing"].sort());
  expect(Object.fromEntries(published)).toEqual({
    ...{ "/": [40, 0], "/docs": [40, 5], "/pricing": [0, 40], "(other)": [12, 0] },
  });
  expect(JSON.parse(readFileSync(at("statement.json"), "utf8"))).toMatchObject({
    ...{ epsilon: 40, discovery: { epsilon: 10, finished: true, votesPerPerson: 1 } },
  });
});

test.each([
  [[...PEOPLE], /--discover 1e-9 finds those that many people have/],
  [["--discover", "1e-9"], /--discover: expected with --person/],
  [[...PEOPLE, "--discover", "0"], /--discover.*delta: expected a number from 1e-12/s],
  [[...PEOPLE, "--discover", "1e-9", "--state", at("state")], /without --state/],
])("refused: %j", async (more, message) => {
  const { code, err } = await brume(...COMMON, ...more);
  expect(code).not.toBe(0);
  expect(err).toMatch(message);
});

test("brume plan says how many people find a group, and what it costs", async () => {
  const out: string[] = [];
  const spy = vi.spyOn(process.stdout, "write").mockImplementation((text) => (out.push(String(text)), true));
  const plan = ["plan", "--every", "1d", "--epsilon", "1", "--per-person", "5", "--discover", "1e-9"];
  const { code } = await brume(...plan).finally(() => spy.mockRestore());
  expect(code).toBe(0);
  expect(out.join("")).toContain(
    "a key is found on a day when about 76 people vote for it, one that only one person used with probability δ = 8.95e-10. Errors are 1.35 times these.",
  );
  expect((await brume("plan", "--every", "1d", "--epsilon", "1", "--discover", "1e-9")).err).toContain(
    "--discover: expected with --per-person",
  );
});

/** brume release --discover: groups of a file that nobody listed, found by votes of people and then counted. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/run.js";
import { KeyVotes } from "../../src/events/keys/keyVotes.js";

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

/** Counts by group, in the order of time. */
function publishedIn(csv: string): Record<string, (number | null)[]> {
  const published: Record<string, (number | null)[]> = {};
  for (const line of csv.trim().split("\n").slice(1)) {
    const [group, , , count] = line.split(",");
    (published[group!] ??= []).push(count === "" ? null : Math.round(Number(count)));
  }
  return published;
}

test("groups that many people have are found, and all of their rows count; the others count together", async () => {
  const { code, err } = await brume(...COMMON, ...PEOPLE, "--discover", "1e-9", "--keys", "/");
  expect(err).toContain("A person votes once a day");
  expect(code).toBe(0);
  expect(publishedIn(readFileSync(at("out.csv"), "utf8"))).toEqual({
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
  [
    [...PEOPLE, "--discover", "1e-9", "--state", at("refused"), "--every", "1h", "--levels", "1h"].concat([
      ...["--to", "2026-03-02T12:00Z"],
    ]),
    /--to: expected a midnight of the zone UTC with --discover and --state, got 2026-03-02T12:00:00.*tested once/,
  ],
])("refused: %j", async (more, message) => {
  const { code, err } = await brume(...COMMON, ...more);
  expect(code).not.toBe(0);
  expect(err).toMatch(message);
});

test("with --state, later days find more groups; those that are found go on, and no day is tested twice", async () => {
  const state = ["--state", at("state"), "--key", at("state.key")];
  const tested: number[] = [];
  const test = vi.spyOn(KeyVotes.prototype, "test");
  const run = async (to: string, ...more: string[]) => {
    const done = await brume(...COMMON, ...PEOPLE, "--keys", "/", "--to", to, ...state, ...more);
    tested.push(...test.mock.calls.map(([, , , day]) => day));
    test.mockClear();
    return { ...done, published: publishedIn(readFileSync(at("out.csv"), "utf8")) };
  };
  const query = async (...more: string[]): Promise<string> => {
    const out: string[] = [];
    const spy = vi
      .spyOn(process.stdout, "write")
      .mockImplementation((text) => (out.push(String(text)), true));
    const { code, err } = await brume("query", ...state, "--format", "csv", ...more).finally(() =>
      spy.mockRestore(),
    );
    return code === 0 ? out.join("") : err;
  };
  const first = await run("2026-03-02", "--discover", "1e-9");
  expect([first.code, first.published]).toEqual([0, { "/": [40], "/docs": [40], "(other)": [12] }]);
  expect(await query("--group", "/pricing")).toContain("--group: expected one of /, /docs, (other)");
  expect((await run("2026-03-03", "--discover", "1e-8")).err).toContain(
    "--discover: the release in --state has 1e-9",
  );
  const second = await run("2026-03-03");
  expect([second.code, second.published]).toEqual([
    0,
    { "/": [0], "/docs": [5], "/pricing": [40], "(other)": [0] },
  ]);
  expect(publishedIn(await query("--report", "1d"))).toEqual({
    ...{ "/": [40, 0], "/docs": [40, 5], "/pricing": [null, 40], "(other)": [12, 0] },
  });
  test.mockRestore();
  expect(tested).toHaveLength(2);
  expect(new Set(tested).size).toBe(2);
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

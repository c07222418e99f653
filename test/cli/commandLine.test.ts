/** The command line as a newcomer meets it: what it shows, guesses, asks for and proposes. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, test, vi } from "vitest";
import { nearest } from "../../src/core/nearest.js";
import { runCommand } from "../../src/cli/run.js";

const folder = mkdtempSync(join(tmpdir(), "brume-line-"));
afterAll(() => rmSync(folder, { recursive: true }));
afterEach(() => void delete process.env["BRUME_QUIET"]);
const file = (name: string, content: string): string => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

/** Runs a command in this process, and gives what a person would see. */
async function brume(...args: string[]): Promise<{ code: number; out: string; err: string }> {
  let [out, err] = ["", ""];
  const spies = [
    vi.spyOn(process.stdout, "write").mockImplementation((text, ...rest) => {
      out += String(text);
      rest.find((one) => typeof one === "function")?.();
      return true;
    }),
    vi.spyOn(process.stderr, "write").mockImplementation((text) => ((err += String(text)), true)),
    vi.spyOn(console, "log").mockImplementation((text) => void (out += `${text}\n`)),
    vi.spyOn(console, "error").mockImplementation((text) => void (err += `${text}\n`)),
  ];
  try {
    return { code: await runCommand(args), out, err };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

describe("what it shows", () => {
  test("without arguments three commands to try, and they are right", async () => {
    const { code, out } = await brume();
    expect(code).toBe(0);
    expect([...out.matchAll(/^ {2}brume (.*)$/gm)].map(([, words]) => words!.split(" ")[0])).toEqual([
      "demo",
      "plan",
      "release",
    ]);
    const log = file("log.csv", "ts\n2026-03-01T10:00Z\n2026-03-01T11:59Z\n");
    const [, plan, release] = [...out.matchAll(/^ {2}brume (.*)$/gm)].map(([, words]) => words!.split(" "));
    expect((await brume(...plan!)).code).toBe(0);
    const made = await brume(...release!.map((word) => (word === "log.csv" ? log : word)));
    expect(made.code).toBe(0);
    expect(made.out.split("\n").length).toBeGreaterThan(24);
  });

  test("commands of research stand apart in the help", async () => {
    const { out } = await brume("--help");
    const [first, research] = out.split("\nResearch (needs the package brume-research):\n");
    for (const name of ["evaluate", "audit", "ldp", "paper"]) {
      expect(first).not.toContain(`brume ${name}`);
      expect(research).toContain(`brume ${name}`);
    }
    expect(first).toContain("brume completion");
  });

  test("a word that is misspelt is met with the one that was meant", async () => {
    expect((await brume("relase")).err).toContain('unknown command "relase"; did you mean release?');
    expect((await brume("publish")).err).toContain('unknown command "publish"; expected release, query');
    expect((await brume("plan", "--espilon", "1")).err).toContain(
      "unknown option --espilon; did you mean --epsilon?",
    );
    expect((await brume("plan", "--colour", "1")).err).toMatch(/unknown option --colour\n/);
    const names = ["epsilon", "every", "of", "max"];
    expect(["epsilom", "ever", "fo", "mx", "eps", "x"].map((word) => nearest(word, names))).toEqual([
      ...["epsilon", "every", "of", "max", "epsilon", undefined],
    ]);
  });
});

const EVENTS = Array.from({ length: 300 }, (_, i) => ({
  ts: new Date(Date.UTC(2026, 2, 1, 10) + 12_000 * i).toISOString(),
  ms: i % 90,
  user: `secret ${i}`,
}));
const CSV = ["ts,ms,user", ...EVENTS.map(({ ts, ms, user }) => `${ts},${ms},${user}`)].join("\n");
const NDJSON = EVENTS.map((event) => JSON.stringify(event)).join("\n");
const RANGE = ["--from", "2026-03-01T10:00Z", "--to", "2026-03-01T11:00Z"];

describe("what it guesses, and what it does not", () => {
  test("nothing that a release in --state knows: another run reads the columns of the first one", async () => {
    const rows = [1, 2].flatMap((day) =>
      Array.from({ length: 60 }, (_, i) => `2026-03-0${day}T10:00Z,2019-01-01T00:00Z,${i % 10},${i}`),
    );
    const path = file("columns.csv", ["happened,ts,account,user", ...rows].join("\n"));
    const common = ["release", path, "--every", "1d", "--state", join(folder, "columns"), "--format", "csv"];
    const first = ["--time", "happened", "--person", "account", "--per-person", "1", "--epsilon", "64"];
    const counts = ({ code, out }: { code: number; out: string }): unknown[] => [
      code,
      ...out
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => Math.round(Number(line.split(",")[2]))),
    ];
    const days = (from: number): string[] => ["--to", `2026-03-0${from}T00:00Z`];
    expect(counts(await brume(...common, ...first, "--from", "2026-03-01T00:00Z", ...days(2)))).toEqual([
      0, 10,
    ]);
    const next = await brume(...common, "--per-person", "1", ...days(3));
    expect(counts(next)).toEqual([0, 10]);
    expect(next.err).not.toMatch(/Guessed|is not given/);
  });

  test("format and columns by the file's beginning, and it says so", async () => {
    for (const path of [file("events.log", CSV), file("json.log", NDJSON)]) {
      const { code, out, err } = await brume("release", path, "--every", "1h", "--epsilon", "4", ...RANGE);
      expect([code, out.split("\n").length]).toEqual([0, 3]);
      const format = path.endsWith("json.log") ? "ndjson" : "csv";
      expect(err).toContain(`Guessed from the file's beginning: --input-format ${format} --time ts.`);
      expect(err).toContain(
        'The file has a column "user", and --per-person is not given: one event is protected',
      );
      expect(err + out).not.toContain("secret");
    }
    const sums = [
      "release",
      file("sums.csv", CSV),
      "--every",
      "1h",
      "--of",
      "mean",
      "--max",
      "100",
      "--threshold",
      "100",
    ];
    const limited = await brume(...sums, "--epsilon", "4", "--per-person", "1", ...RANGE);
    expect(limited.err).toContain("--time ts --value ms --person user.");
    expect(limited.err).not.toContain("is not given");
    expect(limited.code).toBe(0);
    const values = await brume(
      "release",
      file("values.csv", CSV),
      "--epsilon",
      "4",
      "--max",
      "100",
      "--threshold",
      "50",
    );
    expect(values.err).toContain("--column ms.");
    expect([values.code, values.out.trim().split("\n").length]).toEqual([0, 300]);
  });

  test("not ε, not the bound, not the times, not the keys: they are asked for by their names", async () => {
    const path = file("asked.csv", CSV);
    const asked = async (...args: string[]) => {
      const { code, err } = await brume("release", path, ...args);
      expect(code).toBe(2);
      return err;
    };
    expect(await asked("--max", "100")).toContain("--epsilon: missing");
    expect(await asked("--epsilon", "1")).toContain("--max: missing");
    expect(await asked("--every", "1h", "--epsilon", "1")).toContain("--from: missing");
    expect(await asked("--every", "1h", "--epsilon", "1", "--from", "2026-03-01")).toContain("--to: missing");
    expect(await asked("--every", "1h", "--epsilon", "1", ...RANGE, "--group-by", "user")).toContain(
      "--keys: expected",
    );
  });

  test("all that is missing is named at once, with a way to events for a file with times", async () => {
    const path = file("all.csv", "ts,amount,price\n2026-03-01T10:00Z,2,3\n");
    const lines = async (...args: string[]) => (await brume("release", path, ...args)).err.split("\n");
    expect(await lines()).toEqual([
      "brume release: --epsilon: missing; expected a number, such as 1",
      "  --max: missing; expected a bound that no value passes, known without the data",
      "  --column: missing; expected one of the 3 columns, by name",
      "  The file has times: --every 1h publishes its events by the hour.",
      "brume release --help shows how to call it.",
      "",
    ]);
    const events = (await lines("--every", "1h")).join("\n");
    for (const option of ["--epsilon", "--from", "--to"]) expect(events).toContain(`${option}: missing`);
    expect(events).not.toContain("--time");
  });

  test("a date alone is the midnight of the zone: no day is cut", async () => {
    const path = file("dates.csv", CSV);
    const dates = ["--from", "2026-03-01", "--to", "2026-03-03", "--every", "1d", "--epsilon", "4"];
    const { out } = await brume("release", path, ...dates, "--zone", "Europe/Berlin");
    const days = out.trim().split("\n").slice(1);
    expect(days.map((day) => day.slice(0, 16))).toEqual(["2026-02-28T23:00", "2026-03-01T23:00"]);
    expect((await brume("release", path, ...dates)).out).toContain("\n2026-03-01T00:00:00.000Z,");
  });

  test("a column that is not there is told by the option that named it, and separators are guessed", async () => {
    const path = file("semicolons.csv", CSV.replaceAll(",", ";"));
    const called = ["release", path, "--every", "1h", "--epsilon", "4", ...RANGE];
    const { code, err } = await brume(...called);
    expect([code, err.includes("--delimiter ; --time ts.")]).toEqual([0, true]);
    const wrong = await brume(...called, "--max", "9", "--threshold", "9", "--value", "mss");
    expect([wrong.code, wrong.err]).toEqual([
      2,
      expect.stringContaining("--value: expected a name in the header"),
    ]);
  });

  test("of two columns that may be meant none is taken", async () => {
    const path = file("two.csv", "ts,time,amount,price\n1,2,3,4\n");
    const { code, err } = await brume("release", path, "--every", "1h", "--epsilon", "1", ...RANGE);
    expect([code, err.includes("--time: missing")]).toEqual([2, true]);
    expect((await brume("release", path, "--epsilon", "1", "--max", "9")).err).toContain("--column: missing");
  });
});

describe("how it ends", () => {
  test("a short file of values is not published in silence: exit code 3, and what fits", async () => {
    const path = file("short.txt", Array.from({ length: 3000 }, (_, i) => i % 50).join("\n"));
    const out = join(folder, "short.out");
    const none = await brume("release", path, "--epsilon", "1", "--max", "100", "--out", out);
    expect(none.code).toBe(3);
    expect(none.err).toContain("all 3000 values went into the hold-out");
    const [, holdout] = /Give --holdout (\d+), which leaves (\d+) to publish/.exec(none.err)!;
    expect(existsSync(out)).toBe(false);
    const some = await brume("release", path, "--epsilon", "1", "--max", "100", "--holdout", holdout!);
    expect([some.code, some.out.trim().split("\n").length]).toEqual([0, 3000 - Number(holdout)]);
    const known = await brume("release", path, "--epsilon", "1", "--max", "100", "--threshold", "50");
    expect([known.code, known.out.trim().split("\n").length]).toEqual([0, 3000]);
  });

  test("--quiet leaves the words out and the numbers in; errors stay", async () => {
    const args = ["release", file("quiet.csv", CSV), "--every", "1h", "--epsilon", "4", ...RANGE];
    const { code, out, err } = await brume(...args, "--quiet");
    expect([code, err]).toEqual([0, ""]);
    expect(out).toContain("2026-03-01T10:00:00.000Z");
    delete process.env["BRUME_QUIET"];
    expect((await brume(...args)).err).toContain("Protected: one event");
    expect((await brume("release", "--quiet")).err).toContain("--epsilon: missing");
  });

  test("what a limit leaves out makes counts higher, but not means", async () => {
    const day = ["--epsilon", "40", "--per-person", "1", "--from", "2026-03-01", "--to", "2026-03-02"];
    const told = async (...more: string[]) =>
      (await brume("release", file("lost.csv", CSV), ...day, ...more)).err.split("\n").at(-2);
    expect(await told("--every", "1h")).toMatch(
      /had more than 1 event a day; true numbers are higher, and late/,
    );
    expect(await told("--every", "1d")).toMatch(/true numbers are higher\.$/);
    const mean = ["--of", "mean", "--max", "100", "--threshold", "100"];
    expect(await told("--every", "1h", ...mean)).toMatch(/a day; what they had more is in no number\.$/);
  });

  test("--json of events is that of --format json", async () => {
    const args = ["release", file("json.csv", CSV), "--every", "1h", "--epsilon", "4", ...RANGE, "--json"];
    const rows = JSON.parse((await brume(...args)).out) as { from: string }[];
    expect(rows.map(({ from }) => from)).toEqual(["2026-03-01T10:00:00.000Z"]);
  });
});

describe("completion", () => {
  test("bash completes commands, options of the command, and files", async () => {
    const { code, out } = await brume("completion", "bash");
    expect(code).toBe(0);
    const completed = (...words: string[]): string[] =>
      execFileSync(
        "bash",
        [
          "-c",
          `${out}\nCOMP_WORDS=(brume ${words.map((word) => `"${word}"`).join(" ")}); COMP_CWORD=${words.length}; _brume; echo "\${COMPREPLY[@]}"`,
        ],
        { cwd: folder, encoding: "utf8" },
      )
        .trim()
        .split(/\s+/);
    expect(completed("rel")).toEqual(["release"]);
    expect(completed("release", "--eps")).toEqual(["--epsilon"]);
    expect(completed("serve", "--im")).toEqual(["--import"]);
    expect(completed("release", "quiet.c")).toEqual(["quiet.csv"]);
  });

  test("zsh and fish have every command and option, and other shells are refused", async () => {
    const [zsh, fish] = [(await brume("completion", "zsh")).out, (await brume("completion", "fish")).out];
    for (const words of ["release", "--epsilon", "--import", "evaluate"]) expect(zsh).toContain(words);
    expect(fish).toContain("-l epsilon -r -d 'privacy budget ε of the whole release (required)'");
    expect(fish).toContain("complete -c brume -n __fish_use_subcommand -f -a audit");
    expect((await brume("completion", "powershell")).err).toContain(
      'SHELL: expected bash, zsh or fish, got "powershell"',
    );
  });
});

/**
 * The attacker reads what `brume release --every --state` publishes, run after run, from a file that grows, and starts runs
 * that overlap. An event that two runs store counts twice and costs twice its ε. Two runs that continue the same state put
 * the same noise on other events: the difference of two lines is exact. What must be impossible: both.
 */
import { execFileSync, spawn } from "node:child_process";
import { createWriteStream, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, describe, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/run.js";
import { eventRows, type PublishedLine, publishedLines, releaseCommand } from "../support/cliRelease.js";

const root = mkdtempSync(join(tmpdir(), "brume-runs-"));
afterAll(() => rmSync(root, { recursive: true }));
let count = 0;
const place = (name: string) => join(root, `${count++}-${name}`);

const TEN = Date.UTC(2026, 2, 1, 10);
const minute = (n: number) => new Date(TEN + 60_000 * n).toISOString();
/** One event every 6 seconds: 10 a minute. */
const rows = (events: number) => eventRows(Array.from({ length: events }, (_, i) => TEN + 6000 * i));

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  vi.spyOn(process.stderr, "write").mockImplementation(() => true);
  vi.spyOn(console, "error").mockImplementation((text: string) => void said.push(text));
});

interface Ended {
  readonly code: number;
  readonly lines: PublishedLine[];
}

const commandOf = (state: string, input: string, to: number, out: string): string[] =>
  releaseCommand({ state, input, out, every: "1m", from: TEN, to: TEN + 60_000 * to });

/** Runs it in this process. */
async function run(state: string, input: string, to: number): Promise<Ended> {
  const out = place("out.csv");
  const code = await runCommand(commandOf(state, input, to, out));
  return { code, lines: publishedLines(out) };
}

/** Runs it in a process of its own. */
async function runProcess(state: string, input: string, to: number): Promise<Ended> {
  const out = place("out.csv");
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const args = ["--import", "tsx", main, ...commandOf(state, input, to, out)];
  const child = spawn(process.execPath, args, { stdio: "ignore" });
  const code = await new Promise<number>((resolve) => child.once("exit", resolve));
  return { code, lines: publishedLines(out) };
}

describe("a file that grows, and runs that end in the middle of a period", () => {
  test("every event counts once, wherever --to cuts; a run without a whole period publishes nothing", async () => {
    const [state, input] = [place("state"), place("events.csv")];
    const published: PublishedLine[] = [];
    const codes: number[] = [];
    for (const to of [0.5, 1.5, 1.9, 2, 3.2, 3.2, 5.7, 6]) {
      writeFileSync(input, rows(Math.floor(10 * to)));
      const { code, lines } = await run(state, input, to);
      codes.push(code);
      published.push(...lines);
    }
    expect(codes).toEqual([3, 0, 3, 0, 0, 3, 0, 0]);
    expect(published).toEqual(Array.from({ length: 6 }, (_, i) => ({ from: minute(i), count: 10 })));
  });

  test("rows that are there before their period is over are left to a later run", async () => {
    const [state, input] = [place("state"), place("events.csv")];
    writeFileSync(input, rows(40));
    const first = await run(state, input, 1.99);
    const second = await run(state, input, 4);
    expect([...first.lines, ...second.lines].map(({ count }) => count)).toEqual([10, 10, 10, 10]);
  });
});

describe("runs that overlap", () => {
  /** A run whose input comes when it is told, as from a slow disk. */
  function slow(state: string, events: number, to: number) {
    const pipe = place("slow.csv");
    execFileSync("mkfifo", [pipe]);
    const ended = run(state, pipe, to);
    const end = (): typeof ended => {
      createWriteStream(pipe).end(rows(events));
      return ended;
    };
    return { end };
  }
  const copying = (state: string) =>
    vi.waitFor(() => expect(readdirSync(state).join()).toContain("part-"), 5000);

  test("a run while another one is going on is refused, says why, and changes nothing", async () => {
    const [state, input] = [place("state"), place("events.csv")];
    writeFileSync(input, rows(20));
    await run(state, input, 1);
    const late = slow(state, 20, 2);
    await copying(state);
    expect(await run(state, input, 2)).toEqual({ code: 1, lines: [] });
    expect(said.join()).toMatch(
      new RegExp(
        `another run on .* is going on by process ${process.pid} on ${hostname()}; nothing was read`,
      ),
    );
    expect((await late.end()).lines).toEqual([{ from: minute(1), count: 10 }]);
    expect((await run(state, input, 2)).code).toBe(3); // the lock was given back; nothing more is due
  });

  test("three runs, and the attacker removes the lock: the slow one publishes nothing", async () => {
    const [state, input] = [place("state"), place("events.csv")];
    writeFileSync(input, rows(20));
    await run(state, input, 1);
    const late = slow(state, 7, 2); // other events for the same periods
    await copying(state);
    rmSync(join(state, "lock"));
    expect((await run(state, input, 2)).lines).toEqual([{ from: minute(1), count: 10 }]);
    writeFileSync(input, rows(30));
    expect((await run(state, input, 3)).code).toBe(0);
    expect(await late.end()).toEqual({ code: 1, lines: [] });
    expect(said.join()).toContain("ended first; nothing was published");
    writeFileSync(input, rows(40));
    expect((await run(state, input, 4)).code).toBe(0); // and the state goes on
  });

  test("two runs that begin a release, and the attacker removes the lock: one publishes", async () => {
    const [state, input] = [place("state"), place("events.csv")];
    const late = slow(state, 7, 1);
    await copying(state);
    rmSync(join(state, "lock"));
    writeFileSync(input, rows(10));
    expect((await run(state, input, 1)).lines).toEqual([{ from: minute(0), count: 10 }]);
    expect(await late.end()).toEqual({ code: 1, lines: [] });
  });

  test("three real processes: the slow one, overtaken by two that begin and end, publishes nothing", async () => {
    const [state, input, pipe] = [place("state"), place("events.csv"), place("slow.csv")];
    writeFileSync(input, rows(20));
    await run(state, input, 1);
    execFileSync("mkfifo", [pipe]);
    const late = runProcess(state, pipe, 2);
    await vi.waitFor(() => expect(readdirSync(state).join()).toContain("part-"), 60_000);
    expect(await runProcess(state, input, 2)).toEqual({ code: 1, lines: [] }); // the lock holds across processes
    rmSync(join(state, "lock"));
    const [second, third] = [await runProcess(state, input, 2), await runProcess(state, input, 2)];
    expect([second, third].map(({ code }) => code)).toEqual([0, 3]); // nothing more was due
    createWriteStream(pipe).end(rows(17)); // other events for the same tick
    const slowest = await late;
    expect(slowest).toEqual({ code: 1, lines: [] });
    const published = [second, third, slowest].flatMap(({ lines }) => lines);
    expect(published).toEqual([{ from: minute(1), count: 10 }]);
  });

  test("a run that was killed at any step locks nobody out", async () => {
    const [state, input] = [place("state"), place("events.csv")];
    writeFileSync(input, rows(20));
    await run(state, input, 1);
    const dead = spawn(process.execPath, ["-e", ""]);
    await new Promise((resolve) => dead.once("exit", resolve));
    writeFileSync(join(state, "lock"), JSON.stringify({ host: hostname(), pid: dead.pid }));
    writeFileSync(join(state, "claim-2"), ""); // it died between its claim and its last step
    expect((await run(state, input, 2)).lines).toEqual([{ from: minute(1), count: 10 }]);
    for (const foreign of [JSON.stringify({ host: "elsewhere", pid: dead.pid }), "", "{"]) {
      writeFileSync(join(state, "lock"), foreign);
      expect((await run(state, input, 2)).code).toBe(1); // nobody can tell whether it lives
    }
  });

  test("many runs leave few files", async () => {
    const [state, input] = [place("state"), place("events.csv")];
    for (let n = 1; n <= 20; n++) {
      writeFileSync(input, rows(10 * n));
      expect((await run(state, input, n)).code).toBe(0);
    }
    const names = readdirSync(state);
    expect(names.filter((name) => !name.startsWith("claim-")).sort()).toEqual(["release.json", "run-20"]);
    expect(names.length).toBeLessThan(20);
  });
});

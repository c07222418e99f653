/**
 * The attacker breaks single calls of the file system under `brume release --every --state`: a full disk, a folder that goes
 * away. What must be impossible: a tick that two runs publish, an event that counts twice, a run that says it succeeded and
 * has lost its state.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test, vi } from "vitest";
import { runCommand } from "../../src/cli/run.js";
import { eventRows, publishedLines, releaseCommand } from "../support/cliRelease.js";
import { type Countdown, everyFault } from "../support/faults.js";

const broken = vi.hoisted(() => ({ fault: undefined as Countdown | undefined, after: false }));
vi.mock("node:fs/promises", async (original) => {
  const real = await original<Record<string, unknown>>();
  const wrapped = Object.entries(real).map(([name, member]) => {
    if (typeof member !== "function") return [name, member];
    const call = member as (...args: unknown[]) => Promise<unknown>;
    return [
      name,
      async (...args: unknown[]) => {
        const strikes = broken.fault?.strikes() ?? false;
        const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
        if (strikes && !broken.after) throw full;
        const result = await call(...args);
        if (strikes) throw full;
        return result;
      },
    ];
  });
  return Object.fromEntries(wrapped) as object;
});

const root = mkdtempSync(join(tmpdir(), "brume-cli-faults-"));
afterAll(() => rmSync(root, { recursive: true }));

const TEN = Date.UTC(2026, 2, 1, 10);
const minute = (n: number) => new Date(TEN + 60_000 * n).toISOString();
const rows = (events: number) => eventRows(Array.from({ length: events }, (_, i) => TEN + 6000 * i));
let outs = 0;

/** @returns the exit code and what was published, as [tick, count] */
async function run(state: string, input: string, to: number): Promise<[code: number, lines: string[]]> {
  const out = join(root, `out-${outs++}.csv`);
  const command = releaseCommand({ state, input, out, every: "1m", from: TEN, to: TEN + 60_000 * to });
  const code = await runCommand(command);
  return [code, publishedLines(out).map(({ from, count }) => `${from} ${count}`)];
}

test.each([false, true])(
  "each call of the file system failing in turn, after its work: %s",
  async (after) => {
    vi.spyOn(process.stderr, "write").mockImplementation(() => true);
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const input = join(root, "events.csv");
    writeFileSync(input, rows(30));
    let scenario = 0;
    const faults = await everyFault(async (fault) => {
      const state = join(root, `state-${after}-${scenario++}`);
      const published: string[] = [];
      const [first, lines] = await run(state, input, 1);
      expect(first).toBe(0);
      published.push(...lines);
      Object.assign(broken, { fault, after });
      const [second, more] = await run(state, input, 2);
      broken.fault = undefined;
      if (!after && second !== 0) expect(more).toEqual([]); // a run that fails has published nothing
      published.push(...more); // the last step may have been done before it failed
      rmSync(join(state, "lock"), { force: true }); // of a run that could not remove it: this process has not ended
      const [third, rest] = await run(state, input, 3);
      expect(third).toBe(0);
      published.push(...rest);
      const all = [0, 1, 2].map((n) => `${minute(n)} 10`);
      // A run that failed in its last step may have stored a tick that nobody published; no tick comes twice or with other counts.
      expect(all.filter((line) => published.includes(line))).toEqual(published);
      expect(published).toContain(all[2]);
      if (second === 0) expect(published).toEqual(all);
      rmSync(state, { recursive: true });
    });
    expect(faults).toBeGreaterThan(10);
  },
);

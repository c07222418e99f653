/** brume demo, as a person and as a program sees it. */
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { Demo } from "../../src/cli/demo.js";
import { runCommand } from "../../src/cli/run.js";

/** Runs a command and gives what it wrote, and its exit code. */
async function ran(...argv: string[]): Promise<{ text: string; code: number }> {
  let text = "";
  const log = vi.spyOn(console, "log").mockImplementation((line: string) => void (text += `${line}\n`));
  const write = vi
    .spyOn(process.stdout, "write")
    .mockImplementation((part) => Boolean((text += String(part))));
  try {
    return { code: await runCommand(argv), text };
  } finally {
    log.mockRestore();
    write.mockRestore();
  }
}

const RANGES = ["first hour", "day 1", "day 4", "first week", "everything"];
const PATHS = [
  "noisy max over [1, B]",
  "consistency of 2²⁰ leaves",
  "Square Wave EM",
  "exact noise",
  "ingest",
];

describe.each(["0.1", "1"])("brume demo --epsilon %s", (epsilon) => {
  let shown: Awaited<ReturnType<typeof ran>>;
  beforeAll(async () => {
    shown = await ran("demo", "--epsilon", epsilon);
  });

  test("succeeds, in 100 columns and without colours", () => {
    const { code, text } = shown;
    expect(code).toBe(0);
    for (const line of text.split("\n")) expect([...line].length, line).toBeLessThanOrEqual(100);
    expect(text).not.toContain("\x1b");
  });

  test("shows ToPS: a picture, and five ranges with truth and interval", () => {
    const { text } = shown;
    expect(text.split("\n").filter((line) => line.includes("┤"))).toHaveLength(12);
    for (const name of RANGES)
      expect(text).toMatch(
        new RegExp(`^  ${name} +\\d+ to \\d+ +\\d+ +\\d+ +-?\\d+ +-?\\d+ to -?\\d+ +-?[\\d.]+ %$`, "m"),
      );
    expect(text).toMatch(/each value is protected with ε = [\d.]+\./);
  });

  test("shows ToPL: means and percentiles with truth and interval", () => {
    const { text } = shown;
    for (const what of [
      "mean of 1048576 devices, day 2",
      "50 % of values are below",
      "99 % of values are below",
    ])
      expect(text).toMatch(new RegExp(`^ +${what} +[\\d.]+ +-?[\\d.]+ +-?[\\d.]+ to -?[\\d.]+$`, "m"));
  });

  test("shows every hot path on both cores, and that they agree", () => {
    const { text } = shown;
    for (const path of PATHS) {
      const line = text.split("\n").find((one) => one.includes(path) && one.includes("×"))!;
      expect(line).toMatch(/ [\d.]+ +[\d.]+ +[\d.]+ × +yes$/);
    }
    expect(text).toContain("brume explain --demo");
  });
});

describe("brume demo --json", () => {
  let shown: Awaited<ReturnType<typeof ran>>;
  beforeAll(async () => {
    shown = await ran("demo", "--json");
  });

  test("is one object with the same content", () => {
    const { code, text } = shown;
    expect(code).toBe(0);
    expect(text.trimEnd().split("\n")).toHaveLength(1);
    const { tops, topl, hotPaths } = JSON.parse(text) as Demo;
    expect(tops.ranges.map(({ name }) => name)).toEqual(RANGES);
    expect(tops.picture.released).toHaveLength(tops.picture.truth.length);
    expect(topl.percentiles.map(({ p }) => p)).toEqual([0.25, 0.5, 0.75, 0.95, 0.99]);
    expect(hotPaths.length).toBeGreaterThanOrEqual(PATHS.length);
    for (const { wasmMs, jsMs, same } of hotPaths) {
      expect(same).toBe(true);
      expect(wasmMs).toBeGreaterThan(0);
      expect(jsMs).toBeGreaterThan(0);
    }
  });

  test("intervals stand beside the sum that they are of: of values clamped to θ", () => {
    const { tops } = JSON.parse(shown.text) as Demo;
    for (const { truth, clamped } of tops.ranges) expect(clamped).toBeLessThanOrEqual(truth);
    const { truth, clamped } = tops.ranges.at(-1)!;
    expect((truth - clamped) / truth).toBeCloseTo(tops.hidden.truth, 12);
    expect(clamped).toBeLessThan(truth);
  });

  test("has truths within sight of the estimates", () => {
    const { tops, topl } = JSON.parse(shown.text) as Demo;
    const everything = tops.ranges.at(-1)!;
    // Noise on everything has a standard error of some 0.03 %, clamping hides some 0.05 %: 2 % is never seen.
    expect(Math.abs(everything.sum / everything.truth - 1)).toBeLessThan(0.02);
    const all = topl.means.at(-1)!;
    // 1.05 million reports under θ ≤ 1000 have a standard error of at most 1000·√(4.4/2²⁰) = 2.05; θ is about 300 of them.
    expect(Math.abs(all.estimate! - all.truth)).toBeLessThan(6 * 2.05);
  });
});

describe("on a terminal", () => {
  const before = process.stdout.isTTY;
  afterEach(() => {
    process.stdout.isTTY = before;
  });

  test("points have a colour", async () => {
    const { green } = await import("../../src/cli/colour.js");
    process.stdout.isTTY = true;
    expect(green("●")).toBe("\x1b[32m●\x1b[0m");
    process.stdout.isTTY = false;
    expect(green("●")).toBe("●");
  });
});

test("brume demo --help names every option", async () => {
  const { code, text } = await ran("demo", "--help");
  expect(code).toBe(0);
  for (const option of ["--epsilon", "--local-epsilon", "--json"]) expect(text).toContain(option);
});

test("a budget that is none is refused, with exit code 2", async () => {
  const error = vi.spyOn(console, "error").mockImplementation(() => undefined);
  expect((await ran("demo", "--epsilon", "0")).code).toBe(2);
  error.mockRestore();
});

test("brume explain --demo has the long statements", async () => {
  const { code, text } = await ran("explain", "--demo");
  expect(code).toBe(0);
  expect(text).toMatch(/event-level/i);
  expect(text).toMatch(/not protected/i);
  expect(text).toMatch(/device|report/i);
});

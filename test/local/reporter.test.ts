import { describe, expect, test } from "vitest";
import { reporter } from "../../src/local/anyCoreReporter.js";
import { gridOf, packReport, type Report, unpackReport } from "../../src/local/report.js";
import type { PaperReporterOptions } from "../../src/local/paper/paperReporter.js";
import type { ReporterOptions } from "../../src/local/reporter.js";
import { reporter as deviceReporter } from "../../src/reporter.js";

const LEARN = { variant: "paper", epsilon: 1, max: 512, phase: "learn" } as const;
const RELEASE = { variant: "paper", epsilon: 1, max: 512, phase: "release", threshold: 40 } as const;
const FIRST = { epsilon: 1, max: 512 } as const;
const LATER = { epsilon: 1, max: 512, threshold: 40 } as const;
const seeded = <T extends ReporterOptions | PaperReporterOptions>(options: T, seed = "device") =>
  reporter({ ...options, unsafeSeed: seed });

test("a report holds version, grid and a cell, and nothing else; the paper's a phase too", () => {
  for (const options of [FIRST, LATER])
    expect(Object.keys(reporter(options).report(12)).sort()).toEqual(["cell", "grid", "version"]);
  for (const options of [LEARN, RELEASE]) {
    const report = reporter(options).report(12);
    expect(Object.keys(report).sort()).toEqual(["cell", "grid", "phase", "version"]);
    expect(report).toMatchObject({ version: 2, phase: options.phase });
    expect(Number.isInteger(report.cell)).toBe(true);
  }
});

test.each([LEARN, RELEASE, FIRST, LATER])(
  "%o: batches and single reports are the same reports, whatever the core",
  (options) => {
    const values = Float64Array.from({ length: 1000 }, (_, i) => (i * 37) % 600);
    const one = seeded(options);
    const singly = Array.from(values, (value) => one.report(value));
    const unpack = (bytes: Uint8Array) =>
      Array.from({ length: bytes.length / 8 }, (_, i) => unpackReport(bytes, 8 * i));
    expect(unpack(seeded({ ...options, core: "js" }).reportMany(values))).toEqual(singly);
    if (!("variant" in options))
      expect(unpack(deviceReporter({ ...options, unsafeSeed: "device" }).reportMany(values))).toEqual(singly);
    const wasm = seeded({ ...options, core: "wasm" });
    const mixed = [
      ...unpack(wasm.reportMany(values.subarray(0, 301))),
      wasm.report(values[301]!),
      ...unpack(wasm.reportMany([...values.subarray(302)])),
    ];
    expect(mixed).toEqual(singly);
  },
);

test("devices differ: without a key given, no two report alike", () => {
  // A cell has a probability below 10⁻⁵, so four reports agree less than once in 10²⁰.
  const cells = () => {
    const device = reporter(FIRST);
    return [1, 2, 3, 4].map((value) => device.report(value).cell);
  };
  expect(cells()).not.toEqual(cells());
  expect(reporter(FIRST).private).toBe(true);
  expect(seeded(FIRST).private).toBe(false);
});

test("packed: 8 bytes, little-endian, there and back", () => {
  const fields = { version: 2, grid: 0xdeadbeef, cell: 0x123456 };
  for (const [report, first] of [
    [{ ...fields, phase: "release" }, "21"],
    [fields, "22"],
  ] as [Report, string][]) {
    const bytes = packReport(report);
    expect(Buffer.from(bytes).toString("hex")).toBe(`${first}563412efbeadde`);
    expect(unpackReport(bytes)).toEqual(report);
  }
  expect(unpackReport(Uint8Array.of(0x1f, 0, 0, 0, 0, 0, 0, 0))).toBeUndefined();
});

test("grids differ by phase, ε and bound", () => {
  const grids = [
    gridOf("learn", 1, 512),
    gridOf("release", 1, 512),
    gridOf("learn", 1.1, 512),
    gridOf("learn", 1, 499),
    gridOf(undefined, 1, 512),
    gridOf(undefined, 1, 40),
  ];
  expect(new Set(grids).size).toBe(6);
});

test("θ of the quantiser: at θ and above, every value makes the same reports", () => {
  for (const options of [RELEASE, LATER]) {
    const cells = [40, 40.1, 500, 1e300].map((value) => seeded(options).report(value).cell);
    expect(new Set(cells).size).toBe(1);
    const low = [0, -0, -5, 5e-324].map((value) => seeded(options).report(value).cell);
    expect(new Set(low).size).toBe(1);
  }
});

describe("faults", () => {
  test("a value that is no finite number is refused unquoted, and draws nothing", () => {
    const [clean, tried] = [seeded(FIRST), seeded(FIRST)];
    for (const value of [NaN, Infinity, -Infinity, "314159", undefined, null, 314159n]) {
      expect(() => tried.report(value as number)).toThrow(/^value: expected a finite number$/);
      expect(() => tried.reportMany([1, value as number])).toThrow(/^values\[1\]: expected a finite number/);
    }
    expect(tried.report(7)).toEqual(clean.report(7));
  });

  test.each([
    [{ ...FIRST, epsilon: 0 }, /^epsilon: expected/],
    [{ ...FIRST, threshold: 3.3 }, /^threshold: expected one of the 321 public thresholds/],
    [{ ...FIRST, phase: "learn" }, /^phase: expected none, since reports count from the first one/],
    [{ ...FIRST, variant: "square" }, /^variant: expected "paper", got "square"/],
    [{ ...LEARN, epsilon: 0 }, /^epsilon: expected/],
    [{ ...LEARN, max: 0 }, /^max: expected/],
    [{ ...LEARN, phase: "both" }, /^phase: expected "learn", "release"/],
    [{ ...LEARN, threshold: 3 }, /^threshold: expected none/],
    [{ ...RELEASE, threshold: undefined }, /^threshold: expected/],
    [{ ...RELEASE, threshold: 513 }, /^threshold: expected a number from 0.00048828125 to 512, got 513$/],
    [{ ...LEARN, seed: 1 }, /unknown option "seed"/],
    [{ ...LEARN, unsafeSeed: 7 }, /^unsafeSeed: expected/],
    [{ ...LEARN, core: "gpu" }, /^core: expected "auto", "wasm" or "js", got "gpu"$/],
  ])("%o", (options, message) => {
    expect(() => reporter(options as ReporterOptions)).toThrow(message);
  });
});

test("the device's entry has no wasm, and says so", () => {
  expect(() => deviceReporter({ ...FIRST, core: "wasm" })).toThrow(
    /^core: expected "auto", "js", got "wasm"$/,
  );
  expect(() => deviceReporter(LEARN)).toThrow(/take reporter from "brume" with variant: "paper"$/);
});

test("a seed gives the same key on every device and in every version", () => {
  const cells = (seed: string) => {
    const device = seeded(LEARN, seed);
    return [1, 2, 3].map((value) => device.report(value).cell);
  };
  expect(cells("")).toEqual([1097557, 19018, 374295]);
  expect(cells("a seed of more than thirty-two bytes")).toEqual([760137, 168734, 639304]);
  expect(cells("x")).not.toEqual(cells("x\0")); // padding is no part of a seed
});

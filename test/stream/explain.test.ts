/** The statement as a text, in every form that it can have. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { NOISE_VERSION } from "../../src/core/random.js";
import { software, softwareText } from "../../src/core/software.js";
import { resolveSettings } from "../../src/stream/options.js";
import {
  explainStatement,
  makeStatement,
  RANDOMNESS,
  type StatementParts,
} from "../../src/stream/statement.js";

const SECRET = resolveSettings({ epsilon: 0.5, max: 100, maxRange: 256, tuning: { skipLevels: 1 } });
const PARTS: StatementParts = {
  ...{ system: "a system", epsilon: 0.5, delta: 0, composition: "ε in all.", threshold: 12.3456789 },
  ...{
    smoother: "shrunk",
    noiseScale: 24.6913578,
    noise: "noise",
    settled: true,
    clampedShare: null,
    warnings: [],
  },
  stages: [{ stage: "release", mechanism: "a hierarchy", epsilon: 0.5, delta: 0, values: [64, null] }],
};
const text = (change: Partial<StatementParts> = {}, settings = SECRET, core: "wasm" | "js" = "wasm") =>
  explainStatement(makeStatement(settings, core, 7, { ...PARTS, ...change })).split("\n");

test("what is promised, what it costs, what happens to values", () => {
  expect(text().slice(0, -6)).toEqual([
    "This stream is published under event-level differential privacy with ε = 0.5.",
    "Protected: one value. Replacing any one value by another between 0 and 100 changes the probability of any output by at most a factor e^ε = 1.64872.",
    "  release: a hierarchy, ε = 0.5, on values 64 to the end",
    "ε in all.",
    "No value is refused for its size: values below 0 are clamped to 0, values above max to max, and values above θ to θ. They are rounded to multiples of 0.0009765625.",
    "θ = 12.3457. Noise on every node: noise, scale 24.6914.",
    'Every 16 values make a block; one level carries noise; predictions by "shrunk".',
    `Randomness: ${RANDOMNESS.secret}. Core: wasm.`,
  ]);
  expect(text().slice(-6)[0]).toBe("Not protected:");
});

test("δ, another unit, stages that end", () => {
  const protects = {
    definition: "user-level privacy",
    neighbours: "n",
    unit: "all values of a person",
    notProtected: ["x"],
  };
  const stages = [
    { stage: "probe", mechanism: "sums", epsilon: 0.25, delta: 1e-9, values: [3, 10], which: "odd ones" },
  ] as const;
  const lines = text({ delta: 1e-6, protects, stages });
  expect(lines[0]).toBe("This stream is published under user-level privacy with ε = 0.5, δ = 0.000001.");
  expect(lines[1]).toBe(
    "Protected: all values of a person. Replacing all values of a person by others between 0 and 100 changes the probability of any output by at most a factor e^ε = 1.64872, except with probability δ = 0.000001.",
  );
  expect(lines[2]).toBe("  probe: sums, ε = 0.25, δ = 1e-9, on values 3 to 9, odd ones");
  expect(lines.slice(-3)).toEqual([
    "Not protected:",
    "  - x",
    expect.stringMatching(/^Made by brume \d+\.\d+\.\d+( \(commit [0-9a-f]{12}\))?, noise version \d+\.$/),
  ]);
});

test("before θ is chosen, where it is 0, where noise has no one scale", () => {
  expect(text({ threshold: null, noiseScale: null })).toContain("θ is not chosen yet.");
  expect(text({ threshold: 0 })).toContain("θ = 0: every value is clamped to 0, and zeros are published.");
  expect(text({ threshold: 0 }).join()).not.toContain("make a block");
  expect(text({ noiseScale: null })).toContain(
    "θ = 12.3457. Noise on every node: noise, its scale is not the same everywhere.",
  );
});

test("blocks of one value, and more than one level", () => {
  const deep = resolveSettings({
    epsilon: 0.5,
    max: 100,
    maxRange: 256,
    tuning: { skipLevels: 0, fanout: 4 },
  });
  expect(text({}, deep)).toContain(
    "Every value has an estimate of its own; 4 levels of fan-out 4 carry noise.",
  );
});

test("what clamping hides, and warnings", () => {
  const lines = text({ clampedShare: { count: 3, low: 0.5, high: 9, of: 40 }, warnings: ["a", "b"] });
  expect(lines).toContain(
    "Of 40 values that were counted, about 7.5 % were above θ (95 % interval 1.25 % to 22.5 %); error bars do not cover what clamping took from them.",
  );
  expect(lines).toEqual(expect.arrayContaining(["Warning: a.", "Warning: b."]));
  expect(text({ clampedShare: { count: -3, low: 0, high: 9, of: 40 } }).join()).toContain("about 0 % were");
});

test("what is not private says why", () => {
  const seeded = resolveSettings({ epsilon: 0.5, max: 100, unsafeSeed: "x" });
  expect(text({}, seeded)[0]).toBe("This stream is NOT PRIVATE (it was made from a seed).");
  expect(text({ private: false, noise: "none at all" })[0]).toBe("This stream is NOT PRIVATE (none at all).");
  expect(text({}, seeded).join()).not.toContain("Protected: one value");
  expect(makeStatement(SECRET, "wasm", 7, PARTS)).toMatchObject({ private: true, published: 7 });
  expect(makeStatement(SECRET, "wasm", 7, { ...PARTS, private: false }).private).toBe(false);
  expect(makeStatement(seeded, "wasm", 7, { ...PARTS, private: true }).private).toBe(false);
});

test("the core is named, and a word said where WebAssembly was wanted and is not there", () => {
  const core = (asked: "auto" | "js", has: "wasm" | "js") =>
    makeStatement(resolveSettings({ epsilon: 1, max: 1, core: asked }), has, 0, PARTS).core;
  const note = "WebAssembly could not be compiled here; same answers, slower";
  expect(core("auto", "js")).toEqual({ name: "js", note });
  expect(core("js", "js")).toEqual({ name: "js", note: "" });
  expect(core("auto", "wasm")).toEqual({ name: "wasm", note: "" });
  expect(text({}, SECRET, "js")).toContain(`Randomness: ${RANDOMNESS.secret}. Core: js (${note}).`);
});

test("thresholds: one θ from position 0 on, unless a list of changes is given", () => {
  const thresholds = (change: object) => makeStatement(SECRET, "wasm", 7, { ...PARTS, ...change }).thresholds;
  expect(thresholds({})).toEqual([{ from: 0, threshold: 12.3456789 }]);
  expect(thresholds({ threshold: null })).toEqual([]);
  expect(thresholds({ thresholds: [{ from: 3, threshold: 4 }] })).toEqual([{ from: 3, threshold: 4 }]);
});

test("the software behind a statement is named, with the commit of a clean checkout", () => {
  const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };
  const statement = makeStatement(SECRET, "wasm", 7, PARTS);
  expect(statement.software).toEqual({ ...software, name: "brume", version, noiseVersion: NOISE_VERSION });
  expect(softwareText({ ...software, commit: "0123456789abcdef" })).toContain("(commit 0123456789ab)");
  expect(softwareText({ ...software, commit: null })).toBe(
    `Made by brume ${version}, noise version ${NOISE_VERSION}.`,
  );
});

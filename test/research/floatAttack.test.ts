/**
 * Mironov's attack (2012): noise made in floating point leaves the set of numbers that can be published, and their low
 * bits, dependent on the private value. Ours is made of integers; the same tests on textbook noise fail.
 */
import { describe, expect, test } from "vitest";
import { resolveSettings, type StreamOptions } from "../../src/stream/options.js";
import { HoldoutStream } from "../../src/stream/holdoutStream.js";
import { chooseCore } from "../../src/core/choose.js";
import type { Core } from "../../src/core/core.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { lowestBit } from "../../research/audit/attack.js";
import { brokenCore } from "../../research/audit/breaks.js";
import { ODDS, twoSamples } from "../support/chiSquare.js";

const cores: Record<"wasm" | "js", Core> = { wasm: chooseCore("wasm"), js: chooseCore("js") };
const naive = brokenCore(cores.js, { kind: "float" });

/** x plus noise of scale t, many times; each x has randomness of its own. */
function noisy(core: Core, x: number, t: bigint, count: number): Float64Array {
  const out = new Float64Array(count);
  core.laplace(subStream(unsafeKey(`float ${x}`), Purpose.baseline, 0, 0), makeScale(t, 1n), out);
  return out.map((noise) => x + noise);
}

/** The first number published for a stream that begins with x, many times, each with a key of its own. */
function published(core: Core, options: StreamOptions, x: number, count: number): Float64Array {
  const settings = resolveSettings(options);
  const keys = new Uint32Array(8 * count);
  core.keystream(subStream(unsafeKey(`published ${x}`), Purpose.baseline, 0, 0), keys);
  return Float64Array.from({ length: count }, (_, i) =>
    new HoldoutStream(settings, core, keys.slice(8 * i, 8 * i + 8)).push(x)!,
  );
}

describe("porosity: every number that x can publish, x′ can publish too", () => {
  /** Outputs within ±reach, sorted. At scale 4 even the rarest of them, ±12, is missed by 10⁵ runs once in e^400. */
  const support = (outputs: Float64Array, reach: number) =>
    [...new Set(outputs.filter((y) => Math.abs(y) <= reach))].sort((a, b) => a - b);
  const whole = Array.from({ length: 25 }, (_, i) => i - 12);

  test.each(["wasm", "js"] as const)("discrete Laplace, %s", (name) => {
    for (const x of [0, 1, 5]) expect(support(noisy(cores[name], x, 4n, 100_000), 12)).toEqual(whole);
  });

  test("a consistent leaf: integers plus thirds, for any value", () => {
    // ε = 8 and θ = 16 give nodes noise of scale 4; f is a third of an integer, rounded to 20 binary digits.
    const options = {
      epsilon: 8,
      max: 16,
      threshold: 16,
      tuning: { resolution: 1, fanout: 2, skipLevels: 0 },
      maxRange: 4,
    };
    const fractions = (x: number) =>
      support(
        published(cores.wasm, options, x, 4000).map((y) => y - Math.floor(y)),
        1,
      );
    const third = Math.floor(2 ** 20 / 3 + 0.5) / 2 ** 20;
    expect(fractions(0)).toEqual([0, third, 1 - third]);
    for (const x of [1, 7, 16]) expect(fractions(x)).toEqual(fractions(0));
  });

  test("textbook noise fails: x and x′ share next to nothing", () => {
    const [zero, one] = [0, 1].map((x) => new Set(noisy(naive, x, 4n, 100_000)));
    expect([...zero!].filter((y) => one!.has(y)).length).toBeLessThan(10);
    expect(support(noisy(naive, 0, 4n, 100_000), 12)).not.toEqual(whole);
  });
});

describe("low bits say nothing about x = 0, 1 or 2⁴⁰", () => {
  const xs = [0, 1, 2 ** 40];

  /** How often each lowest set bit came, from 2⁻¹⁰⁰ up. */
  function bitCounts(outputs: Float64Array): Float64Array {
    const counts = new Float64Array(160);
    for (const y of outputs) counts[Math.min(159, Math.max(0, lowestBit(y) + 100))]!++;
    return counts;
  }
  /** The least of the p-values of x against 0; below 10⁻⁶ with odds of 2·10⁻⁶ where nothing is wrong. */
  const leastP = (run: (x: number) => Float64Array) => {
    const [zero, ...others] = xs.map((x) => bitCounts(run(x)));
    return Math.min(...others.map((counts) => twoSamples(zero!, counts, 50)));
  };
  /** At this scale the low 20 bits of exact noise are uniform but for a part in 10⁹ (2⁻²⁰·2²⁰/t, squared, over 12). */
  const T = 1n << 36n;

  test.each(["wasm", "js"] as const)("discrete Laplace, %s", (name) => {
    expect(leastP((x) => noisy(cores[name], x, T, 200_000))).toBeGreaterThan(ODDS);
  });

  const wide = {
    epsilon: 4,
    max: 2 ** 40,
    threshold: 2 ** 40,
    tuning: { fanout: 4, skipLevels: 0 },
    maxRange: 16,
  };
  test("what ToPS publishes", () => {
    expect(leastP((x) => published(cores.wasm, wide, x, 20_000))).toBeGreaterThan(ODDS);
  });

  test("textbook noise fails both", () => {
    expect(leastP((x) => noisy(naive, x, T, 200_000))).toBeLessThan(ODDS);
    expect(leastP((x) => published(naive, wide, x, 20_000))).toBeLessThan(ODDS);
  });
});

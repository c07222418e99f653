import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { audit as command } from "../../research/cli/audit.js";
import { Arguments } from "../../src/cli/command.js";
import { chooseCore } from "../../src/core/choose.js";
import { software } from "../../src/core/software.js";
import { attack, lowestBit } from "../../research/audit/attack.js";
import { audit, breaksOf, type MechanismName } from "../../research/audit/audit.js";
import { parseBreak } from "../../research/audit/breaks.js";
import { betaShare, lowerBound, upperBound } from "../../research/audit/clopperPearson.js";
import { likelihood } from "../../research/audit/targets/stream.js";

describe("Clopper–Pearson", () => {
  test("ends that have a closed form", () => {
    expect(lowerBound(0, 100, 0.01)).toBe(0);
    expect(upperBound(100, 100, 0.01)).toBe(1);
    expect(lowerBound(100, 100, 0.01)).toBeCloseTo(0.01 ** (1 / 100), 12); // pⁿ = α
    expect(upperBound(0, 1e6, 5e-7)).toBeCloseTo(1 - 5e-7 ** 1e-6, 12); // (1 − p)ⁿ = α
  });

  test("the incomplete beta function is a binomial tail", () => {
    const [n, p] = [30, 0.37];
    let [tail, choose] = [0, 1];
    for (let k = 0; k <= n; choose = (choose * (n - k)) / (k + 1), k++)
      if (k >= 9) tail += choose * p ** k * (1 - p) ** (n - k);
    expect(betaShare(p, 9, n - 8)).toBeCloseTo(tail, 13);
  });

  test("a table's value: 10 of 100 at 95 % is [0.0490, 0.1762]", () => {
    expect(lowerBound(10, 100, 0.025)).toBeCloseTo(0.0490047, 6);
    expect(upperBound(10, 100, 0.025)).toBeCloseTo(0.1762226, 6);
  });

  test.each([3, 500_000, 999_999])("bounds solve their equation at %d of a million", (hits) => {
    const low = lowerBound(hits, 1e6, 1e-6);
    expect(betaShare(low, hits, 1e6 - hits + 1)).toBeCloseTo(1e-6, 10);
    expect(low).toBeLessThan(hits / 1e6);
    expect(upperBound(hits, 1e6, 1e-6)).toBeGreaterThan(hits / 1e6);
  });
});

describe("the attack", () => {
  test.each([
    [24, 3],
    [2.5, -1],
    [-1, 0],
    [2 ** 52 + 1, 0],
    [0.1, -55],
    [5e-324, -1074],
    [0, 2000],
  ])("the lowest set bit of %d is 2^%d", (value, exponent) => {
    expect(lowestBit(value)).toBe(exponent);
  });

  /** 3 of 4 rows are 1 on the first input, 1 of 4 on the second: ratio 3, exactly. */
  const rows = (ones: number) => Float64Array.from({ length: 40_000 }, (_, i) => (i % 4 < ones ? 1 : 0));
  const seen = (ones: number) => ({ features: ["bit"], rows: rows(ones) });

  test("finds ln 3 in a biased bit, from below", () => {
    const { lowerBound: bound, event } = attack(seen(3), seen(1), 1e-6);
    expect(bound).toBeLessThan(Math.log(3));
    expect(bound).toBeGreaterThan(0.85 * Math.log(3));
    expect(event).toMatch(/^bit (≥ 1|< 1)$/);
  });

  test("finds nothing where there is nothing", () => {
    expect(attack(seen(2), seen(2), 1e-6).lowerBound).toBe(0);
  });

  test("the likelihood of two published leaves is its integral", () => {
    const t = 3;
    for (const [x, y] of [
      [0, 0],
      [4, -1],
      [-7, 2.5],
    ] as const) {
      let sum = 0;
      const step = 1e-3;
      for (let z = -80 + step / 2; z < 80; z += step)
        sum += step * Math.exp(-(Math.abs(z - x) + Math.abs(z - y) + Math.abs(z + x + y)) / t);
      expect(sum / t / likelihood(x, y, t)).toBeCloseTo(1, 6);
    }
  });
});

/** One false alarm in 10⁶ seeds each, by the confidence of the bound. Opponents: test/research/opponents/audit.test.ts. */
const samples: Partial<Record<MechanismName, number>> = {
  laplace: 200_000,
  "noisy-max": 30_000,
  forest: 30_000,
  tops: 30_000,
  choice: 20_000,
  probe: 30_000,
  following: 20_000,
  refining: 25_000,
  counter: 10_000,
  events: 10_000,
  mean: 40_000,
  "per-person": 10_000,
  "hub-people": 20_000,
  people: 20_000,
  discovery: 20_000,
  limit: 20_000,
  histogram: 20_000,
  sr: 200_000,
  pm: 200_000,
  hm: 200_000,
  sw: 200_000,
};
const run = (mechanism: MechanismName, epsilon: number, fault?: string) =>
  audit({
    mechanism,
    epsilon,
    samples: samples[mechanism]!,
    unsafeSeed: "audit",
    break: fault === undefined ? undefined : parseBreak(fault),
  });

/**
 * The bound is above ε once in 10⁶ seeds, by its confidence. How near it comes was measured over 8 seeds, as a share of ε: the
 * shares asked for are 6 standard deviations (0.004 to 0.022) below the means, or more, so missed once in 10⁸ seeds.
 */
describe("our mechanisms keep their promise, and the attack comes near it", () => {
  test.each<[MechanismName, number, number]>([
    ["laplace", 1, 0.9],
    ["laplace", 0.5, 0.8],
    ["laplace", 4, 0.8],
    ["noisy-max", 1, 0.76], // 0.87 ± 0.02
    ["forest", 1, 0.66], // 0.80 ± 0.02
    ["tops", 1, 0.77], // 0.87 ± 0.02
    ["choice", 1, 0.5],
    ["probe", 1, 0.76], // 0.87 ± 0.017
    ["following", 1, 0.6],
    ["refining", 1, 0.53], // 0.73 ± 0.03 at half as many runs
    ["counter", 1, 0.64], // 0.76 ± 0.02
    ["events", 1, 0.48], // 0.68 ± 0.033
    ["mean", 1, 0.3], // 0.59 ± 0.05 at half as many runs
    ["per-person", 1, 0.49], // 0.67 ± 0.03
    ["hub-people", 1, 0.17], // 0.57 ± 0.066
    ["people", 1, 0.78], // 0.89 ± 0.018
    ["discovery", 1, 0.78], // 0.88 ± 0.015
    ["limit", 1, 0.64], // 0.78 ± 0.022
    ["histogram", 1, 0.67], // 0.79 ± 0.02
    ["sr", 1, 0.9],
    ["sr", 4, 0.8],
    ["pm", 1, 0.9],
    ["hm", 0.5, 0.8],
    ["hm", 2, 0.9],
    ["sw", 1, 0.9],
    ["sw", 3, 0.8],
  ])("%s at ε = %d", (mechanism, epsilon, share) => {
    const found = run(mechanism, epsilon);
    expect(found).toMatchObject({ mechanism, claimed: epsilon, confidence: 0.999999, verdict: "consistent" });
    expect(found.lowerBound).toBeLessThanOrEqual(epsilon);
    expect(found.lowerBound).toBeGreaterThan(share * epsilon);
  });

  test("both cores give the same audit", () => {
    const on = (core: "wasm" | "js") =>
      audit({ mechanism: "laplace", epsilon: 1, samples: 2000, unsafeSeed: "same", core: chooseCore(core) });
    expect(on("js")).toEqual(on("wasm"));
  });
});

/** A scale of 0.8 claims ε where 1.25 ε holds; where the attack is less sharp the break is larger, for 6 standard deviations again. */
const CAUGHT: readonly [MechanismName, string][] = [
  ["laplace", "scale=0.8"],
  ["laplace", "float"],
  ["noisy-max", "scale=0.75"],
  ["forest", "scale=0.65"],
  ["forest", "float"],
  ["forest", "skip-node"],
  ["tops", "scale=0.75"],
  ["tops", "float"],
  ["tops", "skip-node"],
  ["choice", "scale=0.6"],
  ["probe", "scale=0.5"],
  ["following", "scale=0.65"],
  ["following", "float"],
  ["refining", "scale=0.5"],
  ["refining", "tree-scale=0.484"], // nodes with 31/32 of ε beside the choice
  ["refining", "choice-scale=0.5"], // a choice with all of ε beside the nodes
  ["counter", "scale=0.5"],
  ["counter", "float"],
  ["counter", "skip-node"],
  ["events", "scale=0.5"],
  ["events", "float"],
  ["events", "skip-node"],
  ["mean", "scale=0.5"],
  ["mean", "skip-node"],
  ["per-person", "scale=0.5"],
  ["per-person", "float"],
  ["per-person", "skip-node"],
  ["hub-people", "scale=0.5"],
  ["hub-people", "skip-node"],
  ["people", "scale=0.75"],
  ["people", "float"],
  ["people", "counted-again"],
  ["discovery", "scale=0.75"],
  ["limit", "scale=0.65"],
  ["histogram", "scale=0.5"],
  ["histogram", "float"],
  ["histogram", "skip-node"],
  ["sr", "scale=0.8"],
  ["pm", "scale=0.8"],
  ["hm", "scale=0.8"],
  ["sw", "scale=0.8"],
];

describe("every break is caught", () => {
  test.each(CAUGHT)("%s, %s", (mechanism, fault) => {
    const found = run(mechanism, 1, fault);
    expect(found.verdict).toBe("violation");
    expect(found.lowerBound).toBeGreaterThan(1);
  });

  test("no mechanism offers another", () => {
    for (const mechanism of Object.keys(samples) as MechanismName[]) {
      const caught = CAUGHT.filter(([name]) => name === mechanism).map(([, fault]) => parseBreak(fault).kind);
      expect(caught.toSorted()).toEqual([...breaksOf(mechanism)].toSorted());
    }
  });
});

test("arguments that make no sense are named", () => {
  expect(() => run("sr", 1, "float")).toThrow('break: expected scale for "sr", got "float"');
  expect(() => parseBreak("noise")).toThrow(
    "break: expected scale=FACTOR, tree-scale=FACTOR, choice-scale=FACTOR, float, skip-node, counted-again",
  );
  expect(() => parseBreak("scale=-1")).toThrow("break: expected a scale factor above 0");
  expect(() => audit({ mechanism: "laplace", epsilon: 0 })).toThrow("epsilon:");
  expect(() => audit({ mechanism: "sieve" as "laplace", epsilon: 1 })).toThrow("mechanism:");
  expect(() => audit({ mechanism: "laplace", epsilon: 1, samples: 3 })).toThrow("samples:");
});

describe("brume audit", () => {
  /** Runs the command with the given arguments and returns the lines that it prints. */
  async function printed(...argv: string[]): Promise<string> {
    const lines: string[] = [];
    const log = vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
    try {
      await command.run(new Arguments(command, argv));
    } finally {
      log.mockRestore();
    }
    return lines.join("\n");
  }
  const quick = ["--samples", "20000", "--unsafe-seed", "cli", "--epsilon", "1", "--mechanism"];

  test("--json prints the verdict and nothing else", async () => {
    const found = JSON.parse(await printed(...quick, "laplace", "--json")) as Record<string, unknown>;
    const { lowerBound, ...rest } = found;
    expect(rest).toEqual({
      mechanism: "laplace",
      claimed: 1,
      delta: 0,
      confidence: 0.999999,
      samples: 20_000,
      verdict: "consistent",
    });
    expect(lowerBound).toBe(
      audit({ mechanism: "laplace", epsilon: 1, samples: 20_000, unsafeSeed: "cli" }).lowerBound,
    );
  });

  test("--dump writes the runs of both inputs for other testers", async () => {
    const folder = mkdtempSync(join(tmpdir(), "brume-audit-"));
    try {
      await printed(...quick, "choice", "--dump", folder);
      const { attacks, ...head } = JSON.parse(readFileSync(join(folder, "samples.json"), "utf8")) as {
        attacks: { name: string; features: string[]; runs: number; files: [string, string] }[];
      };
      expect(head).toEqual({
        ...{ mechanism: "choice", epsilon: 1, delta: 0, software, break: null, unsafeSeed: "cli" },
        format: "little-endian float64, one row of features per run",
      });
      expect(attacks.map(({ features, runs }) => [features, runs])).toEqual([
        [["threshold"], 5000],
        [["rough threshold"], 20_000],
        [["values above the threshold"], 5000],
      ]);
      // Another tester, by hand: how much likelier the smaller rough threshold is on one input.
      const share = (file: string) => {
        const bytes = readFileSync(join(folder, file));
        const values = Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i));
        return values.filter((value) => value === 0).length / values.length;
      };
      const [first, second] = attacks[1]!.files.map(share) as [number, number];
      expect(first).toBeGreaterThan(second);
      expect(first / second).toBeLessThan(Math.E);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a claim with δ says so, in words and beside the runs: without it another tester would see a violation", async () => {
    const folder = mkdtempSync(join(tmpdir(), "brume-audit-"));
    try {
      const said = await printed(...quick, "discovery", "--dump", folder);
      expect(said).toMatch(/^discovery: claims ε = 1 and δ = 0\.0236, shown ε ≥ /);
      const { delta } = JSON.parse(readFileSync(join(folder, "samples.json"), "utf8")) as { delta: number };
      expect(delta).toBeCloseTo(0.02364054302, 10);
      // A key that nobody else used: never public without the person, with probability δ with them.
      const found = [0, 1].map((world) => {
        const bytes = readFileSync(join(folder, `0-${["first", "second"][world]!}.f64`));
        return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readDoubleLE(8 * i)).filter(
          (x) => x >= 0,
        );
      });
      expect(found[0]).toEqual([]);
      expect(Math.abs(found[1]!.length / 20_000 - delta)).toBeLessThan(5 * Math.sqrt(delta / 20_000));
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("runs of a broken mechanism say so", async () => {
    const folder = mkdtempSync(join(tmpdir(), "brume-audit-"));
    try {
      await printed(...quick, "laplace", "--break", "scale=0.5", "--dump", folder);
      const { break: fault } = JSON.parse(readFileSync(join(folder, "samples.json"), "utf8")) as {
        break: string;
      };
      expect(fault).toBe("scale=0.5");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("a folder that cannot be made is named before the first run", async () => {
    await expect(printed(...quick, "laplace", "--dump", "/nowhere/at/all")).rejects.toThrow(
      "--dump: cannot write to /nowhere/at/all: no such file or folder",
    );
  });

  test("a break is named in words", async () => {
    expect(await printed(...quick, "laplace", "--break", "float")).toMatch(
      /^laplace, broken \(float\): claims ε = 1, shown ε ≥ .*\nVIOLATION.*\n.*lowest set bit/,
    );
  });

  test("a wrong call says what was wanted", async () => {
    await expect(printed("--epsilon", "1")).rejects.toThrow("--mechanism: missing; expected laplace");
    await expect(printed(...quick, "sieve")).rejects.toThrow("--mechanism: expected laplace, noisy-max");
    await expect(printed("--mechanism", "sr")).rejects.toThrow("--epsilon: missing");
  });
});

import { describe, expect, test } from "vitest";
import { brume, file, lines } from "./brume.js";

describe("help and plan", () => {
  test("every command has help with an example", async () => {
    const { out } = await brume(["--help"]);
    const names = [...out.matchAll(/^ {2}brume (\w+)/gm)].map(([, name]) => name!);
    for (const [line] of out.matchAll(/^ {2}brume .*/gm)) expect(line).toMatch(/\.$/); // whole sentences
    expect(names).toContain("release");
    for (const name of names) expect((await brume([name, "--help"])).out).toMatch(/Example:\n {2}.*brume/);
  });

  test("plan as tables and as JSON", async () => {
    expect((await brume(["plan", "--epsilon", "0.1", "--max", "1000"])).out).toContain(
      "Blocks of 4096 values",
    );
    const { out } = await brume(["plan", "--epsilon", "0.1", "--max", "1000", "--json"]);
    expect(JSON.parse(out)).toMatchObject({ blockLength: 4096, levels: 2, refining: null });
    const early = ["plan", "--epsilon", "0.1", "--max", "1000", "--holdout", "1024", "--refine"];
    expect((await brume(early)).out).toContain(
      "θ is chosen once more after 65536 published values; until then the scale is 42.67·θ.",
    );
  });
});

describe("brume evaluate", () => {
  const args = [
    "evaluate",
    "--data",
    file("short.txt", lines),
    "--max",
    "100",
    "--holdout",
    "128",
    "--max-range",
    "1024",
  ];
  const seeded = [
    "--epsilon",
    "0.5,2",
    "--methods",
    "tops,base",
    "--repeat",
    "3",
    "--queries",
    "20",
    "--unsafe-seed",
    "e",
  ];

  test("gives one JSON object, the same for the same seed", async () => {
    const [a, b] = await Promise.all([0, 1].map(() => brume([...args, ...seeded, "--tile", "--json"])));
    const { settings, results } = JSON.parse(a!.out) as {
      settings: object;
      results: Record<string, unknown>[];
    };
    expect(settings).toMatchObject({ max: 100, repeat: 3, queries: 20, tile: true });
    expect(results.map(({ method, epsilon }) => [method, epsilon])).toEqual([
      ["tops", 0.5],
      ["tops", 2],
      ["base", 0.5],
      ["base", 2],
    ]);
    const errors = (text: string) =>
      (JSON.parse(text) as { results: { mse: unknown; theta: unknown }[] }).results.map(({ mse, theta }) => [
        mse,
        theta,
      ]);
    expect(errors(b!.out)).toEqual(errors(a!.out));
  });

  test("gives a table, and says what is missing", async () => {
    expect((await brume([...args, ...seeded, "--tile"])).out).toMatch(/method +ε +MSE/);
    const short = await brume([...args, ...seeded]);
    expect(short.code).toBe(2);
    expect(short.err).toContain("expected at least holdout + maxRange = 1152 values, got 600");
    expect((await brume([...args, "--epsilon", "1", "--methods", "best"])).err).toContain(
      "--methods: expected tops",
    );
  });
});

describe("brume ldp simulate", () => {
  test("prints truth beside estimate with error bars", async () => {
    const path = file("devices.txt", "1\n2\n3\n2\n1\n9\n".repeat(1000));
    const { code, out } = await brume([
      "ldp",
      "simulate",
      "--data",
      path,
      "--max",
      "100",
      "--holdout",
      "3000",
      "--epsilon",
      "2",
      "--unsafe-seed",
      "l",
    ]);
    expect(code).toBe(0);
    expect(out).toContain("6000 devices reported");
    const [, truth, estimate, bar] = /^ +3000 +(\S+) +(\S+) +(\S+)$/m.exec(out)!.map(Number);
    // A bar is 1.96 standard deviations or more: noise passes three once in 10⁸ seeds, a wrong estimator always.
    expect(Math.abs(estimate! - truth!)).toBeLessThan(3 * bar!);
  });

  test("wants fewer teachers than devices", async () => {
    const { code, err } = await brume(["ldp", "simulate", "--devices", "100"]);
    expect(code).toBe(2);
    expect(err).toContain("--holdout: expected less than the 100 devices there are, got 65536");
  });
});

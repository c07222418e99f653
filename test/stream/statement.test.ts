import { describe, expect, test } from "vitest";
import { privateStream } from "../../src/index.js";
import { small } from "../support/smallStream.js";
import { longTailedStream } from "../support/streams.js";

describe("the statement", () => {
  test("says what is promised, with what, and what is not", () => {
    const stream = privateStream({ epsilon: 0.5, max: 100, holdout: 64, maxRange: 256 });
    expect(stream.statement()).toMatchObject({
      epsilon: 0.5,
      delta: 0,
      private: true,
      threshold: null,
      noiseScale: null,
    });
    stream.pushMany(longTailedStream(100, 100, "statement"));
    const statement = stream.statement();
    expect(
      statement.stages.map(({ stage, epsilon, values, which }) => [stage, epsilon, values, which]),
    ).toEqual([
      ["threshold", 0.5, [0, 64], "positions 3 mod 16"],
      ["threshold", 0.5, [0, 64], "positions 7 mod 16"],
      ["threshold", 0.5, [0, 64], "positions other than 3, 7, 15 mod 16"],
      ["warm start", 0.5, [0, 64], "positions 15 mod 32"],
      ["clamped share", 0.5, [0, 64], "positions 31 mod 32"],
      ["release", 0.5, [64, null], undefined],
    ]);
    // No seed, so nothing is asked of numbers that noise decides.
    expect(statement.clampedShare).toMatchObject({ of: 2 });
    expect(statement.warnings[0]).toMatch(/^the hold-out of 64 values at ε = 0.5 is too small/);
    expect(statement.noiseScale).toBe((statement.levels * statement.threshold!) / 0.5);
    expect(statement.published).toBe(36);
    expect(JSON.parse(JSON.stringify(statement))).toEqual(statement);
    expect(stream.explain()).toContain("ε = 0.5");
    expect(stream.explain()).toContain("a person with many values");
  });

  test("a seed makes it not private, and says so", () => {
    expect(privateStream(small).statement()).toMatchObject({
      private: false,
      randomness: expect.stringContaining("NOT PRIVATE") as string,
    });
    expect(privateStream(small).explain()).toContain("NOT PRIVATE");
    expect(privateStream(small).explain()).not.toContain("Protected: one value");
  });

  test("without a seed two releases differ", () => {
    const option = { epsilon: 1, max: 100, threshold: 10, tuning: { skipLevels: 0 }, maxRange: 256 } as const;
    const values = new Float64Array(64).fill(5);
    expect(privateStream(option).pushMany(values)).not.toEqual(privateStream(option).pushMany(values));
  });
});

test("a hold-out that is too short says how much of the tail it cannot see; stages are those that spend", () => {
  const said = (more: object) => {
    const { warnings, stages } = privateStream({ epsilon: 0.05, max: 1000, ...more }).statement();
    return { warnings, stages: stages.map(({ stage }) => stage) };
  };
  const { warnings } = said({ holdout: 1000 });
  expect(warnings[0]).toContain("beyond the largest 7.4 % of values"); // 3/0.05 values of 13/16·1000
  expect(said({ holdout: 1000, variant: "paper" }).stages).toEqual(["threshold", "release"]);
  expect(said({ threshold: 5 })).toEqual({ warnings: [], stages: ["release"] });
});

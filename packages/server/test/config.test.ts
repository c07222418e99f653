/** Configs: what is right, and what a person reads when it is not. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkConfig, loadConfig } from "../src/config/load.js";
import { resolveMetric } from "../src/config/metrics.js";
import { readKey, readToken } from "../src/config/secrets.js";
import { temporaryFolder } from "./support.js";

const right = {
  epsilon: 1,
  key: { env: "BRUME_KEY" },
  metrics: { requests: { type: "count", epsilon: 0.5, every: "1h", perPerson: 3 } },
};

const problemsOf = (config: unknown): string => {
  try {
    checkConfig(config);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
};
const withMetric = (metric: object) => ({
  ...right,
  metrics: { m: { every: "1h", perPerson: 1, ...metric } },
});

test("a small config is right", () => {
  expect(checkConfig(right)).toBe(right);
});

test("sums and means take a lower bound, and all of their values may be below zero", () => {
  const config = withMetric({ type: "mean", epsilon: 1, min: -40, max: -5, threshold: -10 });
  expect(checkConfig(config)).toBe(config);
  expect(resolveMetric("m", config.metrics.m as never).options).toMatchObject({
    of: "mean",
    min: -40,
    max: -5,
    threshold: -10,
  });
});

test.each([
  [
    withMetric({ type: "sum", epsilon: 1, min: 5, max: 5 }),
    "metrics.m.max: expected a finite number above min",
  ],
  [withMetric({ type: "sum", epsilon: 1, max: -5 }), "metrics.m.max: expected a finite number above 0"],
  [withMetric({ type: "count", epsilon: 1, min: -5 }), "metrics.m.min: expected none for type count"],
  [
    withMetric({ type: "sum", epsilon: 1, min: -5, max: 5, perPerson: { sum: 9 } }),
    "metrics.m.min: expected none beside perPerson.sum",
  ],
  [
    { ...right, metrics: { m: { type: "local", epsilon: 1, max: -5, perPerson: 1 } } },
    "metrics.m.max: expected",
  ],
  [{ ...right, epsilon: undefined }, 'the file: expected the field "epsilon", got none; add it'],
  [{ ...right, epsilom: 1 }, 'the file: unknown field "epsilom"; remove it'],
  [{ ...right, key: "abc" }, 'key: expected { "env": "NAME" } or { "file": "path" }: secrets do not stand'],
  [{ ...right, store: { mysql: 1 } }, 'store: expected { "sqlite": "./state" } or'],
  [
    withMetric({ type: "counter", epsilon: 1 }),
    "metrics.m.type: expected one of count, people, sum, mean, histogram",
  ],
  [withMetric({ type: "count" }), 'metrics.m: expected the field "epsilon"'],
  [withMetric({ type: "sum", epsilon: 1 }), 'metrics.m: expected the field "max" for type sum'],
  [
    withMetric({ type: "count", epsilon: 1, max: 3 }),
    "metrics.m.max: expected none for type count; remove it",
  ],
  [withMetric({ type: "histogram", epsilon: 1, max: 3 }), 'metrics.m: expected the field "min"'],
  [withMetric({ type: "count", epsilon: 1, every: "1 minute" }), "metrics.m.every: expected text like"],
  [withMetric({ type: "count", epsilon: 1, every: "7s" }), "metrics.m.every: expected"],
  [withMetric({ type: "count", epsilon: 1, levels: ["1h", "90m"] }), "metrics.m.levels: expected"],
  [{ ...right, zone: "Mars/Olympus" }, "zone: expected"],
  ...["perTick", "finest", "maxRange", "origin", "smoother", "tuning"].map((former): [object, string] => [
    withMetric({ type: "count", epsilon: 1, [former]: 1 }),
    `metrics.m.${former}: no longer an option; use `,
  ]),
  [
    { ...right, metrics: { m: { type: "count", epsilon: 1, perPerson: 1 } } },
    'metrics.m: expected the field "every" for type count',
  ],
  [
    { ...right, metrics: { m: { type: "count", epsilon: 1, every: "1h" } } },
    'metrics.m: expected the field "perPerson", how many events of a person and day count',
  ],
  [
    withMetric({ type: "count", epsilon: 1, perPerson: { sum: 4 } }),
    "metrics.m.perPerson.sum: expected none for a count",
  ],
  [
    withMetric({ type: "count", epsilon: 1, perPerson: "5" }),
    'metrics.m.perPerson: expected a number of events, or { "events": 5, "perHour": 1 }',
  ],
  [
    withMetric({ type: "count", epsilon: 1, keys: { prefix: "a", from: 3, to: 1 } }),
    "metrics.m.keys: expected from ≤ to",
  ],
  [
    withMetric({ type: "count", epsilon: 1, keys: { prefix: "a", from: 1, to: 9e6 } }),
    "at most 100000 keys in all",
  ],
  [
    withMetric({ type: "count", epsilon: 2 }),
    "epsilon: expected metrics that spend at most ε = 1 of a person and day, got 2",
  ],
  [
    { ...right, metrics: { m: { type: "local", epsilon: 1, max: 3, keys: ["a"] } } },
    "metrics.m.keys: expected none for type local",
  ],
  [
    { ...right, metrics: { m: { type: "local", epsilon: 1, unit: "EUR" } } },
    "metrics.m.max: expected a number, since only page loads in ms have a bound of their own",
  ],
  [
    { ...right, metrics: { m: { type: "local", epsilon: 1, threshold: 14_999 } } },
    "metrics.m.threshold: expected one of the 321",
  ],
])("%j is refused", (config, message) => {
  expect(problemsOf(JSON.parse(JSON.stringify(config)))).toContain(message);
});

test("a local metric with nothing but ε is of page loads: 60 s, 15 s on the first day, one report a day", () => {
  const found = { max: 60_000, threshold: 15_000, reports: 1 };
  expect(resolveMetric("m", { type: "local", epsilon: 1 })).toMatchObject({ unit: "ms", local: found });
  const lower = resolveMetric("m", { type: "local", epsilon: 1, threshold: 7500, perPerson: 2 });
  expect(lower).toMatchObject({ unit: "ms", local: { max: 60_000, threshold: 7500, reports: 2 } });
  const own = resolveMetric("m", { type: "local", epsilon: 1, max: 500 });
  expect(own).toMatchObject({ unit: "", local: { max: 500, threshold: undefined, reports: 1 } });
});

test("all mistakes come at once", () => {
  const message = problemsOf({ ...right, one: 1, two: 2 });
  expect(message.split("\n")).toHaveLength(2);
});

test("what counts of a person goes to the library as it is written", () => {
  const metric = { type: "count", epsilon: 0.3, every: "1m", levels: ["1m", "1h"] } as const;
  const { options } = resolveMetric("m", { ...metric, perPerson: { events: 10, perHour: 2 } });
  expect(options).toMatchObject({
    epsilon: 0.3,
    levels: ["1m", "1h"],
    perPerson: { events: 10, perHour: 2 },
  });
  expect(resolveMetric("m", { ...metric, perPerson: 4 }).options).toMatchObject({ perPerson: { events: 4 } });
  expect(resolveMetric("m", { ...metric, protect: "event" }).options).not.toHaveProperty("perPerson");
});

test("numbered keys are a list", () => {
  const { keys } = resolveMetric("m", {
    type: "count",
    epsilon: 1,
    every: "1h",
    keys: { prefix: "shop-", from: 1, to: 3 },
  });
  expect(keys).toEqual(["shop-1", "shop-2", "shop-3"]);
});

test("JSON and TypeScript files", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "a.json"), JSON.stringify(right));
  writeFileSync(
    join(folder, "b.ts"),
    `const epsilon: number = 1;\nexport default { ...${JSON.stringify(right)}, epsilon };`,
  );
  writeFileSync(join(folder, "c.json"), "{");
  expect(await loadConfig(join(folder, "a.json"))).toEqual(right);
  expect(await loadConfig(join(folder, "b.ts"))).toEqual(right);
  await expect(loadConfig(join(folder, "c.json"))).rejects.toThrow("config: expected JSON in");
  await expect(loadConfig(join(folder, "d.json"))).rejects.toThrow("run: brume serve --init");
});

test("secrets come from files and the environment, and no message has one", () => {
  const file = join(temporaryFolder(), "key");
  writeFileSync(file, Buffer.alloc(32, 5).toString("base64"), { mode: 0o600 });
  expect(readKey({ file })).toEqual(new Uint8Array(32).fill(5));
  writeFileSync(file, "too short");
  expect(() => readKey({ file })).toThrow(/^key: expected 32 bytes in base64 or hex, got \d+; make one with/);
  expect(() => readKey({ env: "BRUME_NO_SUCH_VARIABLE" })).toThrow(
    "expected a secret in the environment variable",
  );
  expect(() => readToken("tokens.write", { file })).toThrow("tokens.write: expected at least 16 characters");
});

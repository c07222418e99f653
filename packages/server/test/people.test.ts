/** Different people by day, week and month, from a config to a number over HTTP. */
import { expect, test } from "vitest";
import { checkConfig } from "../src/config/load.js";
import { metricsOf, personEpsilon } from "../src/config/metrics.js";
import type { Config } from "../src/config/types.js";
import { personPlan } from "../src/personPlan.js";
import { pass, send, START, startService, temporaryFolder, testConfig } from "./support.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** START is Sunday, 1 March 2026, at noon. */
const MONDAY = START + 12 * HOUR;

const metrics: Config["metrics"] = {
  visitors: { type: "people", epsilon: 50, over: "1d", lateness: "0s" },
  weekly: {
    type: "people",
    epsilon: 100,
    over: "1w",
    lateness: "0s",
    keys: ["home", "shop", "help"],
    keysPerPerson: 2,
  },
};

test("a person counts once in a day, and once a week under each of two keys", async () => {
  const config = testConfig(temporaryFolder(), { epsilon: 250, metrics });
  const running = await startService(config);
  const { app } = running;
  const ask = async (query: string) =>
    (await app.inject(`/v1/query?${query}`)).json<Record<string, unknown>>();
  await pass(running, 12 * HOUR + 1000); // Monday
  for (let day = 0; day < 7; day++) {
    const visits = [
      ["ann", ["home", "shop", "help"][day % 3]!],
      ["ann", "home"],
      ["bob", "shop"],
    ] as const;
    const response = await send(
      app,
      visits.flatMap(([person, key]) => [
        { metric: "visitors", person },
        { metric: "weekly", key, person },
      ]),
    );
    expect(response.statusCode).toBe(202);
    for (let part = 0; part < 4; part++) await pass(running, 6 * HOUR);
    expect(Math.round((await ask("metric=visitors")).value as number)).toBe(2);
  }
  const week = { from: MONDAY, to: MONDAY + 7 * DAY, complete: true };
  const counts: number[] = [];
  for (const key of ["home", "shop", "help"]) {
    const answer = await ask(`metric=weekly&key=${key}`);
    expect(answer).toMatchObject({ type: "people", ...week });
    counts.push(Math.round(answer["value"] as number));
  }
  expect(counts).toEqual([1, 2, 0]); // help was ann's third key
  expect(await ask("metric=weekly&key=home&last=1w")).toMatchObject(week);
  const series = await ask(`metric=weekly&key=home&every=auto&from=${MONDAY}`);
  expect(series).toMatchObject({ period: "1w", answers: [week, { complete: false, value: null }] });
  for (const [query, words] of [
    ["last=7d", "last: expected 1w, in which people are counted once"],
    ["every=1d", "every: expected 1w, in which people are counted once, or auto"],
  ])
    expect((await ask(`metric=weekly&key=home&${query}`))["error"]).toContain(words);
  const refused = await send(app, [{ metric: "visitors", person: "ann", value: 1 }]);
  expect([refused.statusCode, refused.json<{ error: string }>().error]).toEqual([
    400,
    "events.0.value: expected none, since a count takes no values",
  ]);
  const about = await app.inject("/v1/metrics");
  expect(about.json<{ metrics: object[] }>().metrics).toMatchObject([
    { type: "people", every: "1d", people: { over: "1d", keysPerPerson: 1 }, perPerson: null },
    { type: "people", every: "1w", people: { over: "1w", keysPerPerson: 2 }, levels: ["1w"] },
  ]);
  expect((await app.inject("/metrics")).body).toContain('brume_value{metric="weekly",key="shop"');
  const text = (await app.inject("/v1/statement?format=text")).body;
  expect(text).toContain("weekly (people, 3 keys): ε = 100 for one person, per week (UTC).");
  expect(text).toContain("One day of it costs ε = 200, since its events decide which later keys");
  const { budget, plan } = (await app.inject("/v1/statement")).json<{
    budget: { spent: number };
    plan: { days: number; epsilon: number }[];
  }>();
  expect(budget.spent).toBe(50 + 200);
  // 30 days lie in at most six weeks, 365 days in 53.
  expect(plan.map(({ epsilon }) => epsilon)).toEqual([250, 30 * 50 + 6 * 200, 365 * 50 + 53 * 200]);
});

test("with keys a day of a week or month costs 2ε; without keys, and by days, ε", () => {
  const cost = (metric: object) =>
    personEpsilon(metricsOf({ metrics: { m: { type: "people", epsilon: 1, ...metric } } } as never)[0]!);
  const keys = { keys: ["a", "b"], keysPerPerson: 3 };
  expect([cost({ over: "1d", ...keys }), cost({ over: "1w" }), cost({ over: "1mo" })]).toEqual([1, 1, 1]);
  expect([cost({ over: "1w", ...keys }), cost({ over: "1mo", ...keys })]).toEqual([2, 2]);
});

test("a person who is there every day is in so many weeks and months at most", () => {
  const of = (over: "1d" | "1w" | "1mo") =>
    personPlan([{ epsilon: 1, ownNoise: true, over }], 1).map(({ epsilon }) => epsilon);
  expect(of("1d")).toEqual([1, 30, 365]);
  expect(of("1w")).toEqual([1, 6, 53]);
  expect(of("1mo")).toEqual([1, 3, 13]); // 31 January to 1 March
});

test.each([
  [{ every: "1d" }, 'expected the field "over" for type people'],
  [{ over: "1d", every: "1d" }, "metrics.m.every: expected none for type people"],
  [{ over: "1d", perPerson: 1 }, "metrics.m.perPerson: expected none for type people"],
  [{ over: "1d", protect: "event" }, "metrics.m.protect: expected none for type people"],
  [
    { over: "1d", keys: ["a", "b"] },
    'expected the field "keysPerPerson", under how many keys a person counts',
  ],
  [{ over: "1y" }, "over"],
  [{ over: "1w", keys: ["a", "b"], keysPerPerson: 1 }, "epsilon: expected metrics that spend at most ε = 1"],
])("refused: %j", (metric, words) => {
  const config = {
    epsilon: 1,
    key: { env: "K" },
    metrics: { m: { type: "people", epsilon: 1, ...metric } },
  };
  expect(() => checkConfig(config)).toThrow(words);
});

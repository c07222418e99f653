/** Values below zero, from the config to every answer: the numbers, their intervals, series, CSV and gauges. */
import { expect, test } from "vitest";
import type { Config } from "../src/config/types.js";
import { pass, SECONDS, send, START, startService, temporaryFolder, testConfig } from "./support.js";

const SECOND = 1000;
const PERIODS = 60;
const metrics: Config["metrics"] = {
  temperature: {
    ...{
      type: "mean",
      epsilon: 4,
      min: -40,
      max: 60,
      threshold: 60,
      unit: "°C",
      protect: "event",
      ...SECONDS,
    },
  },
  balance: { type: "sum", epsilon: 4, min: -500, max: 200, threshold: 200, protect: "event", ...SECONDS },
};

interface Interval {
  readonly value: number;
  readonly low: number;
  readonly high: number;
}

/** Values of one second: some below `min`, which are clamped to it. */
const valuesOf = (metric: string, second: number): number[] =>
  metric === "temperature"
    ? Array.from({ length: 400 }, (_, i) => ((i * 7 + second) % 30) - 25)
    : Array.from({ length: 400 }, (_, i) => (i % 100 === 0 ? -9000 : ((i * 11 + second) % 400) - 300));
const clamped = (metric: string, second: number): number[] =>
  valuesOf(metric, second).map((value) => Math.max(value, metrics[metric]!.min!));
const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
const truthOf = (metric: string, second: number): number => {
  const sum = sumOf(clamped(metric, second));
  return metric === "temperature" ? sum / 400 : sum;
};

test("numbers and intervals are below zero where the truth is", async () => {
  const running = await startService(testConfig(temporaryFolder(), { metrics, epsilon: 8 }));
  const { app } = running;
  for (let second = 0; second < PERIODS; second++) {
    const events = Object.keys(metrics).flatMap((metric) =>
      valuesOf(metric, second).map((value) => ({ metric, value })),
    );
    expect((await send(app, events)).statusCode).toBe(202);
    await pass(running, SECOND);
  }
  const asked = async <T>(query: string): Promise<T> => (await app.inject(`/v1/query?${query}`)).json<T>();
  const range = `from=${START}&to=${START + PERIODS * SECOND}`;
  for (const metric of Object.keys(metrics)) {
    const { answers } = await asked<{ answers: Interval[] }>(`metric=${metric}&${range}&every=1s`);
    expect(answers).toHaveLength(PERIODS);
    expect(answers.every(({ value }) => value < 0)).toBe(true);
    const held = (more: number): number =>
      answers.filter(({ low, high }, i) => {
        const truth = truthOf(metric, i) + more;
        return low <= truth && truth <= high;
      }).length;
    // 60 independent intervals at 95 %: 15 or more of them miss with odds of 2·10⁻⁷.
    expect(held(0)).toBeGreaterThan(45);
    // A degree, or two values that are not clamped to `min`, would be seen.
    expect(held(metric === "temperature" ? 1 : -17_000)).toBe(0);
    const csv = (await app.inject(`/v1/query?metric=${metric}&${range}&every=1s&format=csv`)).body;
    expect(csv.split("\n")[1]).toMatch(/,-\d/);
    const gauges = (await app.inject("/metrics")).body;
    expect(gauges).toMatch(new RegExp(`brume_value\\{metric="${metric}",key="",bound="high"\\} -\\d`));
  }
  // The sum of a minute is the sum of its seconds.
  const { value } = await asked<Interval>("metric=balance&last=1m");
  const seconds = await asked<{ answers: Interval[] }>(`metric=balance&${range}&every=1s`);
  expect(value).toBeCloseTo(sumOf(seconds.answers.map((answer) => answer.value)), 4);
  const about = (await app.inject("/v1/metrics")).json<{ metrics: object[] }>();
  expect(about.metrics).toMatchObject([{ min: -40 }, { min: -500 }]);
  const statement = (await app.inject("/v1/statement?format=text")).body;
  expect(statement).toContain("Values below -40 are clamped to it.");
});

/** OpenTelemetry metrics as JSON: what counts, and what is rejected. */
import { expect, test } from "vitest";
import { pass, SECONDS, START, startService, temporaryFolder, testConfig } from "./support.js";

const seconds = { ...SECONDS, perPerson: 3 } as const;
const metrics = {
  requests: { type: "count", epsilon: 600, keys: ["a", "b"], ...seconds },
  basket: { type: "mean", epsilon: 300, max: 100, threshold: 100, ...seconds },
} as const;
const start = () => startService(testConfig(temporaryFolder(), { epsilon: 1000, metrics }));
type Started = Awaited<ReturnType<typeof start>>;

const attributes = (texts: Readonly<Record<string, string>>) =>
  Object.entries(texts).map(([key, stringValue]) => ({ key, value: { stringValue } }));
const post = ({ app }: Started, metrics: readonly object[]) =>
  app.inject({
    method: "POST",
    url: "/v1/metrics",
    payload: { resourceMetrics: [{ resource: { attributes: [] }, scopeMetrics: [{ scope: {}, metrics }] }] },
  });
const sum = (points: readonly object[], more: object = {}) => ({
  name: "requests",
  sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints: points, ...more },
});
const value = async ({ app }: Started, query: string) =>
  (await app.inject(`/v1/query?${query}&from=${START}&to=${START + 1000}`)).json<{ value: number }>().value;

test("delta sums count, gauges have values, and a person has a limit", async () => {
  const running = await start();
  const timeUnixNano = `${START}000000`;
  const answer = await post(running, [
    sum([
      { attributes: attributes({ key: "a", person: "one" }), asInt: "2", timeUnixNano },
      { attributes: attributes({ key: "a", person: "two" }), asInt: 7, timeUnixNano },
      { attributes: attributes({ key: "not-listed", person: "two" }), asInt: 1 },
    ]),
    {
      name: "basket",
      gauge: {
        dataPoints: Array.from({ length: 50 }, (_, i) => ({
          ...{ attributes: attributes({ person: `p${i}` }), asDouble: 40.5, timeUnixNano },
        })),
      },
    },
  ]);
  expect([answer.statusCode, answer.json()]).toEqual([200, {}]);
  await pass(running, 2000);
  expect(await value(running, "metric=requests&key=a")).toBeCloseTo(5, 0); // 2, and 3 of 7
  expect(Math.abs((await value(running, "metric=basket")) - 40.5)).toBeLessThan(5); // noise of 0.2 or so
});

test.each([
  ["a cumulative sum", sum([{ asInt: 1 }], { aggregationTemporality: 2 })],
  ["a sum that may fall", sum([{ asInt: 1 }], { isMonotonic: false })],
  ["a point without a person", sum([{ attributes: attributes({ key: "a" }), asInt: 1 }])],
  ["half an event", sum([{ attributes: attributes({ key: "a", person: "p" }), asDouble: 0.5 }])],
  ["a histogram", { name: "basket", histogram: { dataPoints: [{ count: 3, sum: 12 }] } }],
  ["a metric that is not there", { name: "nothing", gauge: { dataPoints: [{ asDouble: 1 }] } }],
])("%s is rejected, and the rest is taken", async (_, metric) => {
  const running = await start();
  const right = sum([{ attributes: attributes({ key: "b", person: "secret-id" }), asInt: 1 }]);
  const answer = await post(running, [metric, right]);
  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toMatchObject({ partialSuccess: { rejectedDataPoints: 1 } });
  expect(answer.body).not.toContain("secret-id");
  await pass(running, 2000);
  expect(await value(running, "metric=requests&key=b")).toBeCloseTo(1, 0);
});

test("protobuf is refused with what to send", async () => {
  const { app } = await start();
  const headers = { "content-type": "application/x-protobuf" };
  const answer = await app.inject({ method: "POST", url: "/v1/metrics", headers, payload: Buffer.alloc(4) });
  expect(answer.statusCode).toBe(415);
});

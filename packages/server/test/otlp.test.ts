/** OpenTelemetry metrics as JSON and as protobuf: what counts, and what is rejected. */
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
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

test.each([{}, { timeUnixNano: "0" }, { timeUnixNano: 0 }])(
  "a point whose time is not known is of now: %j",
  async (time) => {
    const running = await start();
    await pass(running, 2000);
    const own = attributes({ key: "a", person: "one" });
    expect((await post(running, [sum([{ attributes: own, asInt: "2", ...time }])])).json()).toEqual({});
    await pass(running, 2000);
    const query = `/v1/query?metric=requests&key=a&from=${START + 2000}&to=${START + 3000}`;
    expect((await running.app.inject(query)).json<{ value: number }>().value).toBeCloseTo(2, 0);
  },
);

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

const PROTOBUF = { "content-type": "application/x-protobuf" };
const sendBytes = ({ app }: Started, payload: Buffer) =>
  app.inject({ method: "POST", url: "/v1/metrics", headers: PROTOBUF, payload });

describe("protobuf", () => {
  const varint = (n: number): number[] => (n < 128 ? [n] : [(n & 127) | 128, ...varint(n >>> 7)]);
  const field = (number: number, content: Buffer): Buffer =>
    Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(content.length)]), content]);
  const request = (metric: Buffer): Buffer => field(1, field(2, field(2, metric)));
  const named = Buffer.from("requests");

  test("an empty export is taken, and answered in protobuf", async () => {
    const answer = await sendBytes(await start(), Buffer.alloc(0));
    expect([answer.statusCode, answer.headers["content-type"], answer.rawPayload.length]).toEqual([
      ...[200, "application/x-protobuf", 0],
    ]);
  });

  test("invalid points are rejected by their number", async () => {
    const points = Buffer.concat(Array.from({ length: 3 }, () => field(1, Buffer.alloc(0))));
    const answer = await sendBytes(
      await start(),
      request(Buffer.concat([field(1, named), field(7, points)])),
    );
    expect(answer.statusCode).toBe(200);
    // ExportMetricsServiceResponse { partial_success { rejected_data_points: 3, error_message } }
    expect([...answer.rawPayload.subarray(3, 5)]).toEqual([8, 3]);
    expect(answer.rawPayload.toString()).toContain("expected delta sums");
  });

  test.each([
    ["noise", Buffer.from("ffffffffffffffff", "hex")],
    ["a message that is cut", request(field(1, named)).subarray(0, -2)],
    [
      "values in values in values",
      (() => {
        let value: Buffer = Buffer.alloc(0);
        while (value.length < 10_000) value = field(5, field(1, value)); // AnyValue { array_value { values } }
        return request(field(7, field(1, field(7, field(2, value)))));
      })(),
    ],
  ])("%s is refused with a status in protobuf, and nothing is taken", async (_, payload) => {
    const answer = await sendBytes(await start(), payload);
    expect([answer.statusCode, answer.headers["content-type"]]).toEqual([400, "application/x-protobuf"]);
    expect(answer.rawPayload.subarray(2).toString()).toBe(
      "body: expected an ExportMetricsServiceRequest of OTLP; nothing was taken",
    );
  });

  test("more than 256 KiB are refused before they are decoded, compressed or not", async () => {
    const running = await start();
    const points = request(field(7, Buffer.concat(Array<Buffer>(200_000).fill(Buffer.from([10, 0])))));
    expect((await sendBytes(running, points)).statusCode).toBe(413);
    const headers = { ...PROTOBUF, "content-encoding": "gzip" };
    const payload = gzipSync(points);
    const answer = await running.app.inject({ method: "POST", url: "/v1/metrics", headers, payload });
    expect([payload.length < 1000, answer.statusCode]).toEqual([true, 413]);
  });
});

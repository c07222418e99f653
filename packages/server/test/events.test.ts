/** From an event to a published number, over HTTP. */
import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { RANGES } from "../dashboard/src/words.js";
import { METRICS, pass, send, START, startService, temporaryFolder, testConfig } from "./support.js";

const HOUR = 3_600_000;

/** ε so large that noise is small: what comes out is what went in, to within a few units. */
const loud = Object.fromEntries(
  Object.entries(METRICS).map(([name, metric]) => [name, { ...metric, epsilon: 400, perPerson: 2 }]),
);
const start = () => startService(testConfig(temporaryFolder(), { epsilon: 1300, metrics: loud }));

const answer = async (app: Awaited<ReturnType<typeof start>>["app"], query: string) => {
  const response = await app.inject(`/v1/query?${query}`);
  expect(response.statusCode).toBe(200);
  return response.json<{ value: number; total: { value: number }; quantiles: { value: number }[] }>();
};

test("counts, means and percentiles of what was sent", async () => {
  const running = await start();
  const { app } = running;
  const events = Array.from({ length: 50 }, (_, i) => [
    { metric: "requests", key: "a", person: `p${i}` },
    { metric: "basket", value: 40, person: `p${i}` },
    { metric: "latency", value: 100, person: `p${i}` },
  ]).flat();
  const response = await send(app, events);
  expect([response.statusCode, response.json()]).toEqual([202, { accepted: 150 }]);
  await pass(running, 2000);
  const range = `from=${START}&to=${START + 1000}`;
  expect((await answer(app, `metric=requests&key=a&${range}`)).value).toBeCloseTo(50, 0);
  expect((await answer(app, `metric=requests&key=b&${range}`)).value).toBeCloseTo(0, 0);
  expect((await answer(app, `metric=basket&${range}`)).value).toBeCloseTo(40, 0);
  const latency = await answer(app, `metric=latency&quantiles=0.5&${range}`);
  expect(latency.total.value).toBeCloseTo(50, 0);
  expect(latency.quantiles[0]!.value).toBeGreaterThan(50);
  expect(latency.quantiles[0]!.value).toBeLessThan(200);
});

test("two events of a person and day count, over all keys", async () => {
  const running = await start();
  const events = ["a", "b", "a", "b", "a"].map((key) => ({ metric: "requests", key, person: "one" }));
  await send(running.app, events);
  await pass(running, 2000);
  const count = async (key: string) =>
    Math.round((await answer(running.app, `metric=requests&key=${key}&from=-1h`)).value);
  expect([await count("a"), await count("b")]).toEqual([1, 1]);
});

test("a batch with the same idempotency key counts once, also while the first one waits", async () => {
  const running = await start();
  const batch = [{ metric: "requests", key: "a", person: "one" }];
  const again = () => send(running.app, batch, { "idempotency-key": "batch-1" });
  const answers = [...(await Promise.all([again(), again()])), await again()];
  expect(answers.map(({ statusCode }) => statusCode)).toEqual([202, 202, 202]);
  await pass(running, 2000);
  expect((await answer(running.app, "metric=requests&key=a&from=-1h")).value).toBeCloseTo(1, 0);
});

test("lines of JSON, and gzip", async () => {
  const running = await start();
  const lines = ["p1", "p2"]
    .map((person) => JSON.stringify({ metric: "requests", key: "a", person }))
    .join("\n");
  for (const [payload, more] of [
    [lines, {}],
    [gzipSync(lines.replaceAll(`"p`, `"q`).replaceAll(`"qerson`, `"person`)), { "content-encoding": "gzip" }],
  ] as const) {
    const headers = { "content-type": "application/x-ndjson", ...more };
    const response = await running.app.inject({ method: "POST", url: "/v1/events", headers, payload });
    expect(response.json()).toEqual({ accepted: 2 });
  }
  await pass(running, 2000);
  expect((await answer(running.app, "metric=requests&key=a&from=-1h")).value).toBeCloseTo(4, 0);
});

test("steps, csv and the statement", async () => {
  const running = await start();
  await pass(running, 3000);
  const { app } = running;
  const steps = await app.inject(`/v1/query?metric=requests&key=a&from=${START}&to=${START + 3000}&every=1s`);
  expect(steps.json<{ answers: unknown[] }>().answers).toHaveLength(3);
  const csv = await app.inject(`/v1/query?metric=requests&key=a&from=${START}&every=1s&format=csv`);
  expect(csv.body.split("\n")[0]).toBe("from,to,complete,next,value,low,high,standardError,confidence");
  const statement = await app.inject("/v1/statement");
  expect(statement.json()).toMatchObject({
    unit: "one person, per day (UTC)",
    zone: "UTC",
    budget: { limit: 1300, spent: 1200, left: 100 },
    plan: [
      { days: 1, epsilon: 1200 },
      { days: 30, epsilon: 36_000, approximate: { delta: 1e-9 } },
      { days: 365, epsilon: 438_000 },
    ],
  });
  expect((await app.inject("/v1/statement?format=text")).body).toContain(
    "ε = 400 for one person, per day (UTC)",
  );
  expect((await app.inject("/v1/statement?format=registry")).json()).toMatchObject({
    status: "Draft",
    deployment: {
      basic: { name: "TO ADD: the name of the data product" },
      privacy_loss: { privacy_unit: "User-day-level", privacy_parameters: { epsilon: 1200 } },
    },
  });
});

test("an answer is the library's: nothing before a period has ended, then a number, and when the next one comes", async () => {
  const running = await start();
  const { app, service } = running;
  const ask = async (query: string) =>
    (await app.inject(`/v1/query?metric=requests&key=a${query}`)).json<object>();
  expect(await ask("")).toMatchObject({ value: null, complete: false, next: START + 1000 });
  expect(await ask(`&from=${START}&to=${START + 5000}`)).toMatchObject({ value: null, next: START + 1000 });
  await send(app, [{ metric: "requests", key: "a", person: "one" }]);
  await pass(running, 1000);
  const { metric, type, unit, key, zone, ...answer } = (await ask("&last=1s")) as Record<string, unknown>;
  expect({ metric, type, unit, key, zone }).toEqual({
    ...{ metric: "requests", type: "count", unit: "", key: "a", zone: "UTC" },
  });
  expect(answer).toEqual(JSON.parse(JSON.stringify(await service.hub.last("requests", "a", "1s"))));
  expect(answer).toMatchObject({ from: START, to: START + 1000, complete: true, next: START + 2000 });
  expect(answer["value"]).toBeCloseTo(1, 0);
});

test("one answer per calendar period; a period that the service has not seen in full has none", async () => {
  const hourly = { type: "count", epsilon: 400, perPerson: 1, every: "1h", lateness: "0s" } as const;
  const config = testConfig(temporaryFolder(), {
    ...{ epsilon: 400, zone: "Europe/Berlin", metrics: { visits: hourly } },
  });
  const running = await startService(config); // 13:00 in Berlin
  const { app } = running;
  for (let hour = 0; hour < 14; hour++) {
    await send(app, [{ metric: "visits", person: `p${hour}` }]);
    await pass(running, 3_600_000);
  }
  const series = async (query: string) =>
    (await app.inject(`/v1/query?metric=visits&${query}`)).json<{
      zone: string;
      period: string;
      why?: string;
      answers: { from: number; to: number; complete: boolean; value: number | null }[];
    }>();
  const days = await series("every=1d&from=-2d");
  expect([days.zone, days.period]).toEqual(["Europe/Berlin", "1d"]);
  const [before, first, today] = days.answers.slice(-3);
  expect(before!.value).toBeNull();
  expect(first!.value).toBeNull(); // it began before the service did
  expect([today!.complete, Math.round(today!.value!)]).toEqual([false, 3]);
  const hours = await series(`every=1h&from=${START}`);
  expect(hours.answers.map(({ value }) => Math.round(value!))).toEqual(Array(14).fill(1));
  expect((await series("every=1mo&from=-1d")).answers).toHaveLength(1);
  expect((await series("every=auto&from=-12h")).why).toMatch(/hours/);
  expect((await series("every=1d&from=2026-03-01&to=2026-03-02")).answers).toEqual(
    (await series("every=1d&from=2026-03-01T00:00%2B01:00&to=2026-03-02T00:00%2B01:00")).answers,
  );
  // Every range that the dashboard offers can be asked for.
  for (const [, length] of RANGES.filter(([, length]) => length % HOUR === 0)) {
    const answer = await app.inject(`/v1/query?metric=visits&last=${length}ms`);
    expect([length, answer.statusCode]).toEqual([length, 200]);
  }
  const refused = async (query: string) => (await app.inject(`/v1/query?metric=visits&${query}`)).body;
  expect(await refused("last=90m")).toContain("last: expected a multiple of 1h");
  expect(await refused("last=1h&from=-1h")).toContain("last: expected none beside from");
  expect(await refused("every=5h")).toContain("every: expected 1w, 1mo, auto, or a multiple of 1h");
});

test.each([
  [{ metric: "nothing" }, "events.0.metric: expected one that takes events"],
  [{ metric: "requests", person: "secret-id" }, "events.0.key: expected a key of the metric"],
  [{ metric: "requests", key: "a" }, "events.0.person: expected the id of a person"],
  [{ metric: "requests", key: "a", person: "secret-id", value: 7 }, "events.0.value: expected none"],
  [{ metric: "basket", person: "secret-id" }, "events.0.value: expected a finite number"],
  [{ metric: "basket", person: "secret-id", value: 1, at: "yesterday" }, "events.0.at: expected ISO text"],
  [{ metric: "basket", person: "secret-id", value: 1, extra: "secret-id" }, "body.events.0: has a field"],
  [{ metric: "basket", person: "secret-id", value: "12345" }, "body.events.0.value: must be number"],
])("refuses %j without a value or an id", async (event, message) => {
  const { app } = await start();
  const response = await send(app, [event]);
  expect(response.statusCode).toBe(400);
  expect(response.json<{ error: string }>().error).toContain(message);
  expect(response.body).not.toMatch(/secret-id|12345|yesterday/);
});

test("a key that is not listed is accepted like one that is, and leaves no trace", async () => {
  const { app } = await start();
  const [known, unknown] = await Promise.all(
    ["a", "zz"].map((key) => send(app, [{ metric: "requests", key, person: "one" }])),
  );
  expect(unknown!.statusCode).toBe(known!.statusCode);
  expect(unknown!.body).toBe(known!.body);
  expect(Object.keys(unknown!.headers)).toEqual(Object.keys(known!.headers));
  expect((await app.inject("/v1/query?metric=requests&key=zz")).statusCode).toBe(404);
});

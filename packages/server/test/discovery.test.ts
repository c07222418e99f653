/** Keys that nobody listed, from a config to a number over HTTP; and what a stranger sees of keys that are not public. */
import { expect, test, vi } from "vitest";
import { HubDiscovery } from "../../../src/durable/eventHub/hubDiscovery.js";
import { checkConfig } from "../src/config/load.js";
import type { Config, MetricConfig } from "../src/config/types.js";
import { KafkaIntake, type KafkaPort, type NewRecord } from "../src/kafka/kafkaIntake.js";
import { pass, type Running, send, startService, temporaryFolder, testConfig } from "./support.js";

const HOUR = 3_600_000;
/** A quarter of ε = 200 has noise of scale 1/50: k = 1, and a key with two votes is found. */
const views: MetricConfig = {
  type: "count",
  ...{ epsilon: 200, every: "1h", levels: ["1h", "1d"], perPerson: 3, lateness: "0s" },
  keys: { listed: ["/"], discover: { delta: 1e-9 } },
};
const metrics: Config["metrics"] = { views };
const start = () => startService(testConfig(temporaryFolder(), { epsilon: 200, delta: 1e-9, metrics }));

const visit = async ({ app }: Running, key: string, people: number): Promise<void> => {
  const events = Array.from({ length: people }, (_, i) => ({ metric: "views", key, person: `${key} ${i}` }));
  expect((await send(app, events)).statusCode).toBe(202);
};
const keysOf = async ({ app }: Running) =>
  (await app.inject("/v1/metrics")).json<{ metrics: { keys: string[] }[] }>().metrics[0]!.keys;
const ask = ({ app }: Running, key: string) =>
  app.inject(`/v1/query?metric=views&key=${encodeURIComponent(key)}&last=1d`);

test("a page that many people see is found, listed and counted; one person's page is not, also after a restart", async () => {
  const folder = temporaryFolder();
  const config = testConfig(folder, { epsilon: 200, delta: 1e-9, metrics });
  const first = await startService(config);
  expect(await keysOf(first)).toEqual(["/", "(other)"]);
  await visit(first, "/pricing", 4);
  await visit(first, "/account/ann", 1);
  for (let hour = 0; hour < 13; hour++) await pass(first, HOUR); // over midnight
  expect(await keysOf(first)).toEqual(["/", "/pricing", "(other)"]);
  await first.stop();
  const again = await startService(config, first.clock);
  expect(await keysOf(again)).toEqual(["/", "/pricing", "(other)"]);
  for (let hour = 0; hour < 24; hour++) await pass(again, HOUR);
  await visit(again, "/pricing", 5);
  await visit(again, "/account/ann", 1);
  for (let hour = 0; hour < 24; hour++) await pass(again, HOUR);
  const day = async (key: string) => Math.round((await ask(again, key)).json<{ value: number }>().value);
  expect([await day("/pricing"), await day("/"), await day("(other)")]).toEqual([5, 0, 1]);
  expect((await again.app.inject("/metrics")).body).toContain('key="/pricing"');
});

test("the statement, the text and the plan say what δ is", async () => {
  const running = await start();
  const statement = (await running.app.inject("/v1/statement")).json<Record<string, never>>();
  expect(statement).toMatchObject({ delta: 1e-9, budget: { spent: 200, delta: 1e-9 } });
  expect(statement["plan"]).toMatchObject([{ delta: 1e-9 }, { delta: 3e-8 }, { delta: 3.65e-7 }]);
  const text = (await running.app.inject("/v1/statement?format=text")).body;
  expect(text).toContain(
    "but for δ = 1e-9: the probability that a key that only this person used on that day becomes public.",
  );
  const registry = (await running.app.inject("/v1/statement?format=registry")).body;
  expect(registry).toContain("- views: Counts of people beyond their limit: discrete Laplace");
  expect(registry).toContain("- views: Keys that nobody listed: truncated discrete Laplace");
  const plain = await startService(testConfig(temporaryFolder()));
  expect((await plain.app.inject("/v1/statement?format=text")).body).not.toMatch(/keys are public|but for δ/);
});

test("a public, a candidate and an unseen key: sending gets the same answer, and asking tells only what is public", async () => {
  const running = await start();
  await visit(running, "/candidate", 50);
  const sent = await Promise.all(
    ["/", "/candidate", "/unseen"].map(async (key) => {
      const { statusCode, headers, body } = await send(running.app, [{ metric: "views", key, person: "x" }]);
      return JSON.stringify([statusCode, headers["content-length"], body]);
    }),
  );
  expect(new Set(sent).size).toBe(1);
  const [answers, ...others] = await answersOf(running);
  expect(others).toEqual([]);
  expect((JSON.parse(answers!) as [number][]).map(([status]) => status)).toEqual([404, 404, 404]);
  expect((await ask(running, "/")).statusCode).toBe(200);
});

/** Answers about a candidate and an unseen key: status, headers and body. One text if they are alike. */
async function answersOf({ app }: Running): Promise<readonly string[]> {
  const about = async (key: string): Promise<string> => {
    const name = `metric=views&key=${encodeURIComponent(key)}`;
    const answers = await Promise.all([
      app.inject(`/v1/query?${name}&last=1d`),
      app.inject(`/v1/query?${name}&last=1d&every=1h&format=csv`),
      app.inject({ method: "HEAD", url: `/v1/live?${name}` }),
    ]);
    return JSON.stringify(
      answers.map(({ statusCode, headers, body }) => [
        statusCode,
        Object.entries(headers).filter(([header]) => header !== "date"),
        body.replaceAll(key, "KEY"),
      ]),
    );
  };
  const texts = await Promise.all(["/candidate", "/unseen___"].map(about));
  return [...new Set(texts)];
}

test("planted: an answer that looks at the candidates is seen", async () => {
  const votes = vi.spyOn(HubDiscovery.prototype, "vote");
  const faults = [
    vi
      .spyOn(HubDiscovery.prototype, "publicFrom")
      .mockImplementation(() => ["/", ...votes.mock.calls.map(([name]) => name), "(other)"]),
    vi.spyOn(HubDiscovery.prototype, "isKnown").mockReturnValue(true),
  ];
  try {
    const running = await start();
    await visit(running, "/candidate", 1);
    await pass(running, HOUR);
    expect(await answersOf(running)).toHaveLength(2);
  } finally {
    for (const fault of [votes, ...faults]) fault.mockRestore();
  }
});

test.each<[string, Partial<Config>, RegExp]>([
  ["no delta", {}, /delta: expected at least 1e-9, the probability that a key that only one person used/],
  ["too small a delta", { delta: 1e-10 }, /delta: expected at least 1e-9/],
  [
    "events, not people",
    {
      delta: 1e-9,
      metrics: { views: { type: "count", epsilon: 1, every: "1h", protect: "event", keys: views.keys! } },
    },
    /keys: expected no keys that are discovered with protect: event/,
  ],
  [
    "two of them",
    { delta: 1e-9, metrics: { a: views, b: views } },
    /metrics.b.keys: expected one metric that discovers/,
  ],
  [
    "a chosen threshold",
    { delta: 1e-9, metrics: { a: { ...views, type: "sum", max: 9 } } },
    /threshold: expected a number beside keys that are discovered/,
  ],
  [
    "forgotten too early",
    { delta: 1e-9, metrics: { a: { ...views, keys: { discover: { delta: 1e-9, forget: "7d" } } } } },
    /forget: expected at least 28d/,
  ],
  ["a delta for nothing", { delta: 1e-9, metrics: { a: { ...views, keys: ["/"] } } }, /delta: expected none/],
])("a config that is refused: %s", (_, more, message) => {
  const config = { ...testConfig(temporaryFolder(), { epsilon: 400, metrics, ...more }) };
  expect(() => checkConfig(config)).toThrow(message);
});

test("Kafka workers refuse it, and people", async () => {
  const kafka = { kafka: { brokers: ["localhost:9"] } };
  const open = (own: Config["metrics"]) =>
    KafkaIntake.open(
      testConfig(temporaryFolder(), { epsilon: 200, delta: 1e-9, metrics: own, store: kafka }),
      {} as KafkaPort, // the config is checked first
      () => ({}) as NewRecord,
      0,
    );
  await expect(open(metrics)).rejects.toThrow(/expected no keys that are discovered with store kafka/);
  await expect(open({ dau: { type: "people", epsilon: 1, over: "1d" } })).rejects.toThrow(
    /expected none of type people with store kafka/,
  );
});

/** How many events of a person count, chosen privately: from a config to words and numbers over HTTP, over a restart. */
import { expect, test } from "vitest";
import { checkConfig } from "../src/config/load.js";
import type { Config, MetricConfig } from "../src/config/types.js";
import { pass, type Running, send, startService, temporaryFolder, testConfig } from "./support.js";

const HOUR = 3_600_000;
const visits: MetricConfig = {
  type: "count",
  ...{ epsilon: 20, every: "1h", levels: ["1h", "1d"], lateness: "0s" },
  perPerson: { events: "choose", most: 50 },
};
const config = (metric: Partial<MetricConfig> = {}, more: Partial<Config> = {}) =>
  testConfig(temporaryFolder(), { epsilon: 40, metrics: { visits: { ...visits, ...metric } }, ...more });

interface Info {
  readonly metrics: readonly { readonly perPerson: { readonly events?: number; readonly most?: number } }[];
}
const limitOf = async ({ app }: Running) =>
  (await app.inject("/v1/metrics")).json<Info>().metrics[0]!.perPerson;
const textOf = async ({ app }: Running) => (await app.inject("/v1/statement?format=text")).body;
interface Registry {
  readonly deployment: { readonly implementation: { readonly mechanisms: string } };
}
const mechanismsOf = async ({ app }: Running) =>
  (await app.inject("/v1/statement?format=registry")).json<Registry>().deployment.implementation.mechanisms;

/** Each of 30 people has six events in this hour. */
const visit = async ({ app }: Running): Promise<void> => {
  const events = Array.from({ length: 180 }, (_, i) => ({ metric: "visits", person: `p${i % 30}` }));
  expect((await send(app, events)).statusCode).toBe(202);
};

test("the first whole day chooses it, the service says so before and after, and a restart on that day keeps what was counted", async () => {
  const own = config();
  const first = await startService(own); // at noon
  expect(await limitOf(first)).toEqual({ most: 50 });
  expect(await textOf(first)).toContain(
    "The first k events of a person and day count, over all keys: ε for the person and day. How many count, at most 50, will be chosen privately from the people of the first whole day: its events have all of ε for that, and are not published.",
  );
  expect(await mechanismsOf(first)).toContain("- visits: The limit of a person: permute-and-flip");
  for (let hour = 0; hour < 15; hour++) await pass(first, HOUR);
  await visit(first);
  await first.stop();
  const again = await startService(own, first.clock);
  for (let hour = 0; hour < 22; hour++) await pass(again, HOUR);
  const k = (await limitOf(again)).events!;
  expect(k).toBeGreaterThanOrEqual(6); // a smaller one has odds of e^−500
  expect(k).toBeLessThan(50); // odds of a larger one: (6/50)^8 = 4·10⁻⁸
  expect(await textOf(again)).toContain(
    `The first ${k} events of a person and day count, over all keys: ε for the person and day. How many count, at most 50, was chosen`,
  );
  await visit(again);
  await visit(again); // more than may count
  await pass(again, HOUR);
  const { value } = (await again.app.inject("/v1/query?metric=visits&last=1h")).json<{ value: number }>();
  expect(Math.abs(value - 30 * Math.min(12, k))).toBeLessThan(2.5 * k); // the scale is 0.103k: odds of e^−20
});

test("the record for a registry names the choice of θ, and the noise of what it clamps", async () => {
  const metric = { type: "sum", epsilon: 1, every: "1h", max: 100, perPerson: 5 } as const;
  const running = await startService(
    testConfig(temporaryFolder(), { epsilon: 1, metrics: { spent: metric } }),
  );
  const mechanisms = await mechanismsOf(running);
  expect(mechanisms).toContain("- spent: θ: permute-and-flip");
  expect(mechanisms).toContain("Counts of events above θ: discrete Laplace");
});

test.each<[string, ReturnType<typeof config>, RegExp]>([
  [
    "a chosen threshold",
    config({ type: "sum", max: 9 }),
    /metrics.visits.perPerson.events: expected a number beside a θ that is chosen/,
  ],
  [
    "keys that are discovered",
    config({ keys: { discover: { delta: 1e-9 } } }, { delta: 1e-9 }),
    /metrics.visits.perPerson.events: expected a number beside keys that are discovered, got choose/,
  ],
  [
    "most beside a number",
    config({ perPerson: { events: 3, most: 5 } }),
    /metrics.visits.perPerson.most: expected with events: "choose" alone/,
  ],
  ["another word", config({ perPerson: { events: "auto" as "choose" } }), /perPerson.*"choose"/],
])("a config that is refused: %s", (_, wrong, message) => {
  expect(() => checkConfig(wrong)).toThrow(message);
});

/**
 * The attacker edits the config of a service during the day, so that a person's events count under other terms while the
 * budget still says that nothing more was spent. What must be impossible: to spend more of a person and day than the
 * statement says, or to stop the numbers without a word.
 */
import { type Odometer, openOdometer, type Store } from "brume";
import { budgetKey, fileStore } from "brume/node";
import { expect, test, vi } from "vitest";
import type { Config } from "../src/config/types.js";
import { personPlan } from "../src/personPlan.js";
import { Service } from "../src/service.js";
import { explainService, serviceStatement } from "../src/statement.js";
import { atEnd, KEY, SECONDS, temporaryFolder, TestClock, testConfig } from "./support.js";

const count = { type: "count", epsilon: 10, perPerson: 1, ...SECONDS, keys: ["a"] } as const;

/** The service of a folder with these metrics; ends what it opened. */
async function serve<T>(
  folder: string,
  metrics: Config["metrics"],
  act: (service: Service) => T | Promise<T>,
  clock = new TestClock(),
): Promise<T> {
  const service = await Service.open(testConfig(folder, { metrics, epsilon: 15 }), {
    ...{ key: KEY, clock, confirmClock: true },
  });
  try {
    return await act(service);
  } finally {
    await service.stop();
  }
}

test("a limit that is raised with other keys is another release: it is charged, or refused", async () => {
  const folder = temporaryFolder();
  const spent = (metrics: Config["metrics"]) => serve(folder, metrics, (service) => service.budget().spent);
  expect(await spent({ orders: count })).toBe(10);
  expect(await spent({ orders: count })).toBe(10); // a restart costs nothing
  await expect(spent({ orders: { ...count, perPerson: 5, keys: ["b"] } })).rejects.toThrow(
    /the budget of 2026-03-01 does not allow the metric orders/,
  );
  expect(await spent({ orders: { ...count, keys: ["b"], perPerson: 5, epsilon: 5 } })).toBe(15);
});

test("settings that change minutes before midnight are listed once, though the next day was charged already", async () => {
  const folder = temporaryFolder();
  const clock = new TestClock(); // at noon
  const changesWith = (epsilon: number) =>
    serve(folder, { orders: { ...count, epsilon } }, (service) => service.settingsChanges(), clock);
  const change = (day: string, was: number, now: number) => ({
    ...{ day, metric: "orders" },
    ...{ was: `count ε=${was} limit={"events":1}`, now: `count ε=${now} limit={"events":1}` },
  });
  clock.pass(12 * 3_600_000 - 420_000);
  expect(await changesWith(4)).toEqual([]); // 23:53: today and tomorrow are charged
  clock.pass(60_000);
  const before = [change("2026-03-01", 4, 5)];
  expect(await changesWith(5)).toEqual(before);
  clock.pass(3_600_000);
  expect(await changesWith(5)).toEqual(before); // not "4 again" tomorrow
  clock.pass(3_600_000);
  expect(await changesWith(6)).toEqual([change("2026-03-02", 5, 6), ...before]);
});

test("a metric that protected people in the morning protects them in the evening", async () => {
  const folder = temporaryFolder();
  await serve(folder, { orders: count }, () => undefined);
  const { perPerson: _, ...rest } = count;
  const events = { orders: { ...rest, keys: ["b"], protect: "event" } } as const;
  await expect(serve(folder, events, () => undefined)).rejects.toThrow(
    'metrics.orders.protect: expected "person" on 2026-03-01, since the metric began the day so, got "event"',
  );
  const tomorrow = new TestClock();
  tomorrow.pass(2 * 86_400_000);
  await serve(folder, events, () => undefined, tomorrow);
});

const UNIT = "one person, per day (UTC)";
const budgetOf = (store: Store): Promise<Odometer> =>
  openOdometer({
    ...{ name: "budget", store, limit: 15, unit: UNIT },
    key: budgetKey(KEY),
  });

test("days that are over are forgotten, and the running one is not", async () => {
  const store = fileStore(temporaryFolder());
  const clock = new TestClock();
  const config = testConfig("", { metrics: { orders: count }, epsilon: 15 });
  for (let day = 0; day < 40; day += 5) {
    await (await Service.open(config, { key: KEY, clock, store, confirmClock: true })).stop();
    clock.pass(5 * 86_400_000);
  }
  const days = (await budgetOf(store)).statement().data.map(({ data }) => data);
  expect(days).not.toContain("2026-03-01");
  expect(days).toContain("2026-04-05");
  expect(days.length).toBeLessThan(10);
});

test("a budget that cannot be charged is told, and the service takes no events", async () => {
  const store = fileStore(temporaryFolder());
  const clock = new TestClock();
  const said: string[] = [];
  const config = testConfig("", { metrics: { orders: count }, epsilon: 15 });
  const onTrouble = (message: string) => said.push(message);
  const service = await Service.open(config, { key: KEY, clock, store, onTrouble });
  atEnd(() => service.stop());
  const other = { epsilon: 15, unit: UNIT };
  await (await budgetOf(store)).register("other", other, { data: "2026-03-02" }); // another process fills the next day
  for (let passed = 0; passed < 86_400_000 / 2 - 30_000; passed += 30_000) clock.pass(30_000); // just before midnight
  await vi.waitFor(() => expect(said.join()).toContain("the budget of 2026-03-02 does not allow"), 10_000);
  expect(service.trouble).toContain("the budget of 2026-03-02 does not allow");
});

test("a person's year: days with noise of their own compose, days that choose θ together add up", () => {
  const own = { epsilon: 0.1, ownNoise: true };
  const [day, month, year] = personPlan([own], 0.1);
  expect(day).toMatchObject({ days: 1, epsilon: 0.1 });
  expect(month).toEqual({ days: 30, epsilon: 3, delta: 0, approximate: { epsilon: 2.797585, delta: 1e-9 } });
  expect(year).toEqual({
    days: 365,
    epsilon: 36.5,
    delta: 0,
    approximate: { epsilon: 12.67513, delta: 1e-9 },
  });
  const shared = personPlan([{ epsilon: 0.1, ownNoise: false }], 0.1)[2]!;
  expect([shared.epsilon, shared.approximate.epsilon]).toEqual([36.5, 36.5]);
  // 0.2 was spent today by a metric that is gone: once, not every day.
  const removed = personPlan([own], 0.3)[2]!;
  expect(removed.epsilon).toBe(36.7);
  expect(removed.approximate.epsilon).toBeGreaterThan(12.67513);
  expect(removed.approximate.epsilon).toBeLessThan(12.9);
});

test("the statement has a year of the metrics, and says it in words", async () => {
  const folder = temporaryFolder();
  const metrics = { orders: { ...count, epsilon: 0.1 } } as const;
  await serve(folder, metrics, async (service) => {
    const statement = await serviceStatement(service);
    expect(statement.plan[2]).toEqual({
      ...{ days: 365, epsilon: 36.5, delta: 0, approximate: { epsilon: 12.67513, delta: 1e-9 } },
    });
    expect(explainService(statement)).toContain(
      "A person who is there on each of 365 days: ε = 36.5, the sum of the days; ε = 12.7 at δ = 1e-9, because no noise is shared between days",
    );
  });
});

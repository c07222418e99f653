/** Aggregators of days in a store: a restart keeps reports and θ, nothing is told before it is stored, and workers combine. */
import { expect, test } from "vitest";
import { openAggregator } from "../../src/durable/openAggregator.js";
import { openOdometer } from "../../src/durable/odometer.js";
import { fileStore } from "../../src/durable/stores/file.js";
import { memoryStore } from "../../src/durable/stores/memory.js";
import { aggregator, reporter } from "../../src/index.js";
import { skewed } from "../support/localValues.js";
import { failing, key, plainStore, temporaryFolders } from "./support.js";

const folder = temporaryFolders();
const DAY = 86_400_000;
const time = { now: DAY / 2 };
const OPTIONS = { epsilon: 2, max: 1000, clock: () => time.now };
const reportsOf = (seed: string, threshold = 1000) =>
  reporter({ epsilon: 2, max: 1000, threshold, unsafeSeed: seed }).reportMany(skewed(500, seed));

test("a process that is killed keeps every report that was acknowledged, and θ", async () => {
  time.now = DAY / 2;
  const plain = aggregator(OPTIONS);
  const store = fileStore(folder());
  const open = (atLeast = 0) => openAggregator({ ...OPTIONS, name: "devices", store, key, atLeast });
  const first = await open();
  expect(await first.terms()).toEqual(await plain.terms());
  expect(await first.add(reportsOf("one"))).toBe(500);
  plain.add(reportsOf("one"));
  // Killed here and after every step: nothing is closed.
  time.now += DAY;
  const second = await open(first.sequence);
  expect(second.reports).toBe(500);
  const terms = await second.terms();
  expect(terms).toEqual(await plain.terms());
  const third = await open(second.sequence);
  expect(await third.terms()).toEqual(terms);
  await third.add(reportsOf("two", terms.threshold));
  plain.add(reportsOf("two", terms.threshold));
  const fourth = await open(third.sequence);
  expect(await fourth.between(0, 2 * DAY)).toEqual(plain.between(0, 2 * DAY));
  expect(await fourth.last("1d")).toEqual(plain.last("1d"));
  expect(await fourth.series("1d", 0, 2 * DAY)).toEqual(plain.series("1d", 0, 2 * DAY));
  expect(await fourth.quantile(0.9)).toEqual(await plain.quantile(0.9));
  expect(await fourth.cdf(30)).toEqual(await plain.cdf(30));
  expect(await fourth.histogram()).toEqual(await plain.histogram());
  expect(await fourth.statement()).toEqual(plain.statement());
  expect(await fourth.explain()).toBe(plain.explain());
  expect(await fourth.tally()).toEqual(plain.tally());
  await fourth.close();
  await expect(fourth.add(reportsOf("one"))).rejects.toThrow("expected an open stream");
});

test("workers combine: the leader decides, they follow", async () => {
  time.now = DAY / 2;
  const store = memoryStore();
  const open = (name: string) => openAggregator({ ...OPTIONS, name, store, key });
  const [leader, worker] = [await open("leader"), await open("worker")];
  await worker.follow(await leader.terms());
  await worker.add(reportsOf("one"));
  await leader.merge(worker);
  await leader.merge(await worker.tally());
  expect(leader.reports).toBe(1000);
});

test("θ is told after it is stored: a store that fails tells nothing", async () => {
  time.now = DAY / 2;
  const inner = plainStore();
  const before = await openAggregator({ ...OPTIONS, name: "x", store: inner, key });
  await before.terms();
  await before.add(reportsOf("one"));
  time.now += DAY;
  let broken = false;
  const store = failing(inner, { fails: () => broken, after: false });
  const server = await openAggregator({ ...OPTIONS, name: "x", store, key });
  broken = true;
  await expect(server.terms()).rejects.toThrow(/its state could not be stored/);
  broken = false;
  const again = await openAggregator({ ...OPTIONS, name: "x", store: inner, key });
  expect((await again.statement()).threshold).toBe(1000);
  expect((await again.terms()).threshold).toBeLessThan(1000);
});

test("other parameters, another key and a rolled-back store are refused; an odometer is charged once", async () => {
  time.now = DAY / 2;
  const store = plainStore();
  const odometer = await openOdometer({
    name: "odometer",
    store: memoryStore(),
    key,
    limit: 3,
    unit: "one value, reported once",
  });
  const open = (more = {}) =>
    openAggregator({ ...OPTIONS, name: "x", store, key, budget: { odometer, data: "devices" }, ...more });
  await (await open()).add(reportsOf("one"));
  await open();
  expect(odometer.statement().data).toMatchObject([{ spent: 2 }]);
  await expect(open({ max: 999 })).rejects.toThrow(
    /^snapshot: expected one made with max = "999", got "1000"/,
  );
  await expect(open({ zone: "Europe/Berlin" })).rejects.toThrow(/^snapshot: expected one made with zone/);
  await expect(open({ key: new Uint8Array(32) })).rejects.toThrow(/^snapshot: cannot decrypt it/);
  await expect(open({ atLeast: 9 })).rejects.toThrow(/the store was rolled back/);
  await expect(open({ sauce: 1 })).rejects.toThrow(/unknown option "sauce"/);
  await expect(open({ holdout: 1 })).rejects.toThrow(/holdout: expected none; reports count from the first/);
});

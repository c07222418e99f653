/** Aggregators of a store: a restart keeps reports and θ, nothing is told before it is stored, and workers combine. */
import { expect, test } from "vitest";
import { openAggregator } from "../../src/durable/openAggregator.js";
import { openOdometer } from "../../src/durable/odometer.js";
import { fileStore } from "../../src/durable/stores/file.js";
import { memoryStore } from "../../src/durable/stores/memory.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { reportsOf, skewed } from "../support/localValues.js";
import { failing, key, plainStore, temporaryFolders } from "./support.js";

const folder = temporaryFolders();
const OPTIONS = { variant: "paper" as const, epsilon: 1, max: 1000, holdout: 3000, maxRange: 2 ** 14 };
const learn = reportsOf(skewed(3000, "durable"), "durable learn");

test("a process that is killed keeps every report that was acknowledged, and θ", async () => {
  const plain = new PaperAggregator(OPTIONS);
  plain.learn(learn);
  const theta = await plain.threshold();
  const release = reportsOf(skewed(4000, "more"), "durable release", { threshold: theta });
  plain.release(release);

  const store = fileStore(folder());
  const open = (atLeast = 0) => openAggregator({ ...OPTIONS, name: "devices", store, key, atLeast });
  const first = await open();
  await Promise.all([0, 1, 2].map((i) => first.learn(learn.subarray(8000 * i, 8000 * (i + 1)))));
  // Killed here and after every step: nothing is closed.
  const second = await open(first.sequence);
  expect(second.learned).toBe(3000);
  expect(await second.threshold()).toBe(theta);
  const third = await open(second.sequence);
  const published = await third.release(release.subarray(0, 8 * 1500));
  const fourth = await open(third.sequence);
  expect([fourth.length, fourth.released]).toEqual([1500, 1500]);
  expect(await fourth.threshold()).toBe(theta);
  const rest = await fourth.release(release.subarray(8 * 1500));
  expect([...published, ...rest]).toEqual([
    ...new PaperAggregator({ ...OPTIONS, threshold: theta }).release(release),
  ]);
  expect(await fourth.range(100, 3900)).toEqual(plain.range(100, 3900));
  expect(await fourth.total()).toEqual(plain.total());
  expect(await fourth.distribution()).toEqual(await plain.distribution());
  expect(await fourth.quantile(0.9)).toEqual(await plain.quantile(0.9));
  expect(await fourth.cdf(30)).toEqual(await plain.cdf(30));
  expect(await fourth.statement()).toEqual(plain.statement());
  expect(await fourth.explain()).toBe(plain.explain());
  await fourth.close();
  await expect(fourth.learn(learn)).rejects.toThrow("expected an open stream");
});

test("workers combine, each with a store of its own or with one name each", async () => {
  const store = memoryStore();
  const open = (name: string) => openAggregator({ ...OPTIONS, name, store, key });
  const workers = [await open("a"), await open("b")];
  await workers[0]!.learn(learn.subarray(0, 8000));
  await workers[1]!.learn(learn.subarray(8000));
  const leader = await open("leader");
  await leader.merge(workers[0]!);
  await leader.merge(await workers[1]!.tally());
  const plain = new PaperAggregator(OPTIONS);
  plain.learn(learn);
  expect(await leader.threshold()).toBe(await plain.threshold());
});

test("θ is told after it is stored: a store that fails tells nothing", async () => {
  const inner = plainStore();
  const before = await openAggregator({ ...OPTIONS, name: "x", store: inner, key });
  await before.learn(learn);
  let broken = false;
  const store = failing(inner, { fails: () => broken, after: false });
  const server = await openAggregator({ ...OPTIONS, name: "x", store, key });
  broken = true;
  await expect(server.threshold()).rejects.toThrow(/its state could not be stored/);
  broken = false;
  const again = await openAggregator({ ...OPTIONS, name: "x", store: inner, key });
  expect((await again.statement()).threshold).toBeNull();
});

test("the length of a snapshot follows from the numbers of reports alone", async () => {
  const lengths = async (seed: string) => {
    const store = plainStore();
    const server = await openAggregator({ ...OPTIONS, threshold: 62.5, name: "x", store, key });
    await server.learn(reportsOf(skewed(500, seed), seed));
    await server.release(reportsOf(skewed(300, seed), seed, { threshold: 62.5 }));
    return store.snapshots.get("x")!.bytes.length;
  };
  expect(await lengths("one")).toBe(await lengths("another"));
});

test("other parameters, another key and a rolled-back store are refused; an odometer is charged once", async () => {
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
  await (await open()).learn(learn);
  await open();
  expect(odometer.statement().data).toMatchObject([{ spent: 1 }]);
  await expect(open({ max: 999 })).rejects.toThrow(
    /^snapshot: expected one made with max = "999", got "1000"/,
  );
  await expect(open({ key: new Uint8Array(32) })).rejects.toThrow(/^snapshot: cannot decrypt it/);
  await expect(open({ atLeast: 9 })).rejects.toThrow(/the store was rolled back/);
  await expect(open({ sauce: 1 })).rejects.toThrow(/unknown option "sauce"/);
});

test("tallies that add up to more than can be stored are refused, and the state opens again", async () => {
  const store = plainStore();
  const open = () => openAggregator({ ...OPTIONS, name: "devices", store, key });
  const devices = await open();
  await devices.learn(learn.subarray(0, 800));
  for (const place of [1, 7, 1024, 1025, 1030]) {
    const huge = new PaperAggregator(OPTIONS).tally(); // bytes from a worker that lies: learned, in a bin or rejected
    new DataView(huge.buffer).setFloat64(6 + 8 * place, Number.MAX_SAFE_INTEGER, true);
    const merged = await devices
      .merge(huge)
      .then(() => devices.merge(huge))
      .catch(String);
    expect(merged).toBe("RangeError: merge: expected fewer than 2^53 reports in all, got a tally of more");
  }
  expect((await open()).rejected).toEqual(devices.rejected);
  expect((await open()).learned).toBe(devices.learned);
});

import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openStream } from "../../src/durable/openStream.js";
import { openOdometer } from "../../src/durable/budget/odometer.js";
import { fileStore } from "../../src/durable/stores/file.js";
import { memoryStore } from "../../src/durable/stores/memory.js";
import { privateHistogram } from "../../src/privateStream.js";
import type { Store } from "../../src/index.js";
import { plainStore } from "./support.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const key = new Uint8Array(32).fill(3);
/** ε = 64 on two levels: noise of scale 1/32 is 0 but for odds of 2·e⁻³² a node. */
const exact = {
  epsilon: 64,
  every: "1s",
  levels: ["1s", "1m"],
  clock: () => TEN,
  unsafeSeed: "durable",
  name: "shop",
  key,
} as const;
const directory = () => mkdtempSync(join(tmpdir(), "brume-events-"));

test("a process that is killed has every event that was acknowledged, and publishes no tick twice", async () => {
  const store = fileStore(directory());
  const before = await openStream({ ...exact, of: "count", store });
  await Promise.all([0, 0, 1, 2, 2, 2].map((second) => before.add({ at: TEN + 1000 * second })));
  const first = await before.advance(TEN + 1000);
  expect(first.map(({ value }) => Math.round(value!))).toEqual([2]);
  const { sequence } = before;
  // Killed here: nothing is closed. The store's lease is taken over by the next process in the same place.
  const after = await openStream({ ...exact, of: "count", store, atLeast: sequence });
  await after.add({ at: TEN + 1000 });
  await after.add({ at: TEN }); // its tick is published: late
  expect(after.dropped.late).toBe(1);
  const second = await after.advance(TEN + 3000);
  expect(second.map(({ from, value }) => [from, Math.round(value!)])).toEqual([
    [TEN + 1000, 2],
    [TEN + 2000, 3],
  ]);
  expect(Math.round((await after.between(TEN, TEN + 3000)).value!)).toBe(7);
  await after.close();
  await expect(after.add({ at: TEN + 5000 })).rejects.toThrow("expected an open stream");
});

test("a histogram is the same with and without a store", async () => {
  const options = { ...exact, edges: [1, 2, 4], epsilon: 1, clock: () => TEN };
  const { name, key: _key, ...plain } = options;
  const durable = await openStream({ ...options, store: memoryStore() });
  const alone = privateHistogram({ ...plain, name });
  for (const value of [1, 1.5, 3]) {
    await durable.add(value, { at: TEN });
    alone.add(value, { at: TEN });
  }
  expect(await durable.advance(TEN + 2000)).toEqual(alone.advance(TEN + 2000));
  expect(await durable.between(TEN, TEN + 2000, { quantiles: [0.5] })).toEqual(
    alone.between(TEN, TEN + 2000, { quantiles: [0.5] }),
  );
  expect(await durable.explain()).toBe(alone.explain());
});

test("a stream of values is charged to an odometer by its unit", async () => {
  const store = memoryStore();
  const odometer = await openOdometer({
    name: "budget",
    store,
    key,
    limit: 100,
    unit: "one person, per day (UTC)",
  });
  const stream = await openStream({
    ...exact,
    epsilon: 80,
    perPerson: 2,
    max: 10,
    threshold: 10,
    store,
    budget: { odometer },
  });
  expect(odometer.spent()).toBe(80);
  await stream.add(5, { at: TEN, person: "ann" });
  expect((await stream.statement()).unit).toBe("one person, per day (UTC)");
  await expect(
    openStream({
      ...exact,
      name: "more",
      of: "count",
      perPerson: 2,
      store,
      budget: { odometer },
    }),
  ).rejects.toThrow("odometer");
});

test("options that make no sense are named", async () => {
  const store = memoryStore();
  await expect(openStream({ ...exact, of: "count", store, colour: 1 } as never)).rejects.toThrow(
    'openStream: unknown option "colour"',
  );
  await expect(openStream({ ...exact, of: "count", store, name: 5 } as never)).rejects.toThrow(
    "name: expected a string",
  );
  await expect(openStream({ ...exact, edges: [2, 1], store })).rejects.toThrow("edges[1]");
});

test.each([true, false])("sequence tells whether an add that failed was stored: %s", async (stored) => {
  const inner = plainStore();
  let broken = false;
  const store: Store = {
    ...inner,
    get: (name) => (broken ? Promise.reject(new Error("no line")) : inner.get(name)),
    put: async (...args) => {
      if (!broken || stored) await inner.put(...args);
      if (broken) throw new Error("no line");
    },
  };
  const stream = await openStream({ ...exact, of: "count", store });
  await stream.add({ at: TEN });
  const { sequence } = stream;
  broken = true;
  await expect(stream.add({ at: TEN })).rejects.toMatchObject({ code: "in-doubt" });
  broken = false;
  const again = await openStream({ ...exact, of: "count", store });
  expect(again.sequence - sequence).toBe(stored ? 1 : 0);
  if (!stored) await again.add({ at: TEN });
  await again.advance(TEN + 1000);
  expect(Math.round((await again.between(TEN, TEN + 1000)).value!)).toBe(2);
});

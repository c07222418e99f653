/** A hub that starts at once: keys given in advance, one θ for all streams, names, removal, progress, conflicts. */
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { memoryStore, openHub, openStream, privateStream, type Store } from "../../src/index.js";
import { fileStore, sqliteStore } from "../../src/node.js";
import { key, options, plainStore, temporaryFolders, values } from "./support.js";

const folder = temporaryFolders();
const stores: Record<string, () => Promise<Store>> = {
  memory: () => Promise.resolve(memoryStore()),
  file: () => Promise.resolve(fileStore(folder())),
  sqlite: () => sqliteStore(new Database(":memory:")),
};

describe.each(Object.keys(stores))("one θ for all streams, %s store", (kind) => {
  const shared = { ...options, threshold: "shared", holdout: 100 } as const;

  test("the first values of the hub choose it, and every stream publishes from then on", async () => {
    const store = await stores[kind]!();
    let hub = openHub({ ...shared, store, key });
    expect(await hub.pushMany("a", values.subarray(0, 60))).toHaveLength(0);
    expect(await hub.push("b", values[60]!)).toBeUndefined();
    await expect(hub.range("a", 0, 1)).rejects.toThrow(
      "range(0, 1): nothing is published yet; holding out: 61 of 100",
    );
    expect(await hub.explain("a")).toContain("holding out: 61 of 100");
    await hub.close(); // the hold-out survives
    hub = openHub({ ...shared, store, key });
    expect((await hub.progress("x")).holdout).toEqual({ received: 61, of: 100 });
    // 39 of these 50 are held out, 11 are published
    expect(await hub.pushMany("c", values.subarray(61, 111))).toHaveLength(11);
    expect(await hub.push("new", 5)).not.toBeUndefined();
    const chooser = privateStream({
      ...options,
      holdout: 100,
      unsafeSeed: "hub/",
      tuning: { fanout: 4, warmStart: false, skipLevels: 1 },
    });
    chooser.pushMany(values.subarray(0, 100));
    const { threshold } = chooser.statement();
    const statement = await hub.statement("c");
    expect(statement.threshold).toBe(threshold);
    expect(statement.stages.map(({ stage, epsilon }) => [stage, epsilon])).toEqual([
      ["threshold", 1],
      ["release", 1],
    ]);
    const alone = privateStream({ ...options, threshold: threshold!, holdout: 0, unsafeSeed: "hub/c" });
    expect(await hub.published("c", 0, 11)).toEqual(alone.pushMany(values.subarray(100, 111)));
    expect(await hub.progress("c")).toMatchObject({
      received: 11,
      length: 11,
      holdout: { received: 100, of: 100 },
    });
    await hub.close();
    const again = openHub({ ...shared, store, key });
    expect(await again.range("c", 0, 11)).toEqual(alone.range(0, 11));
    expect(await again.names()).toEqual(["c", "new"]);
    await expect(again.push("", 1)).rejects.toThrow(/^name: expected a name that is not empty/);
  });

  test("calls that are not awaited keep their order around the end of the hold-out", async () => {
    const hub = openHub({ ...shared, store: await stores[kind]!(), key });
    const calls = Array.from({ length: 40 }, (_, i) =>
      hub.pushMany("a", values.subarray(10 * i, 10 * i + 10)),
    );
    const out = (await Promise.all(calls)).flatMap((numbers) => [...numbers]);
    const { threshold } = await hub.statement("a");
    const alone = privateStream({ ...options, threshold: threshold!, holdout: 0, unsafeSeed: "hub/a" });
    expect(out).toEqual([...alone.pushMany(values.subarray(100))]);
  });
});

describe("keys given in advance", () => {
  test.each([
    ["list", ["a", "b"]],
    ["rule", (name: string) => name === "a" || name === "b"],
  ] as const)("values for other names are dropped in silence: %s", async (_, keys) => {
    const store = plainStore();
    const hub = openHub({ ...options, keys, store, key });
    await hub.pushMany("a", values);
    const before = hub.stats();
    expect(await hub.push("c", 1)).toBeUndefined();
    expect(await hub.pushMany("c", values)).toHaveLength(0);
    expect(hub.stats()).toEqual(before); // no counter tells of it
    expect([...store.snapshots.keys()]).toEqual(["a"]);
    await expect(hub.range("c", 0, 1)).rejects.toThrow('name: expected one of the keys, got "c"');
    await expect(hub.push("c", NaN)).rejects.toThrow("value: expected a finite number");
  });

  test("a list names all of them, before any value; the caller's list may change", async () => {
    const keys = ["b", "a"];
    const hub = openHub({ ...options, keys });
    keys.push("c");
    expect(await hub.names()).toEqual(["a", "b"]);
    expect(await hub.push("c", 1)).toBeUndefined();
  });

  test("wrong kinds are refused", () => {
    for (const keys of ["abc", 7, null, [7], {}])
      expect(() => openHub({ ...options, keys: keys as unknown as string[] })).toThrow(/^keys: expected/);
    for (const commitEvery of [-1, 0.5, 1e9, "50" as unknown as number])
      expect(() => openHub({ ...options, commitEvery })).toThrow(/^commitEvery: expected/);
    expect(() => openHub({ ...options, threshold: "common" as unknown as "shared" })).toThrow(
      /^threshold: expected/,
    );
  });
});

test.each(Object.keys(stores))("names and remove, %s store", async (kind) => {
  const hub = openHub({ ...options, live: 2, store: await stores[kind]!(), key });
  const names = ["d", "c", "b", "a"];
  const first = new Map<string, Float64Array>();
  for (const name of names) first.set(name, await hub.pushMany(name, values.subarray(0, 100)));
  expect(await hub.names()).toEqual(["a", "b", "c", "d"]);
  for (const name of ["a", "d"]) await hub.remove(name); // one is open, the other one is not
  expect(await hub.names()).toEqual(["b", "c"]);
  await hub.remove("never seen");
  expect(await hub.progress("a")).toMatchObject({ received: 0, length: 0, sequence: 0 });
  expect((await hub.progress("b")).received).toBe(100);
  expect(await hub.pushMany("d", values.subarray(0, 100))).toEqual(first.get("d")); // begun anew from the same seed
});

describe("two hubs on one store", () => {
  test("each value is in the stream once, and no position comes out twice", async () => {
    const place = folder();
    const hubs = [0, 1].map(() =>
      openHub({ ...options, threshold: 50, holdout: 0, store: fileStore(place), key }),
    );
    const calls = Array.from({ length: 24 }, (_, i) => hubs[i % 2]!.push("a", 1));
    const results = await Promise.allSettled(calls);
    const stored = results.filter(({ status }) => status === "fulfilled").length;
    expect(stored).toBeGreaterThan(0);
    const stream = await openStream({
      ...options,
      threshold: 50,
      holdout: 0,
      unsafeSeed: "hub/a",
      name: "a",
      store: fileStore(place),
      key,
    });
    expect(stream.received).toBe(stored);
    const conflicts = hubs.map((hub) => hub.stats().conflicts).reduce((a, b) => a + b);
    expect(conflicts).toBeGreaterThan(0);
    for (const result of results)
      if (result.status === "rejected")
        expect(result.reason).toMatchObject({ code: "conflict", retryable: true });
  });

  test("a conflict is solved inside the hub: the value is received once", async () => {
    const place = folder();
    const [one, two] = [0, 1].map(() => openHub({ ...options, store: fileStore(place), key })) as [
      ReturnType<typeof openHub>,
      ReturnType<typeof openHub>,
    ];
    for (let i = 0; i < 10; i++) await (i % 2 ? two : one).push("a", values[i]!);
    expect((await one.progress("a")).received).toBeGreaterThanOrEqual(9);
    expect(one.stats().conflicts + two.stats().conflicts).toBeGreaterThan(5);
    await one.push("a", 1);
    expect((await openHub({ ...options, store: fileStore(place), key }).progress("a")).received).toBe(11);
  });
});

test("commits are shared: many streams, few calls of the store", async () => {
  const inner = fileStore(folder());
  let calls = 0;
  const store: Store = { ...inner, putMany: (snapshots) => (calls++, inner.putMany!(snapshots)) };
  const hub = openHub({ ...options, store, key, commitEvery: 20 });
  const names = Array.from({ length: 50 }, (_, i) => `s${i}`);
  await Promise.all(names.flatMap((name) => [hub.push(name, 1), hub.push(name, 2), hub.push(name, 3)]));
  await Promise.all(names.map((name) => hub.push(name, 4)));
  expect(calls).toBeLessThanOrEqual(4);
  expect(hub.stats()).toMatchObject({ live: 50, opened: 50, conflicts: 0, retries: 0, published: 0 });
  expect(hub.stats().snapshots).toBeLessThanOrEqual(150);
  for (const name of names) expect((await hub.progress(name)).received).toBe(4);
});

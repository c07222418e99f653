/**
 * The attacker asks for more releases of the same data: each one has its own noise, and the mean of many has none. Every
 * release is private by itself. The odometer must add them up and refuse the one that goes above the limit, in one process
 * or in several, whatever fails in between.
 */
import { describe, expect, test } from "vitest";
import {
  memoryStore,
  type Odometer,
  openHub,
  openOdometer,
  openStream,
  privateStream,
  type Store,
} from "../../src/index.js";
import { software, softwareText } from "../../src/core/software.js";
import { fileStore } from "../../src/node.js";
import { snapshotKey, StreamCipher } from "../../src/snapshot/streamCipher.js";
import { encodeState, encryptSnapshot } from "../../src/snapshot/snapshot.js";
import { failing, key, options, plainStore, temporaryFolders, values } from "../durable/support.js";

const folder = temporaryFolders();
const { unsafeSeed: _, ...secret } = options;
const release = (epsilon: number) => ({ epsilon, unit: "one value" });
const open = (more: object = {}) =>
  openOdometer({ name: "budget", store: fileStore(folder()), key, limit: 1, ...more });

test("without an odometer, releases of the same data average to the truth: this is the harm", () => {
  const truth = values.subarray(0, 64).reduce((sum, value) => sum + Math.min(value, 100), 0);
  let sum = 0;
  for (let i = 0; i < 2000; i++) {
    const stream = privateStream({ ...options, threshold: 100, holdout: 0, unsafeSeed: `average ${i}` });
    stream.pushMany(values.subarray(0, 64));
    // "best" answers are cut at 0 and biased near it; an attacker asks for what was measured.
    sum += stream.range(0, 64, { answer: "blocks" }).sum / 2000;
  }
  // One release has a standard error of 506, the mean of 2000 one of 11.3: 60 is 5.3 of them, at odds of 1 in 10⁷.
  expect(Math.abs(sum - truth)).toBeLessThan(60);
});

describe("two publishers of the same data", () => {
  test("add up, and the one above the limit publishes nothing", async () => {
    const store = fileStore(folder());
    const odometer = await open({ limit: 1.5 });
    const stream = (name: string, epsilon: number) =>
      openStream({ ...secret, epsilon, name, store, key, budget: { odometer, data: "web log" } });
    await (await stream("sums", 1)).pushMany(values);
    await expect(stream("peaks", 1)).rejects.toThrow(
      'odometer: release "peaks" would bring "web log" to ε = 2, expected at most 1.5; 0.5 is left',
    );
    expect(await store.get("peaks")).toBeUndefined();
    await (await stream("peaks", 0.5)).pushMany(values);
    expect([odometer.spent("web log"), odometer.left("web log")]).toEqual([1.5, 0]);
  });

  test("in two processes: each sees what the other registered", async () => {
    const store = fileStore(folder());
    const [one, two] = [await open({ store }), await open({ store })];
    const results = await Promise.allSettled([
      one.register("a", release(0.6)),
      two.register("b", release(0.6)),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const again = await open({ store });
    expect(again.spent()).toBe(0.6);
    const twenty = await Promise.allSettled(
      [one, two].flatMap((odometer, k) =>
        Array.from({ length: 5 }, (_, i) => odometer.register(`${k} ${i}`, release(0.1))),
      ),
    );
    expect(twenty.filter(({ status }) => status === "fulfilled")).toHaveLength(4);
    expect((await open({ store })).spent()).toBe(1);
  });

  test("the same release after a restart costs nothing more; begun anew it costs again", async () => {
    const [state, budget] = [fileStore(folder()), fileStore(folder())];
    const start = async (store = state) => {
      const odometer = await open({ store: budget, limit: 2 });
      const stream = await openStream({ ...secret, name: "s", store, key, budget: { odometer } });
      await stream.pushMany(values.subarray(0, 50));
      return odometer.spent();
    };
    expect(await start()).toBe(1);
    expect(await start()).toBe(1);
    expect(await start(fileStore(folder()))).toBe(2); // the stream's state was lost
    await expect(start(fileStore(folder()))).rejects.toThrow(/would bring "all data" to ε = 3/);
  });
});

test("a hub costs ε once, and two hubs of the same data twice", async () => {
  const odometer = await open({ limit: 1.5 });
  const hub = (name: string) => openHub({ ...secret, budget: { odometer, name, data: "sales" } });
  const one = hub("per shop");
  for (const shop of ["a", "b", "c"]) await one.push(shop, 1);
  expect(odometer.spent("sales")).toBe(1);
  await expect(hub("per town").push("x", 1)).rejects.toThrow(/would bring "sales" to ε = 2/);
});

describe("a hub that begins anew reads the data another time", () => {
  const counting = { ...{ epsilon: 1, every: "1s", levels: ["1s"], keys: ["a"] }, of: "count" } as const;

  test("hubs without a store: five releases at ε = 1 are 5", async () => {
    const odometer = await open({ limit: 5 });
    const budget = { odometer, name: "per shop", data: "sales" };
    for (let i = 1; i <= 5; i++) {
      await openHub({ ...secret, budget }).push("a", 1);
      expect(odometer.spent("sales")).toBe(i);
    }
    await expect(openHub({ ...secret, budget }).push("a", 1)).rejects.toThrow(/ε = 6, expected at most 5/);
  });

  test("hubs of events without a store, too", async () => {
    const odometer = await open({ limit: 2 });
    const start = () =>
      openHub({ metrics: { orders: counting }, budget: { odometer, perUnit: 1 } }).add("orders", "a");
    await start();
    await start();
    expect(odometer.spent()).toBe(2);
    await expect(start()).rejects.toThrow(/ε = 3, expected at most 2/);
  });

  test("on a store: a restart is free, a lost store is not, and a refused hub stays refused", async () => {
    const odometer = await open({ limit: 2 });
    const events = async (store: Store) => {
      const hub = openHub({
        metrics: { orders: counting },
        store,
        key,
        budget: { odometer, perUnit: 1, data: "e" },
      });
      await hub.add("orders", "a");
      await hub.close();
    };
    const values = async (store: Store) => {
      const hub = openHub({ ...secret, store, key, budget: { odometer, name: "v", data: "v" } });
      await hub.push("a", 1);
      expect(await hub.names()).toEqual(["a"]);
      await hub.close();
    };
    for (const [data, start] of [
      ["e", events],
      ["v", values],
    ] as const) {
      const stores = Array.from({ length: 3 }, () => fileStore(folder()));
      for (const [i, spent] of [
        [0, 1],
        [0, 1],
        [1, 2],
        [1, 2],
        [0, 2],
      ] as const) {
        await start(stores[i]!);
        expect(odometer.spent(data)).toBe(spent);
      }
      for (let attempt = 0; attempt < 3; attempt++)
        await expect(start(stores[2]!)).rejects.toThrow(/ε = 3, expected at most 2/);
    }
  });
});

describe("an operator begins a hub of events anew by deleting its rows, and leaves those of the budget", () => {
  const counting = { ...{ epsilon: 1, every: "1s", levels: ["1s"], keys: ["a"] }, of: "count" } as const;
  const start = async (store: Store, odometer: Odometer) => {
    const hub = openHub({ metrics: { orders: counting }, store, key, budget: { odometer, perUnit: 1 } });
    await hub.add("orders", "a");
    await hub.close();
  };

  test.each([false, true])("deleted: %s", async (deleted) => {
    const [odometer, store] = [await open({ limit: 3 }), plainStore()];
    for (let times = 1; times <= 3; times++) {
      await start(store, odometer);
      expect(odometer.spent()).toBe(deleted ? times : 1); // five releases of the same events read as 1
      if (!deleted) continue;
      const own = [...store.snapshots.keys()].filter((name) => !name.startsWith("brume/charged/"));
      for (const name of own) store.snapshots.delete(name);
    }
    if (deleted) await expect(start(store, odometer)).rejects.toThrow(/ε = 4, expected at most 3/);
  });

  test("a store that fails as the hub begins, again and again, costs ε once", async () => {
    const [odometer, inner] = [await open({ limit: 1 }), plainStore()];
    let fails = true;
    const isMark = (name: string) => name.startsWith("brume/charged/");
    const store: Store = {
      ...inner,
      put: (name, ...more) =>
        fails && !isMark(name) ? Promise.reject(new Error("disk full")) : inner.put(name, ...more),
    };
    const hub = openHub({ metrics: { orders: counting }, store, key, budget: { odometer, perUnit: 1 } });
    for (let i = 0; i < 3; i++) await expect(hub.add("orders", "a")).rejects.toThrow();
    fails = false;
    await hub.add("orders", "a");
    await hub.close();
    expect(odometer.spent()).toBe(1);
  });
});

test("a hub whose beginning was stored in silence, and whose rows are deleted while it runs, is charged again", async () => {
  const [odometer, inner] = [await open({ limit: 3 }), plainStore()];
  const counting = { ...{ epsilon: 1, every: "1d", levels: ["1d"], keys: ["a"] }, of: "count" } as const;
  const isOwn = (name: string) => !name.startsWith("brume/charged/");
  let [silent, fails] = [false, true];
  const store: Store = {
    durable: true,
    get: (name) => (silent && isOwn(name) ? Promise.reject(new Error("no answer")) : inner.get(name)),
    async put(name, ...more) {
      await inner.put(name, ...more);
      if (fails && isOwn(name) && (silent ||= name.endsWith("//0"))) throw new Error("no answer");
    },
  };
  const hub = openHub({ metrics: { orders: counting }, store, key, budget: { odometer, perUnit: 1 } });
  await expect(hub.add("orders", "a")).rejects.toThrow();
  expect(silent).toBe(true);
  const recover = () => (silent = false);
  recover();
  await hub.add("orders", "a"); // the state is in the store: it goes on
  expect(odometer.spent()).toBe(1);
  for (const name of [...inner.snapshots.keys()].filter(isOwn)) inner.snapshots.delete(name);
  silent = true;
  await expect(hub.add("orders", "a")).rejects.toThrow();
  for (const name of [...inner.snapshots.keys()].filter(isOwn)) inner.snapshots.delete(name);
  fails = false;
  recover();
  await hub.add("orders", "a"); // begins anew
  expect(odometer.spent()).toBe(2);
});

describe("an operator begins streams of a hub of values anew, and leaves the marks of the budget", () => {
  const isMark = (name: string) => name.startsWith("brume/charged/");
  const opened = async (limit: number, more: object = {}) => {
    const [odometer, store] = [await open({ limit }), plainStore()];
    const settings = { ...secret, store, key, ...more, budget: { odometer, name: "v" } };
    /** Feeds the same values, as a process that restarts. */
    const feed = async (...names: string[]) => {
      const hub = openHub(settings);
      for (const name of names) await hub.pushMany(name, values.subarray(0, 40));
      await hub.close();
      return odometer.spent();
    };
    const lose = (lost: (name: string) => boolean) => {
      for (const name of [...store.snapshots.keys()]) if (lost(name)) store.snapshots.delete(name);
    };
    return { feed, lose, odometer, settings, store };
  };

  test.each([{}, { threshold: "shared" }])(
    "deletes all snapshots: each time costs ε once, %o",
    async (more) => {
      const { feed, lose } = await opened(3, more);
      for (let times = 1; times <= 3; times++) {
        expect(await feed("a", "b", "c")).toBe(times); // three releases of the same values read as 1
        expect(await feed("a", "b", "c", "new")).toBe(times);
        lose((name) => !isMark(name));
      }
      await expect(feed("a")).rejects.toThrow(/ε = 4, expected at most 3/);
    },
  );

  test("deletes one stream of many: it costs ε again, and after that the others are free once", async () => {
    const { feed, lose } = await opened(9);
    expect(await feed("a", "b")).toBe(1);
    lose((name) => name === "a");
    expect(await feed("b")).toBe(1);
    expect(await feed("a")).toBe(2);
    lose((name) => name === "b");
    expect(await feed("b")).toBe(2); // a began twice as well, and no value is in both
    lose((name) => name === "b");
    expect(await feed("b")).toBe(3);
  });

  test.each([
    ["the marks too", () => true],
    ["the mark of the hub", (name: string) => name === "brume/charged/v" || !isMark(name)],
    ["the pages of its streams", (name: string) => name !== "brume/charged/v"],
  ])("deletes snapshots and %s: charged again, perhaps too much", async (_, lost) => {
    const { feed, lose } = await opened(9);
    expect(await feed("a", "b")).toBe(1);
    lose(lost);
    expect(await feed("a", "b")).toBeGreaterThanOrEqual(2);
    lose(lost);
    expect(await feed("b", "a")).toBeGreaterThanOrEqual(3);
  });

  test.each([true, false])("removes a stream by the hub itself, durable: %s", async (durable) => {
    const { settings, odometer } = await opened(2);
    const hub = openHub({ ...settings, store: durable ? fileStore(folder()) : memoryStore() });
    for (let times = 1; times <= 2; times++) {
      await Promise.all([hub.push("a", 1), hub.pushMany("a", values), hub.push("b", 1)]);
      expect(odometer.spent()).toBe(times);
      await hub.remove("a");
      expect(await hub.names()).toEqual(["b"]);
    }
    await expect(hub.push("a", 1)).rejects.toThrow(/ε = 3, expected at most 2/);
    await hub.push("b", 1);
    await hub.close();
  });

  test("deletes a snapshot under a hub that runs: the call that finds it out is charged", async () => {
    const { settings, odometer, lose } = await opened(2);
    const hub = openHub(settings);
    await hub.push("a", 1);
    lose((name) => name === "a");
    await hub.push("a", 1);
    expect(odometer.spent()).toBe(2);
    lose((name) => name === "a");
    await expect(hub.push("a", 1)).rejects.toThrow(/ε = 3, expected at most 2/);
  });

  test("begins in one process a stream that another could not begin, removes it, and feeds the other", async () => {
    const { settings: given, odometer } = await opened(9);
    const store = fileStore(folder());
    const settings = { ...given, store };
    let down = false;
    const slow: Store = {
      ...store,
      put: (name, ...more) =>
        down && name !== "a" ? Promise.reject(new Error("down")) : store.put(name, ...more),
    };
    const [one, two] = [openHub({ ...settings, store: slow }), openHub(settings)];
    await Promise.all([one.push("b", 1), two.push("c", 1)]); // processes that start together both open
    const before = odometer.spent();
    down = true;
    await expect(one.push("a", 1)).rejects.toThrow(); // its page is not stored
    down = false;
    await two.pushMany("a", values);
    await two.remove("a");
    await one.pushMany("a", values);
    expect(odometer.spent()).toBe(before + 1); // two releases of the same values read as one
  });

  test("gives a budget to a hub that has streams, and removes one of them", async () => {
    const { settings: given, odometer } = await opened(2);
    const settings = { ...given, store: fileStore(folder()) };
    const { budget: _, ...free } = settings;
    const before = openHub(free);
    await before.pushMany("a", values);
    await before.close();
    const hub = openHub(settings);
    await Promise.all([hub.push("a", 1), hub.push("b", 1)]);
    expect(odometer.spent()).toBe(1);
    await hub.remove("a");
    await hub.pushMany("a", values);
    expect(odometer.spent()).toBe(2); // two releases of the same values read as 1
    await hub.close();
  });

  test("questions and empty batches begin nothing; what fails and is tried again costs ε once", async () => {
    for (const after of [false, true])
      for (let n = 2; n <= 14; n += 2) {
        const odometer = await open({ limit: 1, store: plainStore() });
        const store = failing(plainStore(), { fails: (call) => call >= n && call < n + 4, after });
        const hub = openHub({ ...secret, store, key, budget: { odometer, name: "v" } });
        const attempts = async (act: () => Promise<unknown>) => {
          for (let attempt = 1; ; attempt++)
            try {
              return await act();
            } catch (error) {
              // A hub that could not be opened says so to every call; a new one costs what the store could not say.
              if (attempt === 6) throw error;
            }
        };
        const first = await hub.progress("a").catch((error: unknown) => error);
        if (first instanceof Error) continue;
        for (const name of ["a", "b"]) {
          await attempts(() => hub.progress(name));
          await attempts(() => hub.pushMany(name, []));
          await attempts(() => hub.push(name, 1));
        }
        expect(odometer.spent()).toBe(1);
      }
  });
});

describe("a hub under the name of a release that was charged with other terms", () => {
  const start = (store: Store, own: Uint8Array, more: object, budget: object) =>
    openHub({ ...secret, ...more, store, key: own, budget: { name: "v", ...budget } as never }).push("a", 1);

  test.each([
    ["more values per unit", {}, { perUnit: 5 }],
    ["a larger ε", { epsilon: 2 }, {}],
    ["another data set", {}, { data: "other" }],
    ["a part of it", {}, { part: "north" }],
  ])("%s: refused, and so it is on a new store and with a new key", async (_, more, terms) => {
    const odometer = await open({ limit: 100 });
    const [store, lost] = [fileStore(folder()), fileStore(folder())];
    await start(store, key, {}, { odometer, perUnit: 1 });
    const changed = { odometer, perUnit: 1, ...terms };
    await expect(start(store, key, more, changed)).rejects.toThrow(/a release with other terms needs/);
    await expect(start(lost, key, more, changed)).rejects.toThrow(/a release with other terms needs/);
    const other = new Uint8Array(32).fill(9);
    await expect(start(lost, other, more, changed)).rejects.toThrow(/a release with other terms needs/);
    await expect(start(store, other, {}, { odometer, perUnit: 1 })).rejects.toThrow(/^snapshot/);
    expect(odometer.spent()).toBe(1);
  });

  test("a stream takes the name of a mark, so that another hub cannot open: refused", async () => {
    const [odometer, store] = [await open({ limit: 9 }), fileStore(folder())];
    const hub = openHub({ ...secret, store, key });
    for (const call of [
      () => hub.push("brume/charged/v", 1),
      () => hub.pushMany("brume/charged/v", [1]),
      () => hub.range("brume/charged/v", 0, 1),
      () => hub.remove("brume/charged/v"),
    ])
      await expect((async () => call())()).rejects.toThrow(/^name: expected a name that does not begin with/);
    await start(store, key, {}, { odometer });
    expect(odometer.spent()).toBe(1);
  });
});

test("a ledger that is full refuses a stream and a hub aloud, publishes nothing, and has room after data is forgotten", async () => {
  const store = fileStore(folder());
  const name = "budget";
  const charges = Array.from({ length: 2 ** 16 }, (_, i) => ({
    ...{
      name: `r${i}`,
      data: `day ${i % 2}`,
      part: null,
      epsilon: 0.5,
      unit: "one value",
      perUnit: 1,
      times: 1,
    },
  }));
  const plain = encodeState({ kind: "odometer", name, unit: "one value" }, (writer) =>
    writer.text(JSON.stringify(charges)),
  );
  await store.put(name, 1, await encryptSnapshot(await StreamCipher.make(await snapshotKey(key)), 1, plain));
  const odometer = await open({ store, limit: 1e6 });
  const state = fileStore(folder());
  const budget = { odometer, data: "today" };
  const full =
    /expected at most 65536 releases, and all of them are taken; "s" is not charged and must not publish/;
  const stream = () => openStream({ ...secret, name: "s", store: state, key, budget });
  await expect(stream()).rejects.toThrow(full);
  const hub = () => openHub({ ...secret, store: state, key, budget: { ...budget, name: "s" } });
  await expect(hub().push("a", 1)).rejects.toThrow(full);
  expect(await state.names!()).toEqual([]);
  await odometer.forget("day 0");
  await (await stream()).push(1);
  expect(odometer.spent("today")).toBe(1);
});

test("data that nobody reads any more is forgotten, and other data keeps its charges", async () => {
  const odometer = await open({ limit: 1 });
  await odometer.register("monday", release(1), { data: "monday" });
  await odometer.register("tuesday", release(1), { data: "tuesday" });
  await expect(odometer.spend("monday")).rejects.toThrow(/ε = 2/);
  await odometer.forget("monday");
  await odometer.forget("sunday"); // unknown
  expect(odometer.statement().data.map(({ data }) => data)).toEqual(["tuesday"]);
  await expect(odometer.spend("tuesday")).rejects.toThrow(/ε = 2/);
});

describe("composition", () => {
  test("the same data adds up, parts count by their largest, data sets by themselves", async () => {
    const odometer = await open({ limit: 10 });
    await odometer.register("all", release(1), { data: "a" });
    await odometer.register("north", release(2), { data: "a", part: "north" });
    await odometer.register("north again", release(0.5), { data: "a", part: "north" });
    await odometer.register("south", release(1.5), { data: "a", part: "south" });
    await odometer.register("other", release(4), { data: "b" });
    expect([odometer.spent("a"), odometer.spent("b"), odometer.spent("c")]).toEqual([3.5, 4, 0]);
  });

  test("sums are exact: ten times 0.1 is 1, and nothing more fits", async () => {
    const odometer = await open();
    for (let i = 0; i < 10; i++) await odometer.register(`r${i}`, release(0.1));
    expect([odometer.spent(), odometer.left()]).toEqual([1, 0]);
    await expect(odometer.register("r10", release(1e-12))).rejects.toThrow(/is left/);
  });

  test("a person with at most five values spends five times as much; without a number it is refused", async () => {
    const odometer = await open({ unit: "one person", limit: 6 });
    await expect(odometer.register("a", release(1))).rejects.toThrow(
      'perUnit: expected how many of "one value" belong to "one person" at most, got none',
    );
    await odometer.register("a", release(1), { perUnit: 5 });
    expect(odometer.spent()).toBe(5);
  });

  test("every report of a device spends again", async () => {
    const odometer = await open({ unit: "one device", limit: 3 });
    await odometer.register(
      "reports",
      { epsilon: 0.5, delta: 0, unit: "one value, reported once" },
      { perUnit: 1 },
    );
    await odometer.spend("reports", 4);
    expect(odometer.spent()).toBe(2.5);
    await odometer.spend("reports");
    await expect(odometer.spend("reports")).rejects.toThrow(/ε = 3.5, expected at most 3/);
    await expect(odometer.spend("unknown")).rejects.toThrow(/register it first/);
  });
});

test("a failed call changes nothing, and the n-th failure of the store changes no sum, for all n", async () => {
  for (const after of [false, true])
    for (let n = 1; n <= 12; n++) {
      const inner = fileStore(folder());
      const store = failing(inner, { fails: (call) => call >= n && call < n + 3, after });
      const registered = new Set<string>();
      let odometer: Awaited<ReturnType<typeof open>> | undefined;
      for (let attempt = 0; attempt < 30 && registered.size < 4; attempt++)
        try {
          odometer ??= await open({ store, limit: 2 });
          const name = `r${registered.size}`;
          await odometer.register(name, release(0.5));
          registered.add(name);
        } catch {
          // tried again
        }
      expect(registered.size).toBe(4);
      expect((await open({ store: inner, limit: 2 })).spent()).toBe(2);
      await expect(odometer!.register("more", release(0.5))).rejects.toThrow(/is left/);
      expect(odometer!.spent()).toBe(2);
    }
});

test("rubbish is refused and leaves the sum as it was", async () => {
  const odometer = await open();
  await odometer.register("a", release(0.5));
  const bad: [unknown, unknown][] = [
    [release(0), {}],
    [release(NaN), {}],
    [release(1e-13), {}],
    [{ unit: "one value" }, {}],
    [{ ...release(0.1), delta: 1e-6 }, {}],
    [release(0.1), { data: 7 }],
    [release(0.1), { part: null }],
    [release(0.1), { perUnit: 0.5 }],
    [release(0.2), { data: "x", perUnit: 2 ** 50 }],
  ];
  for (const [what, terms] of bad)
    await expect(odometer.register("b", what as never, terms as never)).rejects.toThrow(
      /^(epsilon|delta|data|part|perUnit): expected/,
    );
  await expect(odometer.register("a", release(0.4))).rejects.toThrow(
    /with epsilon = 0.5, got 0.4; a release with other/,
  );
  expect(odometer.spent()).toBe(0.5);
  await expect(openOdometer({ name: "x", store: memoryStore(), key, limit: 0 })).rejects.toThrow(/^limit/);
});

test("a budget that is none opens no stream and no hub", async () => {
  const odometer = await open();
  const bad: [unknown, RegExp][] = [
    [true, /^budget: expected an object/],
    [null, /^budget: expected an object/],
    [{}, /^budget.odometer: expected an odometer/],
    [{ odometer: { register: () => Promise.resolve() } }, /^budget.odometer: expected an odometer/],
    [{ odometer, perunit: 5 }, /^budget: unknown option "perunit"/],
  ];
  for (const [budget, message] of bad) {
    const store = fileStore(folder());
    const asked = { ...secret, store, key, budget: budget as never };
    await expect(openStream({ ...asked, name: "s" })).rejects.toThrow(message);
    await expect(openHub(asked).push("s", 1)).rejects.toThrow(message);
  }
  Object.assign(Object.prototype, { perUnit: 1, epsilon: 1e-9, delta: 0 });
  try {
    await expect(odometer.register("a", { unit: "one value" } as never)).rejects.toThrow(/^epsilon/);
    await expect(odometer.register("a", { ...release(0.5), unit: "one event" })).rejects.toThrow(/^perUnit/);
  } finally {
    for (const name of ["perUnit", "epsilon", "delta"]) Reflect.deleteProperty(Object.prototype, name);
  }
  expect(odometer.spent()).toBe(0);
});

test("it is no stream, and a stream is no odometer", async () => {
  const store = fileStore(folder());
  await (await open({ store })).register("a", release(0.5));
  await expect(openStream({ ...secret, name: "budget", store, key })).rejects.toThrow(/^snapshot: expected/);
  await (await openStream({ ...secret, name: "s", store, key })).push(1);
  await expect(open({ store, name: "s" })).rejects.toThrow(/^snapshot: expected/);
});

test("prints a statement", async () => {
  const odometer = await open({ unit: "one person", limit: 4 });
  await odometer.register("visits", release(0.5), { data: "web log", perUnit: 5 });
  await odometer.register("north", release(0.25), { data: "web log", part: "north", perUnit: 1 });
  expect(odometer.explain()).toBe(
    [
      "Privacy budget of one person: ε at most 4 for each data set.",
      "web log: ε = 2.75 spent, 1.25 left",
      "  visits: ε = 2.5 (0.5 for one value, × 5 × 1)",
      "  north (part north): ε = 0.25 (0.25 for one value, × 1 × 1)",
      odometer.statement().composition,
      softwareText(software),
    ].join("\n"),
  );
  expect(JSON.parse(JSON.stringify(odometer.statement()))).toEqual(odometer.statement());
});

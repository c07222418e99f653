/** The parts of a hub of events, one by one: options, records, slots of the log, states that are due, metrics. */
import { createHmac } from "node:crypto";
import { describe, expect, test } from "vitest";
import { CheckedStore } from "../../../src/durable/checkedStore.js";
import { EventLog, paddedTo, SLOTS } from "../../../src/durable/eventHub/log.js";
import { beginning, MetricState } from "../../../src/durable/eventHub/metricState.js";
import { NoiseKeys } from "../../../src/durable/eventHub/noiseKeys.js";
import { type Metric, resolveEventHub } from "../../../src/durable/eventHub/options.js";
import { type Entry, readRecord, writeRecord } from "../../../src/durable/eventHub/records.js";
import { States } from "../../../src/durable/eventHub/states.js";
import { Decoder, Encoder } from "../../../src/stream/codec.js";
import { snapshotKey } from "../../../src/stream/sealing.js";
import { key, plainStore } from "../support.js";
import { exact, keys, TEN } from "./support.js";

const counts: Metric = { ...exact, of: "count", keys };
const { unsafeSeed: _, ...secret } = exact;

describe("options", () => {
  const resolve = (change: object = {}) => resolveEventHub({ metrics: { a: counts }, ...change });

  test("defaults, ends, and one beyond them", () => {
    expect(resolve()).toMatchObject({
      name: "events",
      commitEvery: 50,
      atLeast: 0,
      store: undefined,
      clock: Date.now,
    });
    expect((resolve().key as Uint8Array).length).toBe(32);
    expect(resolve({ commitEvery: 60_000 }).commitEvery).toBe(60_000);
    for (const wrong of [{ commitEvery: -1 }, { commitEvery: 60_001 }, { atLeast: -1 }])
      expect(() => resolve(wrong)).toThrow(
        new RegExp(`^${Object.keys(wrong)[0]}: expected a whole number from 0`),
      );
    expect(() => resolve({ store: plainStore() })).toThrow(
      "key: expected 32 bytes or a CryptoKey for what is stored",
    );
    expect(resolve({ store: plainStore(), key }).store!.durable).toBe(true);
    expect(() => resolve({ clock: 7 })).toThrow("clock: expected a function that gives milliseconds");
    for (const metrics of [null, 5, undefined])
      expect(() => resolve({ metrics })).toThrow("metrics: expected an object of metrics by name");
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [`m${i}`, counts]));
    expect(resolve({ metrics: many(1024) }).metrics.size).toBe(1024);
    expect(() => resolve({ metrics: many(1025) })).toThrow("metrics: expected 1 to 1024 of them, got 1025");
    expect(resolve({ metrics: { ["x".repeat(100)]: counts } }).metrics.size).toBe(1);
    expect(() => resolve({ metrics: { [`${"x".repeat(40)}/y`]: counts } })).toThrow(
      `got "${"x".repeat(40)}"`,
    );
  });

  test("who shares θ: sums and means, unless they have one or choose it alone", () => {
    const shared = (metric: object) =>
      resolve({ metrics: { a: { ...secret, keys, ...metric } } }).metrics.get("a")!;
    expect(shared({ max: 5 })).toMatchObject({ shared: true });
    expect(shared({ max: 5, of: "mean", threshold: "shared" })).toMatchObject({ shared: true });
    expect(shared({ max: 5, threshold: "shared" }).options).not.toHaveProperty("threshold");
    expect(shared({ max: 5, threshold: "noisy-max" })).toMatchObject({
      shared: false,
      options: { threshold: "noisy-max" },
    });
    expect(shared({ max: 5, threshold: 3 })).toMatchObject({ shared: false, options: { threshold: 3 } });
    expect(shared({ of: "count" })).toMatchObject({ shared: false });
    expect(shared({ edges: [1, 2] })).toMatchObject({ shared: false });
  });

  test("what a metric begins with: its hold-out is for all keys together", () => {
    const begin = (metric: object) =>
      beginning(resolve({ metrics: { a: { ...secret, keys, max: 9, ...metric } } }).metrics.get("a")!);
    expect(begin({})).toEqual({ origin: TEN, held: { ticks: 2048, perTick: 2 } });
    expect(begin({ perTick: 3 })).toEqual({ origin: TEN, held: { ticks: 683, perTick: 6 } });
    expect(begin({ perTick: 1000 }).held.ticks).toBe(16);
    expect(begin({ keys: () => true, perTick: 3 })).toMatchObject({ held: { ticks: 1366, perTick: 3 } });
    expect(begin({ holdout: "40s" }).held.ticks).toBe(40);
    expect(begin({ threshold: 5 }).held.ticks).toBe(0);
  });
});

test("noise keys are HMACs of purpose and name", async () => {
  const root = Uint32Array.from({ length: 8 }, (_, i) => 0x01020304 + i);
  const words = await new NoiseKeys(root).of("people", "a/b");
  const digest = createHmac("sha256", Buffer.from(root.buffer)).update("people/a/b").digest();
  expect(Buffer.from(words.buffer)).toEqual(digest);
});

describe("the log", () => {
  const entry = (change: Partial<Entry>): Entry => ({
    ...{ metric: "m", key: "k", tick: 3, value: 1.5, hash: new Uint32Array(0) },
    ...change,
  });

  test("a record comes back; names stand once", () => {
    const record = {
      entries: [
        entry({}),
        entry({ key: "other", tick: 300 }),
        entry({ hash: Uint32Array.of(1, 2, 3, 4), value: -2 }),
      ],
      closes: new Map([["m", 7]]),
    };
    const writer = new Encoder();
    writeRecord(writer, record);
    const reader = new Decoder(writer.bytes);
    expect(readRecord(reader)).toEqual(record);
    expect(reader.atEnd).toBe(true);
    expect(Buffer.from(writer.bytes).toString("latin1").split("k").length).toBe(2);
  });

  test("records are padded to a power of two from 1024 on", () => {
    const length = (n: number) => paddedTo(1024, new Uint8Array(n).fill(7)).length;
    expect([0, 1024, 1025, 2048, 2049].map(length)).toEqual([1024, 1024, 2048, 2048, 4096]);
    expect([...paddedTo(4, Uint8Array.of(1, 2))]).toEqual([1, 2, 0, 0]);
  });

  test("records take turns in 1024 slots; one from a later round is a conflict, an older one is none yet", async () => {
    const inner = plainStore();
    const store = new CheckedStore(inner);
    const made = () => snapshotKey(key).then((cipherKey) => EventLog.open(store, cipherKey, "hub"));
    const log = await made();
    const write = async (to: EventLog, position: number) => {
      const sealed = await to.seal(position, (writer) => writer.double(position * 10));
      await inner.put(sealed.name, sealed.sequence, sealed.bytes);
      to.stored(position);
      return sealed;
    };
    expect([SLOTS, log.knows(5)]).toEqual([1024, false]);
    expect(await log.read(5)).toBeUndefined();
    expect([log.knows(5), log.knows(5 + 1024), log.knows(6)]).toEqual([true, true, false]);
    expect(await write(log, 5)).toMatchObject({ name: "hub//5", sequence: 1 });
    expect(await write(log, 1029)).toMatchObject({ name: "hub//5", sequence: 2 });
    const other = await made();
    expect((await other.read(1029))!.double()).toBe(10_290);
    await expect(other.read(5)).rejects.toMatchObject({ code: "conflict" });
    expect(await other.read(2053)).toBeUndefined();
    expect(await write(other, 2053)).toMatchObject({ sequence: 3 });
  });

  test("states are due 128 records after their first change, the longest waiting first, a few at a time", async () => {
    const inner = plainStore();
    const states = new States(new CheckedStore(inner), await snapshotKey(key));
    const items = Array.from({ length: 130 }, (_, i) => ({
      ...{ name: `s${i}`, parameters: { name: `s${i}` } },
      save: (writer: Encoder) => writer.double(i),
    }));
    for (const item of items) expect(await states.load(item)).toBeUndefined();
    expect([states.covers(items[0]!), states.covered(50)]).toEqual([0, 50]);
    states.touch(items[3]!, 10);
    states.touch(items[3]!, 12); // it waits since the first
    states.touch(items[4]!, 11);
    expect([states.covered(50), states.covered(5)]).toEqual([9, 5]);
    expect(await states.due(10 + 127)).toEqual([]);
    const [due, ...none] = await states.due(10 + 128);
    expect([due!.name, due!.sequence, none]).toEqual(["s3", 1, []]);
    states.stored(due!);
    expect([states.covers(items[3]!), states.covered(200)]).toEqual([138, 10]);
    for (const item of items) states.touch(item, 139);
    expect((await states.due(139 + 128)).map(({ name }) => name)).toEqual(["s4", "s0"]); // two turns of 128
    const all = await states.due(300, true);
    expect(all).toHaveLength(130);
    for (const state of all) {
      await inner.put(state.name, state.sequence, state.bytes).catch(() => undefined);
      states.stored(state);
    }
    expect(states.covered(400)).toBe(400);
    const again = new States(new CheckedStore(inner), await snapshotKey(key));
    expect((await again.load(items[7]!))!.double()).toBe(7);
    expect([again.covers(items[7]!), again.covers(items[8]!)]).toEqual([300, 0]);
    again.touch(items[7]!, 301);
    expect((await again.due(301, true))[0]).toMatchObject({ name: "s7", sequence: 2 });
  });
});

describe("a metric", () => {
  let now = TEN;
  const noise = { people: new Uint32Array(4), threshold: new Uint32Array(8) };
  const metric = (change: object = {}) => {
    const settings = resolveEventHub({
      metrics: { m: { ...counts, skew: "2s", ...change } },
      clock: () => now,
    }).metrics.get("m")!;
    return new MetricState("m", settings, beginning(settings), noise);
  };

  test("takes events of open ticks up to the skew, and counts what it drops", () => {
    now = TEN;
    const of = metric();
    of.close(1);
    const at = (time: number, city = "berlin") => of.entryOf(city, undefined, { at: time });
    expect([at(TEN + 999), at(TEN + 3000), at(TEN, "rome")]).toEqual(["late", "early", "no key"]);
    expect(at(TEN + 1000)).toEqual({
      metric: "m",
      key: "berlin",
      tick: 1,
      value: 1,
      hash: new Uint32Array(0),
    });
    expect(at(TEN + 2999)).toMatchObject({ tick: 2 });
    expect(of.entryOf("berlin", 77, undefined)).toBe("late"); // now, by the clock
    const good = at(TEN + 1000) as Entry;
    expect(of.taken(["late", good, "early", "early", "no key"])).toEqual([good]);
    expect(of.dropped).toEqual({ late: 1, early: 2, overLimit: 0 });
    expect([of.admit(good), of.admit({ ...good, tick: 0 })]).toEqual([true, false]);
    expect(of.dropped).toEqual({ late: 2, early: 2, overLimit: 0 });
    expect(() => of.entryOf("berlin", 1, { person: "ann" })).toThrow(
      "person: expected none, since metric m has no perPerson",
    );
  });

  test("a person's events beyond the limit are counted as such", () => {
    const of = metric({ perPerson: { events: 1, every: "1d" }, epsilon: 64 });
    const entry = of.entryOf("berlin", 1, { at: TEN, person: "ann" }) as Entry;
    expect(entry.hash).toHaveLength(4);
    expect([of.admit(entry), of.admit(entry)]).toEqual([true, false]);
    expect(of.dropped).toEqual({ late: 0, early: 0, overLimit: 1 });
    expect(() => of.entryOf("berlin", 1, { at: TEN })).toThrow("person: expected text of 1 to 4096");
  });

  test("ticks are due by the clock, never fewer than before, at most 2^26 at once", () => {
    const of = metric({ lateness: "1s" });
    expect([of.due(TEN), of.due(TEN + 1999), of.due(TEN + 2000)]).toEqual([0, 0, 1]);
    of.close(7);
    of.close(5);
    expect([of.closed, of.due(TEN)]).toEqual([7, 7]);
    const most = TEN + 1000 * (2 ** 26 + 7 + 1);
    expect(of.due(most)).toBe(2 ** 26 + 7);
    expect(() => of.due(most + 1000)).toThrow(
      "advance: expected at most 2^26 ticks of metric m at a time, got 67108865; check the clock, or advance in steps",
    );
    expect(of.span(2, 5)).toEqual({ from: TEN + 2000, to: TEN + 5000 });
    expect(of.ownOf("berlin")).toEqual({ name: "m/berlin", origin: TEN });
  });

  test("a shared hold-out holds its ticks, and all that come before θ", () => {
    const of = metric({ of: "sum", max: 9, holdout: "8s" });
    expect([of.held, of.isHeld(0), of.isHeld(8)]).toEqual([8, true, true]);
    expect(of.ownOf("berlin").origin).toBe(TEN + 8000);
    for (let tick = 0; tick < 8; tick++) of.holdout!.add({ key: "berlin", tick, value: 3, position: 1 });
    expect(of.holdout!.waiting).toEqual([]);
    of.holdout!.add({ key: "berlin", tick: 8, value: 3, position: 1 });
    expect(of.holdout!.waiting).toHaveLength(1);
    of.close(7);
    expect(of.holdout!.chosen).toBe(false);
    of.close(8);
    expect([of.holdout!.chosen, of.isHeld(7), of.isHeld(8)]).toEqual([true, true, false]);
    const writer = new Encoder();
    of.save(writer);
    const again = metric({ of: "sum", max: 9, holdout: "8s" });
    again.load(new Decoder(writer.bytes));
    expect([again.closed, again.holdout!.theta, again.holdout!.waiting]).toEqual([
      ...[8, of.holdout!.theta, of.holdout!.waiting],
    ]);
    expect(metric().isHeld(0)).toBe(false);
  });
});

import { describe, expect, test } from "vitest";
import { privateCounter, privateStream, restore } from "../../src/events/open.js";
import type { EventStreamOptions } from "../../src/events/options.js";
import { clockAt, counter, exact, KEY, TEN } from "../support/eventStreams.js";

describe("people", () => {
  test("at most k events of a person and period count", () => {
    const stream = counter({ perPerson: { events: 2, every: "1d" }, epsilon: 128 });
    for (const person of ["ann", "ann", "ann", "bob"]) stream.add({ at: TEN, person });
    expect(Math.round(stream.advance(TEN + 1000).values[0]!)).toBe(3);
    expect(stream.dropped).toEqual({ late: 0, early: 0, overLimit: 1 });
  });

  test("an event that comes too late uses nothing up", () => {
    const stream = counter({ perPerson: { events: 1, every: "1d" } });
    stream.advance(TEN + 1000);
    stream.add({ at: TEN, person: "ann" });
    stream.add({ at: TEN + 1000, person: "ann" });
    expect(Math.round(stream.advance(TEN + 2000).values[0]!)).toBe(1);
  });

  test.each([undefined, "", "x".repeat(1_000_000), 17, null])("the id %.20s is refused", (person) => {
    const stream = counter({ perPerson: { events: 1, every: "1d" } });
    expect(() => stream.add({ at: TEN, person: person as string })).toThrow(
      new TypeError(
        "person: expected text of 1 to 4096 characters, since perPerson is set; the event was not taken",
      ),
    );
    expect(Math.round(stream.advance(TEN + 1000).values[0]!)).toBe(0);
  });

  test("an id without perPerson is refused: it would not be protected", () => {
    expect(() => counter().add({ at: TEN, person: "ann" })).toThrow(
      "person: expected none without perPerson",
    );
  });

  test("the statement says whom it protects", () => {
    const stream = privateCounter({ ...exact, epsilon: 1, perPerson: { events: 5, every: "1d" } });
    expect(stream.statement()).toMatchObject({
      unit: "one person, per day",
      epsilon: 1,
      epsilonPerEvent: 0.19999999999999998, // the double 0.2 is above 1/5
      perPerson: { events: 5, every: "1d" },
      neighbours: "streams that differ in all events of one person within one day, added or removed",
      noiseScales: { counts: 10 },
    });
    expect(stream.explain()).toContain("The first 5 events of each person count in a period of 1d");
    expect(counter({ epsilon: 1 }).statement()).toMatchObject({ unit: "one event", epsilonPerEvent: 1 });
  });
});

describe("snapshots", () => {
  const options: EventStreamOptions = {
    epsilon: 1,
    every: "1s",
    max: 1000,
    of: "mean",
    lateness: "3s",
    maxRange: "64s",
    holdout: "16s",
    perPerson: { events: 3, every: "1m" },
    tuning: { fanout: 4, skipLevels: 1 },
    unsafeSeed: "snapshot",
  };
  const value = (k: number) => (k * 7919) % 1000;
  const event = (k: number) => ({ at: TEN + 100 * k, person: `p${k % 17}` });

  test.each([0, 5, 14, 16, 21, 40])(
    "a stream that is restored after %d s resumes bit for bit",
    async (second) => {
      const clock = clockAt(TEN);
      const whole = privateStream({ ...options, clock });
      let parted = privateStream({ ...options, clock });
      const [a, b]: number[][] = [[], []];
      for (let k = 0; k < 600; k++) {
        clock.move(TEN + 100 * k);
        if (k === 10 * second) {
          const bytes = await parted.snapshot(KEY);
          parted = await restore(bytes, KEY, { ...options, clock });
        }
        whole.add(value(k), event(k));
        parted.add(value(k), event(k));
        if (k % 10 === 9) {
          a!.push(...whole.advance().values);
          b!.push(...parted.advance().values);
        }
      }
      expect(b).toEqual(a);
      expect(a!.length).toBeGreaterThan(30);
      expect(parted.between(TEN, TEN + 60_000)).toEqual(whole.between(TEN, TEN + 60_000));
      expect(parted.dropped).toEqual(whole.dropped);
      expect(parted.explain()).toBe(whole.explain());
    },
  );

  test("ticks that a process missed are published when it comes back", async () => {
    const clock = clockAt(TEN);
    const before = counter({ clock });
    before.add({ at: TEN + 500 });
    const bytes = await before.snapshot(KEY);
    clock.move(TEN + 30_000);
    const after = await restore(bytes, KEY, { ...exact, of: "count", clock });
    after.add({ at: TEN + 2000 }); // not closed yet, so not late
    expect([...after.advance().values].map(Math.round).slice(0, 4)).toEqual([1, 0, 1, 0]);
    expect(after.length).toBe(30);
  });

  test("the length of a snapshot does not depend on events", async () => {
    const clock = clockAt(TEN + 2000);
    const lengthOf = async (events: number) => {
      const stream = counter({ clock, tuning: { fanout: 4, skipLevels: 1 } });
      for (let k = 0; k < events; k++) stream.add({ at: TEN });
      stream.advance(TEN + 1000);
      for (let k = 0; k < events; k++) stream.add({ at: TEN + 1500 + (k % 3) * 1000 });
      return (await stream.snapshot(KEY)).length;
    };
    expect(await lengthOf(1000)).toBe(await lengthOf(0));
  });

  test("a snapshot opens with its own options only", async () => {
    const bytes = await counter().snapshot(KEY);
    const open = (change: object) =>
      restore(bytes, KEY, { ...exact, of: "count", clock: () => TEN, ...change });
    await expect(open({ lateness: "1s" })).rejects.toThrow("expected one made with lateness");
    await expect(open({ perPerson: { events: 1, every: "1d" } })).rejects.toThrow("perPerson");
    await expect(open({ origin: TEN + 1000 })).rejects.toThrow("origin");
    await expect(open({ of: "sum", max: 1, threshold: 1 })).rejects.toThrow(
      "snapshot: expected one made with",
    );
    expect((await open({})).sequence).toBe(1);
  });
});

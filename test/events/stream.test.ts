import { describe, expect, test } from "vitest";
import { privateCounter, privateStream, restore } from "../../src/events/open.js";
import type { CounterOptions } from "../../src/events/open.js";
import type { EventStreamOptions } from "../../src/events/options.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const KEY = new Uint8Array(32).fill(7);

/** A clock that stands still until it is moved. */
function clockAt(start: number) {
  let now = start;
  return Object.assign(() => now, { move: (to: number) => void (now = to) });
}

/** ε = 64 on two levels: noise of scale 1/32 is 0 but for odds of 2·e⁻³² a node, so counts come out as they are. */
const exact: CounterOptions = {
  epsilon: 64,
  every: "1s",
  origin: TEN,
  maxRange: "16s",
  tuning: { fanout: 4, skipLevels: 0 },
  unsafeSeed: "exact",
};
const counter = (change: Partial<CounterOptions> = {}) =>
  privateCounter({ ...exact, clock: () => TEN, ...change });

describe("ticks", () => {
  test("an event counts in the tick of its time, whatever the order", () => {
    const stream = counter();
    for (const second of [2.5, 0, 2.999, 0.999, 5]) stream.add({ at: TEN + 1000 * second });
    expect([...stream.advance(TEN + 6000).values].map(Math.round)).toEqual([2, 0, 2, 0, 0, 1]);
  });

  test("events never close a tick: the clock and the caller do", () => {
    const stream = counter();
    stream.add({ at: TEN + 59_000 });
    expect(stream.closed).toBe(0);
    stream.add({ at: TEN });
    const closed = stream.advance(TEN + 1000);
    expect([closed.from, closed.every, closed.values.length, Math.round(closed.values[0]!)]).toEqual([
      TEN,
      1000,
      1,
      1,
    ]);
  });

  test("a tick takes events until `lateness` after its end; later ones are dropped", () => {
    const stream = counter({ lateness: "2s" });
    stream.add({ at: TEN });
    expect(stream.advance(TEN + 2999).values).toHaveLength(0);
    stream.add({ at: TEN });
    expect(Math.round(stream.advance(TEN + 3000).values[0]!)).toBe(2);
    stream.add({ at: TEN });
    stream.add({ at: TEN - 1 }); // before the origin
    expect(stream.dropped).toEqual({ late: 2, early: 0, overLimit: 0 });
  });

  test("events further ahead of the clock than `skew` are dropped", () => {
    const clock = clockAt(TEN);
    const stream = counter({ skew: "3s", clock });
    stream.add({ at: TEN + 3999 });
    stream.add({ at: TEN + 4000 });
    expect(stream.dropped.early).toBe(1);
    clock.move(TEN + 1000);
    stream.add({ at: TEN + 4000 });
    expect(stream.dropped.early).toBe(1);
  });

  test("an event far ahead makes no other event late, and lets no other one in", () => {
    const clock = clockAt(TEN);
    const stream = counter({ skew: "3s", clock });
    clock.move(TEN + 100_000); // the clock jumps ahead for a moment
    stream.add({ at: TEN + 100_000 });
    clock.move(TEN);
    stream.add({ at: TEN + 50_000 });
    stream.add({ at: TEN });
    expect(stream.dropped).toEqual({ late: 0, early: 1, overLimit: 0 });
  });

  test("without a time an event is of now", () => {
    const clock = clockAt(TEN + 1500);
    const stream = counter({ clock });
    stream.add();
    expect([...stream.advance(TEN + 2000).values].map(Math.round)).toEqual([0, 1]);
  });

  test("a clock that goes back closes nothing twice, and drops what comes meanwhile", () => {
    const clock = clockAt(TEN + 5000);
    const stream = counter({ clock });
    expect(stream.advance().values).toHaveLength(5);
    clock.move(TEN + 2000);
    expect(stream.advance().values).toHaveLength(0);
    stream.add();
    expect(stream.dropped.late).toBe(1);
    clock.move(TEN + 6000);
    expect(stream.advance().values).toHaveLength(1);
  });

  test("a clock that jumps by years is refused, and nothing changes", () => {
    const stream = counter();
    expect(() => stream.advance("2126-01-01")).toThrow(
      /^advance: expected at most 2\^22 ticks at a time, got \d+; check the clock, or advance in steps$/,
    );
    expect(stream.closed).toBe(0);
  });

  test("the default origin is the running tick, by the clock", () => {
    const { origin: _, ...rest } = exact;
    const stream = privateCounter({ ...rest, every: "1m", maxRange: "16m", clock: () => TEN + 90_500 });
    expect(stream.statement().origin).toBe("2026-03-01T10:01:00.000Z");
  });
});

describe("between", () => {
  const filled = () => {
    const stream = counter();
    for (let second = 0; second < 8; second++)
      for (let k = 0; k <= second; k++) stream.add({ at: TEN + 1000 * second + k });
    stream.advance(TEN + 8000);
    return stream;
  };

  test("takes Dates, ISO text and milliseconds", () => {
    const stream = filled();
    const wanted = { value: 3 + 4 + 5, from: TEN + 2000, to: TEN + 5000, complete: true };
    for (const [from, to] of [
      [new Date(TEN + 2000), new Date(TEN + 5000)],
      ["2026-03-01T10:00:02Z", "2026-03-01T11:00:05+01:00"],
      [TEN + 2000, TEN + 5000],
    ] as const) {
      const answer = stream.between(from, to);
      expect({ ...answer, value: Math.round(answer.value) }).toMatchObject(wanted);
      expect(answer.low).toBeLessThan(answer.value);
      expect(answer.high).toBeGreaterThan(answer.value);
    }
  });

  test("ends inside a tick count in proportion", () => {
    // 0.5·3 + 4 + 0.25·5
    expect(filled().between(TEN + 2500, TEN + 4250).value).toBeCloseTo(6.75, 6);
  });

  test("is cut to what is published, and says so", () => {
    const answer = filled().between(TEN - 5000, TEN + 60_000);
    expect({ ...answer, value: Math.round(answer.value) }).toMatchObject({
      value: 36,
      from: TEN,
      to: TEN + 8000,
      complete: false,
    });
    expect(counter().between(TEN, TEN + 1000)).toMatchObject({
      value: 0,
      complete: false,
      from: TEN,
      to: TEN,
    });
  });

  test("is plain data", () => {
    const answer = filled().between(TEN, TEN + 3000);
    expect(structuredClone(answer)).toEqual(answer);
    expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
  });

  test("refuses times that make no sense", () => {
    expect(() => filled().between("10:00", TEN)).toThrow("from: expected a Date, ISO text with a time zone");
    expect(() => filled().between(TEN + 1, TEN)).toThrow(
      `to: expected a time from ${TEN + 1} on, got ${TEN}`,
    );
    expect(() => filled().between(TEN, TEN, { confidence: 2 })).toThrow("confidence");
  });
});

/** ε = 64·2: noise next to nothing beside sums of thousands of steps of the grid. */
const summed = (change: Partial<EventStreamOptions> = {}) =>
  privateStream({
    ...exact,
    epsilon: 100,
    max: 1000,
    threshold: 100,
    clock: () => TEN,
    ...change,
  });

describe("sums and means", () => {
  test("values are clamped to θ and added up per tick", () => {
    const stream = summed();
    for (const value of [10, 20, 5000, -3]) stream.add(value, { at: TEN });
    stream.add(7, { at: TEN + 1000 });
    const { values } = stream.advance(TEN + 3000);
    [130, 7, 0].forEach((sum, i) => expect(Math.abs(values[i]! - sum)).toBeLessThan(40)); // scale 2·100/100
  });

  test("θ is chosen from the ticks of the hold-out, which are never published", () => {
    const stream = summed({ threshold: "noisy-max", holdout: "16s", lateness: "2s" });
    for (let second = 0; second < 20; second++)
      for (let k = 0; k < 100; k++) stream.add(50 + (k % 10), { at: TEN + 1000 * second });
    expect(stream.statement().threshold).toBeNull();
    const { from, values } = stream.advance(TEN + 20_000); // ticks up to 18 s are due
    expect(from).toBe(TEN + 16_000);
    expect(values).toHaveLength(2);
    const theta = stream.statement().threshold!;
    expect(theta).toBeGreaterThanOrEqual(57);
    expect(theta).toBeLessThanOrEqual(81);
    // Events that came before θ was known are not lost: two ticks of 100 values around 54.5.
    expect(values[0]! / 5450).toBeCloseTo(1, 1);
    expect(stream.between(TEN, TEN + 60_000)).toMatchObject({ from: TEN + 16_000, to: TEN + 18_000 });
  });

  test("a mean has its sum and its count beside it, and an interval between them", () => {
    const stream = summed({ of: "mean" });
    for (let k = 0; k < 400; k++) stream.add(k % 2 === 0 ? 20 : 40, { at: TEN + k });
    const closed = stream.advance(TEN + 1000);
    expect(closed.counts).toHaveLength(1);
    const answer = stream.between(TEN, TEN + 1000);
    expect(answer.value).toBeCloseTo(30, 0);
    expect(answer.sum!.value / answer.count!.value).toBeCloseTo(answer.value, 9);
    expect(answer.low).toBeLessThan(answer.value);
    expect(answer.high).toBeGreaterThan(answer.value);
  });

  test("the mean of too few events may be anything up to θ", () => {
    const stream = summed({ of: "mean", epsilon: 0.01 });
    stream.add(20, { at: TEN });
    stream.advance(TEN + 1000);
    expect(stream.between(TEN, TEN + 1000)).toMatchObject({ low: 0, high: 100 });
  });

  test("a block saturates far above anything real", () => {
    const stream = counter({ tuning: { fanout: 4, skipLevels: 1 } });
    expect(stream.statement().block).toBe("4s");
    const sums = summed({
      max: 2 ** 30,
      threshold: 2 ** 30,
      tuning: { fanout: 4, skipLevels: 0, resolution: 1 },
    });
    for (let k = 0; k < 1100; k++) sums.add(2 ** 30, { at: TEN });
    const { values } = sums.advance(TEN + 1000);
    expect(values[0]! / 2 ** 40).toBeCloseTo(1, 1); // 1100·2³⁰ would be 1.07·2⁴⁰
  });
});

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

test("both cores give the same bits", () => {
  const run = (core: "js" | "wasm") => {
    const stream = privateStream({
      epsilon: 0.1,
      every: "1s",
      origin: TEN,
      clock: () => TEN + 5_000_000,
      max: 1e6,
      of: "mean",
      holdout: "512s",
      core,
      unsafeSeed: "cores",
    });
    for (let k = 0; k < 50_000; k++) stream.add((k * 7919) % 100_003, { at: TEN + 100 * k });
    const { values, counts } = stream.advance(TEN + 5_000_000);
    return { values, counts, answer: stream.between(TEN + 1_000_000, TEN + 4_000_000) };
  };
  expect(run("js")).toEqual(run("wasm"));
});

describe("options", () => {
  test.each<[object, string]>([
    [{ every: "1x" }, "every: expected a duration"],
    [{ epsilon: 0 }, "epsilon: expected a finite number above 0, got 0"],
    [{ origin: TEN + 1 }, "origin: expected a whole number of ticks"],
    [{ perTick: -1 }, "perTick: expected a finite number above 0"],
    [{ finest: "10ms" }, "finest: expected at least one tick of 1s, got 10ms"],
    [{ maxRange: "1500ms" }, "maxRange: expected a whole number of ticks of 1s, got 1500ms"],
    [
      { perPerson: { events: 0, every: "1d" } },
      "perPerson.events: expected a whole number from 1 to 65535, got 0",
    ],
    [{ perPerson: { events: 1, every: "1500ms" } }, "perPerson.every: expected a whole number of ticks"],
    [{ perPerson: { event: 1 } }, 'perPerson: unknown option "event"'],
    [{ colour: "red" }, 'options: unknown option "colour"'],
    [{ clock: 5 }, "clock: expected a function"],
    [{ tuning: { depth: 3 } }, 'tuning: unknown option "depth"'],
  ])("%j is refused", (change, message) => {
    const { tuning: _t, maxRange: _m, ...usual } = exact;
    expect(() => privateCounter({ ...usual, ...change })).toThrow(message);
  });

  test.each<[object, string]>([
    [{ of: "median" }, 'of: expected "sum", "count", "mean", got "median"'],
    [{ max: undefined }, "max: expected a number above 0"],
    [{ threshold: "best" }, 'threshold: expected "noisy-max", got "best"'],
    [{ holdout: "1500ms" }, "holdout: expected a whole number of ticks"],
    [{ threshold: "noisy-max", holdout: 0 }, "holdout: expected at least one tick"],
    [{ of: "count" }, "max: expected none where events are only counted"],
    [{ max: 2 ** 40, threshold: 2 ** 40 }, "max: "],
  ])("a stream of values with %j is refused", (change, message) => {
    expect(() => summed(change)).toThrow(message);
  });

  test.each([NaN, Infinity, "5", undefined])(
    "the value %s is refused, and the message does not quote it",
    (value) => {
      const stream = summed();
      expect(() => stream.add(value as number, { at: TEN })).toThrow(
        new TypeError("value: expected a finite number"),
      );
      expect(() => stream.add(5, { at: NaN })).toThrow("at: expected a Date");
    },
  );
});

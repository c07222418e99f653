import { describe, expect, test } from "vitest";
import { beginEvents } from "../../src/events/kinds.js";
import { privateCounter, privateHistogram, privateStream, restore } from "../../src/privateStream.js";
import type { Counter, EventAnswer, EventStream } from "../../src/events/answer/answers.js";
import { clockAt, counter, exact, KEY, summed, TEN } from "../support/eventStreams.js";

const SECOND = 1000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const second = (n: number) => TEN + n * SECOND;
const values = (answers: readonly EventAnswer[]) =>
  answers.map(({ value }) => (value === null ? null : Math.round(value)));

describe("a number is a measurement", () => {
  test("events are counted in the period they lie in, and nowhere else", () => {
    const own = counter();
    for (const at of [0, 1, 999, 1000, 2500, 2999]) own.add({ at: TEN + at });
    expect(values(own.advance(second(4)))).toEqual([3, 1, 2, 0]);
    expect(own.between(second(0), second(3)).value).toBeCloseTo(6, 2);
  });

  test("before a period has ended there is no number for it", () => {
    const own = counter();
    own.add({ at: second(0) });
    expect(own.between(second(0), second(1))).toMatchObject({
      value: null,
      low: null,
      high: null,
      complete: false,
      next: second(1),
    });
    expect(own.advance(second(1) - 1)).toEqual([]);
    own.advance(second(1));
    expect(own.between(second(0), second(1))).toMatchObject({ complete: true, next: null });
  });

  test("a counter that never saw an event answers about 0, not a guess", () => {
    const clock = clockAt(TEN);
    const own = privateCounter({ epsilon: 1, every: "1h", clock, unsafeSeed: "empty" });
    clock.move(TEN + 5 * HOUR);
    for (const { low, high, complete } of own.advance()) {
      expect(complete).toBe(true);
      expect(low!).toBeLessThan(0);
      expect(high!).toBeGreaterThan(0);
    }
  });

  test("a period that began before the stream has no number", () => {
    const own = counter({ every: "1h", levels: ["1h", "1d"], clock: () => TEN + 20 * 60_000 });
    own.add({ at: TEN + 30 * 60_000 });
    expect(own.dropped).toEqual({ late: 1, early: 0, overLimit: 0 });
    expect(own.advance(TEN + HOUR)).toEqual([]);
    expect(own.advance(TEN + 2 * HOUR)).toHaveLength(1);
    const day = own.series("1d", TEN, TEN + 2 * HOUR).answers;
    expect(day.map(({ value, complete }) => [value, complete])).toEqual([[null, false]]);
  });

  test("whether an event is early depends on the clock, never on the events before it", () => {
    for (const before of [0, 5]) {
      const clock = clockAt(TEN);
      const own = counter({ clock, skew: "3s" });
      clock.move(second(8));
      for (let i = 0; i < before; i++) own.add({ at: second(10) });
      expect(own.dropped.early).toBe(0);
      clock.move(TEN); // set back: nothing was closed, so nobody but these events knows of the time before
      own.add({ at: second(10) });
      expect(own.dropped.early).toBe(1);
      own.advance(second(8));
      own.add({ at: second(10) }); // the caller said that it is this late
      expect(own.dropped.early).toBe(1);
    }
  });

  test("a time that no calendar has, as of microseconds taken for milliseconds, is early", () => {
    for (const zone of ["UTC", "Europe/Berlin"]) {
      const own = counter({ zone });
      for (const at of [2 ** 47, TEN * 1000, 8.64e15]) own.add({ at });
      for (const at of [-(2 ** 47), -TEN * 1000, -8.64e15]) own.add({ at });
      own.add({ at: second(0) });
      expect(own.dropped).toEqual({ late: 3, early: 3, overLimit: 0 });
      expect(values(own.advance(second(1)))).toEqual([1]);
    }
  });

  test("lateness keeps a period open, skew lets events ahead in", () => {
    const own = counter({ lateness: "2s", skew: "3s" });
    own.add({ at: second(3) }); // ahead by 3 s
    own.add({ at: second(5) }); // too far
    expect(own.advance(second(2))).toEqual([]);
    own.add({ at: second(0) });
    expect(values(own.advance(second(3)))).toEqual([1]);
    own.add({ at: second(0) }); // late
    expect(own.dropped).toEqual({ late: 1, early: 1, overLimit: 0 });
    expect(values(own.advance(second(6)))).toEqual([0, 0, 1]);
    expect(own.between(second(5), second(9)).next).toBe(second(8));
  });

  test("numbers add up: the hours of a day sum to the day", () => {
    const own = privateCounter({
      epsilon: 1,
      every: "1h",
      clock: () => Date.UTC(2026, 2, 1),
      unsafeSeed: "adds",
    });
    const midnight = Date.UTC(2026, 2, 2);
    const hours = own.advance(midnight);
    const day = own.between(midnight - DAY, midnight);
    expect(hours.reduce((sum, { value }) => sum + value!, 0)).toBe(day.value);
    expect(own.series("1d", midnight - DAY, midnight).answers[0]!.value).toBe(day.value);
  });
});

describe("last, between and series", () => {
  const clock = clockAt(Date.UTC(2026, 2, 1));
  const own = counter({ every: "1m", levels: ["1m", "1h", "1d"], epsilon: 256, clock });
  const start = Date.UTC(2026, 2, 1);
  for (let minute = 0; minute < 3 * 1440; minute++) {
    const at = start + minute * 60_000;
    clock.move(at);
    for (let i = 0; i <= minute % 60; i++) own.add({ at });
  }
  const now = start + 3 * DAY + 37.5 * 60_000;
  clock.move(now);
  own.advance();

  test("the last hour is the newest 60 minutes that have ended, complete", () => {
    const last = own.last("1h");
    expect([last.from, last.to, last.complete]).toEqual([now - 30_000 - HOUR, now - 30_000, true]);
    expect(last.next).toBe(now + 30_000);
    expect(() => own.last("90s")).toThrow("last: expected a multiple of every = 1m, got 90s; ask for 2m");
  });

  test("between takes whole periods inside, and says which", () => {
    const answer = own.between(start + DAY + 30_000, start + DAY + 2 * HOUR + 1);
    expect([answer.from, answer.to, answer.complete]).toEqual([
      start + DAY + 60_000,
      start + DAY + 2 * HOUR,
      false,
    ]);
    expect(answer.value).toBeCloseTo(2 * 1830 - 1, 0);
    expect(() => own.between(now, now - 1)).toThrow(RangeError);
    expect(own.between(now, now)).toMatchObject({ value: null, complete: true, next: null });
  });

  test("series by hour, day, week and month of the calendar; the running period is open", () => {
    expect(values(own.series("1h", start, start + 3 * HOUR).answers)).toEqual([1830, 1830, 1830]);
    const days = own.series("1d", start, now).answers;
    expect(values(days.slice(0, 3))).toEqual([43_920, 43_920, 43_920]);
    expect(days[3]).toMatchObject({ complete: false, from: start + 3 * DAY, to: now - 30_000 });
    const weeks = own.series("1w", start, now).answers; // Sunday the first, then Monday the second
    expect(weeks.map(({ value, complete }) => [value === null, complete])).toEqual([
      [true, false], // began before the stream did
      [false, false],
    ]);
    expect(own.series("1mo", start, now).answers).toHaveLength(1);
    expect(() => own.series("7m", start, now)).toThrow(
      /^period: expected "1w", "1mo", "auto" or a multiple of every = 1m/,
    );
    expect(() => own.series("1m", start - 3650 * DAY, now)).toThrow(
      /^series: expected at most 10000 periods/,
    );
  });

  test("fine periods are kept for two days, hours for longer", () => {
    expect(own.between(start, start + 60_000)).toMatchObject({ value: null, complete: false });
    expect(own.between(start, start + HOUR)).toMatchObject({ complete: true });
    expect(own.between(start + 2 * DAY, start + 2 * DAY + 60_000).complete).toBe(true);
  });

  test("without a period the finest one is taken that is not mostly noise, and says so", () => {
    const noisy = (rate: number, seed: string) => {
      const stream = privateCounter({
        epsilon: 1,
        every: "1m",
        clock: () => start,
        unsafeSeed: seed,
        skew: "2d",
      });
      for (let i = 0; i < 24 * rate; i++) stream.add({ at: start + (i * DAY) / (24 * rate) });
      stream.advance(start + DAY);
      return stream.series("auto", start, start + DAY);
    };
    expect(noisy(3000, "a")).toMatchObject({ period: "1m", why: "minutes, the finest level" });
    expect(noisy(60, "b")).toMatchObject({
      period: "1h",
      why: "hours, because minutes would be mostly noise",
    });
    expect(noisy(1, "c").period).toBe("1d");
  });
});

describe("days of a zone", () => {
  test("the day of 25 hours has 25 hours, and its noise ends with it", () => {
    const clock = clockAt(Date.parse("2026-10-24T22:00Z"));
    const own = counter({ every: "1h", levels: ["1h", "1d"], zone: "Europe/Berlin", clock });
    for (let hour = 0; hour < 49; hour++) {
      own.add({ at: clock() });
      clock.move(clock() + HOUR);
    }
    expect(own.advance()).toHaveLength(49);
    const days = own.series("1d", Date.parse("2026-10-24T22:00Z"), clock()).answers;
    expect(values(days)).toEqual([25, 24]);
    expect(days.map(({ from, to }) => (to - from) / HOUR)).toEqual([25, 24]);
  });

  test("with one number a day, the day of 25 hours is one period", () => {
    const clock = clockAt(Date.parse("2026-10-24T12:00Z"));
    const daily = counter({ every: "1d", levels: ["1d"], zone: "Europe/Berlin", clock });
    for (const [at, count] of [
      ["2026-10-24T22:30Z", 1],
      ["2026-10-25T22:30Z", 2], // its last hour
      ["2026-10-25T23:30Z", 4], // the next day
    ] as const) {
      clock.move(Date.parse(at));
      for (let i = 0; i < count; i++) daily.add({ at });
    }
    clock.move(Date.parse("2026-10-26T23:00Z"));
    expect(daily.advance().map(({ value, from, to }) => [value, (to - from) / 3_600_000])).toEqual([
      [3, 25],
      [4, 24],
    ]);
    expect(daily.last("2d")).toMatchObject({ value: 7, complete: true });
  });

  test("half-hour zones: an hour of a short day has its 30 minutes", () => {
    const clock = clockAt(Date.parse("2026-10-03T13:30Z")); // Lord Howe, the day of 23.5 hours
    const own = counter({ every: "1h", levels: ["1h", "1d"], zone: "Australia/Lord_Howe", clock });
    clock.move(clock() + 23.5 * HOUR);
    const closed = own.advance();
    expect(closed).toHaveLength(24);
    expect((closed[23]!.to - closed[23]!.from) / HOUR).toBe(0.5);
  });
});

describe("sums and means", () => {
  test("values are clamped to θ and rounded to the grid", () => {
    const own = summed();
    for (const value of [5, 50, 500, -3]) own.add(value, { at: second(0) });
    own.advance(second(1));
    expect(own.between(second(0), second(1)).value).toBeCloseTo(155, 0);
    expect(own.statement()).toMatchObject({ threshold: 100, resolution: 2 ** -7 });
  });

  test("a mean holds its sum and its count", () => {
    const own = summed({ of: "mean" });
    for (let i = 0; i < 40; i++) own.add(30, { at: second(0) });
    const [answer] = own.advance(second(1));
    expect(answer!.value).toBeCloseTo(30, 0);
    expect(answer!.sum!.value).toBeCloseTo(1200, 0);
    expect(answer!.count!.value).toBeCloseTo(40, 0);
  });

  test("the interval of a mean holds the mean of values that the grid has not, however many there are", () => {
    const rounded = (change: object) => {
      const own = summed({ of: "mean", max: 100, ...change });
      for (let i = 0; i < 20_000; i++) own.add(9.99, { at: second(0) });
      return own.advance(second(1))[0]!;
    };
    const { value, low, high } = rounded({});
    expect(value).toBeGreaterThan(9.9902); // 9.99 is not a multiple of 2⁻¹⁰
    expect(low).toBeLessThanOrEqual(9.99);
    expect(high! - low!).toBeLessThan(2 ** -9);
    expect(rounded({ threshold: 9 }).high).toBe(9); // cut to [0, θ]
    expect(rounded({ resolution: 64, threshold: 64 }).high).toBeCloseTo(32, 1);
  });

  test("a mean of nothing says nothing", () => {
    const own = privateStream({
      epsilon: 1,
      every: "1s",
      of: "mean",
      max: 10,
      threshold: 10,
      clock: () => TEN,
      unsafeSeed: "m",
    });
    expect(own.advance(second(1))[0]).toMatchObject({ value: null, low: 0, high: 10, standardError: null });
  });

  test("θ is chosen at the first midnight after the hold-out, and what begins then is published", () => {
    const clock = clockAt(TEN);
    const own = privateStream({ epsilon: 1, every: "1h", max: 10_000, clock, unsafeSeed: "theta" });
    expect(own.statement()).toMatchObject({ threshold: null, noiseScale: null });
    const midnight = Date.UTC(2026, 2, 3); // a day after the start, and then to midnight
    for (; clock() < midnight; clock.move(clock() + HOUR)) {
      for (let i = 0; i < 50; i++) own.add(20 + i, { at: clock() });
      expect(own.advance()).toEqual([]);
      expect(own.last("1h")).toMatchObject({ value: null });
    }
    expect(own.advance()).toEqual([]);
    const { threshold } = own.statement();
    expect(threshold).toBeGreaterThan(20);
    expect(threshold).toBeLessThan(200);
    clock.move(midnight + HOUR);
    expect(own.advance()).toHaveLength(1);
    expect(own.between(midnight, midnight + DAY).clipped).toBeUndefined(); // the day has not ended
    clock.move(midnight + DAY);
    own.advance();
    expect(own.between(midnight, midnight + DAY).clipped).toBeDefined();
  });

  test("with too few events the hold-out goes on for a day, and `next` says so", () => {
    const clock = clockAt(TEN);
    const own = privateStream({ epsilon: 1, every: "1h", max: 100, clock, unsafeSeed: "few" });
    clock.move(Date.UTC(2026, 2, 3));
    expect(own.advance()).toEqual([]);
    expect(own.statement().threshold).toBeNull();
    expect(own.between(TEN, TEN + 30 * DAY).next).toBe(Date.UTC(2026, 2, 4, 1));
    for (let i = 0; i < 500; i++) own.add(10, { at: clock() });
    clock.move(Date.UTC(2026, 2, 4));
    own.advance();
    expect(own.statement().threshold).not.toBeNull();
  });
});

describe("histograms", () => {
  test("buckets, total and percentiles in whole buckets", () => {
    const own = privateHistogram({ ...exact, edges: [10, 20, 30, 40], clock: () => TEN });
    for (let i = 0; i < 100; i++) own.add(5 + (i % 40), { at: second(0) });
    const [answer] = own.advance(second(1));
    expect(answer!.counts!.map(Math.round)).toEqual([15, 30, 25, 20, 10]);
    const { quantiles, shares, total } = own.last("1s", { quantiles: [0.5, 0.99], shares: [20, 25] });
    expect(quantiles[0]).toMatchObject({ low: 20, high: 30 });
    expect(quantiles[0]!.value).toBeGreaterThanOrEqual(20);
    expect(quantiles[1]).toMatchObject({ value: null, low: 40, high: null });
    expect(shares[0]!.value).toBeCloseTo(0.45, 2);
    expect([shares[1]!.low < 0.58, shares[1]!.high > 0.58]).toEqual([true, true]);
    expect(total!.value).toBeCloseTo(100, 0);
    expect(own.edges).toEqual([10, 20, 30, 40]);
  });
});

describe("people", () => {
  test("the first k events of a person and day count, of the zone's day", () => {
    const clock = clockAt(Date.parse("2026-03-01T20:00Z"));
    const own = counter({
      every: "1h",
      levels: ["1h", "1d"],
      zone: "Europe/Berlin",
      perPerson: 2,
      clock,
      epsilon: 1000,
    });
    for (let hour = 0; hour < 6; hour++) {
      for (let i = 0; i < 3; i++) own.add({ at: clock(), person: "ann" });
      own.add({ at: clock(), person: `p${hour}` });
      clock.move(clock() + HOUR);
    }
    expect(values(own.advance())).toEqual([3, 1, 1, 3, 1, 1]); // Berlin's midnight is at 23:00 UTC
    expect(own.dropped.overLimit).toBe(14);
  });

  test("at most n of them in an hour", () => {
    const clock = clockAt(Date.UTC(2026, 2, 1));
    const own = counter({
      every: "1h",
      levels: ["1h"],
      perPerson: { events: 5, perHour: 1 },
      clock,
      epsilon: 1000,
    });
    for (let hour = 0; hour < 8; hour++) {
      for (let i = 0; i < 4; i++) own.add({ at: clock() + i, person: "ann" });
      clock.move(clock() + HOUR);
    }
    expect(values(own.advance())).toEqual([1, 1, 1, 1, 1, 0, 0, 0]);
  });

  test("a person's sum counts up to s, the last value in part", () => {
    const own = privateStream({
      ...{ epsilon: 1000, every: "1s", levels: ["1s"], max: 10, resolution: 1, perPerson: { sum: 12 } },
      ...{ clock: () => TEN, unsafeSeed: "sum" },
    });
    for (const [at, value] of [
      [0, 5],
      [1, 4],
      [2, 9],
      [3, 9],
    ] as const)
      own.add(value, { at: second(at), person: "ann" });
    expect(values(own.advance(second(4)))).toEqual([5, 4, 3, 0]);
    expect(own.statement()).toMatchObject({ perPerson: { sum: 12 }, threshold: 10 });
  });

  test("how many people lost events is told for closed days, with an interval", () => {
    const clock = clockAt(Date.UTC(2026, 2, 1));
    const own = counter({ every: "1h", levels: ["1h"], perPerson: 1, clock, epsilon: 100 });
    for (let person = 0; person < 400; person++)
      for (let i = 0; i < (person % 4 === 0 ? 3 : 1); i++) own.add({ at: clock(), person: `p${person}` });
    clock.move(clock() + 23 * HOUR);
    own.advance();
    expect(own.last("1h").limited).toBeUndefined();
    clock.move(clock() + HOUR);
    own.advance();
    const { limited } = own.last("1h");
    expect(limited!.share).toBeCloseTo(0.25, 1);
    expect([limited!.low < 0.25, limited!.high > 0.25]).toEqual([true, true]);
    expect(own.statement().shares).toEqual({
      release: 31,
      limited: 1,
      clipped: 0,
      threshold: 0,
      discovery: 0,
    });
  });

  test("a share that is known no better than by half is not shown", () => {
    const clock = clockAt(Date.UTC(2026, 2, 1));
    const own = counter({ every: "1h", levels: ["1h"], perPerson: 1, clock, epsilon: 1 });
    own.add({ at: clock(), person: "ann" });
    clock.move(clock() + DAY);
    own.advance();
    expect(own.last("1h").limited).toBeUndefined();
  });
});

describe("snapshots", () => {
  const kinds = {
    counter: { of: "count" as const },
    sum: { max: 100, threshold: 50 },
    mean: { of: "mean" as const, max: 100, threshold: 50 },
    "chosen θ": { max: 100, holdout: 0 },
  };

  test.each(Object.entries(kinds))(
    "%s: a stream that resumes says the same, in every bit",
    async (_name, options) => {
      const clock = clockAt(Date.UTC(2026, 2, 1, 22));
      const all = {
        ...{
          epsilon: 1,
          every: "10m",
          perPerson: { events: 3, perHour: 2 },
          unsafeSeed: "again",
          clock,
          lateness: "10m",
        },
        ...options,
      };
      const begin = () => beginEvents(all) as EventStream & Counter;
      const feed = (stream: EventStream & Counter, count: number) => {
        for (let i = 0; i < count; i++) {
          for (let k = 0; k < 40; k++) {
            const event = { at: clock(), person: `p${(i * 7 + k) % 19}` };
            if ("of" in options && options.of === "count") stream.add(event);
            else stream.add(3 + k, event);
          }
          clock.move(clock() + 600_000);
          stream.advance();
        }
      };
      const whole = begin();
      feed(whole, 20);
      const bytes = await whole.snapshot(KEY);
      const half = clock();
      feed(whole, 20);
      const [wanted, range] = [
        whole.series("1h", half - DAY, half + DAY),
        whole.between(half - DAY, half + DAY),
      ];
      clock.move(half);
      const again = (await restore(bytes, KEY, all)) as typeof whole;
      expect(again.sequence).toBe(1);
      feed(again, 20);
      expect(again.series("1h", half - DAY, half + DAY)).toEqual(wanted);
      expect(again.between(half - DAY, half + DAY)).toEqual(range);
      expect(again.dropped).toEqual(whole.dropped);
    },
  );

  test("periods that ended while no process had the stream have no number; those that are still open go on", async () => {
    const clock = clockAt(TEN);
    const options = {
      ...exact,
      of: "count" as const,
      every: "1h",
      levels: ["1h", "1d"],
      lateness: "5m",
      clock,
    };
    const own = beginEvents(options) as Counter;
    own.add({ at: clock() });
    const bytes = await own.snapshot(KEY);
    clock.move(TEN + HOUR + 60_000);
    const soon = await restore(bytes, KEY, options); // the hour still takes events
    soon.add({ at: TEN + 1 });
    expect(values(soon.advance(TEN + 2 * HOUR - 1))).toEqual([2]);
    clock.move(TEN + 3 * HOUR + 60_000);
    const late = await restore(bytes, KEY, options);
    expect(values(late.advance(TEN + 5 * HOUR))).toEqual([0, 0]);
    expect(late.series("1h", TEN, TEN + 4 * HOUR).answers.map(({ value }) => value === null)).toEqual([
      true,
      true,
      false,
      false,
    ]);
    clock.move(TEN + 40 * DAY);
    const months = await restore(bytes, KEY, options);
    expect(months.advance(TEN + 40 * DAY + HOUR + 300_000)).toHaveLength(2); // one of them still took events
    expect(months.between(TEN, TEN + DAY)).toMatchObject({ value: null, complete: false });
  });

  test.each([
    ["zone", { zone: "Europe/Berlin" }],
    ["levels", { levels: ["1s", "1m"] }],
    ["epsilon", { epsilon: 2 }],
    ["perPerson", { perPerson: 3 }],
  ])("another %s is refused by name", async (name, change) => {
    const options = { ...exact, of: "count" as const, clock: () => TEN };
    const bytes = await privateStream(options).snapshot(KEY);
    await expect(restore(bytes, KEY, { ...options, ...change })).rejects.toThrow(`made with ${name} = `);
  });
});

describe("options", () => {
  test.each([
    ["perTick", "no guess of the rate"],
    ["finest", "every"],
    ["maxRange", "any number of days"],
    ["origin", "zone"],
    ["smoother", "no number is predicted"],
    ["tuning", "levels"],
  ])("the former option %s is refused with its successor", (name, successor) => {
    expect(() => privateCounter({ ...exact, [name]: 1 })).toThrow(
      new RegExp(`^${name}: no longer an option; use .*${successor}`),
    );
  });

  test.each<[object, string]>([
    [
      { epsilon: 5e-324 },
      "epsilon: expected at least 1.82e-12, so that sums with noise stay exact, got 5e-324",
    ],
    [{ epsilon: 1e300 }, "epsilon: expected at most 8.59e+9, got 1e+300"],
    [{ every: "7m" }, "every: expected a length that divides"],
    [{ zone: "Nowhere" }, "zone: expected the name of a time zone"],
    [{ perPerson: { events: 1, every: "1d" } }, "perPerson.every: expected none"],
    [{ perPerson: 0 }, "perPerson.events: expected a whole number from 1"],
    [{ perPerson: {} }, "perPerson: expected either events"],
    [{ perPerson: { events: 2, perHour: 3 } }, "perPerson.perHour: expected a whole number from 1 to 2"],
    [{ perPerson: { sum: 5 } }, "perPerson.sum: expected none for a count"],
    [{ history: { days: "10d", hours: "20d" } }, "history: expected days to be kept at least as long"],
    [{ max: 5 }, "max: expected none where events are only counted"],
    [{ epsilon: 0 }, "epsilon: expected a finite number above 0"],
    [{ clock: 5 }, "clock: expected a function"],
    [{ levelz: [] }, 'unknown option "levelz"'],
  ])("%j is refused", (change, message) => {
    expect(() => privateStream({ ...exact, of: "count", ...change } as never)).toThrow(message);
  });

  test.each<[object, string]>([
    [{ max: 10, threshold: 20 }, "threshold: expected at most max = 10"],
    [{ max: 10, threshold: 5, holdout: "1d" }, "holdout: expected none with a public threshold"],
    [{ max: 10, threshold: 5, perPerson: { sum: 5 } }, "threshold: expected none beside perPerson.sum"],
    [{ max: 10, resolution: 20 }, "resolution: expected 1 to 2^30 steps"],
    [{ max: 5e-324 }, "resolution: expected 1 to 2^30 steps"],
    [{ max: 1e308, min: -1e308 }, "resolution: expected 1 to 2^30 steps"],
    [{}, "max: expected"],
  ])("sums with %j are refused", (change, message) => {
    const { unsafeSeed: _, ...rest } = exact;
    expect(() => privateStream({ ...rest, ...change } as never)).toThrow(message);
  });

  test("a clock that jumps by years at fine periods is refused, and nothing changes", () => {
    const own = counter();
    expect(() => own.advance(TEN + 365 * DAY)).toThrow(/^advance: expected at most 2\^20 periods at a time/);
    expect(own.advance(second(2))).toHaveLength(2);
  });
});

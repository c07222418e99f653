import { describe, expect, test } from "vitest";
import { privateCounter, privateStream } from "../../src/events/open.js";
import { clockAt, counter, exact, summed, TEN } from "../support/eventStreams.js";

describe("ticks", () => {
  test("an event counts in the tick of its time, whatever the order", () => {
    const stream = counter();
    for (const second of [2.5, 0, 2.999, 0.999, 5]) stream.add({ at: TEN + 1000 * second });
    expect([...stream.advance(TEN + 6000).values].map(Math.round)).toEqual([2, 0, 2, 0, 0, 1]);
  });

  test("the tick of an event does not depend on the event before it, not even at its edges", () => {
    const stream = counter();
    const seconds = Array.from(
      { length: 1000 },
      (_, i) => ((i * 271) % 10) + [0, 0.5, 0.999, 0.9995][i % 4]!,
    );
    for (const second of seconds) stream.add({ at: TEN + 1000 * second });
    const counts = new Array<number>(10).fill(0);
    for (const second of seconds) counts[Math.floor(second)]!++;
    expect([...stream.advance(TEN + 10_000).values].map(Math.round)).toEqual(counts);
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

test("the statement says what is not protected: many events of a person, or many periods", () => {
  const said = (change: Parameters<typeof counter>[0]) => counter(change).statement().notProtected[0];
  expect(said({})).toMatch(/^a person with many events: /);
  expect(said({ perPerson: { events: 2, every: "1m" } })).toMatch(/^a person over several periods: .*minute/);
});

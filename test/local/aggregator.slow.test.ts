/** An aggregator of days: answers from the first report on, one θ a day, tallies that merge to the last bit. */
import { describe, expect, test } from "vitest";
import { aggregator, type LocalAnswer, reporter } from "../../src/index.js";
import { Aggregator } from "../../src/local/aggregator.js";
import type { AggregatorOptions } from "../../src/local/aggregatorOptions.js";
import { skewed } from "../support/localValues.js";

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 17, 12);
const START = NOON - DAY / 2;
const OPTIONS = { epsilon: 2, max: 1000 };

/** A server with a clock that the test moves. */
function serverAt(options: Partial<AggregatorOptions> = {}) {
  const time = { now: NOON };
  return { time, server: aggregator({ ...OPTIONS, clock: () => time.now, ...options }) };
}

const reports = (values: Float64Array | readonly number[], seed: string, threshold = 1000) =>
  reporter({ ...OPTIONS, threshold, unsafeSeed: seed }).reportMany(values);

/** A day of 2000 values with mean 20, and the next morning. */
async function secondDay(options: Partial<AggregatorOptions> = {}) {
  const made = serverAt(options);
  await made.server.terms();
  made.server.add(reports(skewed(2000, "first"), "first"));
  made.time.now += DAY;
  return { ...made, terms: await made.server.terms() };
}

describe("the first day", () => {
  test("no report: no number; one report: an interval, and everything up to max counts", async () => {
    const { server } = serverAt();
    const empty = server.between(START, START + DAY);
    expect(empty).toMatchObject({ reports: 0, mean: null, sum: null, low: null, high: null, clipped: null });
    expect(empty).toMatchObject({ complete: false, next: START + DAY });
    expect(await server.terms()).toEqual({ threshold: 1000, until: START + DAY, chosen: false });
    expect(server.add([reporter(OPTIONS).report(12)])).toBe(1);
    const first = server.last("1d");
    expect(first).toMatchObject({ from: START, to: START + DAY, reports: 1, complete: false, clipped: null });
    expect(first.low).toBeGreaterThanOrEqual(0);
    expect(first.high).toBeLessThanOrEqual(1000);
    expect(first).toEqual(structuredClone(first));
    expect(await server.histogram()).toMatchObject({ reports: 1, threshold: 1000 });
  });

  test("the mean is the unbiased one, and never that of EM", () => {
    const { server } = serverAt();
    server.add(reports(skewed(200, "few"), "few"));
    const { sum, mean, reports: count, standardError } = server.last("1d");
    // V(0) = 0.307 at ε = 2: the standard error of 200 reports is at most 1000·√(0.307/200).
    expect(standardError).toBeLessThanOrEqual(1000 * Math.sqrt(0.308 / 200));
    expect(standardError).toBeGreaterThan(1000 * Math.sqrt(0.16 / 200));
    if (mean !== null) expect(sum! / count).toBe(mean);
  });
});

describe("θ", () => {
  test("follows at midnight, once a day, and is one of the public thresholds", async () => {
    const { server, time, terms } = await secondDay();
    expect(terms).toMatchObject({ until: START + 2 * DAY, chosen: true });
    expect(terms.threshold).toBeLessThan(600);
    expect(() => reporter({ ...OPTIONS, threshold: terms.threshold })).not.toThrow();
    server.add(reports(skewed(5000, "more"), "more", terms.threshold));
    time.now += DAY / 3;
    expect(await server.terms()).toEqual(terms); // whatever comes within the day
    expect(await Promise.all([server.terms(), server.terms()])).toEqual([terms, terms]);
  });

  test("reports of today's and yesterday's θ count on the day they come; older ones are stale, others unknown", async () => {
    const { server, time, terms } = await secondDay();
    expect(server.add(reports([5, 6], "late"))).toBe(2);
    expect(server.add(reports([5, 6, 7], "today", terms.threshold))).toBe(3);
    const today = server.between(START + DAY, START + 2 * DAY);
    expect(today).toMatchObject({ reports: 5, clipped: { threshold: terms.threshold } });
    time.now += DAY;
    await server.terms();
    expect(server.add(reports([5], "too late"))).toBe(0);
    expect(server.add(reports([5], "never", 0.5 * terms.threshold))).toBe(0);
    expect(server.rejected).toMatchObject({ stale: 1, grid: 1 });
  });

  test("stays if it is pinned, or if too few reports came", async () => {
    expect((await secondDay({ follow: false })).terms).toMatchObject({ threshold: 1000, chosen: false });
    const { server, time } = serverAt({ threshold: 250 });
    server.add(reports(skewed(30, "few"), "few", 250)); // s = 0.078 at ε = 2
    time.now += DAY;
    expect(await server.terms()).toMatchObject({ threshold: 250, chosen: false });
  });

  test("is the same on both cores, as all answers are", async () => {
    const found = await Promise.all(
      (["wasm", "js"] as const).map(async (core) => {
        const { server, terms } = await secondDay({ core });
        return [
          terms,
          server.last("1d"),
          await server.quantile(0.9),
          await server.histogram(),
          server.tally(),
        ];
      }),
    );
    expect(found[0]).toEqual(found[1]);
  });
});

describe("days of a zone", () => {
  test("answers are about whole days, and add up to weeks and months", async () => {
    const { server, time, terms } = await secondDay();
    server.add(reports(skewed(500, "second"), "second", terms.threshold));
    time.now += DAY;
    await server.terms();
    const series = server.series("1d", START - DAY, START + 3 * DAY);
    expect(series.answers.map((answer) => answer.reports)).toEqual([0, 2000, 500, 0]);
    expect(series.answers.map((answer) => answer.complete)).toEqual([false, true, true, false]);
    expect(series.answers.map((answer) => answer.clipped?.threshold ?? null)).toEqual([
      ...[null, null, terms.threshold, null],
    ]);
    const sumOf = (answers: readonly LocalAnswer[]) =>
      answers.reduce((sum, answer) => sum + (answer.sum ?? 0), 0);
    const [week] = server.series("1w", START, START + DAY).answers;
    expect(week!.sum).toBeCloseTo(sumOf(series.answers), 6);
    expect(server.series("1mo", START, START + DAY).answers[0]!.reports).toBe(2500);
    expect(server.last("1d")).toMatchObject({
      from: START + DAY,
      to: START + 2 * DAY,
      complete: true,
      next: null,
    });
    expect(server.last("2d").sum).toBeCloseTo(sumOf(series.answers), 6);
    expect(server.between(START + 1, START + 2 * DAY)).toMatchObject({ from: START + DAY, reports: 500 });
    expect(server.between(START, START + DAY + 1)).toMatchObject({
      to: START + DAY,
      reports: 2000,
      complete: false,
    });
    expect(server.between(START - 9 * DAY, START - 8 * DAY)).toMatchObject({ reports: 0, mean: null });
  });

  test("midnight is that of the zone, also when clocks change", async () => {
    const berlin = { zone: "Europe/Berlin" };
    const { server, time } = serverAt(berlin);
    time.now = Date.UTC(2026, 9, 24, 22, 30); // 00:30 on the day that has 25 hours
    const { until } = await server.terms();
    expect(until).toBe(Date.UTC(2026, 9, 25, 23));
    server.add(reports([5], "zone"));
    expect(server.last("1d")).toMatchObject({ from: Date.UTC(2026, 9, 24, 22), to: until, reports: 1 });
  });
});

describe("merging", () => {
  test("workers with the leader's terms add up to one server, bit for bit, in any order", async () => {
    const { server: leader, time, terms } = await secondDay();
    const single = aggregator({ ...OPTIONS, clock: () => time.now });
    single.merge(leader);
    const workers = [0, 1, 2].map(() => aggregator({ ...OPTIONS, clock: () => time.now }));
    workers.forEach((worker, i) => {
      worker.follow(terms);
      for (const batch of [
        reports(skewed(300, `w${i}`), `w${i}`, terms.threshold),
        reports([4], `late ${i}`),
      ]) {
        // Yesterday's θ is one that a worker which began today does not know from itself.
        single.add(batch);
        worker.add(batch);
      }
    });
    for (const worker of [workers[2]!, workers[0]!, workers[1]!.tally()]) leader.merge(worker);
    expect(leader.tally()).toEqual(single.tally());
    expect(leader.reports).toBe(2000 + 3 * 301);
    expect(leader.between(START, START + 2 * DAY)).toEqual(single.between(START, START + 2 * DAY));
    expect(await leader.quantile(0.5)).toEqual(await single.quantile(0.5));
  });

  test("a state continues where it was: θ, its choice and the rules that follow", async () => {
    const { server, time, terms } = await secondDay();
    const again = aggregator({ ...OPTIONS, clock: () => time.now });
    again.merge(server.tally());
    expect(await again.terms()).toEqual(terms);
    expect(again.tally()).toEqual(server.tally());
    time.now += DAY;
    expect(await again.terms()).toEqual(await server.terms());
  });

  test("other parameters, another θ for a day and damaged bytes are refused, and change nothing", async () => {
    const { server, terms } = await secondDay();
    const before = server.tally();
    for (const other of [{ epsilon: 1 }, { max: 999 }, { threshold: 500 }, { zone: "Europe/Berlin" }])
      expect(() => server.merge(aggregator({ ...OPTIONS, ...other }))).toThrow(
        /^merge: expected a tally of the same ε, max, threshold and zone/,
      );
    expect(() => server.merge(server)).toThrow(/^merge: expected another aggregator/);
    expect(() => server.follow({ ...terms, threshold: 1000 })).toThrow(/^follow: expected θ = /);
    expect(() => server.follow({ ...terms, until: terms.until + 1 })).toThrow(
      /^until: expected the end of a day/,
    );
    for (let at = 0; at < before.length; at++) {
      const bytes = before.slice();
      bytes[at]! ^= 0xff;
      let merged: Aggregator | undefined;
      try {
        merged = aggregator(OPTIONS);
        merged.merge(bytes);
      } catch (error) {
        expect((error as Error).message).toMatch(/expected/);
        expect(merged!.reports).toBe(0);
      }
    }
    for (const wrong of [before.subarray(0, 40), before.subarray(0, before.length - 1), new Uint8Array(9)])
      expect(() => server.merge(wrong)).toThrow(/^tally: expected/);
    expect(server.tally()).toEqual(before);
  });

  test("a merge that loses one sum is noticed", async () => {
    const { server } = await secondDay();
    const again = aggregator(OPTIONS);
    again.merge(server);
    const bytes = server.tally();
    // The sum of cells stands before the counts: one more of it is another mean.
    const at = bytes.findIndex((_, i) => {
      const changed = bytes.slice();
      changed[i]!++;
      try {
        const other = aggregator(OPTIONS);
        other.merge(changed);
        return (
          other.reports === again.reports &&
          other.between(START, START + DAY).sum !== again.between(START, START + DAY).sum
        );
      } catch {
        return false;
      }
    });
    expect(at).toBeGreaterThan(0);
  });
});

describe("faults", () => {
  test.each([
    ["holdout", "reports count from the first one; give threshold to start lower"],
    ["maxRange", "θ serves 30 days of reports"],
    ["history", "days are kept for 400 days"],
    ["tuning", 'variant: "paper"'],
  ])("%s is refused with its successor", (name, successor) => {
    expect(() => aggregator({ ...OPTIONS, [name]: 1 })).toThrow(`aggregator: ${name}: expected none; `);
    expect(() => aggregator({ ...OPTIONS, [name]: 1 })).toThrow(successor);
  });

  test("wrong options and calls are refused by name, and change nothing", async () => {
    for (const [wrong, message] of [
      [{ epsilon: 0 }, /^epsilon: expected/],
      [{ max: 0 }, /^max: expected/],
      [{ threshold: 3.3 }, /^threshold: expected one of the 321/],
      [{ follow: 1 }, /^follow: expected true or false/],
      [{ zone: "Mars" }, /^zone: expected/],
      [{ clock: 5 }, /^clock: expected a function/],
      [{ sauce: 1 }, /unknown option "sauce"/],
      [{ variant: "other" }, /^variant: expected "paper"/],
    ] as const)
      expect(() => aggregator({ ...OPTIONS, ...wrong } as never)).toThrow(message);
    const { server } = serverAt();
    const before = server.tally();
    expect(() => server.add(5 as never)).toThrow(/^reports: expected an iterable/);
    expect(() => server.add([], "yesterday")).toThrow(/^at: expected a Date/);
    expect(() => server.last("1h")).toThrow(/^last: expected a multiple of 1d/);
    expect(() => server.series("1h", START, NOON)).toThrow(/^period: expected "1d", "1w" or "1mo"/);
    expect(() => server.between(NOON, START)).toThrow(/^to: expected a time from/);
    expect(() => server.between(START, NOON, { confidence: 2 })).toThrow(/^confidence: expected/);
    await expect(server.quantile(1)).rejects.toThrow(/^p: expected/);
    await expect(server.histogram({ level: 1 } as never)).rejects.toThrow(/unknown option "level"/);
    const calling = function* () {
      expect(() => server.add([])).toThrow(/^add: expected no call while a batch is being read/);
      yield* [];
    };
    server.add(calling());
    const throwing = function* () {
      yield reporter(OPTIONS).report(1);
      throw new Error("half of it");
    };
    expect(() => server.add(throwing())).toThrow("half of it");
    expect(server.tally()).toEqual(before);
  });

  test("it says what it promises", () => {
    const { server } = serverAt({ threshold: 250 });
    expect(server.statement()).toMatchObject({
      epsilon: 2,
      threshold: 250,
      follow: true,
      zone: "UTC",
      reports: 0,
    });
    expect(server.explain()).toContain("no report is more than e^ε = 7.38906 times likelier");
    expect(server.explain()).toContain("Values above θ = 250 are clamped to θ.");
    expect(server.explain()).not.toContain("NaN");
  });
});

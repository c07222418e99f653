/** Events of people in the lab, in Node: which of them count, what is published, and what it promises. */
import { expect, test } from "vitest";
import { callLog } from "../../site/src/data/callLog.js";
import { type Log, logBetween, sortedLog } from "../../site/src/data/log.js";
import { readLog } from "../../site/src/data/read.js";
import { inspect } from "../../site/src/data/shape.js";
import { bestLimit, logStatement, promiseOf } from "../../site/src/play/logWords.js";
import { levelsOf } from "../../site/src/play/state.js";
import { ZoneWords } from "../../site/src/play/zoneWords.js";
import { LogPlayer, type LogSettings } from "../../site/src/workers/logPlayer.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 2, 16);

const settings: LogSettings = {
  ...{
    epsilon: 1,
    of: "count",
    max: 10,
    every: "1h",
    levels: ["1h", "1d"],
    zone: "UTC",
    limit: 2,
    seed: "test",
  },
};

/** Two days: person 0 has five events on the first, in the hours 1 to 5, and one on the second; person 1 has one. */
const small: Log = {
  times: Float64Array.from([1, 2, 3, 4, 5, 6, 25], (hour) => START + hour * HOUR + 1),
  people: Uint32Array.of(0, 0, 0, 0, 0, 1, 0),
  values: Float64Array.of(1, 2, 3, 4, 5, 60, 7),
};

/** Three days of the example. */
const calls = (() => {
  const all = callLog();
  return logBetween(all, all.times[0]!, all.times[0]! + 3 * DAY);
})();

const running = (log: Log, other: Partial<LogSettings> = {}) => {
  const player = new LogPlayer(log, { ...settings, ...other });
  player.advance(Infinity);
  return player;
};

test("the truth beside an interval is that of the events within the limit; by hand", () => {
  const { total, day, range, limited } = running(small).answers({ from: START, to: START + 4 * HOUR });
  expect([total!.truth, total!.all]).toEqual([4, 7]);
  expect([day!.truth, day!.all]).toEqual([1, 1]);
  expect([range!.truth, range!.all]).toEqual([2, 3]);
  expect(limited === undefined || limited.truth === 1 / 3).toBe(true); // 1 of 3 people and days
  const sums = running(small, { of: "sum" }).answers(undefined);
  expect([sums.total!.truth, sums.total!.all]).toEqual([1 + 2 + 10 + 7, 15 + 10 + 7]); // 60 counts as the bound
  const events = running(small, { limit: undefined }).answers(undefined);
  expect([events.total!.truth, events.total!.all, events.limited]).toEqual([7, 7, undefined]);
});

test("the truth is what the library took: with hardly any noise both are equal", () => {
  for (const of of ["count", "sum"] as const) {
    const player = running(calls, { of, max: 60, limit: 3, epsilon: 1e6, zone: "Asia/Kolkata" });
    const { total, day } = player.answers(undefined);
    expect(Math.abs(total!.value! - total!.truth)).toBeLessThan(1);
    expect(Math.abs(day!.value! - day!.truth)).toBeLessThan(1);
    expect(total!.all).toBeGreaterThan(1.02 * total!.truth);
  }
});

test("what a limit leaves out is told for each; the best is where loss and noise are least together", () => {
  const costs = running(small).limits();
  expect(costs.slice(0, 3).map(({ limit, dropped, people }) => [limit, dropped, people])).toEqual([
    [1, 4 / 7, 1 / 3],
    [2, 3 / 7, 1 / 3],
    [3, 2 / 7, 1 / 3],
  ]);
  expect(running(small).mostOfOnePerson).toBe(5);
  expect(bestLimit(costs)).toBe(1);
  expect(bestLimit(running(calls).limits())).toBe(20);
  expect(running({ times: small.times }, { limit: undefined }).limits()).toEqual([]);
});

test("however a log came in, its numbers are those of a log that came at once; a running period has none", () => {
  const slow = new LogPlayer(small, settings);
  for (let at = START; at < START + 2 * DAY; at += 7 * 60_000) {
    slow.advance(at);
    slow.series("auto");
  }
  slow.advance(Infinity);
  expect(slow.series("1h")).toEqual(running(small).series("1h"));
  expect(slow.answers(undefined)).toEqual(running(small).answers(undefined));
  const half = new LogPlayer(small, settings);
  half.advance(START + 30.5 * HOUR);
  const days = half.series("1d").answers;
  expect(days.map(({ value }) => value === undefined)).toEqual([false, true]);
  expect(half.series("1h").answers).toHaveLength(30);
});

test("days are those of the zone, also where clocks change; periods are no finer than the numbers, and few enough to draw", () => {
  const times = Float64Array.of(Date.UTC(2026, 2, 28, 12), Date.UTC(2026, 2, 30, 12));
  const berlin = running({ times }, { zone: "Europe/Berlin", limit: undefined });
  expect(berlin.days.map(({ from, to }) => (to - from) / HOUR)).toEqual([24, 23, 24]);
  expect(berlin.series("1h").answers).toHaveLength(71);
  expect(berlin.series("5m").period).toBe("1h");
  const years = { times: Float64Array.of(START - 170 * DAY, START) };
  expect(running(years, { limit: undefined }).series("1h")).toMatchObject({
    period: "1d",
    why: "finer ones are too many to draw",
  });
  expect(levelsOf("15m", "all")).toEqual(["15m", "1h", "1d"]);
  expect(levelsOf("1h", "all")).toEqual(["1h", "1d"]);
  expect(levelsOf("1d", "day")).toEqual(["1d"]);
});

test("repeated questions are about the same events, whichever days they need", () => {
  const player = running(calls, { limit: 3 });
  const range = { from: player.start + 30 * HOUR, to: player.start + 50 * HOUR };
  const answers = player.answers(range);
  for (const question of ["total", "day", "period", "range", "limited"] as const) {
    const [first, second] = player.runs(question, range, 2, "runs");
    expect(first!.truth, question).toBe(answers[question]!.truth);
    expect(first!.low, question).not.toBe(second!.low);
    // The same noise: intervals are equally wide, but for shares.
    if (question !== "limited")
      expect(first!.high - first!.low).toBeCloseTo(answers[question]!.high - answers[question]!.low, 6);
  }
});

test("a file's events: sorted by time, ids as numbers, rows without a time or a person left out", async () => {
  const text = `when,caller,minutes\n2026-03-16 10:00,anna,5\n2026-03-16 09:00,ben,-2\nlater,ben,1\n2026-03-16 11:00,,1\n2026-03-16 12:00,anna,7\n`;
  const shape = await inspect(new Blob([text]));
  const [time, person, value] = shape.columns;
  expect([time!.kind, person!.kind, value!.kind]).toEqual(["time", "person", "number"]);
  const read = await readLog(new Blob([text]), shape, { time: time!, person, value }, () => undefined);
  expect(read).toMatchObject({ skipped: 2, negative: 1, people: 2, largest: 7, zoned: false, cut: false });
  expect([...read.log.people!]).toEqual([1, 0, 0]);
  expect([...read.log.values!]).toEqual([0, 5, 7]);
  expect(JSON.stringify(read)).not.toMatch(/anna|ben/);
  expect(sortedLog(read.log)).toEqual(read.log);
});

test("ε of a person is said for a day, a month and a year; without people no person is promised anything", () => {
  const person = promiseOf(settings, true);
  expect(person.lead).toMatch(/one person does on one day \(UTC\).*At most 2/);
  expect(person.rows.map(([, epsilon]) => epsilon)).toEqual([1, 30, 365]);
  const event = promiseOf({ ...settings, limit: undefined }, false);
  expect(event.lead).toMatch(/One event is protected.*a person is not/);
  expect(logStatement(settings, true, "explained")).toMatch(/a year, 365 days: ε = 365/);
});

test("times read as in their zone", () => {
  const words = new ZoneWords("Europe/Berlin", false);
  const at = Date.UTC(2026, 2, 28, 23); // midnight in Berlin
  expect(words.span({ from: at, to: at + 23 * HOUR })).toBe("Sun 29 Mar");
  expect(words.span({ from: at, to: at + 2 * 24 * HOUR - HOUR })).toBe("Sun 29 Mar to Mon 30 Mar");
  expect(words.span({ from: at + HOUR, to: at + 2 * HOUR })).toBe("Sun 29 Mar, 01:00 to 03:00");
});

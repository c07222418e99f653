import { describe, expect, test } from "vitest";
import { Calendar } from "../../src/events/days/calendar.js";
import { clockAt, counter, KEY } from "../support/eventStreams.js";
import { restore } from "../../src/privateStream.js";

const HOUR = 3_600_000;

describe.each([
  ["Europe/Berlin", Date.UTC(2026, 9, 24, 22), 25],
  ["Europe/Berlin", Date.UTC(2026, 2, 28, 23), 23],
  ["Australia/Lord_Howe", Date.UTC(2026, 3, 4, 13), 24.5],
  ["America/Santiago", Date.UTC(2026, 8, 6, 4), 23],
])("%s: a day of which a period is the whole", (zone, start, hours) => {
  const day = new Calendar(zone).dayAt(start);
  const daily = { zone, every: "1d", levels: ["1d"], name: "daily" };

  test(`has ${hours} hours, and all of its events count`, () => {
    expect(day).toEqual({ start, end: start + hours * HOUR });
    const clock = clockAt(start);
    const own = counter({ ...daily, clock });
    for (let at = start; at < day.end; at += HOUR / 2) {
      clock.move(at);
      own.add({ at });
      expect(own.advance()).toEqual([]);
    }
    expect(own.dropped).toEqual({ late: 0, early: 0, overLimit: 0 });
    clock.move(day.end);
    const [answer, ...more] = own.advance();
    expect(answer).toMatchObject({ from: start, to: day.end, complete: true });
    expect(Math.round(answer!.value!)).toBe(2 * hours);
    expect(more).toEqual([]);
    expect(own.last("1d")).toMatchObject({ from: start, to: day.end, complete: true, value: answer!.value });
  });

  test("is not published if the stream began in it, also in its last hour", () => {
    for (const late of [1, HOUR / 2, hours * HOUR - 1]) {
      const clock = clockAt(start + late);
      const own = counter({ ...daily, clock });
      expect(own.between(start, day.end + 24 * HOUR).next).toBe(day.end + 24 * HOUR);
      clock.move(day.end + 24 * HOUR);
      expect(own.advance().map(({ from, to }) => [from, to])).toEqual([[day.end, day.end + 24 * HOUR]]);
    }
  });

  test("goes on from a snapshot of its last hour", async () => {
    const clock = clockAt(start);
    const own = counter({ ...daily, clock });
    own.add();
    clock.move(day.end - 1);
    own.add();
    const again = await restore(await own.snapshot(KEY), KEY, {
      ...{ epsilon: 128, unsafeSeed: "exact", of: "count", ...daily, clock },
    });
    clock.move(day.end);
    expect(again.advance()).toEqual(own.advance());
    expect(Math.round(again.last("1d").value!)).toBe(2);
  });
});

test("the last days are days of the zone where days are published, and hours where hours are", () => {
  const start = Date.UTC(2026, 9, 23, 22); // 24, 25 and 24 hours
  const clock = clockAt(start);
  const [days, both] = ["1d", "1h"].map((every) =>
    counter({ zone: "Europe/Berlin", every, levels: every === "1d" ? ["1d"] : ["1h", "1d"], clock }),
  );
  clock.move(start + 73 * HOUR);
  for (const own of [days!, both!]) own.advance();
  const lengths = (text: string) =>
    [days!, both!].map((own) => {
      const { from, to, complete } = own.last(text);
      return [(to - from) / HOUR, complete];
    });
  expect(lengths("1d")).toEqual([
    [24, true],
    [24, true],
  ]);
  expect(lengths("2d")).toEqual([
    [49, true],
    [48, true],
  ]);
});

import { describe, expect, test } from "vitest";
import { jsNoise } from "../../../src/core/js/index.js";
import { DAY, HOUR } from "../../../src/events/days/calendar.js";
import { DayPeriods } from "../../../src/events/days/dayPeriods.js";
import { dayCorrections, drawLeaves, familyOf } from "../../../src/events/days/dayNoise.js";
import { RunningDay } from "../../../src/events/days/runningDay.js";
import { Encoder } from "../../../src/snapshot/codec.js";
import { noiseScale } from "../../../src/stream/release/forest.js";

const MINUTES_15 = HOUR / 4;
const levels = [MINUTES_15, HOUR, DAY];
/** 96 leaves: two runs of noise, the second one shorter. */
const periods = new DayPeriods({ start: 0, end: DAY }, levels);
const key = Uint32Array.from({ length: 8 }, (_, i) => 77 * i + 1);
const sums = (leaf: number, columns: number) => Array.from({ length: columns }, (_, i) => 1000 * leaf + i);

/** The noise of every leaf and column, drawn by the functions that define it. */
function noiseOf(columns: number, source: Parameters<typeof drawLeaves>[0]): number[][] {
  const rows = Array.from({ length: 96 }, () => new Array<number>(columns).fill(NaN));
  for (let column = 0; column < columns; column++)
    for (const [run, leaves] of [64, 32].entries()) {
      const out = new Float64Array(leaves);
      drawLeaves(source, key, periods, column, run, out);
      out.forEach((n, i) => (rows[64 * run + i]![column] = n));
    }
  return rows;
}

describe.each([1, 2, 40])("the running day of %d columns", (columns) => {
  const source = { core: jsNoise, columns, scale: noiseScale(3, 1, 0.5, 32), fraction: 2 ** 16 };
  const noise = noiseOf(columns, source);
  const corrections = dayCorrections(source, key, periods);
  const expected = (leaf: number): number[] =>
    sums(leaf, columns).map(
      (sum, i) => sum + noise[leaf]![i]! + corrections[familyOf(periods.shape, leaf) * columns + i]!,
    );
  const none = new Array<number>(columns).fill(NaN);
  const read = (day: RunningDay, leaf: number): number[] => {
    const out = new Float64Array(columns);
    day.read(leaf, out);
    return Array.from(out);
  };
  const missed = new Set([0, 2, 3, 17, 62, 63, 64, 65, 70]);
  const saved = (day: RunningDay): RunningDay => {
    const writer = new Encoder();
    day.save(writer);
    return RunningDay.load(writer.read(), levels, columns);
  };
  /** All leaves but the missed ones, up to one. @param reopened leaves before which it is saved and loaded */
  function filled(until: number, reopened: ReadonlySet<number> = new Set()): RunningDay {
    let day = new RunningDay(periods, columns);
    for (let leaf = 0; leaf < until; leaf++) {
      if (reopened.has(leaf)) day = saved(day);
      if (missed.has(leaf)) continue;
      day.draw(source, key);
      const noisy = day.estimate(source, key, leaf, sums(leaf, columns));
      expect(read(day, leaf)).toEqual(none); // an estimate publishes nothing
      day.put(leaf, noisy);
    }
    return day;
  }

  test("a number is T + N and the correction of its family; missed and coming periods have none", () => {
    for (const until of [1, 2, 5, 63, 64, 68, 71, 96]) {
      const day = filled(until);
      for (let leaf = 0; leaf < 96; leaf++)
        expect(read(day, leaf), `leaf ${leaf} of ${until}`).toEqual(
          leaf < until && !missed.has(leaf) ? expected(leaf) : none,
        );
    }
  });

  test("saved and loaded at any leaf it goes on with the same numbers, and so it is when it is kept", () => {
    for (const reopened of [new Set([1, 3, 18, 63]), new Set([64]), new Set([66, 95]), missed]) {
      const day = filled(96, reopened);
      const kept = { periods, level: 0, values: new Float64Array(96 * columns) };
      saved(day).copyTo(kept);
      for (let leaf = 0; leaf < 96; leaf++) {
        const want = missed.has(leaf) ? none : expected(leaf);
        expect(read(day, leaf), `leaf ${leaf}`).toEqual(want);
        expect(Array.from(kept.values.subarray(leaf * columns, (leaf + 1) * columns))).toEqual(want);
      }
    }
  });

  test("what is saved has no noise of periods that are still to come", () => {
    const size = (day: RunningDay): number => {
      const writer = new Encoder();
      day.save(writer);
      return writer.bytes.length;
    };
    const day = filled(5);
    const before = size(day);
    day.estimate(source, key, 5, sums(5, columns));
    expect(size(day)).toBe(before);
    const drawn = new RunningDay(periods, columns);
    drawn.draw(source, key);
    drawn.estimate(source, key, 0, sums(0, columns));
    expect(size(drawn)).toBe(size(new RunningDay(periods, columns)));
  });

  test("an estimate may be asked for again until it is published, and not after", () => {
    const day = filled(7);
    const first = day.estimate(source, key, 7, sums(7, columns));
    expect(day.estimate(source, key, 7, sums(7, columns))).toEqual(first);
    day.put(7, first);
    expect(() => day.estimate(source, key, 7, sums(7, columns))).toThrow("leaf");
  });
});

describe.each([1, 3, 66])("a day of minutes with %d columns", (columns) => {
  const minutes = new DayPeriods({ start: 0, end: DAY }, [60_000, HOUR, DAY]);
  const { leaves } = minutes;
  const source = { core: jsNoise, columns, scale: noiseScale(3, 1, 1, 32), fraction: 2 ** 16 };
  const corrections = dayCorrections(source, key, minutes);
  const noise = Array.from({ length: columns }, (_, column) =>
    Array.from({ length: Math.ceil(leaves / 64) }, (_, run) => {
      const out = new Float64Array(Math.min(64, leaves - 64 * run));
      drawLeaves(source, key, minutes, column, run, out);
      return Array.from(out);
    }).flat(),
  );
  /** Nobody listened for a moment, for more than a run, and for more than two. */
  const missed = (leaf: number): boolean =>
    leaf % 97 < 2 || (leaf >= 200 && leaf < 290) || (leaf >= 700 && leaf < 1000);
  const events = (leaf: number, column: number): number => (leaf % 50 === 3 ? 400 * column : leaf % 3);
  const expected = (leaf: number): number[] =>
    Array.from({ length: columns }, (_, i) =>
      missed(leaf)
        ? NaN
        : events(leaf, i) + noise[i]![leaf]! + corrections[familyOf(minutes.shape, leaf) * columns + i]!,
    );

  test("the ring and the code of numbers before it give the numbers of the definition, also after a restart", () => {
    let day = new RunningDay(minutes, columns);
    const row = new Float64Array(columns);
    const readAll = (until: number): void => {
      for (let leaf = 0; leaf < until; leaf++) {
        day.read(leaf, row);
        if (leaf % 5 === 0 || leaf > until - 140)
          expect(Array.from(row), `leaf ${leaf} of ${until}`).toEqual(expected(leaf));
      }
    };
    for (let leaf = 0; leaf < leaves; leaf++) {
      if (leaf === 333 || leaf === 1290) {
        const writer = new Encoder();
        day.save(writer);
        day = RunningDay.load(writer.read(), [60_000, HOUR, DAY], columns);
      }
      if (missed(leaf)) continue;
      day.draw(source, key);
      const sums = Array.from({ length: columns }, (_, i) => events(leaf, i));
      const noisy = day.estimate(source, key, leaf, sums);
      if (leaf % 40 === 7) expect(day.estimate(source, key, leaf, sums)).toEqual(noisy);
      day.put(leaf, noisy);
      if ([65, 130, 291, 340, 1001].includes(leaf)) readAll(leaf + 1);
    }
    readAll(leaves);
    for (const leaf of [1439, 0, 699, 64, 1000]) {
      day.read(leaf, row);
      expect(Array.from(row)).toEqual(expected(leaf));
    }
  });
});

/** Different people of a day, a week and a month, and what one person can move. */
import { describe, expect, test } from "vitest";
import { Dice } from "../../../scripts/fuzz/dice.js";
import { recordOfStatement } from "../../../src/adapters/registryRecord.js";
import { checkStatement } from "../../../src/cli/checkStatement.js";
import { type Sighting, DistinctPeople } from "../../../src/events/people/distinctPeople.js";
import { laplaceVariance } from "../../../src/stream/answer/variance.js";
import { Encoder, Decoder } from "../../../src/snapshot/codec.js";
import { plan, privateCounter, restore } from "../../../src/index.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MONDAY = Date.UTC(2026, 5, 1); // 1 June 2026
const KEY = new Uint8Array(32).fill(3);

/** ε = 64: noise of scale 1/64 is 0 but for odds of 2·e⁻⁶⁴. */
const exact = { of: "people", epsilon: 64, unsafeSeed: "people" } as const;

describe("a counter of people", () => {
  test("a day: each person once, however many events; the next day again", () => {
    let now = MONDAY;
    const visitors = privateCounter({ ...exact, over: "1d", clock: () => now });
    for (const [hour, person] of [
      [1, "ann"],
      [2, "ann"],
      [2, "bob"],
      [23, "ann"],
      [25, "ann"],
    ] as const) {
      now = MONDAY + hour * HOUR;
      visitors.add({ person });
    }
    now = MONDAY + 2 * DAY;
    expect(visitors.advance().map(({ value }) => value)).toEqual([2, 1]);
    expect(visitors.last("1d")).toMatchObject({ value: 1, from: MONDAY + DAY, to: now, complete: true });
    expect(visitors.dropped).toEqual({ late: 0, early: 0, overLimit: 0 }); // a person who comes again is not dropped
    expect(visitors.last("1d")).not.toHaveProperty("limited");
    expect(() => visitors.add()).toThrow(/^person: expected text/);
  });

  test("a week begins on Monday of the zone, a month on its first; both end with clocks that change", () => {
    const zone = "Europe/Berlin";
    const began = Date.UTC(2026, 2, 18); // a Wednesday; clocks go forward on 29 March
    for (const [over, from, to] of [
      ["1w", Date.UTC(2026, 2, 22, 23), Date.UTC(2026, 2, 29, 22)],
      ["1mo", Date.UTC(2026, 2, 31, 22), Date.UTC(2026, 3, 30, 22)],
    ] as const) {
      let now = began;
      const visitors = privateCounter({ ...exact, over, zone, clock: () => now });
      visitors.add({ person: "early" }); // of a period that began before the counter did
      expect(visitors.statement().firstNumber).toBe(new Date(to).toISOString());
      for (now = from; now < to; now += DAY) {
        visitors.add({ person: "ann" });
        visitors.add({ person: `of ${Math.floor(now / (3 * DAY))}` });
      }
      now = to - 1;
      expect(visitors.advance()).toEqual([]);
      now = to;
      const people = 1 + Math.floor((to - 1) / (3 * DAY)) - Math.floor(from / (3 * DAY)) + 1;
      expect(visitors.advance()).toMatchObject([{ from, to, complete: true }]);
      const { value } = visitors.last(over);
      expect(value).toBeGreaterThanOrEqual(people - 1);
      expect(value).toBeLessThanOrEqual(people);
      expect(visitors.series(over, from, to + 1).answers.map((answer) => answer.value)).toEqual([
        value,
        null,
      ]);
      expect(visitors.series("auto", from, to).period).toBe(over);
      expect(() => visitors.series("1d", from, to)).toThrow(`period: expected "${over}"`);
      expect(() => visitors.last("7d")).toThrow(`last: expected "${over}"`);
    }
  });

  test("a snapshot in the middle of a week knows who was counted", async () => {
    let now = MONDAY;
    const options = { ...exact, over: "1w", clock: () => now } as const;
    const first = privateCounter(options);
    first.add({ person: "ann" });
    now += 3 * DAY;
    const second = await restore(await first.snapshot(KEY), KEY, options);
    second.add({ person: "ann" });
    second.add({ person: "bob" });
    now = MONDAY + 7 * DAY;
    expect(second.advance().map(({ value }) => value)).toEqual([2]);
    await expect(restore(await second.snapshot(KEY), KEY, { ...options, over: "1mo" })).rejects.toThrow(
      /people/,
    );
  });

  test("the length of a snapshot says nothing of people that it has room for", async () => {
    const lengths = await Promise.all(
      [0, 1, 3000].map(async (people) => {
        const options = { ...exact, over: "1mo", people: 4096, clock: () => MONDAY } as const;
        const visitors = privateCounter(options);
        for (let i = 0; i < people; i++) visitors.add({ person: `p${i}` });
        return (await visitors.snapshot(KEY)).length;
      }),
    );
    expect(new Set(lengths).size).toBe(1);
  });

  test("all of ε is for the one number: its noise has scale 1/ε", () => {
    for (const over of ["1d", "1w", "1mo"] as const) {
      const { standardErrors, unit, people, perPerson, shares, noiseScale, periods } = privateCounter({
        ...{ of: "people", over, epsilon: 1 },
      }).statement();
      const word = { "1d": "day", "1w": "week", "1mo": "month" }[over];
      expect(unit).toBe(`one person, per ${word} (UTC)`);
      expect(standardErrors).toEqual({ [over]: Math.sqrt(laplaceVariance(1)) });
      expect([people, perPerson, noiseScale, periods]).toEqual([
        { over, keysPerPerson: 1 },
        null,
        1,
        "own noise",
      ]);
      expect(shares).toEqual({ release: 32, limited: 0, clipped: 0, threshold: 0, discovery: 0 });
      expect(plan({ of: "people", over, epsilon: 1 }).errors).toMatchObject([
        { period: over, standardError: Math.sqrt(laplaceVariance(1)) },
      ]);
    }
    expect(privateCounter({ of: "people", over: "1w", epsilon: 1 }).explain()).toContain(
      "Different people are counted: each once in a week.",
    );
  });

  test("a record of it and a check of its statement know the unit, the scale and the error", () => {
    for (const [over, unit] of [
      ["1d", "User-day-level"],
      ["1w", "User-week-level"],
      ["1mo", "User-month-level"],
    ] as const) {
      const statement = privateCounter({ of: "people", over, epsilon: 0.5 }).statement();
      expect(JSON.stringify(recordOfStatement(statement))).toContain(unit);
      expect(checkStatement(statement).filter(({ holds }) => !holds)).toEqual([]);
      const little = { ...statement, noiseScale: statement.noiseScale! * 0.9 };
      expect(checkStatement(little).filter(({ holds }) => !holds)).toHaveLength(3);
    }
  });

  test("options that make no sense are refused by name", () => {
    const make = (more: object) => () => privateCounter({ ...exact, over: "1d", ...more } as never);
    expect(make({ over: "2d" })).toThrow(/^over: expected/);
    expect(make({ every: "1h" })).toThrow(/^every: expected none where people are counted; over says/);
    expect(make({ levels: ["1h"] })).toThrow(/^levels: expected none/);
    expect(make({ perPerson: 3 })).toThrow(/^perPerson: expected none/);
    expect(make({ keysPerPerson: 2 })).toThrow(/^keysPerPerson: expected none without keys/);
  });
});

type Event = readonly [person: string, key: string, day: number];

/** Counts per key of one period. */
function counts(
  events: readonly Event[],
  admit: (person: string, key: string) => Sighting,
): Map<string, number> {
  const found = new Map<string, number>();
  for (const [person, key] of events)
    if (admit(person, key) === "new") found.set(key, (found.get(key) ?? 0) + 1);
  return found;
}

function distance(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  return [...new Set([...a.keys(), ...b.keys()])].reduce(
    (sum, key) => sum + Math.abs((a.get(key) ?? 0) - (b.get(key) ?? 0)),
    0,
  );
}

const admission = (keys: number) => {
  const people = new DistinctPeople(Uint32Array.of(1, 2, 3, 4), keys, 16);
  return (person: string, key: string) => people.admit(people.hash(person).slice(), key, 0);
};

/** Counts every new pair, and has no limit of keys. */
const unlimited = () => {
  const seen = new Set<string>();
  return (person: string, key: string): Sighting => {
    const pair = `${person} ${key}`;
    return seen.has(pair) ? "again" : (seen.add(pair), "new");
  };
};

/** The largest change of all counts together, over random lives, if a person's period or one day of it is taken away. */
function largest(make: (keys: number) => (person: string, key: string) => Sighting, keys: number) {
  let [period, day] = [0, 0];
  for (let life = 0; life < 400; life++) {
    const dice = new Dice(20261118, life);
    const events = Array.from({ length: dice.below(24) }, (): Event => [
      dice.pick(["x", "y", "z"]),
      dice.pick(["a", "b", "c", "d", "e"]),
      dice.below(3),
    ]).sort((one, other) => one[2] - other[2]);
    const all = counts(events, make(keys));
    const without = (left: (event: Event) => boolean) =>
      distance(all, counts(events.filter(left), make(keys)));
    period = Math.max(
      period,
      without(([person]) => person !== "x"),
    );
    for (const d of [0, 1, 2])
      day = Math.max(
        day,
        without(([person, , of]) => person !== "x" || of !== d),
      );
  }
  return { period, day };
}

describe("under c keys", () => {
  test.each([1, 2, 3])(
    "a person's period moves counts by at most c = %i, one day of it by at most 2c",
    (keys) => {
      const moved = largest(admission, keys);
      expect(moved.period).toBe(keys);
      expect(moved.day).toBeGreaterThan(0);
      expect(moved.day).toBeLessThanOrEqual(2 * keys);
    },
  );

  test("with one key and several days a day can move two counts: it costs 2ε", () => {
    expect(largest(admission, 1).day).toBe(2);
  });

  test("without the limit of keys the same comparison sees more than c", () => {
    expect(largest(unlimited, 2).period).toBeGreaterThan(2);
  });

  test("says who had more keys, and keeps pairs through a snapshot", () => {
    const make = () => new DistinctPeople(Uint32Array.of(1, 2, 3, 4), 2, 4);
    const people = make();
    const admit = (of: DistinctPeople, person: string, key: string) =>
      of.admit(of.hash(person).slice(), key, 7);
    expect(["a", "a", "b", "c", "b"].map((key) => admit(people, "x", key))).toEqual([
      ...["new", "again", "new", "over", "again"],
    ]);
    expect(admit(people, "y", "c")).toBe("new");
    expect(people.limited(7)).toEqual({ lost: 1, whole: 1 });
    const writer = new Encoder();
    people.save(writer, [7]);
    const copy = make();
    copy.load(new Decoder(writer.bytes));
    expect(["a", "b", "c"].map((key) => admit(copy, "x", key))).toEqual(["again", "again", "over"]);
    expect([admit(copy, "y", "c"), admit(copy, "y", "a"), admit(copy, "y", "b")]).toEqual([
      ...["again", "new", "over"],
    ]);
    copy.forgetBefore(8);
    expect(admit(copy, "x", "a")).toBe("new");
  });
});

/** The tables that count people: their sizes, their order in a snapshot, and where each number stands. */
import { expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { checkPerson, People, peopleOf, resolvePerPerson } from "../../src/events/people.js";
import { resolveTicks } from "../../src/events/options.js";
import { Decoder, Encoder } from "../../src/stream/codec.js";

const DAY = 86_400_000;
const people = (events = 2, room = 8) =>
  new People(Uint32Array.of(1, 2, 3, 4), { events, every: DAY, people: room });
const hash = (...words: [number, number, number, number]) => Uint32Array.from(words);

const saved = (limit: People, from: number, to: number): Uint8Array => {
  const writer = new Encoder();
  limit.save(writer, from, to);
  return writer.bytes;
};

/** What a snapshot holds: per period its number, its room, and its entries as hash and count. */
function read(bytes: Uint8Array): { period: number; room: number; entries: number[][] }[] {
  const reader = new Decoder(bytes);
  const periods = Array.from({ length: reader.count() }, () => {
    const period = reader.double();
    const room = reader.count();
    const words = reader.words(5 * room);
    const entries = Array.from({ length: room }, (_, i) => [...words.subarray(5 * i, 5 * i + 5)]);
    const used = entries.filter((entry) => entry[4] !== 0);
    expect(
      entries
        .slice(used.length)
        .flat()
        .every((word) => word === 0),
    ).toBe(true); // at the end, all 0
    return { period, room, entries: used };
  });
  expect(reader.atEnd).toBe(true);
  return periods;
}

test("a table grows by half when it would be more than ¾ full; 20 bytes a place", () => {
  const limit = people();
  let places = 16;
  for (let i = 1; i <= 200; i++) {
    expect(limit.admitHash(hash(i * 7_919_777, i, 0, 5), 0)).toBe(true);
    if (i / places > 0.75) places = Math.floor(1.5 * places);
    expect(limit.bytes).toBe(20 * places);
  }
});

test("the first byte of the last word says which of 256 tables", () => {
  const limit = people();
  for (const [last, tables] of [
    [0x00ffffff, 1],
    [0x00000001, 1],
    [0x01000000, 2],
    [0xff000000, 3],
    [0xffffffff, 3],
  ] as const) {
    limit.admitHash(hash(1, 2, 3, last), 0);
    expect(limit.bytes).toBe(tables * 320);
  }
});

test("hashes that differ in one word are different people, also where their places are the same", () => {
  const limit = people(1, 16);
  const all = [0, 1, 2, 3].flatMap((word) =>
    [0xffffffff, 0xfffffffe, 0xf0000000].map((value) => {
      const words = hash(0xffffff00, 5, 6, 7);
      words[word] = word === 3 ? value & 0xffffff : value;
      return words;
    }),
  );
  expect(all.map((words) => limit.admitHash(words, 0))).toEqual(all.map(() => true));
  expect(all.map((words) => limit.admitHash(words, 0))).toEqual(all.map(() => false));
});

test("entries stand in the order of tables and of first words; what has no room goes on, round the end", () => {
  const limit = people(3, 4);
  const half = 2 ** 31;
  const entries: [number, number, number, number][] = [
    [half, 1, 1, 0x02000000],
    [half - 1, 1, 1, 0x02000000],
    [half + 1, 1, 1, 0x02000000], // the place of the first: one further
    [0xffffffff, 1, 1, 0x01000000],
    [0xffffffff, 2, 1, 0x01000000], // round the end: the first place
    [0xffffffff, 3, 1, 0x01000000],
  ];
  for (const words of entries) limit.admitHash(hash(...words), 0);
  limit.admitHash(hash(...entries[1]!), 0);
  const [only] = read(saved(limit, 0, DAY));
  expect(only).toEqual({
    period: 0,
    room: 8, // 4, doubled for 6 people
    entries: [
      [...entries[4]!, 1],
      [...entries[5]!, 1],
      [...entries[3]!, 1],
      [...entries[1]!, 2],
      [...entries[0]!, 1],
      [...entries[2]!, 1],
    ],
  });
});

test("counts survive growth, a snapshot and the next one", () => {
  const limit = people(5, 64);
  const ids = Array.from({ length: 60 }, (_, i) => hash(i * 71_000_003, i, i, 9));
  ids.forEach((words, i) => {
    for (let k = 0; k <= i % 4; k++) limit.admitHash(words, 0);
  });
  const bytes = saved(limit, 0, DAY);
  const loaded = people(5, 64);
  loaded.load(new Decoder(bytes));
  expect(saved(loaded, 0, DAY)).toEqual(bytes);
  ids.forEach((words, i) => {
    const admitted = Array.from({ length: 6 }, () => loaded.admitHash(words, 0)).filter(Boolean).length;
    expect(admitted).toBe(5 - 1 - (i % 4));
  });
});

test("a table without a free place is read to its end and no further", () => {
  const limit = people(2, 8);
  for (let i = 0; i < 8; i++) limit.admitHash(hash(i * 500_000_000, i, i, i), 0);
  const bytes = saved(limit, 0, DAY);
  const loaded = people(2, 8);
  loaded.load(new Decoder(bytes));
  expect(saved(loaded, 0, DAY)).toEqual(bytes);
});

test.each<[from: number, to: number, used: readonly number[], written: readonly number[]]>([
  [0, 1, [], [0]],
  [0, DAY, [], [0]],
  [0, DAY + 1, [], [0, 1]],
  [DAY - 1, DAY + 1, [1], [0, 1]],
  [2 * DAY, 10 * DAY, [], [2, 3, 4, 5, 6, 7, 8, 9]],
  [2 * DAY, 10 * DAY + 1, [], [2]], // nine periods are too many: one, or as many as hold all people
  [2 * DAY, 11 * DAY, [4], [2, 3, 4, 5]],
  [2 * DAY, 11 * DAY, [5], [2, 3, 4, 5]],
  [2 * DAY, 11 * DAY, [6], [2, 3, 4, 5, 6, 7, 8, 9]],
  [2 * DAY, 3 * DAY, [3], [2, 3]], // people beyond the end
  [2 * DAY, 3 * DAY, [2], [2]],
])("a snapshot from %d to %d with people in %j has the periods %j", (from, to, used, written) => {
  const limit = people();
  for (const period of used) limit.admitHash(hash(1, 2, 3, period), period * DAY + 5);
  const periods = read(saved(limit, from, to));
  expect(periods.map(({ period }) => period)).toEqual(written);
  expect(periods.filter(({ entries }) => entries.length > 0).map(({ period }) => period)).toEqual(used);
  expect(periods.every(({ room }) => room === 8)).toBe(true);
});

test("a period that was forgotten begins anew, and others stay", () => {
  const limit = people(1);
  limit.admit("ann", DAY);
  limit.admit("ann", 0);
  limit.forgetBefore(DAY);
  expect(limit.bytes).toBe(320);
  expect(limit.admit("ann", 5)).toBe(true);
  expect(limit.bytes).toBe(640);
  expect(limit.admit("ann", 6)).toBe(false);
  expect(limit.admit("ann", DAY + 1)).toBe(false);
  limit.forgetBefore(DAY - 1);
  expect(limit.bytes).toBe(640);
});

test("what perPerson may be, at its ends", () => {
  const resolve = (change: object) =>
    resolvePerPerson({ events: 1, every: "1d", ...change }, 1000) as unknown;
  expect(resolvePerPerson(undefined, 1000)).toBeUndefined();
  expect(resolve({})).toEqual({ events: 1, every: DAY, people: 1024 });
  expect(resolve({ events: 65_535, people: 2 ** 24 })).toEqual({
    events: 65_535,
    every: DAY,
    people: 2 ** 24,
  });
  expect(resolve({ people: 1 })).toMatchObject({ people: 1 });
  expect(() => resolve({ events: 65_536 })).toThrow(
    "perPerson.events: expected a whole number from 1 to 65535, got 65536",
  );
  expect(() => resolve({ people: 2 ** 24 + 1 })).toThrow(
    "perPerson.people: expected a whole number from 1 to 16777216, got 16777217",
  );
  expect(() => resolve({ people: 0 })).toThrow("perPerson.people: expected a whole number from 1");
  expect(() => resolve({ every: 1500 })).toThrow(
    "perPerson.every: expected a whole number of ticks of 1000 ms, got 1500 ms; a tick must lie in one period",
  );
});

test("an id is text of 1 to 4096 characters", () => {
  for (const id of ["a", "a".repeat(4096)]) expect(() => checkPerson(id)).not.toThrow();
  for (const id of ["", "a".repeat(4097), 5, null, undefined, ["a"]])
    expect(() => checkPerson(id)).toThrow(
      new TypeError(
        "person: expected text of 1 to 4096 characters, since perPerson is set; the event was not taken",
      ),
    );
});

test("nobody counts people without a limit, or where a hub does it before", () => {
  const ticks = resolveTicks({ epsilon: 1, every: "1s", perPerson: { events: 1, every: "1d" } });
  const [core, key] = [chooseCore("js"), new Uint32Array(8)];
  expect(peopleOf(ticks, core, key)).toBeInstanceOf(People);
  expect(peopleOf({ ...ticks, limitedBefore: true }, core, key)).toBeUndefined();
  expect(peopleOf({ ...ticks, limit: undefined }, core, key)).toBeUndefined();
});

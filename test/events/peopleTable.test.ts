/** The tables that count people: their sizes, their order in a snapshot, and where each number stands. */
import { expect, test } from "vitest";
import { checkPerson, People, resolvePerPerson } from "../../src/events/people/people.js";
import { Decoder, Encoder } from "../../src/snapshot/codec.js";

const DAY = 86_400_000;
const people = (events = 2, room = 8) =>
  new People(
    Uint32Array.of(1, 2, 3, 4),
    { events, perHour: undefined, sum: undefined, people: room },
    events,
  );
/** Counts an event of a day; false if it does not count. */
const admitted = (limit: People, words: Uint32Array, day = 0): boolean =>
  limit.admit(words, day, day, 1) === 1;
const hash = (...words: [number, number, number, number]) => Uint32Array.from(words);

const saved = (limit: People, ...days: number[]): Uint8Array => {
  const writer = new Encoder();
  limit.save(writer, days, []);
  return writer.bytes;
};

/** Reads the table of people from a snapshot: per period its number, its capacity, and its entries as hash and count. */
function read(bytes: Uint8Array): { period: number; room: number; entries: number[][] }[] {
  const reader = new Decoder(bytes);
  const periods = Array.from({ length: reader.count() }, () => {
    const period = reader.double();
    const room = reader.count();
    const words = reader.words(5 * room);
    const entries = Array.from({ length: room }, (_, i) => [...words.subarray(5 * i, 5 * i + 5)]);
    const used = entries
      .filter((entry) => entry[4] !== 0)
      .map((entry) => [...entry.slice(0, 4), entry[4]! - 1]);
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
    expect(admitted(limit, hash(i * 7_919_777, i, 0, 5))).toBe(true);
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
    admitted(limit, hash(1, 2, 3, last));
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
  expect(all.map((words) => admitted(limit, words))).toEqual(all.map(() => true));
  expect(all.map((words) => admitted(limit, words))).toEqual(all.map(() => false));
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
  for (const words of entries) admitted(limit, hash(...words));
  admitted(limit, hash(...entries[1]!));
  const [only] = read(saved(limit, 0));
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
    for (let k = 0; k <= i % 4; k++) admitted(limit, words);
  });
  const bytes = saved(limit, 0);
  const loaded = people(5, 64);
  loaded.load(new Decoder(bytes));
  expect(saved(loaded, 0)).toEqual(bytes);
  ids.forEach((words, i) => {
    const counted = Array.from({ length: 6 }, () => admitted(loaded, words)).filter(Boolean).length;
    expect(counted).toBe(5 - 1 - (i % 4));
  });
});

test("a table without a free place is read to its end and no further", () => {
  const limit = people(2, 8);
  for (let i = 0; i < 8; i++) admitted(limit, hash(i * 500_000_000, i, i, i));
  const bytes = saved(limit, 0);
  const loaded = people(2, 8);
  loaded.load(new Decoder(bytes));
  expect(saved(loaded, 0)).toEqual(bytes);
});

test.each<[asked: readonly number[], used: readonly number[], written: readonly number[]]>([
  [[0], [], [0]],
  [[0, 1], [], [0, 1]],
  [[0, 1], [1], [0, 1]],
  [[2], [3], [2, 3]], // people beyond the days that the clock lets in: a power of two
  [[2], [3, 4], [2, 3, 4, NaN]],
])("a snapshot of the days %j with people in %j has the tables %j", (asked, used, written) => {
  const limit = people();
  for (const day of used) admitted(limit, hash(1, 2, 3, day), day * DAY);
  const tables = read(saved(limit, ...asked.map((day) => day * DAY)));
  expect(tables.map(({ period }) => period / DAY)).toEqual(written);
  expect(tables.filter(({ entries }) => entries.length > 0).map(({ period }) => period / DAY)).toEqual(used);
  expect(tables.every(({ room }) => room === 8)).toBe(true);
});

test("a day that was forgotten begins anew, and others stay", () => {
  const limit = people(1);
  const ann = limit.hash("ann").slice();
  admitted(limit, ann, DAY);
  admitted(limit, ann, 0);
  limit.forgetBefore(DAY, DAY);
  expect(limit.bytes).toBe(320);
  expect(admitted(limit, ann, 0)).toBe(true);
  expect(limit.bytes).toBe(640);
  expect(admitted(limit, ann, 0)).toBe(false);
  expect(admitted(limit, ann, DAY)).toBe(false);
  limit.forgetBefore(0, 0);
  expect(limit.bytes).toBe(640);
});

test("who lost something is counted once, whatever else comes", () => {
  const limit = people(2);
  const [ann, bob, eve] = [1, 2, 3].map((n) => hash(n, n, n, n));
  expect(limit.limited(0)).toEqual({ lost: 0, whole: 0 });
  for (const words of [ann!, ann!, bob!, eve!, eve!]) admitted(limit, words);
  expect(limit.limited(0)).toEqual({ lost: 0, whole: 3 });
  for (const words of [ann!, ann!, eve!]) admitted(limit, words);
  expect(limit.limited(0)).toEqual({ lost: 2, whole: 1 });
  expect(limit.limited(DAY)).toEqual({ lost: 0, whole: 0 });
  const loaded = people(2);
  loaded.load(new Decoder(saved(limit, 0)));
  expect(loaded.limited(0)).toEqual({ lost: 2, whole: 1 });
});

test("someone whose first value is 0, or whose hour is full, is a person too", () => {
  const sums = new People(
    Uint32Array.of(1, 2, 3, 4),
    { events: undefined, perHour: undefined, sum: 9, people: 8 },
    9,
  );
  expect(sums.admit(hash(1, 1, 1, 1), 0, 0, 0)).toBe(0);
  expect(sums.admit(hash(1, 1, 1, 1), 0, 0, 7)).toBe(7);
  expect(sums.admit(hash(1, 1, 1, 1), 0, 0, 7)).toBe(2);
  expect(sums.limited(0)).toEqual({ lost: 1, whole: 0 });
  const hourly = new People(
    Uint32Array.of(1, 2, 3, 4),
    { events: 9, perHour: 1, sum: undefined, people: 8 },
    9,
  );
  const admit = (hour: number) => hourly.admit(hash(1, 1, 1, 1), 0, hour, 1);
  expect([admit(0), admit(0), admit(5), admit(0), admit(5)]).toEqual([1, 0, 1, 0, 0]);
  hourly.forgetBefore(0, 1);
  expect([admit(0), admit(5)]).toEqual([1, 0]);
});

test("what perPerson may be, at its ends", () => {
  const resolve = (change: object) => resolvePerPerson({ events: 1, ...change }) as unknown;
  const none = { perHour: undefined, sum: undefined };
  expect(resolvePerPerson(undefined)).toBeUndefined();
  expect(resolvePerPerson(3)).toEqual({ events: 3, people: 1024, ...none });
  expect(resolve({ events: 65_535, people: 2 ** 24 })).toEqual({ events: 65_535, people: 2 ** 24, ...none });
  expect(resolve({ people: 1 })).toMatchObject({ people: 1 });
  expect(() => resolve({ events: 65_536 })).toThrow(
    "perPerson.events: expected a whole number from 1 to 65535, got 65536",
  );
  expect(() => resolve({ people: 2 ** 24 + 1 })).toThrow(
    "perPerson.people: expected a whole number from 1 to 16777216, got 16777217",
  );
  expect(() => resolve({ people: 0 })).toThrow("perPerson.people: expected a whole number from 1");
  expect(() => resolve({ sum: 5 })).toThrow("perPerson: expected either events");
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

/** Keys that nobody listed: which become public and when, where events count, and what is stored. */
import { describe, expect, test, vi } from "vitest";
import { HubDiscovery } from "../../../src/durable/eventHub/hubDiscovery.js";
import { type EventInfo, openHub, openOdometer, type Store } from "../../../src/index.js";
import { OTHER_KEYS } from "../../../src/events/keys/keyName.js";
import { key, plainStore } from "../support.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 2, 1);
/** ε = 256: a quarter has noise of scale 1/64, so that k = 1 and a key with two votes is found but for odds of e⁻⁶⁴. */
const exact = { of: "count", epsilon: 256, every: "1h", levels: ["1h", "1d"], unsafeSeed: "votes" } as const;
const perPerson = { events: 4, people: 8 };

function opened(store: Store | undefined, more: object = {}, discover: object = {}, listed = ["/"]) {
  const clock = { now: START };
  const open = () =>
    openHub({
      ...{ commitEvery: 0, confirmClock: true, clock: () => clock.now },
      ...(store === undefined ? {} : { store, key }),
      metrics: {
        views: { ...exact, perPerson, ...more, keys: { listed, discover: { delta: 1e-3, ...discover } } },
      },
    });
  return { clock, open, hub: open() };
}

type Hub = ReturnType<ReturnType<typeof opened>["open"]>;

async function view(hub: Hub, page: string, people: readonly string[], more: EventInfo = {}): Promise<void> {
  for (const person of people) await hub.add("views", page, 1, { ...more, person });
}

const people = (count: number, prefix = "p"): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`);

async function toMidnight(hub: Hub, clock: { now: number }): Promise<readonly string[] | undefined> {
  clock.now += DAY - (clock.now % DAY);
  return (await hub.advance()).find(({ found }) => found !== undefined)?.found;
}

const total = async (hub: Hub, page: string, from: number, to = from + DAY): Promise<number | null> => {
  const { value } = await hub.between("views", page, from, to);
  return value === null ? null : Math.round(value);
};

describe.each([
  ["in memory", () => undefined],
  ["in a store", plainStore],
])("%s", (_, makeStore) => {
  test("a key of many people is public from the second midnight on; a key of one never is", async () => {
    const { hub, clock } = opened(makeStore());
    expect(await hub.keys("views")).toEqual(["/", OTHER_KEYS]);
    await view(hub, "/", people(5));
    await view(hub, "/pricing", people(3));
    await view(hub, "/account/ann", ["ann"]);
    expect(await toMidnight(hub, clock)).toEqual(["/pricing"]);
    expect(await hub.keys("views")).toEqual(["/", "/pricing", OTHER_KEYS]);
    // Its first day begins with the next midnight: until then its events count with the others.
    await view(hub, "/pricing", people(3));
    await toMidnight(hub, clock);
    await view(hub, "/pricing", people(3));
    await view(hub, "/account/ann", ["ann"]);
    await toMidnight(hub, clock);
    const days = [START, START + DAY, START + 2 * DAY];
    const seen = async (page: string) => Promise.all(days.map((day) => total(hub, page, day)));
    expect(await seen("/")).toEqual([5, 0, 0]);
    expect(await seen("/pricing")).toEqual([null, null, 3]);
    expect(await seen(OTHER_KEYS)).toEqual([4, 3, 1]);
    await expect(total(hub, "/account/ann", START)).rejects.toThrow(/^key: expected one of the keys/);
  });

  /** Numbers of the first day of a found key, and of what is not public on it and the day before, if events come in disorder. */
  async function firstDay(): Promise<(number | null)[]> {
    const { hub, clock } = opened(makeStore(), { lateness: "2h" });
    await view(hub, "/new", people(3));
    clock.now += DAY + 2 * HOUR;
    expect((await hub.advance())[0]!.found).toEqual(["/new"]);
    // Its first day is the one that begins next. The day before is open until 02:00.
    const first = START + 2 * DAY;
    clock.now = first + HOUR;
    await view(hub, "/new", people(2), { at: first + 1 });
    await view(hub, "/new", people(3), { at: first - 1 });
    await view(hub, "/new", people(4, "q"), { at: first + 1 });
    clock.now = first + DAY + 2 * HOUR;
    await hub.advance();
    return [
      await total(hub, "/new", first),
      await total(hub, OTHER_KEYS, first),
      await total(hub, OTHER_KEYS, first - DAY),
    ];
  }

  test("events go by the keys of their own day, in whatever order they come", async () => {
    expect(await firstDay()).toEqual([6, 0, 3]);
  });

  test("planted: events that go by the keys of the moment at which they come are in another number", async () => {
    const route = Object.getOwnPropertyDescriptor(HubDiscovery.prototype, "route")!
      .value as HubDiscovery["route"];
    const planted = vi.spyOn(HubDiscovery.prototype, "route");
    planted.mockImplementation(function (this: HubDiscovery, name) {
      return route.call(this, name, START + DAY); // the day that is still open
    });
    expect(await firstDay()).not.toEqual([6, 0, 3]);
    planted.mockRestore();
  });
});

test("a person has one vote a day, however many keys and events there are", async () => {
  const { hub, clock } = opened(undefined);
  for (const page of ["/a", "/b", "/c"]) await view(hub, page, people(4));
  expect(await toMidnight(hub, clock)).toEqual(["/a", "/b"]); // two votes are enough, so the others keep theirs
  const other = opened(undefined);
  for (let i = 0; i < 50; i++) await view(other.hub, "/account/ann", ["ann"]);
  await view(other.hub, "/one", ["bob"]);
  expect(await toMidnight(other.hub, other.clock)).toEqual([]);
});

test("votes come before the limit of events, and events that are late have none", async () => {
  const { hub, clock } = opened(undefined, { perPerson: { events: 1, people: 8 } });
  await view(hub, "/", people(3));
  await view(hub, "/over", people(3)); // over the limit of one event
  clock.now += 3 * HOUR;
  await hub.advance();
  await view(hub, "/late", people(3, "q"), { at: START + HOUR });
  expect(await toMidnight(hub, clock)).toEqual(["/over"]);
  expect(await total(hub, OTHER_KEYS, START)).toBe(0);
});

test("names that are too long, reserved or unprintable never become public", async () => {
  const { hub, clock } = opened(undefined);
  const unfit = [
    "x".repeat(129),
    "é".repeat(65),
    OTHER_KEYS,
    "a\nb",
    "\u202Egnp",
    "\ud800",
    "",
    "=1+1",
    "@x",
  ];
  for (const name of unfit) await view(hub, name, people(4, name));
  await view(hub, "é".repeat(64), people(3, "z"));
  expect(await toMidnight(hub, clock)).toEqual(["é".repeat(64)]);
  expect(await total(hub, OTHER_KEYS, START)).toBe(4 * unfit.length + 3);
});

test("most: those with most votes are public", async () => {
  const { hub, clock } = opened(undefined, { epsilon: 8, perPerson: { events: 4, people: 64 } }, { most: 2 });
  await view(hub, "/ten", people(10, "a"));
  await view(hub, "/forty", people(40, "b"));
  await view(hub, "/twenty", people(20, "c"));
  const found = await toMidnight(hub, clock);
  expect(found).toHaveLength(2);
  expect(found![0]).toBe("/forty");
  await toMidnight(hub, clock);
  await view(hub, "/later", people(20, "d"));
  expect(await toMidnight(hub, clock)).toEqual([]); // no room is left
});

test("a found key without events is forgotten after 28 days, its numbers stay, and it can come back", async () => {
  const { hub, clock } = opened(plainStore(), { every: "1d", levels: ["1d"] });
  await view(hub, "/sale", people(3));
  await toMidnight(hub, clock);
  await toMidnight(hub, clock);
  await view(hub, "/sale", people(3));
  const first = START + 2 * DAY;
  let days = 0;
  while ((await hub.keys("views")).includes("/sale")) {
    await toMidnight(hub, clock);
    days++;
  }
  // The day of its events is among the last 28 until then; each key is looked at once in 28 days.
  expect(days).toBeGreaterThan(28);
  expect(days).toBeLessThan(60);
  await toMidnight(hub, clock);
  await view(hub, "/sale", people(3));
  await view(hub, "/sale", people(1, "q"));
  expect(await toMidnight(hub, clock)).toEqual(["/sale"]);
  expect(await total(hub, OTHER_KEYS, clock.now - DAY)).toBe(4);
  await toMidnight(hub, clock);
  await view(hub, "/sale", people(2));
  await toMidnight(hub, clock);
  expect(await total(hub, "/sale", clock.now - DAY)).toBe(2);
  expect(await total(hub, "/sale", first)).toBe(3);
  expect(await total(hub, "/sale", clock.now - 3 * DAY)).toBeNull();
});

test("a found key that is listed, and then no more, goes on; a new one takes events of its first day early", async () => {
  const store = plainStore();
  const { clock } = opened(store);
  const listing = (...listed: string[]): Hub => {
    const views = {
      ...exact,
      perPerson,
      every: "1d",
      levels: ["1d"],
      keys: { listed, discover: { delta: 1e-3 } },
    };
    return openHub({
      ...{ store, key, clock: () => clock.now, commitEvery: 0, confirmClock: true, name: "lists" },
      metrics: { views: views as never },
    });
  };
  let hub = listing("/");
  await view(hub, "/a", people(3));
  await toMidnight(hub, clock);
  await toMidnight(hub, clock);
  await view(hub, "/a", people(3));
  hub = listing("/", "/a"); // the process before was killed
  await view(hub, "/a", people(2, "q"));
  await toMidnight(hub, clock);
  expect(await total(hub, "/a", clock.now - DAY)).toBe(5);
  hub = listing("/b");
  await view(hub, "/a", people(2));
  clock.now += DAY + HOUR; // the first day of /b, while the day before is open
  await view(hub, "/b", people(2));
  await hub.advance();
  await view(hub, "/b", people(1, "q"));
  await toMidnight(hub, clock);
  expect(await hub.keys("views")).toEqual(["/a", "/b", OTHER_KEYS]);
  expect([await total(hub, "/b", clock.now - DAY), await total(hub, "/a", clock.now - 2 * DAY)]).toEqual([
    3, 2,
  ]);
});

test("a found key waits for a day that no event can have come for, however far ahead a sender's clock is", async () => {
  const { hub, clock } = opened(undefined, { skew: "2h" });
  await view(hub, "/new", people(3));
  clock.now = START + 2 * DAY - HOUR;
  expect((await hub.advance()).find(({ found }) => found !== undefined)!.found).toEqual(["/new"]);
  const ahead = START + 2 * DAY;
  await view(hub, "/new", people(3), { at: ahead + HOUR / 2 }); // of the day that begins in an hour
  await toMidnight(hub, clock);
  await view(hub, "/new", people(2, "q"));
  await toMidnight(hub, clock);
  await view(hub, "/new", people(4));
  await toMidnight(hub, clock);
  expect([await total(hub, "/new", ahead), await total(hub, OTHER_KEYS, ahead)]).toEqual([null, 5]);
  expect([await total(hub, "/new", ahead + DAY), await total(hub, OTHER_KEYS, ahead + DAY)]).toEqual([4, 0]);
});

test("the votes of a day whose end nobody listened to are wiped", async () => {
  const store = plainStore();
  const { hub, open, clock } = opened(store);
  await view(hub, "/new", people(3));
  await hub.close();
  clock.now = START + DAY + HOUR;
  const again = open();
  expect(await toMidnight(again, clock)).toEqual([]);
  expect(await again.keys("views")).toEqual(["/", OTHER_KEYS]);
});

test("statement, explanation and options say what δ is", async () => {
  const { hub } = opened(undefined, { epsilon: 1, unsafeSeed: undefined }, { delta: 1e-9 });
  const statement = await hub.statement("views", "/");
  expect(statement).toMatchObject({
    epsilon: 1,
    shares: { release: 23, limited: 1, discovery: 8 },
    discovery: { epsilon: 0.25, k: 75, votesPerPerson: 1, cells: 2 ** 18, most: 10_000, forget: "28d" },
  });
  expect(Number(statement.delta.toPrecision(7))).toBe(8.94612e-10);
  expect(await hub.explain("views", "/")).toContain(
    "δ = 8.95e-10 is the probability that a key that only one person used on a day becomes public.",
  );
  const plain = openHub({ metrics: { views: { ...exact, keys: ["/"] } } });
  expect(await plain.statement("views", "/")).toMatchObject({ delta: 0, discovery: null });
  expect(await plain.explain("views", "/")).not.toContain("δ");
});

test.each([
  [{ keys: { discover: {} } }, /discover\.delta: expected a number from 1e-12 to 0.001.*cannot be 0/],
  [{ keys: { discover: { delta: 0 } } }, /discover\.delta: expected/],
  [{ keys: { discover: { delta: 1e-9, share: 0.3 } } }, /discover\.share: expected a multiple of 1\/32/],
  [
    { keys: { discover: { delta: 1e-9, forget: "7d" } } },
    /discover\.forget: expected a whole number of milliseconds from 2419200000/,
  ],
  [{ keys: { discover: { delta: 1e-9, window: "7d" } } }, /unknown option "window"/],
  [{ keys: { listed: ["a"] } }, /keys\.discover: expected options/],
  [{ keys: { discover: { delta: 1e-9 }, listed: [OTHER_KEYS] } }, /reserved/],
  [{ keys: { discover: { delta: 1e-9 } }, perPerson: undefined }, /discover: expected perPerson/],
  [{ keys: { discover: { delta: 1e-9 } }, of: "mean", max: 9 }, /discover: expected a public threshold/],
])("options that are refused: %j", (more, message) => {
  const views = { ...exact, perPerson: 1, ...more } as never;
  expect(() => openHub({ metrics: { views } })).toThrow(message);
});

test("different people, once under each of their keys, found or not", async () => {
  const clock = { now: START };
  const visitors = {
    ...({
      of: "people",
      over: "1d",
      epsilon: 256,
      keysPerPerson: 2,
      people: 8,
      unsafeSeed: "votes",
    } as const),
    keys: { listed: ["/"], discover: { delta: 1e-3 } },
  };
  const hub = openHub({
    metrics: { views: visitors },
    clock: () => clock.now,
    commitEvery: 0,
  }) as unknown as Hub;
  const day = async () => {
    for (const page of ["/new", "/new", "/x", "/y"]) await view(hub, page, people(3));
  };
  await day();
  expect(await toMidnight(hub, clock)).toContain("/new");
  await toMidnight(hub, clock);
  await day(); // /new, and then everything that is not public as one key
  await toMidnight(hub, clock);
  expect([await total(hub, "/new", clock.now - DAY), await total(hub, OTHER_KEYS, clock.now - DAY)]).toEqual([
    3, 3,
  ]);
  expect(await total(hub, OTHER_KEYS, START)).toBe(3);
});

test("an odometer must allow δ, and is charged for it", async () => {
  const unit = "one person, per day (UTC)";
  const open = async (limit: number | { epsilon: number; delta: number }) => {
    const odometer = await openOdometer({ name: "o", store: plainStore(), key, limit, unit });
    const { listed, discover } = { listed: ["/"], discover: { delta: 1e-9 } };
    const views = { ...exact, epsilon: 1, perPerson, keys: { listed, discover } };
    return { odometer, hub: openHub({ metrics: { views }, budget: { odometer, data: "web" } }) };
  };
  await expect((await open(10)).hub.stats()).rejects.toThrow(/^delta: expected 0.*adds up pure ε/);
  const { odometer, hub } = await open({ epsilon: 10, delta: 1e-8 });
  await hub.stats();
  const { spent, delta } = odometer.statement().data[0]!;
  expect([spent, Number(delta!.toPrecision(7))]).toEqual([1, 8.94612e-10]);
});

test("one metric of a hub discovers keys", () => {
  const metric = { ...exact, perPerson: 1, keys: { discover: { delta: 1e-9 } } };
  expect(() => openHub({ metrics: { a: metric, b: metric } })).toThrow(/one metric of a hub that discovers/);
});

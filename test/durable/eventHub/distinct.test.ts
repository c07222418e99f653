/** Different people per key in a hub: by hand, through restarts, and beside metrics of days. */
import { expect, test } from "vitest";
import { openHub, type Store } from "../../../src/index.js";
import { key, plainStore } from "../support.js";

const DAY = 86_400_000;
const MONDAY = Date.UTC(2026, 5, 1);

/** ε = 200 for up to two keys: noise of scale 2·32/(31·200) is 0 but for odds below e⁻⁹⁰. */
const people = { of: "people", epsilon: 200, unsafeSeed: "hub" } as const;
const keys = ["home", "shop", "help"];
const metrics = {
  weekly: { ...people, over: "1w", keys, keysPerPerson: 2 },
  all: { ...people, over: "1mo", keys: ["all"] },
  visits: { of: "count", epsilon: 200, every: "1d", perPerson: 1, keys, unsafeSeed: "hub" },
} as const;

class World {
  now = MONDAY;
  readonly store: Store = plainStore();
  open() {
    return openHub({
      ...{ metrics, store: this.store, key, commitEvery: 0, clock: () => this.now, confirmClock: true },
    });
  }
}

const round = ({ value }: { readonly value: number | null }) => value && Math.round(value);

/** A week of three people; the hub is opened anew before every day, or once. */
async function week(restarts: boolean) {
  const world = new World();
  let hub = world.open();
  await hub.stats();
  for (let day = 0; day < 7; day++) {
    world.now = MONDAY + day * DAY + 1000;
    await hub.advance();
    if (restarts && day > 0) {
      await hub.close();
      hub = world.open();
    }
    for (const [person, key] of [
      ["ann", keys[day % 3]!], // three keys: two of them count
      ["bob", "home"],
      ...(day === 5 ? ([["eve", "help"]] as const) : []),
    ] as const) {
      await hub.add("weekly", key, undefined, { person });
      await hub.add("all", "all", undefined, { person });
      await hub.add("visits", key, undefined, { person });
    }
  }
  world.now = MONDAY + 7 * DAY;
  await hub.advance();
  const answers = await Promise.all(keys.map((key) => hub.last("weekly", key, "1w")));
  const series = await hub.series("weekly", "home", "auto", MONDAY, MONDAY + 8 * DAY);
  const visits = await hub.last("visits", "home", "7d");
  world.now = Date.UTC(2026, 6, 1);
  await hub.advance();
  const month = await hub.last("all", "all", "1mo");
  const statement = await hub.statement("weekly", "home");
  await hub.close();
  return { answers, series, visits, month, statement };
}

test("a week per key, a month of all, and counts by days beside them", async () => {
  const { answers, series, visits, month, statement } = await week(false);
  expect(answers.map(round)).toEqual([2, 1, 1]); // ann counts under home and shop, eve under help
  expect(answers[0]).toMatchObject({ from: MONDAY, to: MONDAY + 7 * DAY, complete: true });
  expect(series.period).toBe("1w");
  expect(series.answers.map(round)).toEqual([2, null]);
  expect(round(visits)).toBe(7 + 3);
  expect(round(month)).toBe(3);
  expect(statement).toMatchObject({
    unit: "one person, per week (UTC)",
    people: { over: "1w", keysPerPerson: 2 },
    shares: { release: 31, limited: 1 },
  });
});

test("a hub that is opened anew every day counts the same people, bit for bit", async () => {
  expect(await week(true)).toEqual(await week(false));
});

test("several keys need keysPerPerson; a rule of keys too", () => {
  const open = (metric: object) => () =>
    openHub({ metrics: { m: { ...people, over: "1d", ...metric } as never } });
  const wanted = "metrics.m.keysPerPerson: expected under how many keys a person counts, got none";
  expect(open({ keys })).toThrow(wanted);
  expect(open({ keys: () => true })).toThrow(wanted);
  expect(open({ keys, every: "1d" })).toThrow(/^every: expected none where people are counted/);
});

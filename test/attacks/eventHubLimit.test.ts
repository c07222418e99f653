/**
 * The attacker watches a hub that chooses k from its first whole day, and kills it. What must be impossible: to see from
 * names, sizes or numbers how many events anybody had on that day; to change k, or a number, by killing the process.
 */
import { describe, expect, test, vi } from "vitest";
import { openHub, type Store, type StreamMetric } from "../../src/index.js";
import { People } from "../../src/events/people/people.js";
import { key, plainStore, watchedStore } from "../durable/support.js";
import { mortalStore } from "../support/mortalStore.js";

// eslint-disable-next-line @typescript-eslint/unbound-method -- called on another object
const { load } = People.prototype;
const LIMIT = { events: undefined, perHour: undefined, sum: undefined, people: 32 };
const HOUR = 3_600_000;
const START = Date.UTC(2026, 2, 1, 9);
const KEYS = ["a", "b"];

function open(store: Store, clock: () => number) {
  const views: StreamMetric = {
    ...{ of: "count", epsilon: 3, every: "1d", lateness: "1h", unsafeSeed: "limit", keys: KEYS },
    perPerson: { events: "choose", most: 64, people: 32 },
  };
  return openHub({ metrics: { views }, store, key, clock, commitEvery: 0, confirmClock: true });
}

/** Events of a step: the first `people` have so many each. */
const events = (people: number, each: number, at: number) =>
  Array.from({ length: people * each }, (_, i) => ({ key: KEYS[i % 2]!, person: `p${i % people}`, at }));

test("what is stored says nothing of how many events a person had on the day that chooses", async () => {
  const seen = async (heavy: boolean): Promise<string> => {
    let now = START;
    const { store, lines } = watchedStore();
    const hub = open(store, () => now);
    for (let i = 0; i < 24; i++) {
      // One event a step: of one person, or of another one each time.
      await hub.add("views", "a", 1, { person: heavy ? "p" : `p${i}`, at: now });
      now += 3 * HOUR;
      await hub.advance();
    }
    await hub.close();
    return lines.join("\n");
  };
  const shown = await seen(true);
  expect(shown.split("\n").length).toBeGreaterThan(30);
  expect(await seen(false)).toBe(shown);
});

describe("kills", () => {
  /** The rest of a day, the whole day that chooses k with late events, and two days that are published. */
  const steps = [
    { at: START + HOUR, events: events(9, 40, START) },
    { at: START + 15 * HOUR, events: [] },
    { at: START + 20 * HOUR, events: events(24, 3, START + 18 * HOUR) },
    { at: START + 30 * HOUR, events: events(12, 4, START + 29 * HOUR) },
    { at: START + 39 * HOUR + HOUR / 2, events: events(12, 2, START + 39 * HOUR - 1) }, // late, and in time
    { at: START + 40 * HOUR, events: [] },
    { at: START + 45 * HOUR, events: events(20, 12, START + 44 * HOUR) },
    { at: START + 64 * HOUR, events: [] },
    { at: START + 70 * HOUR, events: events(20, 5, START + 69 * HOUR) },
    { at: START + 88 * HOUR, events: [] },
  ];

  async function run(
    { store, alive, revive }: ReturnType<typeof mortalStore>,
    closes = false,
  ): Promise<string> {
    let now = START;
    let hub = open(store, () => now);
    const begin = async (at: number): Promise<void> => {
      now = at;
      hub = open(store, () => now);
      await hub.stats();
    };
    await hub.stats().catch(() => undefined);
    if (!alive()) {
      revive();
      await begin(START);
    }
    for (const [i, { at, events: rows }] of steps.entries()) {
      now = at;
      const call = () =>
        rows.length === 0 ? hub.advance() : hub.addMany("views", rows, { id: String(i), body: "" });
      const step = async () => {
        await call();
        if (!closes) return;
        await hub.close();
        await begin(at);
      };
      await step().catch(() => undefined);
      if (alive()) continue;
      revive();
      await begin(at - 1);
      now = at;
      await call();
    }
    const { perPerson } = await hub.statement("views", "a");
    const answers = await Promise.all(
      KEYS.map((name) => hub.series("views", name, "1d", START - 9 * HOUR, START + 87 * HOUR)),
    );
    return JSON.stringify([perPerson, answers.map((one) => one.answers.map(({ value }) => value))]);
  }

  const whole = mortalStore(plainStore(), Infinity, false);
  const uninterrupted = run(whole);

  test("at every write: the same k and the same numbers, bit for bit; and after every orderly end", async () => {
    const expected = await uninterrupted;
    const [{ events: k }, [days]] = JSON.parse(expected) as [{ events: number }, [(number | null)[]]];
    expect(k).toBeGreaterThanOrEqual(3);
    expect(k).toBeLessThan(32);
    expect(days).toHaveLength(4);
    expect(days.slice(0, 2)).toEqual([null, null]);
    expect(whole.puts()).toBeGreaterThan(15);
    expect(await run(mortalStore(plainStore(), Infinity, false), true)).toBe(expected);
    for (let kill = 1; kill <= whole.puts(); kill++) {
      const after = kill % 2 === 0; // whether the write itself takes effect
      expect(await run(mortalStore(plainStore(), kill, after)), `put ${kill}`).toBe(expected);
    }
  });

  test("planted: people whom a restart forgets choose another k", async () => {
    const forget = vi.spyOn(People.prototype, "load").mockImplementation(function (this: People, reader) {
      // The state is read, and nobody keeps it.
      load.call(new People(new Uint32Array(4), LIMIT, 64), reader);
    });
    expect(await run(mortalStore(plainStore(), Infinity, false), true)).not.toBe(await uninterrupted);
    forget.mockRestore();
  });
});

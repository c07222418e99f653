/**
 * The attacker watches a hub whose keys people's events vote for: what it stores, when it ends, what it answers. What must be
 * impossible: to see from names, sizes or numbers whether a key is public, a candidate or new; to change which keys are
 * found by killing the process, at any write; to make memory or records grow with names that nobody else has.
 */
import { describe, expect, test, vi } from "vitest";
import { chooseNoise } from "../../src/core/choose.js";
import { KeyDiscovery } from "../../src/events/keys/keyDiscovery.js";
import { openHub, type Store, type StreamMetric } from "../../src/index.js";
import { OTHER_KEYS } from "../../src/events/keys/keyName.js";
import { key, plainStore, watchedStore } from "../durable/support.js";
import { mortalStore } from "../support/mortalStore.js";

// eslint-disable-next-line @typescript-eslint/unbound-method -- called on another object
const { load } = KeyDiscovery.prototype;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2026, 2, 1);

type Keys = StreamMetric["keys"];
const DISCOVER: Keys = { listed: ["/"], discover: { delta: 1e-3 } };

function open(store: Store, clock: () => number, keys = DISCOVER, every = "1h") {
  const views: StreamMetric = {
    ...{ of: "count", epsilon: 4, every, lateness: "1h", unsafeSeed: "votes" },
    ...{ perPerson: { events: 2, people: 32 }, keys },
  };
  return openHub({ metrics: { views }, store, key, clock, commitEvery: 0, confirmClock: true });
}

describe("what is stored", () => {
  /** Names, numbers and lengths of all that is put, in order, while one person asks for a page every three hours. */
  async function seen(pageOf: (visit: number) => string, keys?: Keys): Promise<string> {
    let now = START;
    const { store, lines } = watchedStore();
    const hub = open(store, () => now, keys);
    for (let i = 0; i < 25; i++) {
      for (let n = 0; n < 4; n++) await hub.add("views", pageOf(4 * i + n), 1, { person: `p${n}` });
      now += 3 * HOUR;
      await hub.advance();
    }
    lines.push(`sequence ${await hub.sequence()}`, (await hub.stats()).conflicts.toString());
    await hub.close();
    return lines.join("\n");
  }

  test("says nothing of keys: public, a candidate, or new with every event", async () => {
    const shown = await seen(() => "/");
    expect(shown.split("\n").length).toBeGreaterThan(120);
    expect(await seen((visit) => `/account/${visit % 4}`)).toBe(shown); // four candidates of one person each
    expect(await seen((visit) => `/never/${visit}`)).toBe(shown);
    expect(await seen(() => "x".repeat(400))).toBe(shown); // too long to become public
    expect(shown).not.toMatch(/account|never/);
    // A hub that makes a key with its first event shows it: the comparison can fail.
    const rule = (name: string) => name.startsWith("/");
    expect(await seen((visit) => `/never/${visit}`, rule)).not.toBe(await seen(() => "/", rule));
  });

  test("a million names of an attacker take no more room than the public guess of people, doubled", async () => {
    const store = plainStore();
    const hub = open(store, () => START);
    const lengths = () => [...store.snapshots.values()].map(({ bytes }) => bytes.length);
    const names = Array.from({ length: 20_000 }, (_, i) => ({ key: `/spam/${i}`, person: "attacker" }));
    await hub.addMany("views", names);
    await hub.close();
    expect(Math.max(...lengths())).toBeLessThan(2 ** 23); // the row of 20,000 events
    expect(store.snapshots.get("events/metrics/0.1")!.bytes.length).toBeLessThan(20_000);
  });
});

test("the first vote of a day takes no longer than others: its room is there, whether or not anybody votes", async () => {
  let now = START + HOUR;
  const hub = open(plainStore(), () => now);
  const made = vi.spyOn(chooseNoise(), "keystream"); // the key that spreads names over cells
  for (let day = 0; day < 3; day++, now += DAY) {
    await hub.advance();
    await hub.add("views", "/", 1, { person: "p" }); // a public key
    made.mockClear();
    await hub.add("views", `/first/${day}`, 1, { person: "q" });
    expect(made).not.toHaveBeenCalled();
  }
  made.mockRestore();
});

describe("answers", () => {
  test("about a candidate and about a name that nobody used are the same", async () => {
    const hub = open(plainStore(), () => START);
    for (let i = 0; i < 30; i++) await hub.add("views", "/candidate", 1, { person: `p${i}` });
    const told = async (page: string) =>
      hub.last("views", page, "1d").catch((error: Error) => error.message.replace(page, "PAGE"));
    expect(await told("/candidate")).toBe(await told("/unheard"));
    expect(await hub.keys("views")).toEqual(["/", OTHER_KEYS]);
  });
});

describe("kills", () => {
  type Step = {
    readonly at: number;
    readonly events?: readonly { key: string; person: string; at: number }[];
  };

  /** Three days: popular pages, pages of one person, late events of the day before, and midnights. */
  const steps: readonly Step[] = [0, 1, 2].flatMap((day) => {
    const start = START + day * DAY;
    const visits = (from: number, count: number, page: (i: number) => string, at: number) =>
      Array.from({ length: count }, (_, i) => ({ key: page(from + i), person: `p${from + i}`, at }));
    return [
      { at: start + HOUR - 1, events: visits(0, 6, () => "/late", start - (day === 0 ? 0 : 1)) },
      { at: start + HOUR },
      {
        at: start + 5 * HOUR,
        events: visits(0, 14, (i) => (i < 8 ? "/pricing" : "/docs"), start + 2 * HOUR),
      },
      { at: start + 7 * HOUR, events: visits(10, 12, (i) => `/account/${i}`, start + 6 * HOUR) },
      { at: start + 19 * HOUR },
      { at: start + 20 * HOUR, events: visits(30, 14, () => "/news", start + 19 * HOUR) },
    ];
  });
  const END = START + 3 * DAY + HOUR;

  const begin = (store: Store, clock: () => number) => open(store, clock, DISCOVER, "1d");

  /** Runs all steps. A store that fails ends the process; another one begins at once and makes the last call again. */
  async function run(
    { store, alive, revive }: ReturnType<typeof mortalStore>,
    closesAfter: (step: number) => boolean = () => false,
  ): Promise<string> {
    let now = START;
    let hub = begin(store, () => now);
    await hub.stats().catch(() => undefined);
    if (!alive()) {
      revive();
      hub = begin(store, () => now);
      await hub.stats();
    }
    for (const [i, { at, events }] of [...steps, { at: END } as Step].entries()) {
      now = at;
      const call = () =>
        events === undefined ? hub.advance() : hub.addMany("views", events, { id: String(i), body: "" });
      const end = async () => {
        await call();
        if (!closesAfter(i)) return;
        await hub.close(); // stores all sections
        hub = begin(store, () => now);
        await hub.stats();
      };
      await end().catch(() => undefined);
      if (alive()) continue;
      revive();
      now = at - 1;
      hub = begin(store, () => now);
      await hub.stats();
      now = at;
      await call();
    }
    const names = await hub.keys("views");
    const answers = await Promise.all(
      names.map((name) => hub.series("views", name, "1d", START, START + 3 * DAY)),
    );
    return JSON.stringify([names, answers.map((one) => one.answers.map(({ value }) => value))]);
  }

  const whole = mortalStore(plainStore(), Infinity, false);
  const uninterrupted = run(whole);

  test("at every write of three days: the same keys and the same numbers, bit for bit", async () => {
    const expected = await uninterrupted;
    const [names] = JSON.parse(expected) as [string[]];
    expect(names).toEqual(expect.arrayContaining(["/pricing", "/news", "/", OTHER_KEYS]));
    expect(expected).not.toContain("account");
    expect(whole.puts()).toBeGreaterThan(30);
    for (let kill = 1; kill <= whole.puts(); kill++)
      for (const after of [false, true])
        expect(
          await run(mortalStore(plainStore(), kill, after)),
          `put ${kill}, ${after ? "after" : "before"}`,
        ).toBe(expected);
  });

  test("between stored sections too, and after every orderly end", async () => {
    const expected = await uninterrupted;
    const all = mortalStore(plainStore(), Infinity, false);
    expect(await run(all, () => true)).toBe(expected);
    for (let kill = 1; kill <= all.puts(); kill += 17)
      expect(
        await run(mortalStore(plainStore(), kill, kill % 2 === 0), (i) => i % 3 === 0),
        `put ${kill}`,
      ).toBe(expected);
  });

  test("planted: votes that a restart forgets change what is found", async () => {
    const forget = vi.spyOn(KeyDiscovery.prototype, "load").mockImplementation(function (
      this: KeyDiscovery,
      reader,
    ) {
      // The state is read, and nobody keeps it.
      load.call(new KeyDiscovery(this.rule, chooseNoise("auto"), new Uint32Array(8), 32), reader);
    });
    expect(await run(mortalStore(plainStore(), Infinity, false), () => true)).not.toBe(await uninterrupted);
    forget.mockRestore();
  });
});

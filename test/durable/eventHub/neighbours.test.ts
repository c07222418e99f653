/** Decisions of a hub depend on the clock and the options: one event more or less changes its own count alone. */
import { expect, test } from "vitest";
import { openHub } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, TEN } from "./support.js";

const HOUR = 3_600_000;
const MIDNIGHT = TEN + 14 * HOUR;
/** Noise of scale 2/100 is 0 but for odds of 2·e⁻⁵⁰ a node. */
const exact = { epsilon: 100, every: "1h", of: "count", unsafeSeed: "neighbours" } as const;

function reopening(clock: Clock) {
  const store = plainStore();
  return (keys: readonly string[] | ((key: string) => boolean)) =>
    openHub({
      ...{ store, key, clock: clock.read, commitEvery: 0, confirmClock: true },
      metrics: { orders: { ...exact, keys } },
    });
}

test.each([2047, 2048, 2049])(
  "with %d events before a closing, the one behind it is late",
  async (before) => {
    const clock = new Clock();
    const hub = reopening(clock)(["a", "b"]);
    await hub.stats();
    const first = Array.from({ length: before }, () => hub.add("orders", "a"));
    clock.now = TEN + HOUR;
    // Both calls wait for the store at once; the event's period is the one that ends.
    const closing = hub.advance();
    await Promise.resolve();
    const behind = hub.add("orders", "b", undefined, { at: TEN });
    await Promise.all([...first, closing, behind]);
    const [a, b] = await Promise.all(["a", "b"].map((name) => hub.between("orders", name, TEN, TEN + HOUR)));
    expect([a!.value, b!.value].map((value) => Math.round(value!))).toEqual([before, 0]);
    expect(await hub.dropped("orders")).toEqual({ late: 1, early: 0, overLimit: 0 });
  },
);

test("the clock is set back over midnight: an event after midnight does not decide when a new key begins", async () => {
  for (const events of [0, 1]) {
    const clock = new Clock();
    const open = reopening(clock);
    const before = open(["a"]);
    clock.now = MIDNIGHT - HOUR;
    await before.advance();
    clock.now = MIDNIGHT + 10_000;
    for (let i = 0; i < events; i++) await before.add("orders", "a");
    clock.now = MIDNIGHT - 10_000;
    const hub = open(["a", "b"]); // the other one crashed
    await hub.stats();
    clock.now = MIDNIGHT + HOUR / 2;
    await hub.advance();
    await hub.add("orders", "b");
    clock.now = MIDNIGHT + HOUR;
    await hub.advance();
    const { value } = await hub.between("orders", "b", MIDNIGHT, MIDNIGHT + HOUR);
    expect(value, `${events} events`).toBeCloseTo(1, 6);
  }
});

test("the entry of a closed day has no key that left, whichever version of its chunk a crash left behind", async () => {
  const shown: (number | null)[] = [];
  for (const crashes of [false, true]) {
    const clock = new Clock();
    const open = reopening(clock);
    const first = open(["a", "b"]);
    await first.add("orders", "a");
    const second = open(["b"]); // after a crash, without a
    await second.stats();
    clock.now = MIDNIGHT;
    await second.advance();
    if (!crashes) await second.close();
    const third = open(["b"]); // the end of the day is replayed after a crash
    await third.stats();
    await third.close();
    const again = open(["a", "b"]);
    shown.push((await again.between("orders", "a", TEN, MIDNIGHT)).value);
    expect((await again.between("orders", "b", MIDNIGHT - HOUR, MIDNIGHT)).value).toBeCloseTo(0, 6);
  }
  expect(shown).toEqual([null, null]);
});

test("a key that left keeps the days before, whichever version of its chunk a crash left behind", async () => {
  for (const crashes of [false, true]) {
    const clock = new Clock();
    const open = reopening(clock);
    const first = open(["a", "b"]);
    await first.add("orders", "a");
    clock.now = TEN + HOUR;
    await first.advance();
    clock.now = MIDNIGHT;
    await first.advance();
    if (!crashes) await first.close();
    await open(["b"]).stats(); // and crashes
    const again = open(["a", "b"]);
    const { value } = await again.between("orders", "a", TEN, TEN + HOUR);
    expect(value, String(crashes)).toBeCloseTo(1, 6);
  }
});

test("a key that a rule let in before a crash is stored again before its row is gone", async () => {
  const clock = new Clock();
  const open = reopening(clock);
  const first = open((name) => name.startsWith("k"));
  await first.add("orders", "k1");
  const second = open((name) => name.startsWith("k")); // after a crash: k1 is in no section
  for (let i = 0; i < 600; i++) await second.add("orders", "k2");
  const third = open((name) => name.startsWith("k")); // after another one; the row of k1 has been overwritten
  clock.now = TEN + HOUR;
  await third.advance();
  const counts = await Promise.all(
    ["k1", "k2"].map(async (name) => (await third.between("orders", name, TEN, TEN + HOUR)).value),
  );
  expect(counts.map((count) => Math.round(count!))).toEqual([1, 600]);
});

import { expect, test } from "vitest";
import { openHub, type Store } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, keys, TEN } from "./support.js";

const HOUR = 3_600_000;
const exact = { epsilon: 64, every: "1h", levels: ["1h"], unsafeSeed: "hub" } as const;
const MIDNIGHT = TEN + 14 * HOUR;

const open = (store: Store, clock: Clock) =>
  openHub({
    metrics: { spent: { ...exact, max: 1000, keys, holdout: 0 } },
    ...{ store, key, clock: clock.read, commitEvery: 0 },
  });

/** Values to 40, two hundred an hour over all keys. */
async function spend(hub: ReturnType<typeof open>): Promise<void> {
  const events = Array.from({ length: 200 }, (_, i) => ({ key: keys[i % 2]!, value: 1 + ((i * 7) % 40) }));
  await hub.addMany("spent", events);
}

test("one θ for all keys, chosen by the first day; a kill at any moment changes nothing", async () => {
  const clock = new Clock();
  const run = async (reopenAt: readonly number[]) => {
    const store = plainStore();
    clock.now = TEN;
    let hub = open(store, clock);
    for (let hour = 0; hour < 20; hour++) {
      await spend(hub);
      if (reopenAt.includes(hour)) await (hub = open(store, clock)).stats(); // it listens before the hour is over
      if (hour === 10) {
        expect((await hub.between("spent", "paris", TEN, TEN + HOUR)).value).toBeNull();
        expect((await hub.stats()).metrics.spent!.holdingOut).toBe(true);
      }
      clock.now += HOUR;
      await hub.advance();
      if (hour % 13 === 7) await hub.close().then(() => (hub = open(store, clock)).stats());
    }
    const { threshold } = await hub.statement("spent", "berlin");
    return { threshold, answer: await hub.between("spent", "berlin", MIDNIGHT, clock.now) };
  };
  const whole = await run([]);
  expect(whole.threshold).toBeGreaterThanOrEqual(20);
  expect(whole.threshold).toBeLessThan(120);
  const sum = 6 * 100 * 20.2;
  expect(Math.abs(whole.answer.value! - sum)).toBeLessThan(0.1 * sum);
  for (const kills of [[12, 13, 14, 15], Array.from({ length: 20 }, (_, i) => i)])
    expect(await run(kills)).toEqual(whole);
});

test("noise that chooses θ is secret; with a seed it is the seed's", async () => {
  const theta = async (more: object) => {
    const spent = { ...exact, unsafeSeed: undefined, ...more, epsilon: 1e-3, max: 1e6, keys, holdout: 0 };
    const clock = new Clock();
    const { unsafeSeed, ...secret } = spent;
    const options = unsafeSeed === undefined ? secret : spent;
    const hub = openHub({ metrics: { spent: options }, clock: clock.read, commitEvery: 0 });
    for (let day = 0; day < 30; day++) {
      clock.now += 24 * HOUR;
      await hub.advance();
      const { threshold } = await hub.statement("spent", "berlin");
      if (threshold !== null) return `${day} ${threshold}`;
    }
    return "none";
  };
  const thetas = async (more: object) => {
    const all: unknown[] = [];
    for (let i = 0; i < 12; i++) all.push(await theta(more));
    return new Set(all);
  };
  expect((await thetas({ unsafeSeed: "θ" })).size).toBe(1);
  // Without events, the day on which noise alone passes for enough of them is all but uniform over a few days, and so is θ.
  expect((await thetas({})).size).toBeGreaterThan(1);
});

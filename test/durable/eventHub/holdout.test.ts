import { expect, test } from "vitest";
import { openHub, type Store } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, exact, keys, TEN } from "./support.js";

const open = (store: Store, clock: Clock) =>
  openHub({
    metrics: { spent: { ...exact, max: 1000, keys, holdout: "32s", perTick: 100 } },
    store,
    key,
    clock: clock.read,
    commitEvery: 0,
  });

/** Values to 40, a hundred a second for every key. */
async function spend(hub: ReturnType<typeof open>, clock: Clock, second: number): Promise<void> {
  clock.now = TEN + 1000 * second;
  const events = Array.from({ length: 200 }, (_, i) => ({ key: keys[i % 2]!, value: 1 + ((i * 7) % 40) }));
  await hub.addMany("spent", events);
}

test("one θ for all keys, chosen by the first ticks; a kill at any moment changes nothing", async () => {
  const clock = new Clock();
  const run = async (reopenAt: readonly number[]) => {
    const store = plainStore();
    clock.now = TEN;
    let hub = open(store, clock);
    for (let second = 0; second < 40; second++) {
      await spend(hub, clock, second);
      // An event of the next second comes before this one is closed: at the end of the hold-out it has to wait for θ.
      await hub.add("spent", "berlin", 40, { at: clock.now + 1000 });
      if (reopenAt.includes(second)) hub = open(store, clock);
      if (second === 10)
        await expect(hub.between("spent", "paris", TEN, TEN + 1000)).rejects.toThrow(
          "holding out: 10 of 32 ticks",
        );
      await hub.advance(TEN + 1000 * (second + 1));
      if (second % 13 === 7) await hub.close().then(() => (hub = open(store, clock)));
    }
    const { threshold, holdoutTicks } = await hub.statement("spent", "berlin");
    const answer = await hub.between("spent", "berlin", TEN + 32_000, TEN + 40_000);
    return { threshold, holdoutTicks, answer };
  };
  const whole = await run([]);
  expect(whole.threshold).toBeGreaterThanOrEqual(20);
  expect(whole.threshold).toBeLessThan(120);
  expect(whole.holdoutTicks).toBe(32);
  // Per second 100 values, with a mean of 20 or so, and one of 40 that came a second early.
  const sum = 8 * (100 * 20.2 + 40);
  expect(Math.abs(whole.answer.value - sum)).toBeLessThan(0.1 * sum);
  for (const kills of [[30, 31, 32, 33], Array.from({ length: 40 }, (_, i) => i)])
    expect(await run(kills)).toEqual(whole);
});

test("without a store too, an event of the very first commit that waited for θ counts", async () => {
  const clock = new Clock();
  const hub = openHub({
    metrics: { spent: { ...exact, max: 1000, keys, holdout: "4s" } },
    clock: clock.read,
    commitEvery: 0,
  });
  await hub.addMany("spent", [
    ...Array.from({ length: 64 }, (_, i) => ({ key: "berlin", value: 30, at: TEN + 62 * i })),
    ...Array.from({ length: 64 }, () => ({ key: "berlin", value: 30, at: TEN + 4000 })), // the first tick after it
  ]);
  clock.now = TEN + 6000;
  await hub.advance();
  const { value } = await hub.between("spent", "berlin", TEN + 4000, TEN + 6000);
  expect(Math.abs(value - 64 * 30)).toBeLessThan(300); // noise of scale θ/32 a node, and θ near 30
});

test("noise that chooses θ is secret; with a seed it is the seed's", async () => {
  const theta = async (more: object) => {
    const { unsafeSeed: _, ...secret } = exact;
    const spent = { ...secret, ...more, epsilon: 1e-3, max: 1e6, keys, holdout: "16s", perTick: 1 } as const;
    const clock = new Clock();
    const hub = openHub({ metrics: { spent }, clock: clock.read, commitEvery: 0 });
    await hub.advance(TEN + 17_000);
    return (await hub.statement("spent", "berlin")).threshold;
  };
  const thetas = async (more: object) => {
    const all: unknown[] = [];
    for (let i = 0; i < 24; i++) all.push(await theta(more));
    return new Set(all);
  };
  expect((await thetas({ unsafeSeed: "θ" })).size).toBe(1);
  // Without events the 60 candidates are all but equal: 24 times the same one has odds below 2⁻²⁴.
  expect((await thetas({})).size).toBeGreaterThan(1);
});

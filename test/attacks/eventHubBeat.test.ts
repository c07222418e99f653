/**
 * The attacker watches when numbers appear. What must be impossible: to tell from that moment whether an event came shortly
 * before it. And to tell from the work that a call does whether its key, or anybody, had an event before.
 */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { jsNoise } from "../../src/core/js/index.js";
import { openHub } from "../../src/index.js";

const START = Date.UTC(2026, 2, 1, 10);
const EVERY = 1000;

beforeEach(() => {
  vi.useFakeTimers({ now: START, toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Milliseconds after its period's end at which each of three numbers appears. @param events when events come */
async function appearances(events: readonly number[], commitEvery: number): Promise<number[]> {
  vi.setSystemTime(START);
  const seen: number[] = [];
  const hub = openHub({
    metrics: { orders: { epsilon: 1, every: EVERY, of: "count", keys: ["a"] } },
    commitEvery,
    onPublished: (closed) => closed.forEach(({ to }) => seen.push(Date.now() - to)),
  });
  await hub.stats(); // derives its keys, in true time
  hub.start();
  const adding: Promise<void>[] = [];
  for (let now = 0; now < 3.5 * EVERY; now++) {
    if (events.includes(now)) adding.push(hub.add("orders", "a"));
    await vi.advanceTimersByTimeAsync(1);
  }
  await Promise.all(adding);
  await hub.close();
  return seen;
}

test.each([0, 20, 50, 400, 3000])(
  "a number appears 250 ms after its period, whenever events came; commits every %d ms",
  async (commitEvery) => {
    const quiet = await appearances([], commitEvery);
    expect(quiet).toEqual([250, 250, 250]);
    for (const before of [1, 3, 49, 51, 60, 120, 249, 260, 700])
      expect(await appearances([EVERY + 250 - before], commitEvery), `${before} ms before`).toEqual(quiet);
    expect(await appearances([1100, 1150, 1195, 1201, 1240, 2245, 2249], commitEvery)).toEqual(quiet);
  },
);

test("the first event of a key, or of anybody, draws no noise and makes no stream", async () => {
  vi.useRealTimers();
  const draws = (["growDay", "laplace", "keystream"] as const).map((name) => vi.spyOn(jsNoise, name));
  const keys = Array.from({ length: 50 }, (_, i) => `k${i}`);
  const hub = openHub({
    metrics: { orders: { epsilon: 1, every: "1h", of: "count", keys, core: "js" } },
    clock: () => START,
    commitEvery: 0,
  });
  await hub.stats();
  await hub.advance();
  await vi.waitFor(() => expect(draws[0]!.mock.calls.length).toBe(keys.length)); // while nobody waits
  for (const spy of draws) spy.mockClear();
  for (const name of ["k7", "k7", "k8", "nobody"]) await hub.add("orders", name);
  for (const spy of draws) expect(spy).not.toHaveBeenCalled();
  await hub.close();
});

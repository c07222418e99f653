/**
 * The attacker waits for the end of a period: while a hub closes it for very many keys, nobody else gets an answer. What must
 * be impossible: that others wait for 100 ms. The end of a day moves every key's numbers out of live state in one step, so it
 * takes longer the more keys there are.
 */
import { expect, test } from "vitest";
import { openHub } from "../../src/index.js";
import { key, plainStore } from "../durable/support.js";

const KEYS = Array.from({ length: 20_000 }, (_, i) => `key ${i}`);
const MINUTE = 60_000;

/** Milliseconds of processor time between two turns of the event loop, while `during` runs: the longest stretch. */
async function longestTurn(during: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let watching = true;
  let before = process.cpuUsage();
  const watch = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    longest = Math.max(longest, (user + system) / 1000);
    if (watching) setImmediate(watch);
  };
  setImmediate(watch);
  await during();
  await new Promise((resolve) => setTimeout(resolve, 20));
  watching = false;
  return longest;
}

test("20,000 keys: the end of a period holds others up for less than 100 ms, the end of a day for less than 500", async () => {
  let now = Date.UTC(2026, 5, 1, 23, 56, 1);
  const metric = { epsilon: 1, every: "1m", levels: ["1m", "1h", "1d"], keys: KEYS, of: "count" } as const;
  const hub = openHub({
    ...{ metrics: { m: metric }, store: plainStore(), key, commitEvery: 0 },
    ...{ clock: () => now, confirmClock: true },
  });
  await hub.stats();
  const held: number[] = [];
  for (let minute = 0; minute < 6; minute++) {
    await hub.addMany(
      "m",
      KEYS.slice(0, 200).map((name) => ({ key: name })),
    );
    now += MINUTE;
    held.push(await longestTurn(() => hub.advance()));
  }
  const [midnight] = held.splice(3, 1);
  expect((await hub.last("m", "key 0", "1m")).complete).toBe(true);
  expect(Math.max(...held)).toBeLessThan(100);
  expect(midnight).toBeLessThan(500);
  await hub.close();
});

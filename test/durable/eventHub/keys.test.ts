/** The list of keys may change from one opening to the next: what was published stays where it is. */
import { expect, test } from "vitest";
import { openHub } from "../../../src/index.js";
import { key, plainStore } from "../support.js";
import { Clock, exact, TEN } from "./support.js";

const SECOND = 1000;

test("other keys than before: the hold-out and the ticks of all keys stay as they are", async () => {
  const [clock, store] = [new Clock(), plainStore()];
  const open = (keys: readonly string[]) =>
    openHub({
      ...{ store, key, clock: clock.read, commitEvery: 0 },
      metrics: { spent: { ...exact, max: 100, of: "sum", perTick: 64, keys } },
    });
  const before = open(["berlin", "paris", "rome", "wien"]); // 4096/(4·64) = 16 ticks choose θ
  for (let tick = 0; tick < 24; tick++) {
    for (let i = 0; i < 64; i++) await before.add("spent", "berlin", 10);
    clock.now += SECOND;
    await before.advance();
  }
  const asked = [TEN + 16 * SECOND, TEN + 24 * SECOND] as const;
  const published = await before.between("spent", "berlin", ...asked);
  expect(Math.abs(published.value - 8 * 640)).toBeLessThan(64);
  await before.close();

  const fewer = open(["berlin"]); // a new hub would choose θ from 64 ticks
  expect(await fewer.between("spent", "berlin", ...asked)).toEqual(published);
  await expect(fewer.between("spent", "paris", ...asked)).rejects.toThrow(/^key: expected one of the keys/);
  await fewer.add("spent", "berlin", 10);
  clock.now += SECOND;
  await fewer.advance();
  expect(await fewer.between("spent", "berlin", ...asked)).toEqual(published);
  await fewer.close();

  const more = open(["berlin", "oslo"]);
  expect(await more.between("spent", "berlin", ...asked)).toEqual(published);
  await more.add("spent", "oslo", 50);
  clock.now += SECOND;
  await more.advance();
  const oslo = await more.between("spent", "oslo", TEN + 25 * SECOND, TEN + 26 * SECOND);
  expect(Math.abs(oslo.value)).toBeLessThan(64);
  await more.close();
});

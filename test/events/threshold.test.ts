/** Which ticks of the hold-out choose θ, and what the guess of their number of events means. */
import { expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { ThresholdTally } from "../../src/events/threshold.js";
import { resolveSettings } from "../../src/stream/options.js";

const settings = resolveSettings({ epsilon: 1, max: 1000, threshold: 1000, holdout: 0, maxRange: 4096 });

/** @param value of the events of a tick, of which there are 40 */
function chosen(value: (tick: number) => number, perTick = 40): number {
  const tally = new ThresholdTally(settings, 256, perTick);
  for (let tick = 0; tick < 256; tick++) for (let i = 0; i < 40; i++) tally.add(value(tick), tick);
  return tally.choose(chooseCore("js"), unsafeKey("ticks"));
}

test("the rough choice is made by ticks 7, 23, 39 …: snapshots of a hold-out depend on it", () => {
  // Only these ticks have large values: the rough θ is large, and the knee of the fine choice is out of reach.
  const plain = chosen(() => 20);
  const rough = chosen((tick) => (tick % 16 === 7 ? 900 : 20));
  const others = chosen((tick) => (tick % 16 === 8 ? 900 : 20));
  expect([plain, rough, others]).toMatchInlineSnapshot(`
    [
      23,
      23,
      1000,
    ]
  `);
});

test("the guess of events per tick weighs hold-out and ranges alike: it cancels where the numbers are known", () => {
  const value = (tick: number) => 1 + ((tick * 37) % 400);
  expect(chosen(value, 4)).toBe(chosen(value, 40));
  expect(chosen(value, 400)).toBe(chosen(value, 40));
});

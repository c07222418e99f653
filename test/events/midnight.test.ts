/** Midnight: a day ends for all keys together, and the noise of the next one is drawn one key at a time. */
import { expect, test } from "vitest";
import type { NoiseCore } from "../../src/core/core.js";
import { jsNoise } from "../../src/core/js/index.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { DAY, HOUR } from "../../src/events/days/calendar.js";
import { EventMetric } from "../../src/events/eventMetric.js";
import { resolveEventStream } from "../../src/events/options.js";

const START = Date.UTC(2026, 2, 1, 21);
const MIDNIGHT = Date.UTC(2026, 2, 2);
const keys = Array.from({ length: 40 }, (_, i) => `shop ${i}`);

function metricOf() {
  let trees = 0;
  const core: NoiseCore = { ...jsNoise, growDay: (...all) => (trees++, jsNoise.growDay(...all)) };
  const settings = resolveEventStream({ of: "count", epsilon: 1, every: "1h", clock: () => START });
  const secrets = { people: new Uint32Array(4), own: unsafeKey("own"), release: unsafeKey };
  const metric = new EventMetric(settings, core, secrets, START, keys);
  const close = (until: number): void => {
    while (metric.closeNext(until, until) !== undefined);
  };
  /** How many trees of noise `act` draws. */
  const drawn = (act: () => void): number => {
    const before = trees;
    act();
    return trees - before;
  };
  return { metric, close, drawn };
}

test("the call that ends a day draws no noise of the next, and no slice draws more than one key's", () => {
  const { metric, close, drawn } = metricOf();
  close(MIDNIGHT - HOUR);
  expect(drawn(() => close(MIDNIGHT))).toBe(0);
  const slices: number[] = [];
  for (let all = false; !all;) slices.push(drawn(() => (all = metric.drawDay(1))));
  expect(slices).toEqual(keys.map(() => 1));
  expect(drawn(() => close(MIDNIGHT + HOUR))).toBe(0); // the first period of the day finds its noise
});

test("drawn in slices or when it is due, the noise is the same; all keys have numbers up to the same time", () => {
  const [sliced, whole] = [metricOf(), metricOf()];
  for (const { close } of [sliced, whole]) close(MIDNIGHT);
  for (let i = 0; i < 15; i++) sliced.metric.drawDay(1); // some keys are drawn, others are not
  for (const { close } of [sliced, whole]) close(MIDNIGHT + 2 * HOUR);
  for (const name of keys) {
    const measured = sliced.metric.release(name)!.measure(START, MIDNIGHT + DAY);
    expect(measured).toEqual(whole.metric.release(name)!.measure(START, MIDNIGHT + DAY));
    expect([measured.from, measured.to]).toEqual([START, MIDNIGHT + 2 * HOUR]);
  }
});

/** Event streams whose noise is 0, or next to nothing, so that tests see what they count. */
import type { CounterOptions, EventStreamOptions } from "../../src/events/options.js";
import { privateCounter, privateStream } from "../../src/privateStream.js";

export const TEN = Date.UTC(2026, 2, 1, 10);
export const KEY = new Uint8Array(32).fill(7);

/** A clock that stands still until it is moved. */
export function clockAt(start: number) {
  let now = start;
  return Object.assign(() => now, { move: (to: number) => void (now = to) });
}

/** ε = 128 on two levels: noise of scale 1/64 is 0 but for odds of 2·e⁻⁶⁴ a node, so counts come out as they are. */
export const exact: CounterOptions = { epsilon: 128, every: "1s", levels: ["1s", "1h"], unsafeSeed: "exact" };

export const counter = (change: Partial<CounterOptions> = {}) =>
  privateCounter({ ...exact, clock: () => TEN, ...change });

/** Sums with noise next to nothing beside thousands of steps of the grid. */
export const summed = (change: Partial<EventStreamOptions> = {}) =>
  privateStream({ ...exact, epsilon: 4000, max: 1000, threshold: 100, clock: () => TEN, ...change });

/** Hubs of events that the tests of this folder share. */
import { openHub, type Store } from "../../../src/index.js";
import { key } from "../support.js";

export const TEN = Date.UTC(2026, 2, 1, 10);

/** ε = 64 on two levels: noise of scale 1/32 is 0 but for odds of 2·e⁻³² a node. */
export const exact = { epsilon: 64, every: "1s", levels: ["1s", "1m"], unsafeSeed: "hub" } as const;

export const keys = ["berlin", "paris"];

/** A clock that tests turn. */
export class Clock {
  now = TEN;
  readonly read = (): number => this.now;
}

export const metrics = {
  orders: { ...exact, of: "count", keys },
  latency: { ...exact, edges: [1, 2, 4, 8], keys },
  spent: { ...exact, max: 100, threshold: 100, of: "mean", keys },
} as const;

export const openExact = (store: Store | undefined, clock: Clock, atLeast = 0, more: object = {}) =>
  openHub({
    metrics,
    commitEvery: 0,
    ...more,
    clock: clock.read,
    atLeast,
    ...(store === undefined ? {} : { store, key }),
  });

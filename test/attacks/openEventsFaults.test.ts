/**
 * The attacker makes calls on what is kept in a store fail: streams of events, counters, histograms. Memory
 * runs out, a kernel traps, the store fails before or after its work, the clock throws. The caller opens the object again
 * if it has ended, and makes the call again unless its sequence number says that the call was stored. Later
 * answers must be the same as if no call had failed.
 */
import { describe } from "vitest";
import { openStream } from "../../src/index.js";
import { key } from "../durable/support.js";
import { everyFaultOf, type Kept, type Scenario } from "../support/keptFaults.js";

/** Three hours before midnight. */
const START = Date.UTC(2026, 2, 1, 21);
const hour = (n: number) => START + 3_600_000 * n;

/** The methods of a stream of events that scenarios call. */
interface Events extends Kept {
  add(...event: unknown[]): Promise<void>;
  advance(now: number): Promise<unknown>;
  between(from: number, to: number): Promise<unknown>;
  statement(): Promise<unknown>;
  readonly dropped: unknown;
}

const ticks = {
  ...{ epsilon: 1, every: "1h", skew: "10h", unsafeSeed: "faults" },
  perPerson: { events: 2, people: 8 },
} as const;

/** @param clock fails where the clock of the machine does */
const events = (options: object, counts = false): Scenario<Events> => ({
  open: (store) => {
    const clock = () => 0 * Date.now() + hour(0);
    return openStream({
      ...ticks,
      ...options,
      clock,
      name: "s",
      store,
      key,
    } as never) as Promise<unknown> as Promise<Events>;
  },
  calls: [0, 3, 9].flatMap((tick) => [
    ...[0, 1].map((i) => (kept: Events) => {
      const info = { at: hour(tick + (i % 2)), person: `p${i % 2}` };
      return counts ? kept.add(info) : kept.add(3 * i, info);
    }),
    (kept: Events) => kept.advance(hour(tick + 1)),
  ]),
  said: async (kept) => [
    ...[kept.dropped, await kept.statement()],
    ...[await kept.between(hour(5), hour(10)), await kept.between(hour(6), hour(7))],
  ],
});

const scenarios: Record<string, Scenario<Events>> = {
  sum: events({ of: "sum", max: 20, epsilon: 64, holdout: 0 }),
  mean: events({ of: "mean", max: 20, threshold: 10 }),
  counter: events({ of: "count" }, true),
  histogram: events({ edges: [1, 4] }),
};

describe.each(Object.keys(scenarios))("%s", (kind) => everyFaultOf(scenarios[kind]!));

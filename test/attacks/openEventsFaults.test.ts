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

const TEN = Date.UTC(2026, 2, 1, 10);
const second = (tick: number) => TEN + 1000 * tick;

/** The methods of a stream of events that scenarios call. */
interface Events extends Kept {
  add(...event: unknown[]): Promise<void>;
  advance(now: number): Promise<unknown>;
  between(from: number, to: number): Promise<unknown>;
  statement(): Promise<unknown>;
  readonly closed: number;
  readonly dropped: unknown;
}

const ticks = {
  ...{ epsilon: 1, every: "1s", origin: TEN, skew: "1m", maxRange: "8s", unsafeSeed: "faults" },
  perPerson: { events: 2, every: "1m", people: 8 },
  tuning: { fanout: 2, skipLevels: 1 },
} as const;

/** @param clock fails where the clock of the machine does */
const events = (options: object, counts = false): Scenario<Events> => ({
  open: (store) => {
    const clock = () => 0 * Date.now() + second(3);
    return openStream({ ...ticks, ...options, clock, name: "s", store, key } as never);
  },
  calls: [0, 3, 9].flatMap((tick) => [
    ...[0, 1].map((i) => (kept: Events) => {
      const info = { at: second(tick + (i % 2)), person: `p${i % 2}` };
      return counts ? kept.add(info) : kept.add(3 * i, info);
    }),
    (kept: Events) => kept.advance(second(tick + 1)),
  ]),
  said: async (kept) => [
    ...[kept.closed, kept.dropped, await kept.statement()],
    ...[await kept.between(second(5), second(10)), await kept.between(second(6), second(7))],
  ],
});

const scenarios: Record<string, Scenario<Events>> = {
  sum: events({ of: "sum", max: 20, holdout: "5s" }),
  mean: events({ of: "mean", max: 20, threshold: 10 }),
  counter: events({ of: "count" }, true),
  histogram: events({ edges: [1, 4] }),
};

describe.each(Object.keys(scenarios))("%s", (kind) => everyFaultOf(scenarios[kind]!));

/**
 * The attacker makes calls on event streams, counters and histograms fail: memory runs out, a kernel traps, the clock
 * throws. If a tick is closed twice, or a column of a histogram keeps the noise of an older tree, two outputs differ by
 * true counts. Nothing that a stream says later may show that a call has failed.
 */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import type { Core } from "../../src/core/core.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { TickedHistogram } from "../../src/events/histogram.js";
import { resolveHistogram } from "../../src/events/histogramOptions.js";
import { type EventStreamOptions, resolveEventStream } from "../../src/events/options.js";
import { CountedEvents, ValueEvents } from "../../src/events/tickedStream.js";
import { Countdown, everyFault, failingAllocations, failingCore, Fault } from "../support/faults.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const KEY = new Uint8Array(32).fill(3);
const second = (tick: number) => TEN + 1000 * tick;

const ticks = {
  ...{ epsilon: 1, every: "1s", origin: TEN, skew: "1m", maxRange: "16s", history: "32s" },
  perPerson: { events: 3, every: "1m", people: 8 },
  tuning: { fanout: 2, skipLevels: 1 },
} as const;

type Events = ValueEvents | CountedEvents | TickedHistogram;
type Make = (core: Core, clock: () => number) => Events;

const stream =
  (options: Omit<EventStreamOptions, "epsilon" | "every">): Make =>
  (core, clock) =>
    new ValueEvents(resolveEventStream({ ...ticks, ...options, clock }), core, unsafeKey("faults"));

const kinds: Record<string, Make> = {
  sum: stream({ of: "sum", max: 50, holdout: "12s" }),
  "sum, θ known": stream({ of: "sum", max: 50, threshold: 20, holdout: "4s" }),
  mean: stream({ of: "mean", max: 50, holdout: "12s", smoother: "mean" }),
  "own smoother": stream({ of: "mean", max: 50, threshold: 20, smoother: (means) => means.at(-1)! / 2 }),
  counter: (core, clock) =>
    new CountedEvents(
      resolveEventStream({ ...ticks, of: "count", smoother: "median", clock }),
      core,
      unsafeKey("faults"),
    ),
  histogram: (core, clock) =>
    new TickedHistogram(
      resolveHistogram({ ...ticks, edges: [1, 5, 10, 20], clock }),
      core,
      unsafeKey("faults"),
    ),
};

function add(events: Events, tick: number, value: number, person: string): void {
  const info = { at: second(tick), person };
  if (events instanceof CountedEvents) events.add(info);
  else events.add(value, info);
}

/** Ticks that have events, some with several people. */
function fill(events: Events, from: number, to: number): void {
  for (let tick = from; tick < to; tick++)
    for (let i = 0; i < (tick * 7) % 4; i++)
      add(events, tick, 1 + ((tick * 11 + i * 5) % 40), `person ${tick % 5}`);
}

/** Everything that it says from now on, when nothing fails any more. */
async function future(events: Events): Promise<string> {
  const said: unknown[] = [events.closed, events.sequence, events.dropped, events.statement()];
  for (const to of [26, 27, 40, 59]) {
    fill(events, Math.max(events.closed, to - 6), to);
    said.push(events.advance(second(to)), events.between(second(to - 9), second(to)));
  }
  said.push(events.dropped, events.statement(), (await events.snapshot(KEY)).length);
  return JSON.stringify(said, (_, x: unknown) => (x instanceof Float64Array ? [...x] : x));
}

/** The state before the call: ticks up to `closed` are closed, and there are events in the ones after it. */
function prepared(make: Make, closed: number, core = chooseCore("js"), clock = () => TEN): Events {
  const events = make(core, clock);
  fill(events, 0, closed);
  events.advance(second(closed));
  fill(events, closed, 30);
  return events;
}

const calls: Record<string, { closed: number; act: (events: Events) => unknown }> = {
  "one more event": { closed: 3, act: (events) => add(events, 40, 7, "someone new") },
  "an event of a tick that waits for θ": { closed: 3, act: (events) => add(events, 15, 7, "person 1") },
  "a tick is closed": { closed: 3, act: (events) => events.advance(second(4)) },
  "θ is chosen": { closed: 3, act: (events) => events.advance(second(11)) },
  "the hold-out ends, and blocks behind it": { closed: 5, act: (events) => events.advance(second(25)) },
  "trees and forests begin": { closed: 13, act: (events) => events.advance(second(54)) },
};

/** A core and a clock that work until they are told to count. */
function breakable(when: "before" | "after") {
  let fault: Countdown | undefined;
  const core = chooseCore("js");
  return {
    core: new Proxy(core, {
      get: (target, name) =>
        Reflect.get(fault === undefined ? target : failingCore(target, fault, when), name) as unknown,
    }),
    clock: () => {
      fault?.step();
      return TEN;
    },
    arm(now: Countdown | undefined) {
      fault = now;
    },
  };
}

describe.each(Object.keys(kinds))("%s", (kind) => {
  const make = kinds[kind]!;

  test.each(Object.keys(calls))("%s: each allocation failing in turn", async (name) => {
    const { closed, act } = calls[name]!;
    const expected = await future(prepared(make, closed));
    const done = prepared(make, closed);
    act(done);
    const afterwards = await future(done);
    await everyFault(async (fault) => {
      const events = prepared(make, closed);
      let failed = false;
      try {
        failingAllocations(fault, () => act(events));
      } catch (error) {
        expect(error).toBeInstanceOf(Fault);
        failed = true;
      }
      expect(await future(events)).toBe(failed ? expected : afterwards);
    });
  });

  test.each(Object.keys(calls))(
    "%s: each kernel call and each read of the clock failing in turn",
    async (name) => {
      const { closed, act } = calls[name]!;
      const expected = await future(prepared(make, closed));
      for (const when of ["before", "after"] as const)
        await everyFault(async (fault) => {
          const broken = breakable(when);
          const events = prepared(make, closed, broken.core, broken.clock);
          broken.arm(fault);
          let failed = false;
          try {
            act(events);
          } catch (error) {
            expect(error).toBeInstanceOf(Fault);
            failed = true;
          }
          broken.arm(undefined);
          if (failed) expect(await future(events)).toBe(expected);
        });
    },
  );

  test("a snapshot that fails leaves no gap in the sequence", async () => {
    for (const closed of [3, 25]) {
      const expected = await future(prepared(make, closed));
      const failures = await everyFault(async (fault) => {
        const broken = breakable("before");
        const events = prepared(make, closed, broken.core, broken.clock);
        broken.arm(fault);
        try {
          await failingAllocations(fault, () => events.snapshot(KEY));
          return;
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        } finally {
          broken.arm(undefined);
        }
        expect(await future(events)).toBe(expected);
      });
      expect(failures).toBeGreaterThan(1);
    }
  });
});

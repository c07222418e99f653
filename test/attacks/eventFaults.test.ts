/**
 * The attacker makes calls on event streams, counters and histograms fail: memory runs out, a kernel traps, the clock
 * throws. If a period is closed twice, or a day begins with the noise of another one, two outputs differ by true counts.
 * Nothing that a stream says later may show that a call has failed: an event that failed was never there, and periods that
 * were closed by a call that failed later are told by the next one.
 */
import { describe, expect, test } from "vitest";
import { chooseNoise } from "../../src/core/choose.js";
import type { NoiseCore } from "../../src/core/core.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { CountedEvents, ValueEvents } from "../../src/events/metricStream.js";
import { BucketedEvents } from "../../src/events/bucketedEvents.js";
import type { AnyEvents } from "../../src/events/kinds.js";
import {
  type EventStreamOptions,
  type HistogramOptions,
  resolveEvents,
  resolveEventStream,
  resolveHistogram,
} from "../../src/events/options.js";
import { Countdown, everyFault, failingAllocations, failingCore, Fault } from "../support/faults.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const KEY = new Uint8Array(32).fill(3);
const hour = (n: number) => TEN + 3_600_000 * n;
/** The first midnight is 14 hours after the start. */
const MIDNIGHT = 14;

/** Days are compacted as soon as they end, and forgotten after two. */
const common = {
  ...{ epsilon: 8, every: "1h", levels: ["1h", "1d"], skew: "6d" },
  perPerson: { events: 3, perHour: 2, people: 8 },
  history: { days: "2d", hours: "0s", finer: "0s" },
} as const;

type Make = (core: NoiseCore, clock: () => number) => AnyEvents;

const stream =
  (options: Omit<EventStreamOptions, "epsilon" | "every">): Make =>
  (core, clock) => {
    const settings = resolveEventStream({ ...common, ...options, clock });
    const Kind = settings.of === "count" ? CountedEvents : ValueEvents;
    return new Kind(settings, core, unsafeKey("faults"), clock());
  };

const histogram =
  (edges: HistogramOptions["edges"]): Make =>
  (core, clock) =>
    new BucketedEvents(resolveHistogram({ ...common, edges, clock }), core, unsafeKey("faults"), clock());

const GROUPED = { min: 0.1, max: 50, buckets: 119 };
const kinds: Record<string, Make> = {
  counter: stream({ of: "count" }),
  "sum, θ public": stream({ of: "sum", max: 50, threshold: 20 }),
  "sum, θ chosen": stream({ of: "sum", max: 50, holdout: "2h" }),
  "sum of a person": stream({ of: "sum", max: 50, perPerson: { sum: 60, people: 8 } }),
  mean: stream({ of: "mean", max: 50, holdout: "2h" }),
  histogram: histogram([1, 5, 10, 20]),
  "histogram with groups": histogram(GROUPED),
};

test("that many buckets have groups", () => {
  expect(resolveEvents({ ...common, edges: GROUPED }).buckets!.group).toBeGreaterThan(1);
});

function add(events: AnyEvents, at: number, value: number, person: string): void {
  const info = { at: hour(at), person };
  if (events instanceof CountedEvents) events.add(info);
  else events.add(value, info);
}

/** Hours that have events, of people who meet their limits. */
function fill(events: AnyEvents, from: number, to: number): void {
  for (let n = from; n < to; n++)
    for (let i = 0; i < (n * 7) % 5; i++)
      add(events, n + i / 5, 1 + ((n * 11 + i * 5) % 40), `person ${(n * 3 + (i >> 1)) % 13}`);
}

/** Everything that it says from now on, when nothing fails any more. */
async function future(events: AnyEvents): Promise<string> {
  const said: unknown[] = [events.sequence, events.dropped, events.statement()];
  for (const to of [MIDNIGHT + 76, MIDNIGHT + 100]) {
    fill(events, to - 6, to);
    said.push(events.advance(hour(to)), events.between(hour(to - 50), hour(to)), events.last("3h"));
  }
  said.push(events.series("1d", hour(0), hour(120)), events.dropped, events.statement());
  said.push((await events.snapshot(KEY)).length);
  return JSON.stringify(said);
}

/** The state before the call: hours up to `closed` are closed, and there are events in the ones after it. */
function prepared(make: Make, closed: number, core = chooseNoise("js"), clock = () => TEN): AnyEvents {
  const events = make(core, clock);
  fill(events, 0, closed);
  events.advance(hour(closed));
  fill(events, closed, MIDNIGHT + 20);
  return events;
}

interface Scenario {
  readonly closed: number;
  readonly act: (events: AnyEvents) => unknown;
  /** Several periods: those that closed before a fault stay closed. */
  readonly goesOn?: true;
}

const advance = (closed: number, to: number): Scenario => ({
  closed,
  act: (events) => events.advance(hour(to)),
  goesOn: true,
});

const calls: Record<string, Scenario> = {
  "an event of somebody new": { closed: 3, act: (events) => add(events, 40, 7, "someone new") },
  "an event of somebody known": { closed: 3, act: (events) => add(events, 5, 7, "person 1") },
  "an event on the next day": { closed: MIDNIGHT + 2, act: (events) => add(events, 50, 30, "person 1") },
  "an event that has no time": {
    closed: 0,
    act: (events) =>
      events instanceof CountedEvents ? events.add({ person: "a" }) : events.add(7, { person: "a" }),
  },
  "a period ends": advance(3, 4),
  "a period ends by the clock": { closed: 0, act: (events) => events.advance(), goesOn: true },
  "a day ends, or θ is chosen": advance(MIDNIGHT - 1, MIDNIGHT),
  "a day ends after θ is known": advance(MIDNIGHT + 23, MIDNIGHT + 25),
  "several days at once": advance(5, MIDNIGHT + 50),
};

/** A core and a clock that work until they are told to count. */
function breakable(when: "before" | "after") {
  let fault: Countdown | undefined;
  const core = chooseNoise("js");
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

/** Answers of a failed call that is made again, and all later answers. */
async function outcome(events: AnyEvents, { act, goesOn }: Scenario, failed: boolean): Promise<string> {
  const again = failed && goesOn ? act(events) : undefined;
  return JSON.stringify([again, await future(events)]);
}

describe.each(Object.keys(kinds))("%s", (kind) => {
  const make = kinds[kind]!;
  // Some 130 columns are drawn alike, one after the other.
  const strides = [1, kind === "histogram with groups" ? 97 : 1] as const;

  /** Valid outcomes after a call that failed, and after one that did not. */
  async function rights(scenario: Scenario): Promise<{ failed: string; done: string }> {
    const events = prepared(make, scenario.closed);
    const answers = scenario.act(events);
    const done = await future(events);
    const failed = scenario.goesOn ? done : await future(prepared(make, scenario.closed));
    return {
      failed: JSON.stringify([scenario.goesOn && answers, failed]),
      done: JSON.stringify([undefined, done]),
    };
  }

  test.each(Object.keys(calls))("%s: each allocation failing in turn", async (name) => {
    const scenario = calls[name]!;
    const right = await rights(scenario);
    await everyFault(
      async (fault) => {
        const events = prepared(make, scenario.closed);
        let failed = false;
        try {
          failingAllocations(fault, () => scenario.act(events));
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          failed = true;
        }
        expect(await outcome(events, scenario, failed)).toBe(failed ? right.failed : right.done);
      },
      ...strides,
    );
  });

  test.each(Object.keys(calls))(
    "%s: each kernel call and each read of the clock failing in turn",
    async (name) => {
      const scenario = calls[name]!;
      const right = await rights(scenario);
      for (const when of ["before", "after"] as const)
        await everyFault(
          async (fault) => {
            const broken = breakable(when);
            const events = prepared(make, scenario.closed, broken.core, broken.clock);
            broken.arm(fault);
            let failed = false;
            try {
              scenario.act(events);
            } catch (error) {
              expect(error).toBeInstanceOf(Fault);
              failed = true;
            }
            broken.arm(undefined);
            if (failed) expect(await outcome(events, scenario, failed)).toBe(right.failed);
          },
          ...strides,
        );
    },
  );

  test("a snapshot that fails leaves no gap in the sequence", async () => {
    for (const closed of [3, MIDNIGHT + 25]) {
      const expected = await future(prepared(make, closed));
      const failures = await everyFault(
        async (fault) => {
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
        },
        ...strides,
      );
      expect(failures).toBeGreaterThan(1);
    }
  });
});

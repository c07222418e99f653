/**
 * The attacker's code runs inside calls on event streams: the clock, getters of an event. It calls the stream back, throws,
 * or answers differently each time. What must be impossible: a period that is published twice or with half of its events, a
 * snapshot that mixes two moments, and an event that gets round the limit of its person.
 */
import { afterEach, describe, expect, test } from "vitest";
import {
  type EventStream,
  privateCounter,
  privateHistogram,
  privateStream,
  restore,
} from "../../src/index.js";
import type { EventStreamOptions } from "../../src/events/options.js";

const TEN = Date.UTC(2026, 2, 1, 10);
const KEY = new Uint8Array(32).fill(3);
const second = (tick: number) => TEN + 1000 * tick;
const base: EventStreamOptions = {
  ...{ epsilon: 1, every: "1s", unsafeSeed: "re-entry", skew: "10m" },
  ...{ of: "mean" as const, max: 50, threshold: 20 },
};

/** A clock that runs code of the attacker once, when it is told to. */
function trap(time: number) {
  let inside: (() => void) | undefined;
  const clock = () => {
    const act = inside;
    inside = undefined;
    act?.();
    return time;
  };
  return { clock, set: (act: () => void) => (inside = act) };
}

const calls: Record<string, (stream: EventStream) => unknown> = {
  add: (stream) => stream.add(50, { at: second(3) }),
  advance: (stream) => stream.advance(),
};

describe("a clock that calls its own stream", () => {
  test.each(Object.keys(calls))("%s is refused, and changes nothing", (name) => {
    const { clock, set } = trap(TEN);
    const [loud, quiet] = [privateStream({ ...base, clock }), privateStream({ ...base, clock: () => TEN })];
    const refusals: unknown[] = [];
    for (let tick = 0; tick < 20; tick += 5) {
      for (const stream of [loud, quiet])
        for (let i = 0; i < 9; i++) stream.add(3 * i, { at: second(tick + (i % 5)) });
      set(() => {
        try {
          calls[name]!(loud);
        } catch (error) {
          refusals.push(error);
        }
      });
      loud.add(1); // without a time, so that the clock is asked
      quiet.add(1);
      expect(loud.advance(second(tick + 5))).toEqual(quiet.advance(second(tick + 5)));
    }
    expect(refusals).toHaveLength(4);
    for (const error of refusals) expect(String(error)).toMatch(/expected no call while another call/);
    expect(loud.dropped).toEqual(quiet.dropped);
  });

  test("the same trap sees a stream that takes the inner call", () => {
    const { clock, set } = trap(TEN);
    const [victim, other] = [privateStream({ ...base, clock }), privateStream({ ...base, clock })];
    set(() => other.add(50, { at: second(0) })); // another stream: allowed, and counted there alone
    victim.add(1, { at: second(0) });
    expect(other.advance(second(1))).not.toEqual(victim.advance(second(1)));
  });
});

describe("a clock", () => {
  test.each([NaN, Infinity, "now", null, undefined, 1n, {}])(
    "that says %s is refused, and nothing changes",
    (time) => {
      let now: unknown = TEN;
      const stream = privateStream({ ...base, clock: () => now as number });
      stream.add(4, { at: second(0) });
      now = time;
      expect(() => stream.add(5)).toThrow(/^clock: expected milliseconds since 1970/);
      expect(() => stream.advance()).toThrow(/^clock: /);
      now = TEN;
      stream.add(4, { at: second(1) });
      expect(stream.dropped).toEqual({ late: 0, early: 0, overLimit: 0 });
      expect(stream.advance(second(4))).toHaveLength(4);
    },
  );

  test("that closes periods while a snapshot is taken: the snapshot is of one moment", async () => {
    const { clock, set } = trap(TEN);
    const stream = privateStream({ ...base, clock });
    for (let i = 0; i < 9; i++) stream.add(3 * i, { at: second(i % 5) });
    set(() => void stream.advance(second(4)));
    const bytes = await stream.snapshot(KEY);
    const again = await restore(bytes, KEY, { ...base, clock: () => second(4) });
    const range = [second(0), second(9)] as const;
    for (const one of [stream, again]) one.advance(second(9));
    expect(again.between(...range)).toEqual(stream.between(...range));
    expect(again.between(...range).complete).toBe(true);
  });

  test("that closes the period of the event it is asked about: the event is late, and not lost inside", () => {
    const { clock, set } = trap(second(60));
    const stream = privateStream({ ...base, clock: () => TEN, skew: "1h" });
    const closing = privateStream({ ...base, clock, skew: "1h" });
    stream.advance(second(1));
    expect(() => {
      set(() => void closing.advance(second(70)));
      closing.add(7, { at: second(7200) }); // so far ahead that the clock is asked
    }).toThrow(/expected no call while another call/);
    closing.advance(second(70));
    closing.add(7, { at: second(65) });
    expect(closing.dropped).toEqual({ late: 1, early: 0, overLimit: 0 });
  });
});

describe("an event", () => {
  const people: EventStreamOptions = { ...base, perPerson: 1, clock: () => TEN };

  test("whose getters answer differently each time is read once", () => {
    let reads = 0;
    const event = {
      get at() {
        return second(reads++);
      },
      get person() {
        return `person ${reads++}`;
      },
    };
    privateStream(people).add(3, event);
    expect(reads).toBe(2);
  });

  test("whose getter throws, or calls the stream, changes nothing", () => {
    const stream = privateStream(people);
    const throwing = {
      person: "ann",
      get at(): number {
        throw new Error("no time");
      },
    };
    expect(() => stream.add(3, throwing)).toThrow("no time");
    const calling = {
      person: "ann",
      get at(): number {
        stream.add(3, { at: second(0), person: "ann" });
        return second(0);
      },
    };
    expect(() => stream.add(3, calling)).toThrow(/expected no call while another call/);
    stream.add(3, { at: second(0), person: "ann" });
    expect(stream.dropped.overLimit).toBe(0);
  });

  test.each([5, "2026-03-01", null, true])("%j is no event", (event) => {
    const stream = privateStream({ ...base, clock: () => TEN });
    expect(() => stream.add(3, event as never)).toThrow(/^event: expected an object/);
    expect(() => privateHistogram({ epsilon: 1, every: "1s", edges: [1, 2] }).add(3, event as never)).toThrow(
      /^event: /,
    );
  });

  const prototype = Object.prototype as { at?: unknown; person?: unknown };
  afterEach(() => {
    delete prototype.at;
    delete prototype.person;
  });

  test("time and person on Object.prototype are nobody's", () => {
    const counter = privateCounter({ epsilon: 1, every: "1s", clock: () => TEN });
    const limited = privateStream(people);
    prototype.at = second(30);
    counter.add({});
    counter.advance(second(1));
    prototype.person = "mallory";
    expect(() => limited.add(3, {})).toThrow(/^person: expected text/);
    expect(() => counter.add({ at: second(2) })).not.toThrow();
    expect(counter.dropped).toEqual({ late: 0, early: 0, overLimit: 0 });
  });
});

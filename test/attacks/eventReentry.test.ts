/**
 * The attacker's code runs inside calls on event streams: the clock, getters of an event, a smoother. It calls the stream
 * back, throws, or answers differently each time. What must be impossible: a tick that is published twice or with half of
 * its events, a snapshot that mixes two moments, and an event that gets round the limit of its person.
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
  ...{ epsilon: 1, every: "1s", origin: TEN, maxRange: "16s", unsafeSeed: "re-entry" },
  ...{ of: "mean" as const, max: 50, threshold: 20, tuning: { fanout: 2, skipLevels: 1 } },
};

function published(options: EventStreamOptions, act: (stream: EventStream) => void = () => {}): string {
  const stream = privateStream(options);
  const said: unknown[] = [];
  for (let tick = 0; tick < 20; tick += 5) {
    for (let i = 0; i < 9; i++) stream.add(3 * i, { at: second(tick + (i % 5)) });
    act(stream);
    const { values, counts } = stream.advance(second(tick + 5));
    said.push([...values], [...counts!], stream.between(second(tick), second(tick + 5)));
  }
  return JSON.stringify([said, stream.statement(), stream.closed]);
}

describe("a smoother that calls its own stream", () => {
  const calls: Record<string, (stream: EventStream) => unknown> = {
    add: (stream) => stream.add(50, { at: second(3) }),
    advance: (stream) => stream.advance(second(20)),
    between: (stream) => stream.between(second(0), second(2)),
  };
  test.each(Object.keys(calls))("%s is refused, in both columns of a mean, and changes nothing", (name) => {
    const refusals: unknown[] = [];
    let own: EventStream | undefined;
    const smoother = (means: readonly number[]): number => {
      try {
        if (own !== undefined) calls[name]!(own);
      } catch (error) {
        refusals.push(error);
      }
      return means.at(-1)!;
    };
    const quiet = published({ ...base, smoother: (means) => means.at(-1)!, clock: () => TEN });
    const loud = published({ ...base, smoother, clock: () => TEN }, (stream) => (own = stream));
    expect(loud).toBe(quiet);
    expect(refusals).toHaveLength(20); // 10 blocks, 2 columns
    for (const error of refusals) expect(String(error)).toMatch(/expected no call while another call/);
  });

  test("a snapshot from inside is refused: it would hold one column of a tick and not the other", async () => {
    const taken: Promise<unknown>[] = [];
    let own: EventStream | undefined;
    const smoother = (means: readonly number[]): number => {
      if (own !== undefined) taken.push(own.snapshot(KEY).catch(String));
      return means.at(-1)!;
    };
    published({ ...base, smoother, clock: () => TEN }, (stream) => (own = stream));
    for (const error of await Promise.all(taken))
      expect(error).toMatch(/expected no call while another call/);
  });
});

describe("a clock", () => {
  test.each([NaN, Infinity, "now", null, undefined, 1n, {}])(
    "that says %s is refused, and nothing changes",
    (time) => {
      let now: unknown = TEN;
      const options = { ...base, clock: () => now as number };
      const stream = privateStream(options);
      stream.add(4, { at: second(0) });
      now = time;
      expect(() => stream.add(5)).toThrow(/^clock: expected milliseconds since 1970/);
      expect(() => stream.advance()).toThrow(/^clock: /);
      now = TEN;
      stream.add(4, { at: second(1) });
      expect(stream.closed).toBe(0);
      expect(stream.advance(second(4)).values).toHaveLength(4);
    },
  );

  test("that closes ticks while a snapshot is taken: the snapshot is of one moment", async () => {
    let inside: (() => void) | undefined;
    const clock = () => {
      const act = inside;
      inside = undefined;
      act?.();
      return TEN;
    };
    const stream = privateStream({ ...base, clock });
    for (let i = 0; i < 9; i++) stream.add(3 * i, { at: second(i % 5) });
    inside = () => stream.advance(second(4));
    const bytes = await stream.snapshot(KEY);
    const again = await restore(bytes, KEY, { ...base, clock: () => TEN });
    expect(again.closed).toBe(again.length);
    const [whole, rest] = [stream, again].map((one) => one.advance(second(9)).values);
    expect([...rest!]).toEqual([...whole!].slice(-rest!.length));
  });

  test("that closes the tick of the event it is asked about: the event is late, and not lost inside", () => {
    let inside: (() => void) | undefined;
    const clock = () => {
      const act = inside;
      inside = undefined;
      act?.();
      return second(60);
    };
    const stream = privateStream({ ...base, skew: 0, clock });
    inside = () => void stream.advance(second(59));
    stream.add(7, { at: second(58) }); // was open when the call began
    expect(stream.closed).toBe(0); // within what the clock let in before: it is not asked
    stream.add(7, { at: second(61) });
    expect(stream.closed).toBe(59);
    expect(stream.dropped).toEqual({ late: 0, early: 1, overLimit: 0 });
    inside = () => void stream.advance(second(63));
    stream.add(7, { at: second(62) });
    expect(stream.dropped).toEqual({ late: 1, early: 1, overLimit: 0 });
  });
});

describe("an event", () => {
  const people: EventStreamOptions = { ...base, perPerson: { events: 1, every: "1m" }, clock: () => TEN };

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

  test("whose getter throws changes nothing", () => {
    const stream = privateStream(people);
    const event = {
      person: "ann",
      get at(): number {
        throw new Error("no time");
      },
    };
    expect(() => stream.add(3, event)).toThrow("no time");
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
    const counter = privateCounter({ epsilon: 1, every: "1s", origin: TEN, clock: () => TEN });
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

/**
 * The attacker sees how long an encrypted snapshot is. Encryption keeps the length, so any field that takes more bytes
 * for some values than for others tells about them. What must be impossible: to tell two streams apart that have the same
 * settings, the same position and the same published numbers.
 */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { privateCounter, privateHistogram, privateStream, type StreamOptions } from "../../src/index.js";
import { resolveSettings } from "../../src/stream/options.js";
import { HoldoutStream } from "../../src/stream/holdoutStream.js";
import { type EventStreamOptions } from "../../src/events/options.js";

const KEY = new Uint8Array(32).fill(3);

describe("positions", () => {
  const base = { epsilon: 1, max: 1e6, maxRange: 2 ** 12, holdout: 512, unsafeSeed: "length" } as const;
  const kinds: Record<string, StreamOptions> = {
    defaults: base,
    probe: { ...base, holdout: 8192, maxRange: 2 ** 10, tuning: { fanout: 4 } },
    paper: { ...base, variant: "paper", tuning: { thresholdStep: 100 } },
    "fixed threshold": { ...base, threshold: 5e5, tuning: { fanout: 4, skipLevels: 3 } },
    shrunk: { ...base, smoother: "shrunk" },
    following: { ...base, epsilon: 20, maxRange: 64, tuning: { fanout: 4, skipLevels: 2, follow: true } },
    refining: { ...base, epsilon: 20, maxRange: 2048, tuning: { skipLevels: 1, follow: true, refine: true } },
  };
  /** Secrets at every moment: nothing was published yet, or all blocks but the running one are equal. */
  const shapes: Record<string, (i: number) => number> = {
    zeros: () => 0,
    ones: () => 1,
    largest: () => 1e6,
    fractions: (i) => (i % 97) / 7,
    growing: (i) => 2 ** (i % 20),
  };

  test.each(Object.keys(kinds))(
    "%s: in the hold-out every value takes as many bytes as any other",
    async (kind) => {
      const options = kinds[kind]!;
      const held = options.holdout!;
      for (const received of [0, 1, 16, 31, 32, 400, held - 2, held - 1].filter((count) => count < held)) {
        const lengths = new Set<number>();
        for (const value of Object.values(shapes)) {
          const stream = privateStream(options);
          stream.pushMany(Float64Array.from({ length: received }, (_, i) => value(i)));
          lengths.add((await stream.snapshot(KEY)).length);
        }
        expect({ received, lengths: lengths.size }).toEqual({ received, lengths: 1 });
      }
    },
  );

  test.each(Object.keys(kinds))(
    "%s: in the running block every sum takes as many bytes as any other",
    async (kind) => {
      const options = kinds[kind]!;
      const start = new HoldoutStream(resolveSettings(options), chooseCore(), unsafeKey("length"));
      const { length: block } = { length: start.statement().blockLength };
      const same = Float64Array.from({ length: options.holdout! + 3 * block }, (_, i) => (i * 7919) % 5000);
      for (const extra of [1, Math.max(1, block >> 1), Math.max(1, block - 1)].filter(
        (count) => count < block,
      )) {
        const lengths = new Set<number>();
        for (const value of Object.values(shapes)) {
          const stream = privateStream(options);
          stream.pushMany(same);
          stream.pushMany(Float64Array.from({ length: extra }, (_, i) => value(i)));
          lengths.add((await stream.snapshot(KEY)).length);
        }
        expect({ extra, lengths: lengths.size }).toEqual({ extra, lengths: 1 });
      }
    },
  );
});

describe("events", () => {
  const TEN = Date.UTC(2026, 2, 1, 10);
  const second = (tick: number) => TEN + 1000 * tick;
  const clocked = () => {
    let now = TEN;
    return { clock: () => now, set: (tick: number) => (now = second(tick)) };
  };
  const ticks = {
    ...{ epsilon: 1, every: "1s", levels: ["1s", "1m", "1h"], lateness: "20s", unsafeSeed: "length" },
  } as const;
  const person = { perPerson: { events: 3, perHour: 2, people: 64 } } as const;
  const sum = { ...ticks, of: "sum", max: 1000 } as const;
  /** The events of second `tick`, as [value, person]. */
  const crowds: Record<string, (tick: number) => [number, string][]> = {
    nobody: () => [],
    "one event at all": (tick) => (tick === 55 ? [[1, "ann"]] : []),
    "one person": () => [[3, "ann"]],
    many: (tick) => Array.from({ length: 40 }, (_, i) => [1000 - i, `person ${(tick * i) % 60}`]),
  };
  type Kind = { options: EventStreamOptions; make: (options: never) => unknown };
  const kinds: Record<string, Kind> = {
    sum: { options: sum, make: privateStream },
    "sum for people": { options: { ...sum, ...person }, make: privateStream },
    mean: { options: { ...sum, of: "mean", threshold: 100 }, make: privateStream },
    "a person's sum": { options: { ...sum, perPerson: { sum: 2000, people: 64 } }, make: privateStream },
    counter: { options: { ...ticks, ...person }, make: privateCounter },
    histogram: { options: { ...ticks, ...person, edges: [1, 10, 100] } as never, make: privateHistogram },
  };

  interface AnyEvents {
    add(...args: unknown[]): void;
    advance(now: number): unknown;
    snapshot(key: Uint8Array): Promise<Uint8Array>;
  }

  /** Before anything is published, and while θ is awaited: all that happened is secret. */
  test.each(Object.keys(kinds))("%s: the length follows from the clock, not from events", async (kind) => {
    const { options, make } = kinds[kind]!;
    for (const now of [0, 5, 19]) {
      const lengths = new Map<string, number>();
      for (const [name, crowd] of Object.entries(crowds)) {
        const { clock, set } = clocked();
        const events = make({ ...options, clock } as never) as AnyEvents;
        set(now);
        for (let tick = 0; tick <= now + 60; tick++)
          for (const [value, id] of crowd(tick)) {
            const info = { at: second(tick), ...("perPerson" in options ? { person: id } : {}) };
            if (kind === "counter") events.add(info);
            else events.add(value, info);
          }
        events.advance(second(now));
        lengths.set(name, (await events.snapshot(KEY)).length);
      }
      expect({ now, lengths: [...new Set(lengths.values())] }).toEqual({
        now,
        lengths: [lengths.get("nobody")],
      });
    }
  });

  test("the open ticks after what is published are as long whatever happens in them", async () => {
    const lengths = new Set<number>();
    for (const crowd of Object.values(crowds)) {
      const { clock, set } = clocked();
      const counter = privateCounter({ ...ticks, ...person, clock });
      set(30);
      counter.advance();
      for (let tick = 11; tick <= 90; tick++)
        for (const [, id] of crowd(tick)) counter.add({ at: second(tick), person: id });
      lengths.add((await counter.snapshot(KEY)).length);
    }
    expect(lengths.size).toBe(1);
  });

  test("the same check sees a snapshot that holds more people than it was told of", async () => {
    const length = async (people: number) => {
      const counter = privateCounter({ ...ticks, ...person, clock: () => TEN });
      for (let i = 0; i < people; i++) counter.add({ at: TEN, person: `person ${i}` });
      return (await counter.snapshot(KEY)).length;
    };
    expect(await length(64)).toBe(await length(0));
    expect(await length(65)).toBeGreaterThan(await length(64));
  });
});

/**
 * The attacker's code runs inside a call: as a smoother, as a getter of a batch, as a method of a subclassed array. It
 * calls the same stream while a block is half finished. If that worked, one noise would cover two sums, and the
 * difference of the two numbers would be a true value.
 * What must be impossible: to reach a stream in the middle of a call, or to change a batch after it was read.
 */
import { describe, expect, test } from "vitest";
import {
  type PrivateStream,
  privateStream,
  publishAll,
  restore,
  type StreamOptions,
} from "../../src/index.js";
import { longTailedStream } from "../support/streams.js";

const key = new Uint8Array(32).fill(9);
const options: StreamOptions = {
  ...{ epsilon: 1, max: 100, maxRange: 64, holdout: 16, unsafeSeed: "re-entry" },
  tuning: { fanout: 4, skipLevels: 1 },
};
const values = longTailedStream(200, 120, "re-entry");
const message = /^stream: expected no call while another call on it runs/;
type Stream = PrivateStream;

const attacks: Record<string, (stream: Stream) => unknown> = {
  push: (stream) => stream.push(100),
  pushMany: (stream) => stream.pushMany([100, 100, 100, 100, 100]),
  "an empty pushMany": (stream) => stream.pushMany([]),
  range: (stream) => stream.range(Math.max(0, stream.length - 9), stream.length),
  published: (stream) => stream.published(Math.max(0, stream.length - 9), stream.length),
};

describe("a smoother that calls its own stream", () => {
  const byValue = (stream: Stream): number[] => [...values].flatMap((value) => stream.push(value) ?? []);
  const byBatch = (stream: Stream): number[] => [...stream.pushMany(values)];

  test.each(Object.keys(attacks))("%s is refused, and nothing changes", (name) => {
    const honest = privateStream({ ...options, smoother: (means) => means.at(-1)! });
    const expected = honest.pushMany(values);
    for (const run of [byValue, byBatch]) {
      const errors: unknown[] = [];
      const stream: Stream = privateStream({
        ...options,
        smoother(means) {
          try {
            attacks[name]!(stream);
          } catch (error) {
            errors.push(error);
          }
          return means.at(-1)!;
        },
      });
      expect(run(stream)).toEqual([...expected]);
      expect(errors).toHaveLength(46); // once for each of the 184 / 4 blocks
      for (const error of errors) expect((error as Error).message).toMatch(message);
      expect(stream.range(120, 180)).toEqual(honest.range(120, 180));
    }
  });

  test("what it is not allowed to do, and does not catch, counts as its failure", () => {
    const stream: Stream = privateStream({ ...options, smoother: () => stream.push(1)! });
    const plain = privateStream({ ...options, smoother: "recent" });
    expect(stream.pushMany(values)).toEqual(plain.pushMany(values));
    expect(stream.statement().smoother).toBe("own function, which failed on 46 blocks");
  });

  test("a snapshot from inside is refused: it would go back behind numbers that were shown", async () => {
    const snapshots: Promise<Uint8Array>[] = [];
    const stream: Stream = privateStream({
      ...options,
      smoother(means) {
        const snapshot = stream.snapshot(key);
        snapshot.catch(() => undefined);
        snapshots.push(snapshot);
        return means.at(-1)!;
      },
    });
    stream.pushMany(values);
    expect(snapshots).toHaveLength(46);
    for (const snapshot of snapshots) await expect(snapshot).rejects.toThrow(message);
    expect(stream.sequence).toBe(0);
    expect((await restore(await stream.snapshot(key), key, { ...options, smoother: () => 1 })).received).toBe(
      200,
    );
  });

  test("what it may ask is already true: the block it is shown is finished", () => {
    const seen: number[] = [];
    const stream: Stream = privateStream({
      ...options,
      smoother(means) {
        seen.push(stream.length, stream.received, stream.statement().published);
        return means.at(-1)!;
      },
    });
    for (const value of values.subarray(0, 24)) stream.push(value);
    expect(seen).toEqual([4, 20, 4, 8, 24, 8]);
  });

  test("it runs while the hold-out ends in the same batch: the hold-out takes nothing more", () => {
    const stream: Stream = privateStream({
      ...options,
      smoother(means) {
        expect(() => stream.push(1)).toThrow(message);
        expect(() => stream.range(0, 0)).toThrow(message);
        return means.at(-1)!;
      },
    });
    expect(stream.pushMany(values)).toHaveLength(184);
    expect(stream.statement().smoother).toBe("own function");
  });

  test("what it gives back is a number at once: an object that computes it later is asked once, inside", () => {
    let asked = 0;
    const stream: Stream = privateStream({
      ...options,
      smoother: () =>
        ({
          valueOf() {
            asked++;
            expect(() => stream.push(1)).toThrow(message);
            return 3;
          },
        }) as unknown as number,
    });
    stream.pushMany(values);
    expect(asked).toBe(46);
  });
});

describe("a batch that runs code while it is read", () => {
  const expected = privateStream(options).pushMany(values);
  const inside = (act: () => unknown): number[] =>
    new Proxy([...values], {
      get(target, name) {
        if (name === "17") act();
        return Reflect.get(target, name) as unknown;
      },
    });

  test.each([0, 3, 15, 16, 40])(
    "after %d values: its calls are refused, and it is taken whole or not at all",
    (before) => {
      const stream = privateStream(options);
      const numbers = [...stream.pushMany(values.subarray(0, before))];
      for (const attack of Object.values(attacks))
        expect(() => stream.pushMany(inside(() => attack(stream)))).toThrow(message);
      expect(stream.received).toBe(before);
      expect([...numbers, ...stream.pushMany(values.subarray(before))]).toEqual([...expected]);
    },
  );

  test("a getter that says one thing to the check and another to the sum is asked once", () => {
    const reads = new Map<string, number>();
    const sly = new Proxy([...values], {
      get(target, name) {
        const count = (reads.get(String(name)) ?? 0) + 1;
        reads.set(String(name), count);
        return count > 1 && name !== "length" ? NaN : (Reflect.get(target, name) as unknown);
      },
    });
    expect(privateStream(options).pushMany(sly)).toEqual(expected);
    expect(reads.get("5")).toBe(1);
  });

  test.each([-1, 0.5, NaN, 2 ** 53, "7", Symbol("x")])("a Proxy that says it has %s values", (length) => {
    const stream = privateStream(options);
    const lying = new Proxy([1, 2], {
      get: (target, name) => (name === "length" ? length : (Reflect.get(target, name) as unknown)),
    });
    expect(() => stream.pushMany(lying)).toThrow(/^values.length: expected a whole number/);
    expect(stream.received).toBe(0);
  });

  test("objects with valueOf are no numbers", () => {
    const stream = privateStream(options);
    const sly = { valueOf: () => stream.push(100) };
    expect(() => stream.push(sly as unknown as number)).toThrow("value: expected a finite number");
    expect(() => stream.pushMany([1, sly as unknown as number])).toThrow(
      /^values\[1\]: expected a finite number/,
    );
    expect(stream.received).toBe(0);
  });

  test("methods of a subclassed or dressed-up Float64Array are never called", () => {
    let calls = 0;
    class Sly extends Float64Array {
      override get length(): number {
        return ++calls;
      }
      override subarray(): never {
        throw new Error(`called ${++calls}`);
      }
      static get [Symbol.species](): never {
        throw new Error(`asked ${++calls}`);
      }
      override [Symbol.iterator](): never {
        throw new Error(`iterated ${++calls}`);
      }
    }
    const many = longTailedStream(3000, 120, "sly"); // enough for the kernels to work in chunks
    const honest = privateStream({ ...options, history: Infinity }).pushMany(many);
    const dressed = Float64Array.from(many);
    for (const name of ["length", "subarray", "buffer", "byteOffset", "slice", "constructor"])
      Object.defineProperty(dressed, name, { get: () => ++calls });
    for (const batch of [new Sly(many), dressed])
      for (const core of ["wasm", "js"] as const) {
        const whole = privateStream({ ...options, history: Infinity, core });
        expect(whole.pushMany(batch)).toEqual(honest);
        const split = privateStream({ ...options, history: Infinity, core, holdout: 0, threshold: 50 });
        expect(split.pushMany(batch)).toHaveLength(3000);
      }
    expect(calls).toBe(0);
  });

  test("memory that another thread shares: what was checked is what is used", () => {
    const shared = new Float64Array(new SharedArrayBuffer(8 * values.length));
    shared.set(values);
    expect(privateStream(options).pushMany(shared)).toEqual(expected);
  });

  test("an array whose memory was given away is empty", () => {
    const given = Float64Array.from(values);
    structuredClone(given.buffer, { transfer: [given.buffer] });
    const stream = privateStream(options);
    stream.pushMany(values);
    expect(stream.pushMany(given)).toHaveLength(0);
  });
});

test("a source of an adapter that calls the stream between two chunks: both are taken, in order", async () => {
  const stream = privateStream(options);
  const direct: number[] = [];
  async function* source(): AsyncGenerator<Float64Array> {
    yield values.subarray(0, 50);
    await Promise.resolve();
    direct.push(...stream.pushMany(values.subarray(50, 60)));
    yield values.subarray(60);
  }
  const published: number[] = [];
  for await (const chunk of publishAll(stream, source())) published.push(...(chunk as Float64Array));
  const expected = privateStream(options).pushMany(values);
  expect([...published.slice(0, 34), ...direct, ...published.slice(34)]).toEqual([...expected]);
});

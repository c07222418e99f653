import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { PrivateStream } from "../../src/stream/system.js";
import { restore, privateStream, type StreamOptions } from "../../src/index.js";
import { ANSWER_KINDS } from "../../src/stream/answer/answer.js";
import { longTailedStream } from "../support/streams.js";

const key = Uint8Array.from({ length: 32 }, (_, i) => 7 * i);
const small: StreamOptions = {
  ...{
    epsilon: 1,
    max: 100,
    maxRange: 64,
    tuning: { fanout: 4 },
    holdout: 64,
    name: "visits",
    unsafeSeed: "snapshot",
  },
};

/** Takes a snapshot of a stream and restores it. */
async function put(stream: PrivateStream, options: StreamOptions): Promise<PrivateStream> {
  return restore(await stream.snapshot(key), key, options);
}

function expectSame(one: PrivateStream, other: PrivateStream): void {
  expect(other.statement()).toEqual(one.statement());
  expect([other.received, other.length]).toEqual([one.received, one.length]);
  const oldest = Math.max(0, one.length - 60); // the forest before the running one is always kept
  for (const [from, to] of [
    [oldest, one.length],
    [oldest + 5, one.length - 3],
  ] as const) {
    if (to <= from) continue;
    for (const answer of ANSWER_KINDS) {
      const [a, b] = [one.range(from, to, { answer }), other.range(from, to, { answer })];
      expect(b).toEqual(a);
    }
  }
  expect(other.published(oldest, one.length)).toEqual(one.published(oldest, one.length));
}

describe("a restored stream resumes bit for bit", () => {
  const middle = (means: readonly number[]) => means.reduce((a, b) => a + b, 0) / means.length + 1 / 3;
  const options: Record<string, StreamOptions> = {
    defaults: small,
    "no skipped levels": { ...small, tuning: { skipLevels: 0 } },
    shrunk: { ...small, tuning: { skipLevels: 1 }, smoother: "shrunk" },
    "shrunk, with a period": { ...small, tuning: { skipLevels: 1 }, smoother: { period: 30 } },
    mean: { ...small, tuning: { skipLevels: 1 }, smoother: "mean" },
    median: { ...small, tuning: { skipLevels: 1 }, smoother: "median" },
    moving: { ...small, tuning: { skipLevels: 0 }, smoother: { moving: 5 } },
    exponential: { ...small, tuning: { skipLevels: 1 }, smoother: { exponential: 0.3 } },
    "own smoother": { ...small, tuning: { skipLevels: 0 }, smoother: middle },
    "fixed threshold": { ...small, threshold: 30, holdout: 0 },
    "fixed threshold, warm start": { ...small, threshold: 30 },
    "fixed threshold, idle hold-out": { ...small, threshold: 30, tuning: { warmStart: false } },
    "no warm start": { ...small, tuning: { warmStart: false } },
    // Trees of 64 values in forests of 256.
    "second choice of θ": { ...small, maxRange: 256, epsilon: 8, tuning: { fanout: 4, refine: true } },
    paper: { ...small, variant: "paper" },
    "long history, grid of tenths": { ...small, history: Infinity, tuning: { resolution: 0.1 } },
    "many candidates": { ...small, variant: "paper", max: 2 ** 18, tuning: { thresholdStep: 1 } },
  };

  test.each(Object.keys(options))("taken at any moments: %s", async (name) => {
    const option = options[name]!;
    const values = longTailedStream(600, 150, "snapshot");
    const whole = privateStream(option);
    const expected = whole.pushMany(values);
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 0, max: 600 }), { maxLength: 5 }),
        fc.constantFrom("wasm", "js"),
        async (cuts, core) => {
          let stream = privateStream({ ...option, core });
          const parts: number[] = [];
          for (const cut of [...cuts.sort((a, b) => a - b), 600]) {
            for (const value of values.subarray(stream.received, cut)) {
              const out = stream.push(value);
              if (out !== undefined) parts.push(out);
            }
            const restored = await put(stream, { ...option, core });
            expectSame(stream, restored);
            stream = restored;
          }
          expect(Float64Array.from(parts)).toEqual(expected);
          expect(stream.sequence).toBe(cuts.length + 1);
        },
      ),
      { numRuns: 12, seed: 5 },
    );
  });

  test("the snapshot is of the moment of the call, not of when it was written", async () => {
    const stream = privateStream(small);
    stream.pushMany(longTailedStream(100, 150, "moment"));
    const pending = stream.snapshot(key);
    const next = stream.push(50);
    expect((await restore(await pending, key, small)).push(50)).toBe(next);
  });

  test("with a CryptoKey, and across both kinds of key", async () => {
    const secret = await crypto.subtle.importKey("raw", key, "HKDF", false, ["deriveBits"]);
    const stream = privateStream(small);
    stream.pushMany(longTailedStream(100, 150, "key"));
    expect((await restore(await stream.snapshot(secret), key, small)).push(1)).toBe(stream.push(1));
    expect((await restore(await stream.snapshot(key), secret, small)).push(1)).toBe(stream.push(1));
  });

  test("what was published can be read again, across blocks and forests", () => {
    for (const option of Object.values(options)) {
      const stream = privateStream({ ...option, history: Infinity });
      const published = stream.pushMany(longTailedStream(500, 150, "again"));
      expect(stream.published(0, stream.length)).toEqual(published);
    }
  });
});

describe("at the defaults a snapshot is at most 64 KB", () => {
  test("when the hold-out is nearly full of spread-out values", async () => {
    for (const max of [65536, 1e9]) {
      const stream = privateStream({ epsilon: 1, max });
      stream.pushMany(Float64Array.from({ length: 57343 }, (_, i) => ((i * 7919) % 57343) * (max / 57343)));
      const size = (await stream.snapshot(key)).length;
      expect(size).toBeGreaterThan(6 * 8 * 4 * 16); // six counters for every quarter of a power of two up to max
      expect(size).toBeLessThanOrEqual(65536);
    }
  });

  test.each([0.1, 1, 4])("when both forests of the history are full, ε = %d", async (epsilon) => {
    for (const max of [1, 1e6]) {
      const stream = privateStream({ epsilon, max, holdout: 16, unsafeSeed: "size" });
      const batch = longTailedStream(2 ** 18, 2 * max, "size");
      for (let i = 0; i < 8; i++) stream.pushMany(batch);
      expect(stream.length).toBe(2 ** 21 - 16);
      expect((await stream.snapshot(key)).length).toBeLessThanOrEqual(65536);
    }
  });
});

describe("refused, each with its reason", () => {
  const taken = async (option: StreamOptions = small, values = 100) => {
    const stream = privateStream(option);
    stream.pushMany(longTailedStream(values, 150, "refused"));
    return stream.snapshot(key);
  };

  test("cut short, at every length", async () => {
    const bytes = await taken();
    for (let length = 0; length < bytes.length; length++)
      await expect(restore(bytes.subarray(0, length), key, small)).rejects.toThrow(/truncated|corrupt/);
  });

  test("any bit changed, or anything added", async () => {
    const bytes = await taken();
    for (let bit = 0; bit < 8 * bytes.length; bit += bit < 400 ? 1 : 5) {
      const other = bytes.slice();
      other[bit >> 3]! ^= 1 << (bit & 7);
      await expect(restore(other, key, small)).rejects.toThrow(/^snapshot: /);
    }
    await expect(restore(Uint8Array.of(...bytes, 0), key, small)).rejects.toThrow(/corrupt/);
  });

  test("another key", async () => {
    await expect(restore(await taken(), new Uint8Array(32), small)).rejects.toThrow(/cannot decrypt/);
  });

  test("another version", async () => {
    const bytes = await taken();
    bytes[5] = 1; // an earlier one
    await expect(restore(bytes, key, small)).rejects.toThrow(/expected format version 2, got 1/);
  });

  test("another stream", async () => {
    await expect(restore(await taken(), key, { ...small, name: "sales" })).rejects.toThrow(
      'snapshot: expected one of the stream "sales", got one of "visits"',
    );
  });

  const others: Record<string, StreamOptions> = {
    epsilon: { ...small, epsilon: 1.5 },
    max: { ...small, max: 101 },
    maxRange: { ...small, maxRange: 65 },
    fanout: { ...small, tuning: { fanout: 5 } },
    choosing: { ...small, holdout: 65 },
    warmStart: { ...small, tuning: { ...small.tuning, warmStart: false } },
    resolution: { ...small, tuning: { ...small.tuning, resolution: 0.5 } },
    skipped: { ...small, tuning: { skipLevels: 0 } },
    smoother: { ...small, smoother: { moving: 3 } },
    threshold: { ...small, threshold: 30 },
    variant: { ...small, variant: "paper", tuning: { warmStart: true } },
    history: { ...small, history: Infinity },
    unsafeSeed: { ...small, unsafeSeed: "another" },
  };
  test.each(Object.keys(others))("other parameters: %s", async (name) => {
    await expect(restore(await taken(), key, others[name]!)).rejects.toThrow(
      /^snapshot: expected one made with \w+ = /,
    );
  });

  test("a smoother with another parameter", async () => {
    const bytes = await taken({ ...small, smoother: { moving: 4 } });
    await expect(restore(bytes, key, { ...small, smoother: { moving: 5 } })).rejects.toThrow(
      'smoother = "moving (5)", got "moving (4)"',
    );
  });

  test("keys of the wrong kind or size, and bytes of the wrong kind", async () => {
    await expect(privateStream(small).snapshot(new Uint8Array(16))).rejects.toThrow(
      "key: expected 32 bytes, got 16",
    );
    await expect(privateStream(small).snapshot("secret" as unknown as Uint8Array)).rejects.toThrow(
      /key: expected 32 bytes/,
    );
    await expect(restore("text" as unknown as Uint8Array, key, small)).rejects.toThrow(/Uint8Array/);
    await expect(restore(new Uint8Array(100), key, small)).rejects.toThrow(/made by snapshot/);
  });
});

test("two snapshots of one state share nothing that can be seen", async () => {
  const stream = privateStream(small);
  const [one, two] = [await stream.snapshot(key), await stream.snapshot(key)];
  const equal = one.slice(30).filter((byte, i) => byte === two[30 + i]).length; // after the salt, which they share
  // Each byte agrees with chance 1/256; more than 40 of some 600 happens with a chance below 1e-30.
  expect(equal).toBeLessThan(40);
  expect(Buffer.from(one).includes("visits")).toBe(false);
});

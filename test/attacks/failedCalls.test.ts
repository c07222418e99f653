/**
 * The attacker makes calls fail: memory runs out, a kernel traps, a smoother throws. If a refused value stays behind in
 * any sum, or a retried block gets the same noise with other values, two outputs differ by a true value.
 * Nothing that a stream says later may show that a call has failed.
 */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { resolveSettings, type StreamOptions } from "../../src/stream/options.js";
import { HoldoutStream } from "../../src/stream/holdoutStream.js";
import {
  type Countdown,
  everyFault,
  failingAllocations,
  failingCore,
  failingFunction,
  Fault,
} from "../support/faults.js";
import { longTailedStream } from "../support/streams.js";

const values = longTailedStream(330, 120, "faults");
const refused = longTailedStream(330, 120, "other values"); // what the failed call was made with
const snapshotKey = new Uint8Array(32).fill(5);

const base = { epsilon: 1, max: 100, maxRange: 32, holdout: 40, unsafeSeed: "faults" } as const;
const kinds: Record<string, StreamOptions> = {
  defaults: { ...base, tuning: { fanout: 4 } },
  "every value a block": { ...base, tuning: { fanout: 4, skipLevels: 0 } },
  shrunk: { ...base, smoother: "shrunk", tuning: { fanout: 4, skipLevels: 1 } },
  mean: { ...base, smoother: "mean", tuning: { fanout: 4, skipLevels: 1 } },
  median: { ...base, smoother: "median", tuning: { fanout: 4, skipLevels: 1 } },
  moving: { ...base, smoother: { moving: 3 }, tuning: { fanout: 4, skipLevels: 1 }, history: 96 },
  "own smoother": { ...base, smoother: (means) => means.at(-1)! / 2, tuning: { fanout: 4, skipLevels: 1 } },
  "fixed threshold": { ...base, threshold: 30, tuning: { fanout: 4 } },
  paper: { ...base, variant: "paper", tuning: { fanout: 4 } },
  // Trees of 16 values, which are enough at this ε to count those above θ.
  following: { ...base, epsilon: 40, tuning: { fanout: 4, skipLevels: 1, follow: true } },
  // Trees of 32 values: θ is chosen once more after 72 values.
  refining: {
    ...base,
    epsilon: 40,
    maxRange: 64,
    tuning: { fanout: 2, skipLevels: 2, follow: true, refine: true },
  },
};

/** How far the stream is when the call fails, and the call. */
const calls: Record<string, { received: number; count: number }> = {
  "in the hold-out": { received: 10, count: 5 },
  "θ is chosen": { received: 30, count: 7 },
  "the hold-out ends": { received: 38, count: 2 },
  "a batch with the whole hold-out and blocks behind it": { received: 0, count: 90 },
  "inside a block": { received: 41, count: 1 },
  "a block ends": { received: 50, count: 30 },
  "a forest starts": { received: 70, count: 4 },
  "the last value of a forest": { received: 71, count: 1 },
  "many forests": { received: 70, count: 240 },
};

const make = (options: StreamOptions, core = chooseCore()): HoldoutStream =>
  new HoldoutStream(resolveSettings(options), core, unsafeKey("faults"));

/** Everything a stream can still say, of now and of what comes. */
function future(stream: HoldoutStream): string {
  const now = [stream.received, stream.length, stream.sequence, stream.statement()];
  const rest = stream.pushMany(values.subarray(stream.received));
  const [from, to] = [stream.length - 32, stream.length];
  const answers = [stream.range(from, to), stream.range(from + 3, to - 5, { answer: "published" })];
  return JSON.stringify([now, [...rest], answers, [...stream.published(from, to)], stream.statement()]);
}

/** The state after `received` values, by whatever core. */
function prepared(
  options: StreamOptions,
  received: number,
  core?: ReturnType<typeof chooseCore>,
): HoldoutStream {
  const stream = make(options, core);
  stream.pushMany(values.subarray(0, received));
  return stream;
}

/** A core that works until it is told to count. */
function lateCore(fault: () => Countdown | undefined, when: "before" | "after") {
  const core = chooseCore();
  return new Proxy(core, {
    get(target, name) {
      const now = fault();
      return Reflect.get(now === undefined ? target : failingCore(target, now, when), name) as unknown;
    },
  });
}

function pushed(stream: HoldoutStream, batch: Float64Array): void {
  if (batch.length === 1) stream.push(batch[0]!);
  else stream.pushMany(batch);
}

describe.each(Object.keys(kinds))("%s", (kind) => {
  const options = kinds[kind]!;

  test.each(Object.keys(calls))("%s, each allocation failing in turn", async (name) => {
    const { received, count } = calls[name]!;
    const expected = future(prepared(options, received));
    const afterwards = future(prepared(options, received + count));
    const failures = await everyFault((fault) => {
      const stream = prepared(options, received);
      let failed = false;
      try {
        failingAllocations(fault, () => pushed(stream, refused.subarray(received, received + count)));
      } catch (error) {
        expect(error).toBeInstanceOf(Fault);
        failed = true;
      }
      if (!fault.over) return;
      if (failed) expect(future(stream)).toBe(expected);
      else {
        // The call went through without the memory: then it has happened in full.
        const again = prepared(options, received);
        failingAllocations(fault, () => pushed(again, values.subarray(received, received + count)));
        expect(future(again)).toBe(afterwards);
      }
    });
    expect(failures).toBeGreaterThanOrEqual(count > 1 ? 1 : 0);
  });

  test.each(Object.keys(calls))("%s, each kernel call failing in turn", async (name) => {
    const { received, count } = calls[name]!;
    const expected = future(prepared(options, received));
    for (const when of ["before", "after"] as const)
      await everyFault((fault) => {
        let counting = false;
        const stream = prepared(
          options,
          received,
          lateCore(() => (counting ? fault : undefined), when),
        );
        counting = true;
        let failed = false;
        try {
          pushed(stream, refused.subarray(received, received + count));
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          failed = true;
        }
        counting = false;
        if (failed) expect(future(stream)).toBe(expected);
        else expect(stream.received).toBe(received + count);
      });
  });
});

test("each call of a smoother failing in turn: the last block stands in, and nothing else changes", async () => {
  const options = (fault: Countdown): StreamOptions => ({
    ...kinds["own smoother"]!,
    smoother: failingFunction((means: readonly number[]) => means.at(-1)! / 2, fault),
  });
  const whole = make(kinds["own smoother"]!);
  whole.pushMany(values);
  const from = whole.length - 32;
  await everyFault((fault) => {
    const stream = make(options(fault));
    stream.pushMany(values);
    expect(stream.range(from, from + 24, { answer: "blocks" }).sum).toBe(
      whole.range(from, from + 24, { answer: "blocks" }).sum,
    );
    expect(stream.statement().smoother).toBe(
      fault.over ? "own function, which failed on 1 blocks" : "own function",
    );
  });
});

describe("snapshots and ranges", () => {
  const options = kinds["defaults"]!;

  test.each([20, 38, 300])(
    "a snapshot that fails after %d values leaves no gap in the sequence",
    async (received) => {
      const expected = future(prepared(options, received));
      const failures = await everyFault(async (fault) => {
        const stream = prepared(options, received);
        try {
          await failingAllocations(fault, () => stream.snapshot(snapshotKey));
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
          expect(future(stream)).toBe(expected);
        }
      });
      expect(failures).toBeGreaterThan(1);
    },
  );

  test("a cipher that fails leaves no gap either", () => {
    const stream = prepared(options, 100);
    const broken = {
      salt: new Uint8Array(16),
      encrypt() {
        throw new Fault("injected");
      },
    };
    expect(() => stream.encrypt(broken as never)).toThrow(Fault);
    expect(stream.sequence).toBe(0);
  });

  test("a range that fails changes no later answer", async () => {
    for (const answer of ["best", "blocks", "published"] as const) {
      const expected = future(prepared(options, 300));
      await everyFault((fault) => {
        const stream = prepared(options, 300);
        try {
          failingAllocations(fault, () => stream.range(230, 255, { answer }));
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
        expect(future(stream)).toBe(expected);
      });
    }
  });
});

/** Calls `act` where `spare` more frames fit on the stack, about. */
function nearTheEnd(spare: number, act: () => void): void {
  const deepest = (depth: number): number => {
    try {
      return deepest(depth + 1);
    } catch {
      return depth;
    }
  };
  const dive = (left: number): void => (left > 0 ? dive(left - 1) : act());
  dive(deepest(0) - spare);
}

test("the stack runs out anywhere in a call: it has not happened, it has happened, or nothing more is published", () => {
  const options = kinds["median"]!;
  const outcomes = { unchanged: 0, done: 0, refused: 0 };
  const numbers = make(options).pushMany(values);
  for (let spare = 1; spare < 160; spare++) {
    const stream = prepared(options, 51);
    let out: Float64Array | undefined;
    try {
      nearTheEnd(spare, () => (out = stream.pushMany(values.subarray(51, 131))));
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError);
    }
    if (out !== undefined) {
      expect(out).toEqual(numbers.slice(11, 91));
      outcomes.done++;
    } else if (refuses(stream)) outcomes.refused++;
    else {
      expect(stream.received).toBe(51);
      expect(stream.pushMany(values.subarray(51))).toEqual(numbers.slice(11));
      outcomes.unchanged++;
    }
  }
  expect(outcomes.unchanged).toBeGreaterThan(0);
  expect(outcomes.done).toBeGreaterThan(0);
});

function refuses(stream: HoldoutStream): boolean {
  try {
    stream.range(0, 0);
    stream.pushMany([]);
    return false;
  } catch {
    return true;
  }
}

/**
 * The attacker calls where the stack is nearly full, so that a call fails anywhere in the middle, and calls again. If the
 * value of the failed call was counted, it counts twice, and noise covers it once.
 */
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../src/core/choose.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import type { EventMetric } from "../../src/events/eventMetric.js";
import { beginEvents } from "../../src/events/kinds.js";
import type { AnyEventOptions } from "../../src/events/options.js";
import { Encoder } from "../../src/snapshot/codec.js";
import type { StreamCipher } from "../../src/snapshot/streamCipher.js";
import { resolveSettings, type StreamOptions } from "../../src/stream/options.js";
import { HoldoutStream } from "../../src/stream/holdoutStream.js";

/** Functions whose frames differ by a few bytes each: between them, calls fail at almost every depth. */
const FRAMES = Array.from({ length: 40 }, (_, k) => {
  const names = Array.from({ length: k }, (_, i) => `v${i}`);
  const variables = names.map((name, i) => `let ${name} = seed + ${i};`).join("");
  const text = `${variables} act(); return ${["seed", ...names].join("+")};`;
  // eslint-disable-next-line @typescript-eslint/no-implied-eval
  return new Function("seed", "act", text) as (seed: number, act: () => void) => number;
});
const MOST_TRIES = 3000;

/** Makes a call at the end of the stack, and higher and higher up until it succeeds. Returns how often it failed before. */
function atFullStack(frame: (typeof FRAMES)[number], call: () => void): { failures: number; done: boolean } {
  let [failures, done] = [0, false];
  const act = (): void => {
    call();
    done = true;
  };
  const descend = (): void => {
    try {
      descend();
    } catch {
      // the end of the stack
    }
    if (done || failures > MOST_TRIES) return;
    try {
      frame(0, act);
    } catch {
      failures++;
    }
  };
  descend();
  return { failures, done };
}

/** A subject of the attack: what a call adds once, and all that is remembered. */
interface Subject {
  call(): void;
  state(): string;
}

/** Compares states after a call that failed some times with the state after one call; a subject may refuse for ever, too. */
function differences(make: () => Subject): { failures: number; done: number; differ: number } {
  const once = make();
  once.call();
  const expected = once.state();
  const total = { failures: 0, done: 0, differ: 0 };
  for (const frame of FRAMES)
    for (let round = 0; round < 3; round++) {
      const subject = make();
      const { failures, done } = atFullStack(frame, () => subject.call());
      total.failures += failures;
      if (!done) continue;
      total.done++;
      if (subject.state() !== expected) total.differ++;
    }
  return total;
}

/** The bytes of a stream's state, as a cipher gets them. */
function plainState(stream: HoldoutStream): string {
  let text = "";
  const cipher = {
    salt: new Uint8Array(16),
    encrypt: (_: Uint8Array, plain: Uint8Array) => {
      text = Buffer.from(plain).toString("hex");
      return plain;
    },
  };
  void stream.encrypt(cipher as unknown as StreamCipher);
  expect(text.length).toBeGreaterThan(100);
  return text;
}

const value = (i: number): number => (i * 7919) % 13;
const base = { epsilon: 40, max: 100, maxRange: 32, holdout: 40, unsafeSeed: "stack" } as const;
const valueKinds: Record<string, readonly [StreamOptions, received: number]> = {
  "a held-out value": [base, 10],
  "a held-out value of the paper's": [{ ...base, variant: "paper" }, 10],
  "a value inside a block": [{ ...base, tuning: { fanout: 4, skipLevels: 2 } }, 41],
  "a value above the limit": [{ ...base, tuning: { fanout: 4, skipLevels: 1, follow: true } }, 41],
  "a value that chooses θ again": [
    { ...base, maxRange: 64, tuning: { fanout: 2, skipLevels: 2, follow: true, refine: true } },
    41,
  ],
  "the end of a block": [{ ...base, tuning: { fanout: 4, skipLevels: 1, follow: true } }, 43],
};

const BATCH = Float64Array.from({ length: 20 }, (_, i) => (i % 5 === 0 ? 90 : value(i)));

describe.each(Object.entries(valueKinds))("%s", (_, [options, received]) => {
  const attack = (call: (stream: HoldoutStream) => void) =>
    differences(() => {
      const stream = new HoldoutStream(resolveSettings(options), chooseCore(), unsafeKey("stack"));
      for (let i = 0; i < received; i++) stream.push(value(i));
      return { call: () => call(stream), state: () => plainState(stream) };
    });

  test.each<[string, (stream: HoldoutStream) => unknown]>([
    ["alone", (stream) => stream.push(90)],
    ["in a batch", (stream) => stream.pushMany(BATCH)],
  ])("counts once, %s", (_, call) => {
    const found = attack(call);
    expect(found.failures).toBeGreaterThan(0);
    expect(found.differ).toBe(0);
  });
});

const START = Date.UTC(2026, 2, 2);
const events = { epsilon: 1, every: "1h", unsafeSeed: "stack", clock: () => START } as const;
const edges = Array.from({ length: 64 }, (_, i) => i);
const eventKinds: Record<string, AnyEventOptions> = {
  count: { ...events, of: "count" },
  "count, limited": { ...events, of: "count", perPerson: { events: 2 } },
  "count, limited by the hour": { ...events, of: "count", perPerson: { events: 3, perHour: 1 } },
  sum: { ...events, of: "sum", max: 100, threshold: 50 },
  "sum of a person": { ...events, of: "sum", max: 100, perPerson: { sum: 50 } },
  "sum, held out": { ...events, of: "sum", max: 100 },
  mean: { ...events, of: "mean", max: 100, threshold: 50 },
  histogram: { ...events, edges },
};

test.each(Object.entries(eventKinds))("an event of a %s counts once", (_, options) => {
  const isLimited = "perPerson" in options;
  const found = differences(() => {
    const { metric } = beginEvents(options) as unknown as { readonly metric: EventMetric };
    const isCount = "of" in options && options.of === "count";
    const add = (person: string) => metric.add("", isCount ? undefined : 90, isLimited ? { person } : {});
    add("a");
    return {
      call: () => add("b"),
      state: () => {
        const writer = new Encoder();
        metric.save(writer);
        return Buffer.from(writer.bytes).toString("hex");
      },
    };
  });
  expect(found.failures).toBeGreaterThan(0);
  expect(found.differ).toBe(0);
});

test("a call that counts before it may fail is noticed", () => {
  const found = differences(() => {
    let [counted, sum] = [0, 0];
    return {
      call: () => {
        counted++;
        sum += deep(4);
      },
      state: () => `${counted} ${sum}`,
    };
  });
  expect(found.differ).toBeGreaterThan(0);
});

/** Takes some frames. */
const deep = (depth: number): number => (depth === 0 ? 1 : 1 + deep(depth - 1) - 1);

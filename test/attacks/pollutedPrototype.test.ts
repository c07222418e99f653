/**
 * The attacker can write to Object.prototype of the server: a merge of parsed JSON somewhere in the same process does
 * it. The attacker wants noise that anyone can repeat, a key that the attacker knows, or another mechanism.
 * What must be impossible: that any option which the caller did not give has any effect.
 */
import { afterEach, describe, expect, test } from "vitest";
import { audit } from "../../research/audit/audit.js";
import { prepare } from "../../research/evaluate.js";
import { comparison, system } from "../../research/systems/index.js";
import {
  aggregator,
  openHub,
  openStream,
  plan,
  privateCounter,
  privateStream,
  reporter,
  restore,
} from "../../src/index.js";
import { memoryStore } from "../../src/durable/stores/memory.js";
import { STREAM_OPTIONS, TUNING } from "../../src/stream/options.js";
import { longTailedStream } from "../support/streams.js";

const small = { epsilon: 1, max: 100, maxRange: 64, holdout: 16, tuning: { fanout: 4 } } as const;
const seeded = { ...small, unsafeSeed: "own" };
const values = longTailedStream(300, 150, "polluted");
const key = new Uint8Array(32).fill(7);

const target = Object.prototype as Record<string, unknown>;
const planted: string[] = [];
function plant(properties: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(properties)) {
    planted.push(name);
    Object.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true });
  }
}
afterEach(() => {
  for (const name of planted.splice(0)) delete target[name];
});

describe("a planted seed", () => {
  test("does not make a stream repeatable, by any way to make one", async () => {
    plant({ unsafeSeed: "known to the attacker", seed: "known to the attacker" });
    const hub = openHub(small);
    const durable = await openStream({ ...small, name: "a", store: memoryStore(), key });
    const stream = privateStream(small);
    const outputs = [
      stream.pushMany(values),
      privateStream(small).pushMany(values),
      (await restore(await privateStream(small).snapshot(key), key, small)).pushMany(values),
      await hub.pushMany("b", values),
      await durable.pushMany(values),
      comparison({ method: "h2", epsilon: 1, max: 100, maxRange: 64 }).pushMany(values),
      system({ method: "tops", ...small }).pushMany(values),
    ];
    // 284 sums with noise of scale 100 or more: two outputs that agree once in ten thousand tries share their noise.
    expect(new Set(outputs.map((numbers) => numbers.join())).size).toBe(outputs.length);
    expect(stream.statement().private).toBe(true);
    expect((await hub.statement("b")).private && (await durable.statement()).private).toBe(true);
  });

  test("does not make a stream of events or a counter repeatable", () => {
    plant({ unsafeSeed: "known to the attacker" });
    const clock = () => Date.UTC(2026, 0, 1);
    const numbers = [0, 1].flatMap(() => {
      const counter = privateCounter({ epsilon: 1, every: "1h", clock });
      const sums = privateStream({ epsilon: 1, max: 100, every: "1h", threshold: 100, clock });
      expect(counter.statement().private && sums.statement().private).toBe(true);
      return [counter, sums].map((stream) =>
        stream
          .advance("2026-01-08T00:00:00Z")
          .map(({ value }) => value)
          .join(),
      );
    });
    expect(new Set(numbers).size).toBe(4); // a week of hours, each with noise of its own
  });

  test("does not make reports repeatable", () => {
    plant({ unsafeKey: new Uint32Array(8), unsafeSeed: "known" });
    const device = () => reporter({ variant: "paper", epsilon: 1, max: 100, phase: "learn" });
    expect(device().private).toBe(true);
    expect(device().reportMany(values)).not.toEqual(device().reportMany(values));
  });

  test("does not make an audit or an evaluation repeatable", () => {
    plant({ unsafeSeed: "known", seed: "known" });
    const bounds = [1, 2].map(() => audit({ mechanism: "laplace", epsilon: 1, samples: 100_000 }).lowerBound);
    expect(bounds[0]).not.toBe(bounds[1]); // counts of 50 000 fresh runs tie about once in a hundred pairs of counts
    const experiment = prepare({
      ...{ data: values, max: 100, epsilons: [1], methods: ["tops"], holdout: 16, maxRange: 64 },
    });
    expect(experiment.seed).toBeUndefined();
  });
});

describe("any other planted option", () => {
  const wrong: Record<string, unknown> = {
    epsilon: 50,
    max: 7,
    min: -50,
    holdout: 3,
    maxRange: 4096,
    resolution: 4,
    thresholdStep: 8,
    fanout: 2,
    skipLevels: 0,
    smoother: "mean",
    threshold: 5,
    warmStart: false,
    follow: false,
    refine: true,
    variant: "paper",
    history: Infinity,
    name: "another",
    core: "js",
  };

  test("the list has every option of a stream", () => {
    const apart = ["unsafeSeed", "tuning"];
    const names = [...STREAM_OPTIONS, ...TUNING].filter((name) => !apart.includes(name));
    expect(Object.keys(wrong).sort()).toEqual(names.sort());
  });

  test("changes no stream, plan, aggregator or comparison", () => {
    const outcomes = () => {
      const tops = privateStream({ epsilon: 1, max: 100, unsafeSeed: "own" });
      const seededStream = privateStream(seeded);
      const pak = {
        method: "pak",
        epsilon: 1,
        max: 100,
        maxRange: 64,
        holdout: 20,
        unsafeSeed: "own",
      } as const;
      return JSON.stringify([
        tops.statement(),
        [...seededStream.pushMany(values)],
        seededStream.range(200, 250),
        plan({ epsilon: 1, max: 100 }),
        aggregator({ epsilon: 1, max: 100 }).statement(),
        comparison(pak).statement(),
      ]);
    };
    const before = outcomes();
    plant({ ...wrong, answer: "published", confidence: 0.5, moving: 3, exponential: 0.1, tuning: wrong });
    plant({
      estimator: "ems",
      prune: true,
      objective: "paper",
      learnEpsilon: 9,
      percentile: 0.1,
      delta: 0.5,
    });
    expect(outcomes()).toBe(before);
  });

  test("a missing option stays missing", () => {
    plant({ epsilon: 50, max: 7 });
    const none = {} as typeof small;
    for (const make of [privateStream, plan, aggregator] as ((options: typeof small) => unknown)[])
      expect(() => make(none)).toThrow(/^epsilon: expected/);
  });

  test("turns no smoother into another", () => {
    const smoother = { exponential: 0.5 };
    const expected = privateStream({ ...seeded, smoother }).pushMany(values);
    plant({ moving: 1 });
    expect(privateStream({ ...seeded, smoother }).pushMany(values)).toEqual(expected);
  });
});

describe("snapshots", () => {
  test("a planted key or store takes none away", async () => {
    const taken: unknown[] = [];
    const put = (...args: unknown[]) => Promise.resolve(void taken.push(args));
    plant({ key, store: { durable: true, get: () => Promise.resolve(undefined), put }, live: 1 });
    const hub = openHub(small);
    await hub.pushMany("a", values);
    await hub.close();
    expect(taken).toEqual([]);
    plant({ name: "another" });
    await expect(openStream({ ...small, store: memoryStore(), key } as never)).rejects.toThrow(
      /^name: expected/,
    );
    await expect(openStream({ ...small, name: "a" } as never)).rejects.toThrow(/^(key|store): expected/);
  });

  test("a planted tag length does not shorten what proves them genuine", async () => {
    const stream = privateStream(seeded);
    const { length } = await stream.snapshot(key);
    plant({ tagLength: 32 });
    const short = await stream.snapshot(key);
    expect(short.length).toBe(length);
    expect((await restore(short, key, seeded)).received).toBe(0);
  });
});

test("an option is read once: a getter cannot pass the check with one value and be used with another", () => {
  let reads = 0;
  const sly = Object.defineProperty({ max: 100 }, "epsilon", {
    get: () => [1, 60][reads++],
    enumerable: true,
  });
  expect(privateStream(sly as typeof small).statement().epsilon).toBe(1);
  expect(reads).toBe(1);
});

test("a smoother's parameter is copied: changing the object later changes nothing", () => {
  const smoother = { moving: 3 };
  const stream = privateStream({ ...seeded, smoother });
  smoother.moving = 4;
  expect(stream.statement().smoother).toBe("moving (3)");
});

test("a planted time, person, key or value is not that of a hub's event", async () => {
  const origin = Date.UTC(2026, 2, 1, 10);
  const common = { epsilon: 64, every: "1s", levels: ["1s"], keys: ["a", "b"], unsafeSeed: "p" } as const;
  const hub = openHub({
    metrics: {
      orders: { ...common, of: "count", perPerson: 1 },
      spent: { ...common, max: 100, threshold: 100 },
    },
    clock: () => origin,
    commitEvery: 0,
  });
  await hub.stats();
  plant({ at: origin + 1000, person: "everyone", key: "b", value: 50 });
  const said = (call: Promise<void>) => call.then(String, (error: Error) => error.message);
  const errors = [
    await said(hub.add("orders", "a", 1, {})),
    await said(hub.addMany("spent", [{} as { key: string }])),
    await said(hub.addMany("spent", [{ key: "a" }])),
  ];
  await hub.add("spent", "a", 10, {});
  for (const name of planted.splice(0)) delete target[name];
  ["person", "key", "value"].forEach((name, i) =>
    expect(errors[i]).toMatch(new RegExp(`^${name}: expected`)),
  );
  await hub.advance(origin + 2000);
  const { value } = await hub.between("spent", "a", origin, origin + 1000);
  expect(Math.abs(value! - 10)).toBeLessThan(8); // in the period of the clock, not in the planted one
});

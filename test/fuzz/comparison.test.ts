import { afterEach, describe, expect, test, vi } from "vitest";
import { privateStream } from "../../src/index.js";
import { jsCore, jsData, jsNoise } from "../../src/core/js/index.js";
import type { Core } from "../../src/core/core.js";
import { outcome, same } from "../../scripts/fuzz/compare.js";
import { Dice } from "../../scripts/fuzz/dice.js";
import { EPISODE, runEpisodes } from "../../scripts/fuzz/episode.js";
import { driveEvents } from "../../scripts/fuzz/events.js";
import { Tally } from "../../scripts/fuzz/tally.js";

describe("the comparison sees", () => {
  test("one bit of a double, and the sign of a zero", () => {
    expect(same(1, 1 + Number.EPSILON)).toBe(false);
    expect(same(Float64Array.of(0), Float64Array.of(-0))).toBe(false);
    expect(same({ sum: 0 }, { sum: -0 })).toBe(false);
    expect(same({ sum: [1, 2] }, { sum: [1, 2] })).toBe(true);
    expect(same(new Float64Array(2), new Float64Array(3))).toBe(false);
  });

  test("another error, and another seed", () => {
    expect(outcome(() => privateStream({ epsilon: 0, max: 1 }))).not.toBe(
      outcome(() => privateStream({ epsilon: 1, max: 0 })),
    );
    const publish = (unsafeSeed: string) =>
      privateStream({ epsilon: 1, max: 10, threshold: 10, maxRange: 16, unsafeSeed }).pushMany([1, 2, 3]);
    expect(same(publish("a"), publish("a"))).toBe(true);
    expect(same(publish("a"), publish("b"))).toBe(false);
  });
});

describe("a core that is wrong by one bit, once in twenty calls, is caught", () => {
  afterEach(() => vi.restoreAllMocks());

  /** Flips the lowest bit of the last number that a call wrote or gave back. */
  const SPOILERS: {
    [Method in Exclude<keyof Core, "name">]: (
      args: Parameters<Core[Method]>,
      result: ReturnType<Core[Method]>,
    ) => unknown;
  } = {
    keystream: ([, out], result) => (spoil(out), result),
    fillDigit: ([, columns], result) => (spoil(columns), result),
    geometric: ([, , out], result) => (spoil(out), result),
    laplace: ([, , out], result) => (spoil(out), result),
    growTree: (_, tree) => (spoil(tree.noise), tree),
    growDay: (_, corrections) => spoil(corrections),
    blockSums: (_, running) => ({ ...running, sum: running.sum + 1 }),
    estimateLeaves: ([, , , , out], result) => (spoil(out), result),
    publishBlocks: ([, , , , out], result) => (spoil(out), result),
    emSteps: ([, , , , predicted], result) => (spoil(predicted), result),
    noisyMax: (_, best) => best + 1,
    countHeldOut: ([, , , , , , counters], result) => (spoil(counters), result),
    fillReports: ([, , , , out], result) => (spoil(out), result),
    scanLines: ([, out], result) => (spoil(out), result),
    scanCsv: ([, , out], result) => (spoil(out), result),
    scanJson: ([, , out], result) => (spoil(out), result),
  };

  type Spoiler = (args: unknown[], result: unknown) => unknown;

  /** Makes a method of the TypeScript core wrong once in so many calls. */
  function spoilMethod(
    method: keyof typeof SPOILERS,
    oneIn: number,
    spoiler = SPOILERS[method] as Spoiler,
  ): void {
    const honest: (...args: never[]) => unknown = jsCore[method].bind(jsCore);
    let calls = 0;
    const wrong = (...args: never[]) => {
      const result = honest(...args);
      return ++calls % oneIn === 0 ? spoiler(args, result) : result;
    };
    for (const core of [jsCore, jsNoise, jsData])
      if (method in core) vi.spyOn(core as typeof jsCore, method).mockImplementation(wrong as never);
  }

  test.each(Object.keys(SPOILERS) as (keyof typeof SPOILERS)[])("%s", async (method) => {
    spoilMethod(method, 20);
    const found = await runEpisodes(1, 0, 300).catch((reason: Error) => reason.message);
    expect(found).toMatch(
      new RegExp(`differ.*; again: npm run fuzz -- --seed 1 --episode \\d+ --operations ${EPISODE}$`, "s"),
    );
  });

  /** All that event streams call. */
  const EVENT_METHODS = ["keystream", "growDay", "geometric", "laplace"] as const;

  test.each(EVENT_METHODS)("%s, in streams of events", async (method) => {
    spoilMethod(method, method === "geometric" ? 1 : 5, COARSE[method]); // two calls choose θ, once per stream
    const drive = async () => {
      for (let episode = 0; episode < 60; episode++)
        await driveEvents(new Dice(1, episode), 320, new Tally());
    };
    await expect(drive()).rejects.toThrow(/differ/);
  });

  test("streams of events call no other method", async () => {
    const called = new Set<string>();
    for (const core of [jsCore, jsNoise, jsData])
      for (const method of Object.keys(core).filter((name) => name !== "name")) {
        const honest = Reflect.get(core, method) as (...args: never[]) => unknown;
        const counting = (...args: never[]) => (called.add(method), honest(...args));
        vi.spyOn(core as typeof jsCore, method as "laplace").mockImplementation(counting as never);
      }
    for (let episode = 0; episode < 24; episode++) await driveEvents(new Dice(1, episode), 320, new Tally());
    expect([...called].sort()).toEqual([...EVENT_METHODS].sort());
  });

  /**
   * Low bits that nothing shows: of one score in the choice of θ, and of corrections, which are rounded. Those are wrong by
   * the highest bit of each fraction.
   */
  const COARSE: Partial<Record<keyof typeof SPOILERS, Spoiler>> = {
    geometric: ([, , out], result) => (spoilFractions(out as Float64Array), result),
    growDay: (_, corrections) => (spoilFractions(corrections as Float64Array), corrections),
  };
});

function spoilFractions(out: Float64Array): void {
  const words = new Uint32Array(out.buffer, out.byteOffset, 2 * out.length);
  for (let i = 1; i < words.length; i += 2) words[i]! ^= 1 << 19;
}

function spoil<T extends Float64Array | Uint32Array | Uint8Array>(out: T): T {
  const bytes = new Uint8Array(out.buffer, out.byteOffset, out.byteLength);
  const last = bytes.length - out.BYTES_PER_ELEMENT; // little-endian: the lowest byte of the last number
  if (last >= 0) bytes[last]! ^= 1;
  return out;
}

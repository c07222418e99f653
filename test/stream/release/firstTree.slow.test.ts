import { describe, expect, test } from "vitest";
import type { Core } from "../../../src/core/core.js";
import { jsCore } from "../../../src/core/js/index.js";
import { SLICE } from "../../../src/core/treeSlices.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../../src/core/wasm/index.js";
import { resolveReading, resolveSettings, type StreamOptions } from "../../../src/stream/options.js";
import { followRule } from "../../../src/stream/release/follow.js";
import { refiningChoice } from "../../../src/stream/release/refining.js";
import { HoldoutStream, restoreValues } from "../../../src/stream/holdoutStream.js";
import { SLICES_PER_VALUE } from "../../../src/stream/release/firstTree.js";
import { bits } from "../../support/numbers.js";
import { watchedCore } from "../../support/watchedCore.js";

const wasm = makeWasmCore();
const snapshotKey = new Uint8Array(32).fill(9);
/** Trees of 2¹⁶ leaves and 131 071 nodes. */
const huge: StreamOptions = {
  ...{ epsilon: 1, max: 1000, holdout: 128, maxRange: 2 ** 17, unsafeSeed: "huge" },
  tuning: { fanout: 2, skipLevels: 0 },
};
/** Most samples that a push may draw: its slices, and the few of a choice of θ. */
const MOST = SLICES_PER_VALUE * SLICE + 100;
const kinds: Record<string, StreamOptions> = {
  defaults: huge,
  paper: { ...huge, variant: "paper" },
  "paper with a warm start": { ...huge, variant: "paper", tuning: { ...huge.tuning, warmStart: true } },
  "a public θ and a warm start": { ...huge, threshold: 500 },
  "a public θ and idle values": { ...huge, threshold: 500, tuning: { ...huge.tuning, warmStart: false } },
};

const valueAt = (i: number): number => (i * 7919) % 1000;
const values = Float64Array.from({ length: 300 }, (_, i) => valueAt(i));
const make = (options: StreamOptions, core: Core): HoldoutStream =>
  new HoldoutStream(resolveSettings(options), core, unsafeKey("huge"));

describe("settings", () => {
  test("the last values of a hold-out are idle where a tree is huge", () => {
    expect(resolveSettings(huge)).toMatchObject({ holdout: { choosing: 106, idle: 22 } });
    expect(resolveSettings(kinds["a public θ and a warm start"]!)).toMatchObject({
      holdout: { warming: 106, idle: 22 },
    });
    expect(resolveSettings(kinds["a public θ and idle values"]!)).toMatchObject({
      holdout: { warming: 0, idle: 128 },
    });
    expect(resolveSettings({ ...huge, threshold: 500, holdout: 0 })).toMatchObject({ holdout: { idle: 0 } });
    expect(resolveReading(huge)).toMatchObject({ holdout: { choosing: 128, idle: 0 } });
  });

  test("all are read where no tree is: with defaults, and with one level for every value", () => {
    for (const tuning of [{}, { skipLevels: 0 }])
      expect(resolveSettings({ epsilon: 1, max: 1000, tuning })).toMatchObject({ holdout: { idle: 0 } });
  });

  test("a quarter of a short hold-out is idle at most, and sixteen values are read", () => {
    const idle = (holdout: number) => resolveSettings({ ...huge, holdout }).holdout.idle;
    expect([16, 17, 20, 24, 87, 88, 89].map(idle)).toEqual([0, 1, 4, 6, 21, 22, 22]);
  });
});

test.each([16, 17, 18])(
  "a hold-out of %i values, too short for the tree: the first value draws the rest",
  (holdout) => {
    const { core, drawn } = watchedCore(wasm);
    const options = { ...huge, holdout };
    const whole = make(options, jsCore).pushMany(values);
    expect(whole.every(Number.isFinite)).toBe(true);
    const stream = make(options, core);
    drawn();
    const published: number[] = [];
    const large: number[] = [];
    for (const [i, value] of values.entries()) {
      const number = stream.push(value);
      if (number !== undefined) published.push(number);
      if (drawn() > MOST) large.push(i);
    }
    expect(large).toEqual([holdout]);
    expect(bits(Float64Array.from(published))).toBe(bits(whole));
  },
);

describe.each(Object.keys(kinds))("%s", (kind) => {
  const options = kinds[kind]!;
  const whole = make(options, jsCore).pushMany(values);

  test("no push draws more than its slices, and all give what one batch gives in the other core", () => {
    const { core, drawn } = watchedCore(wasm);
    const stream = make(options, core);
    drawn(); // what is known from the start is drawn then
    const published: number[] = [];
    for (const [i, value] of values.entries()) {
      const number = stream.push(value);
      if (number !== undefined) published.push(number);
      if (drawn() > MOST) expect.fail(`push ${i} draws a tree at once`);
    }
    expect(bits(Float64Array.from(published))).toBe(bits(whole));
  });

  test("snapshots at every moment of the drawing go on, and then no push draws a tree either", async () => {
    for (const at of [100, 105, 106, 107, 115, 126, 127, 128]) {
      const before = make(options, wasm);
      for (const value of values.subarray(0, at)) before.push(value);
      const after = await restoreValues(await before.snapshot(snapshotKey), snapshotKey, options);
      expect(after.received).toBe(at);
      expect(bits(after.pushMany(values.subarray(at)))).toBe(bits(whole));
    }
  });

  test("batches that end anywhere in it give the same", () => {
    for (const at of [106, 107, 120, 127, 128, 129]) {
      const stream = make(options, wasm);
      const first = stream.pushMany(values.subarray(0, at));
      const rest = stream.pushMany(values.subarray(at));
      expect(bits(Float64Array.of(...first, ...rest))).toBe(bits(whole));
    }
  });

  test("slices that fail are drawn when they are due", () => {
    let failures = 0;
    const core: Core = {
      ...wasm,
      laplace(random, scale, out) {
        if (out.length === SLICE && failures++ % 3 < 2) throw new RangeError("no memory");
        wasm.laplace(random, scale, out);
      },
    };
    const stream = make(options, core);
    const published = [...values].map((value) => stream.push(value)).filter((x) => x !== undefined);
    expect(bits(Float64Array.from(published))).toBe(bits(whole));
    if (kind !== "a public θ and idle values") expect(failures).toBeGreaterThan(2);
  });
});

test.each([false, true])(
  "no push draws a whole tree where θ changes with a tree; a second choice: %s",
  (refine) => {
    const { core, drawn } = watchedCore(wasm);
    const options = { ...huge, tuning: { ...huge.tuning, follow: true, refine }, smoother: "mean" } as const;
    const [one, other] = [make(options, core), make(options, wasm)];
    const values = Float64Array.from({ length: 128 + 2 ** 16 + 10 }, (_, i) => (i < 128 ? 5 : valueAt(i)));
    drawn();
    let last = 0;
    for (const [i, value] of values.entries()) {
      last = one.push(value) ?? 0;
      if (drawn() > MOST) expect.fail(`push ${i} draws a tree at once`);
    }
    expect(one.statement().thresholds.length).toBe(2); // it has changed
    expect(last).toBe(other.pushMany(values).at(-1));
  },
);

test("a tree that is large, but not huge, begins in the push that decides its scale", () => {
  const { core, drawn } = watchedCore(wasm);
  // Trees of 2¹⁵ leaves and 65 535 nodes, and a θ that grows after the first.
  const options = { ...huge, maxRange: 2 ** 16, smoother: "mean" } as const;
  const [one, other] = [make(options, core), make(options, jsCore)];
  const first = 128;
  const second = first + 2 ** 15;
  const values = Float64Array.from({ length: second + 10 }, (_, i) => (i < first ? 5 : valueAt(i)));
  drawn();
  const published: number[] = [];
  for (const [i, value] of values.entries()) {
    const number = one.push(value);
    if (number !== undefined) published.push(number);
    const nodes = drawn();
    const begins = i === first - 1 || i === second - 1;
    if (begins) expect(nodes).toBeGreaterThanOrEqual(SLICE);
    else if (nodes > 2 ** 16 - SLICE) expect.fail(`push ${i} draws a tree at once`);
  }
  expect(one.statement().thresholds.length).toBe(2); // it has changed
  expect(bits(Float64Array.from(published))).toBe(bits(other.pushMany(values)));
});

test("tables that no value decides are made with the stream, not in a push", () => {
  const options = { ...huge, epsilon: 0.87654321, tuning: { ...huge.tuning, refine: true } };
  const settings = resolveSettings(options);
  const { scale, countScale } = refiningChoice(settings);
  const late = (): never => expect.fail("made late");
  const scales = [followRule(settings).scale, scale, countScale];
  for (const one of scales) expect(() => one.words(late)).toThrow("made late");
  new HoldoutStream(settings, wasm, unsafeKey("tables"));
  for (const one of scales) expect(one.words(late).length).toBeGreaterThan(0);
});

test("the statement says which values of a huge tree choose θ once more", () => {
  const read = (maxRange: number): unknown =>
    make({ ...huge, maxRange, tuning: { ...huge.tuning, refine: true } }, wasm)
      .statement()
      .stages.find(({ mechanism }) => mechanism.startsWith("second choice"))!.values;
  expect(read(2 ** 15)).toEqual([128, 128 + 2 ** 14]);
  expect(read(2 ** 17)).toEqual([128, 128 + 2 ** 16 - 85]);
});

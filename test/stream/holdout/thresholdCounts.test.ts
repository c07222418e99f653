import { describe, expect, test } from "vitest";
import { chooseCore } from "../../../src/core/choose.js";
import { unsafeKey } from "../../../src/core/unsafeKey.js";
import { binOf, makeChoice } from "../../../src/stream/holdout/choice.js";
import { ThresholdCounts } from "../../../src/stream/holdout/thresholdCounts.js";
import { Decoder, Encoder } from "../../../src/snapshot/codec.js";

const cores = { js: chooseCore("js"), wasm: chooseCore("wasm") };

describe("counts", () => {
  const key = unsafeKey("counts");
  const choice = makeChoice(1, 320, 5120, 1000);
  const values = Array.from({ length: 320 }, (_, i) => (i % 11 === 0 ? 900 : (i * 7919) % 20));
  const chosen = (list: readonly number[], core = cores.js) => {
    const counts = new ThresholdCounts(choice);
    for (const x of list) counts.add(x);
    return counts.choose(core, key);
  };

  test("every position serves one purpose: the others' outputs do not move", () => {
    const usual = chosen(values);
    const change = (mod: number, of: number) => chosen(values.map((x, i) => (i % of === mod ? 999 : x)));
    expect(change(15, 32)).toEqual({ ...usual, mean: expect.any(Number) as number });
    expect(change(15, 32).mean).not.toBe(usual.mean);
    expect(change(31, 32)).toEqual({ ...usual, above: { count: expect.any(Number) as number, values: 10 } });
    expect(change(31, 32).above.count).not.toBe(usual.above.count);
  });

  test("the mean is of values clamped to θ, and has noise of scale Θ/ε", () => {
    const usual = chosen(values);
    const mean15 = values.filter((_, i) => i % 32 === 15).map((x) => Math.min(x, usual.theta));
    const sum = mean15.reduce((a, b) => a + b, 0);
    const noise = new Float64Array(1);
    const { theta } = usual;
    const others = chosen(values.map((x, i) => (i % 32 === 15 ? 0 : x)));
    noise[0] = others.mean * mean15.length; // nothing but noise is left of zeros
    expect(others.theta).toBe(theta);
    expect(usual.mean * mean15.length).toBeCloseTo(sum + noise[0], 6);
  });

  test("batches count as single values do, on both cores and on one that fails", () => {
    const many = Float64Array.from({ length: 1600 }, (_, i) => values[i % 320]! + (i % 3) / 4);
    const each = new ThresholdCounts(choice);
    for (const value of many) each.add(Math.floor(value + 0.5));
    const broken = {
      ...cores.wasm,
      countHeldOut: () => {
        throw new RangeError("out of memory");
      },
    };
    for (const core of [cores.js, cores.wasm, broken]) {
      const batches = new ThresholdCounts(choice);
      for (const [from, to] of [
        [0, 3],
        [3, 900],
        [900, 1600],
      ] as const)
        batches.addMany(core, many.subarray(from), to - from, 1000, 1);
      expect(batches.held).toBe(1600);
      expect(batches.choose(cores.js, key)).toEqual(each.choose(cores.js, key));
    }
  });

  test("both cores choose the same", () => {
    expect(chosen(values, cores.wasm)).toEqual(chosen(values, cores.js));
  });

  test("are saved in a length that says nothing about values, at any moment", () => {
    for (const held of [0, 1, 100, 320]) {
      const lengths = [0, 1000].map((x) => {
        const counts = new ThresholdCounts(choice);
        for (let i = 0; i < held; i++) counts.add(x);
        const writer = new Encoder();
        counts.save(writer);
        const loaded = new ThresholdCounts(choice);
        loaded.load(new Decoder(writer.bytes));
        for (let i = held; i < 320; i++) [counts, loaded].forEach((each) => each.add(i));
        expect(loaded.choose(cores.js, key)).toEqual(counts.choose(cores.js, key));
        return writer.bytes.length;
      });
      expect(lengths[0]).toBe(lengths[1]);
    }
  });
});

describe("what is told to the choice", () => {
  const choice = makeChoice(1, 3200, 51_200, 1000);
  const fed = (value: (i: number) => number): ThresholdCounts => {
    const counts = new ThresholdCounts(choice);
    for (let i = 0; i < 3200; i++) counts.add(value(i));
    return counts;
  };

  test("a stream is sparse if few values are above the smallest candidate, not above the second", () => {
    const key = unsafeKey("sparse");
    expect(choice.candidates.slice(0, 2)).toEqual(Float64Array.of(1, 2));
    expect(fed(() => 2).choose(cores.js, key).sparse).toBe(false);
    expect(fed(() => 1).choose(cores.js, key).sparse).toBe(true);
  });

  test("the fine choice has its knee at twice the rough one: θ of twenty keys, pinned", () => {
    const counts = fed((k) => Math.min(1000, Math.floor(3200 / (1 + ((k * 7919) % 3200)))));
    const thetas = Array.from(
      { length: 20 },
      (_, i) => counts.choose(cores.js, unsafeKey(`knee ${i}`)).theta,
    );
    expect(thetas).toEqual([
      861, 304, 304, 1000, 609, 1000, 431, 181, 431, 512, 724, 861, 724, 431, 1000, 861, 304, 724, 861, 724,
    ]);
  });
});

test("a grid finer than the candidates chooses the same θ from whole numbers, and the mean of what they are", () => {
  const [largest, step] = [1000, 128];
  for (const run of [1, 2, 3, 4, 5]) {
    const coarse = new ThresholdCounts(makeChoice(1, 3200, 51_200, largest));
    const fine = new ThresholdCounts(makeChoice(1, 3200, 51_200, largest * step, step));
    const halves = new ThresholdCounts(makeChoice(1, 3200, 51_200, largest * step + 3, step)); // max is on no candidate's grid
    for (let i = 0; i < 3200; i++) {
      const x = (i * 7919) % (40 * run);
      coarse.add(x);
      fine.add(x * step);
      halves.add(x * step - Number(x > 0) * (step / 2)); // within (x − 1, x]: the same candidates are below
    }
    const key = Uint32Array.of(run, 2, 3, 4, 5, 6, 7, 8);
    const [want, got, cut] = [coarse, fine, halves].map((counts) => counts.choose(chooseCore(), key));
    expect([got!.theta, got!.above, got!.sparse]).toEqual([want!.theta * step, want!.above, want!.sparse]);
    expect([cut!.theta, cut!.above]).toEqual([got!.theta, got!.above]);
    expect(Math.abs(got!.mean / step - want!.mean)).toBeLessThan(want!.theta); // other noise, of the same scale
    expect(cut!.mean).toBeLessThan(got!.mean);
  }
});

test("a value above the largest candidate is above it, though the candidate is no multiple of the step", () => {
  const choice = makeChoice(1, 3200, 51_200, 1003, 8);
  for (let x = 0; x <= 1004; x++) {
    const counts = new ThresholdCounts(choice);
    counts.add(x);
    const writer = new Encoder();
    counts.save(writer);
    const reader = writer.read();
    reader.double();
    const bins = choice.candidates.length + 1;
    const counters = Array.from({ length: 5 * bins }, () => reader.double());
    expect(counters.indexOf(1) % bins).toBe(binOf(choice.candidates, x));
  }
});

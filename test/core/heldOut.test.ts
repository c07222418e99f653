/** Held-out values, counted: by hand, against a loop written another way, in any batches, and what is refused. */
import { describe, expect, test } from "vitest";
import { jsCore } from "../../src/core/js/index.js";
import { HELD_OUT_MEAN, HELD_OUT_PURPOSES } from "../../src/core/layout.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { loadDataKernels } from "../../src/core/wasm/instance.js";
import { makeChoice } from "../../src/stream/holdout/choice.js";
import { bits, integers } from "../support/numbers.js";

const PURPOSES = Uint8Array.from({ length: 32 }, (_, i) => (i * 7) % HELD_OUT_PURPOSES);
const room = (candidates: Float64Array) =>
  new Float64Array((HELD_OUT_PURPOSES + 1) * (candidates.length + 1));

/** Awkward values among usual ones: borders of candidates, halves, negative, far above max. */
const valuesFor = (length: number, max: number) =>
  integers(3, length, 1e6).map((k, i) =>
    i % 9 === 0
      ? [0, -0, 5e-324, -4, max, 2 * max, 1e308, 0.5, 1.5][(i / 9) % 9]!
      : (Math.abs(k) / 1e6) * 1.1 * max,
  );

describe.each([makeWasmCore(), jsCore])("$name core", (core) => {
  test("four values, worked by hand", () => {
    const table = { candidates: Float64Array.of(1, 2, 4), step: 1, smallBins: Uint8Array.of(0, 0, 1) };
    const purposes = new Uint8Array(32).fill(0);
    purposes[1] = HELD_OUT_MEAN;
    const counters = new Float64Array(6 * 4);
    // 0.4 → 0, below all; 1.5 → 2, above 1 alone; 3 → 3, above 1 and 2; 99 → clamped to 5, above all.
    core.countHeldOut(Float64Array.of(0.4, 1.5, 3, 99), 5, 1, table, purposes, 0, counters);
    expect([...counters.subarray(0, 4)]).toEqual([1, 0, 1, 1]);
    expect([...counters.subarray(4 * HELD_OUT_MEAN, 4 * HELD_OUT_MEAN + 4)]).toEqual([0, 1, 0, 0]);
    expect([...counters.subarray(4 * HELD_OUT_PURPOSES)]).toEqual([0, 2, 0, 0]);
  });

  test.each([
    [1000, 1, 1],
    [100, 2 ** -9, 512],
    [3, 0.1, 1],
    [2 ** 30, 1, 1],
  ])("max %s, grid %s, candidates every %s: as a plain count", (max, resolution, step) => {
    const table = makeChoice(0.5, 4096, 65_536, Math.floor(max / resolution), step);
    const values = valuesFor(20_001, max);
    const counters = room(table.candidates);
    core.countHeldOut(values, max, resolution, table, PURPOSES, 5, counters);
    const wanted = room(table.candidates);
    const bins = table.candidates.length + 1;
    values.forEach((value, i) => {
      const x = Math.floor(Math.min(Math.max(value, 0), max) / resolution + 0.5);
      const bin = table.candidates.filter((candidate) => candidate < x).length;
      const purpose = PURPOSES[(5 + i) % 32]!;
      wanted[purpose * bins + bin]! += 1;
      if (purpose === HELD_OUT_MEAN) wanted[HELD_OUT_PURPOSES * bins + bin]! += x;
    });
    expect(bits(counters)).toEqual(bits(wanted));
  });

  test("any way to cut a batch gives the same counters", () => {
    const table = makeChoice(0.5, 4096, 65_536, 3000, 1);
    const values = valuesFor(9000, 3000);
    const counted = (cuts: readonly number[]) => {
      const counters = room(table.candidates);
      [0, ...cuts].forEach((from, i) =>
        core.countHeldOut(
          values.subarray(from, cuts[i] ?? 9000),
          3000,
          1,
          table,
          PURPOSES,
          from % 32,
          counters,
        ),
      );
      return bits(counters);
    };
    const whole = counted([]);
    expect(counted([1, 600, 8191, 8192])).toEqual(whole);
    expect(counted([511, 1023, 1024, 5000, 5001])).toEqual(whole);
  });

  test.each([10, 600])(
    "%s values into counters of another length are refused, and so is an unknown purpose",
    (count) => {
      const table = makeChoice(0.5, 4096, 65_536, 3000, 1);
      const counters = room(table.candidates);
      const values = new Float64Array(count);
      const call = (purposes: Uint8Array, into: Float64Array) => () =>
        core.countHeldOut(values, 3000, 1, table, purposes, 0, into);
      expect(call(PURPOSES, counters.subarray(1))).toThrow(/^counters: expected/);
      expect(call(new Uint8Array(32).fill(HELD_OUT_PURPOSES), counters)).toThrow(/^purposes: expected/);
      expect(call(PURPOSES.subarray(1), counters)).toThrow(/^purposes: expected/);
      expect(counters.every((count) => count === 0)).toBe(true);
    },
  );
});

test("nothing of the values stays in the memory of the kernels", () => {
  const kernels = loadDataKernels();
  const memory = new Uint8Array(kernels.memory.buffer, kernels.heapBase());
  memory.fill(0); // other files of this thread may have left public numbers there
  const table = makeChoice(0.5, 4096, 65_536, 3000, 1);
  makeWasmCore().countHeldOut(valuesFor(9000, 3000), 3000, 1, table, PURPOSES, 0, room(table.candidates));
  expect(memory.every((byte) => byte === 0)).toBe(true);
});

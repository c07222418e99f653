/**
 * Every kernel, called when the shared memory is full of something else: zeros, huge numbers, NaN. Results are those of the
 * other core in every bit, for sizes around each border at which a kernel changes its way, and nothing stays behind.
 */
import { describe, expect, test } from "vitest";
import type { Core } from "../../src/core/core.js";
import { makeDayShape } from "../../src/core/dayShape.js";
import { jsCore } from "../../src/core/js/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { makeScale } from "../../src/core/tables/scale.js";
import { makeSelection } from "../../src/core/tables/selection.js";
import { makeTransition } from "../../src/core/tables/transition.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { loadDataKernels, loadNoiseKernels } from "../../src/core/wasm/instance.js";
import { hybrid, squareWave } from "../../src/local/mechanisms.js";
import { makeChoice } from "../../src/stream/holdout/choice.js";
import { digestOf } from "../support/golden.js";
import { integers } from "../support/numbers.js";

const wasm = makeWasmCore();
const random = (position = 0) => ({ ...subStream(unsafeKey("poison"), Purpose.baseline, 3, 4), position });
const floats = (seed: number, length: number, size: number) =>
  integers(seed, length, size).map((x) => x + 0.375);

/** A call of a core that returns arrays or numbers. */
type Call = (core: Core) => (ArrayBufferView | number)[];
const shown = (results: ReturnType<Call>): string =>
  results.map((part) => (typeof part === "number" ? part : digestOf(part))).join();

function poison(byte: number): void {
  for (const kernels of [loadNoiseKernels(), loadDataKernels()])
    new Uint8Array(kernels.memory.buffer, kernels.heapBase()).fill(byte);
}

const CALLS: Record<string, Call[]> = {
  keystream: [0, 1, 15, 16, 17, 63, 64, 65, 200, 16_383, 16_384, 16_385, 40_000].flatMap((length) =>
    [0, 5, 16, 31].map((position): Call => (core) => {
      const [out, from] = [new Uint32Array(length), random(position)];
      core.keystream(from, out);
      return [out, from.position];
    }),
  ),
  digits: [1, 2, 3, 100, 255, 256].flatMap((outcomes) =>
    [null, 2n ** 255n - 1n, 2n ** 254n + 12345n].map((negative): Call => (core) => {
      const law = { outcomes, ratio: 2n ** 256n - 2n ** 248n, first: 2n ** 246n - 1n, negative };
      const [columns, tails] = negative === null ? [256, 1280] : [512, 2560];
      const table = [new Uint32Array(columns), new Uint32Array(tails)] as const;
      core.fillDigit(law, ...table);
      return [...table];
    }),
  ),
  samples: [0, 1, 2, 3, 4, 5, 7, 100, 8191, 8192, 8193].flatMap((length) =>
    (
      [
        [1n, 3n],
        [7n, 5n],
        [5000n, 1n],
        [1n << 33n, 1n],
      ] as const
    ).flatMap(([p, q]) =>
      (["laplace", "geometric"] as const).map((name): Call => (core) => {
        const [out, from] = [new Float64Array(length), random(3)];
        core[name](from, makeScale(p, q), out);
        return [out, from.position];
      }),
    ),
  ),
  trees: (
    [
      [2, 1],
      [2, 2],
      [2, 7],
      [3, 4],
      [5, 3],
      [16, 2],
      [16, 3],
      [17, 2],
      [33, 2],
      [64, 2],
    ] as const
  ).map(([fanout, levels]): Call => (core) => {
    const from = random(1);
    const { noise, corrections } = core.growTree(from, makeScale(300n, 1n), fanout, levels);
    return [noise, corrections, from.position];
  }),
  days: (
    [
      // No WASM call up to 8 nodes; runs of 64 leaves.
      [1, []],
      [8, []],
      [9, []],
      [6, [[6]]],
      [7, [[7]]],
      [8, [[8]]],
      [6, [[1, 5]]],
      [7, [[1, 6]]],
      [63, [[1, 62]]],
      [64, [[64]]],
      [65, [[64, 1], [2]]],
      [1500, [new Array<number>(25).fill(60), [25]]],
      [9000, [[1, 8998, 1], [2, 1], [2]]],
    ] as const
  ).flatMap(([leaves, fanouts]) =>
    (
      [
        [1n, 3n],
        [300n, 1n],
        [1n << 39n, 1n],
      ] as const
    ).map(([p, q]): Call => (core) => {
      const key = unsafeKey("poison");
      const [leafRandom, nodeRandom] = [
        subStream(key, Purpose.dayLeaves, 0, 7),
        subStream(key, Purpose.dayNodes, 0, 7),
      ];
      const shape = makeDayShape(leaves, fanouts);
      const grown = core.growDay(leafRandom, nodeRandom, makeScale(p, q), shape);
      return [grown, leafRandom.position, nodeRandom.position];
    }),
  ),
  "block sums": [1, 2, 3, 4, 5, 8, 12, 1000].flatMap((n) =>
    [511, 512, 513, 515, 1024, 8191, 8192, 8193, 16_390].flatMap((length) =>
      [0, 1, n - 1]
        .filter((filled, i, all) => filled < n && all.indexOf(filled) === i)
        .flatMap((filled) =>
          [0.25, 0.3].map((resolution): Call => (core) => {
            const sums = new Float64Array(Math.floor((filled + length) / n));
            const { sum, above } = core.blockSums(
              floats(n, length, 60),
              45,
              resolution,
              n,
              filled,
              7 * filled,
              sums,
              20,
            );
            return [sums, sum, above];
          }),
        ),
    ),
  ),
  "published blocks": [2, 3, 4, 5, 16, 63, 64, 200].flatMap((n) =>
    [511, 512, 513, 600, 8192, 8193, 16_500].flatMap((length) =>
      [0, 1, n - 1].map((filled): Call => (core) => {
        const blocks = Math.floor((filled + length) / n);
        const out = new Float64Array(length);
        core.publishBlocks(floats(1, blocks + 1, 9), floats(2, blocks, 9), n, filled, out);
        return [out];
      }),
    ),
  ),
  "estimates of leaves": [2, 3, 16, 17].flatMap((fanout) =>
    [0, 1, fanout - 1, fanout, 5 * fanout + 1].flatMap((leaf) =>
      [511, 512, 513, 8192, 8193, 17_000].map((length): Call => (core) => {
        const groups = Math.ceil((leaf + length) / fanout);
        const tree = { noise: integers(3, groups * fanout, 1e6), corrections: floats(4, groups, 5) };
        const out = new Float64Array(length);
        core.estimateLeaves(integers(5, length, 1e6), tree, fanout, leaf, out);
        return [out];
      }),
    ),
  ),
  "steps of EM": (
    [
      [2, 1],
      [2, 2],
      [4, 1],
      [4, 3],
      [6, 4],
      [10, 5],
      [16, 7],
      [32, 16],
      [64, 33],
      [64, 64],
    ] as const
  ).flatMap(([bins, window]) =>
    [true, false].map((smooth): Call => (core) => {
      const tables = makeTransition(bins, 64, window, 0.01, 0.002);
      const estimates = new Float64Array(4 * bins).fill(1 / bins, 0, bins);
      const predicted = new Float64Array(3 * bins);
      core.emSteps(tables, integers(6, bins, 50).map(Math.abs), smooth, estimates, predicted);
      return [estimates, predicted];
    }),
  ),
  reports: [hybrid(0.3), hybrid(4), squareWave(1), squareWave(0.05)].flatMap((mechanism) =>
    [0, 1, 3, 4, 5, 63, 64, 65, 255, 256, 257, 1000, 8192, 8193, 9000].map((length): Call => (core) => {
      const [out, from] = [new Uint32Array(length), random(9)];
      core.fillReports(
        from,
        mechanism,
        { scale: mechanism.top / 50, shift: 0.5 },
        floats(7, length, 60),
        out,
      );
      return [out, from.position];
    }),
  ),
  "held-out values": [511, 512, 513, 1000, 8191, 8192, 8193, 16_390].flatMap((length) =>
    (
      [
        [100, 1, 1],
        [100, 1 / 32, 32],
        [90_000, 0.3, 1],
      ] as const
    ).flatMap(([max, resolution, step]) =>
      [0, 1, 31].map((first): Call => (core) => {
        const table = makeChoice(0.3, 1000, 2 ** 16, Math.floor(max / resolution), step);
        const purposes = Uint8Array.from({ length: 32 }, (_, i) => (i * i) % 5);
        const counters = integers(8, 6 * (table.candidates.length + 1), 1e6);
        core.countHeldOut(floats(9, length, 1.2 * max), max, resolution, table, purposes, first, counters);
        return [counters];
      }),
    ),
  ),
  "noisy max": (["laplace", "exponential"] as const).flatMap((noise) =>
    [1, 2, 5, 255, 256, 257, 5000].flatMap((candidates) =>
      [1, 2, 7, 8, 9, 300, 1001].flatMap((holdout) =>
        ([Uint16Array, Uint32Array] as const).map((Kind): Call => (core) => {
          const selection = makeSelection({
            ...{ candidates, step: 0.5, holdout, epsilon: 0.3, releaseEpsilon: 0.3 },
            ...{ maxRange: 2 ** 20, fanout: 16, noise },
          });
          const bins = new Kind(Array.from({ length: holdout }, (_, i) => (i * i * 37) % (candidates + 1)));
          const from = random(2);
          return [core.noisyMax(from, bins, selection), from.position];
        }),
      ),
    ),
  ),
};

describe.each(Object.entries(CALLS))("%s", (_, calls) => {
  test("whatever stood in memory before", () => {
    for (const [i, call] of calls.entries()) {
      const wanted = shown(call(jsCore));
      for (const byte of [0x00, 0x7f, 0xff]) {
        poison(byte);
        expect(`${i}: ${shown(call(wasm))}`).toBe(`${i}: ${wanted}`);
      }
    }
  });
});

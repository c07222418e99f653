import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Core, Tree } from "../../src/core/core.js";
import { jsCore } from "../../src/core/js/index.js";
import { quantise } from "../../src/core/quantise.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { loadDataKernels } from "../../src/core/wasm/instance.js";
import { bits, integers } from "../support/numbers.js";

const wasm = makeWasmCore();

interface Setting {
  readonly theta: number;
  readonly resolution: number;
  readonly n: number;
  readonly fanout: number;
}

/** Block sizes around every special case: single values, odd, shorter and longer than a staged chunk, and than memory. */
const setting: fc.Arbitrary<Setting> = fc.record({
  theta: fc.constantFrom(1, 7, 255.5, 1000, 2 ** 40),
  resolution: fc.constantFrom(1, 2 ** -8, 4, 0.1, 3),
  n: fc.constantFrom(1, 2, 3, 4, 7, 16, 63, 64, 256, 4096, 10_000, 2 ** 30),
  fanout: fc.constantFrom(2, 3, 16, 64),
});

const AWKWARD = [
  0,
  -0,
  5e-324,
  -5e-324,
  2 ** -1022,
  0.5,
  1.5,
  -1,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  -(2 ** 60),
  1e308,
];

/** Up to 20 000 values, so that small batches, single chunks and several chunks all occur; some of them awkward. */
const batch: fc.Arbitrary<Float64Array> = fc
  .tuple(fc.integer(), fc.oneof(fc.nat(40), fc.nat(700), fc.nat(20_000)), fc.constantFrom(1, 10, 3000))
  .map(([seed, length, size]) =>
    integers(seed, length, 1e6).map((k, i) =>
      k % 50 === 0 ? AWKWARD[i % AWKWARD.length]! : (k / 1e6) * size,
    ),
  );

/** Where to cut a batch, as fractions of its length. */
const cuts = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 });

function cut(values: Float64Array, at: number[]): Float64Array[] {
  const ends = [...at.map((share) => Math.floor(share * values.length)), values.length].sort((a, b) => a - b);
  return ends.map((end, i) => values.subarray(ends[i - 1] ?? 0, end));
}

/** A tree of invented noise, as large as asked for. */
function treeOf(leaves: number, fanout: number): Tree {
  const corrections = integers(5, Math.ceil(leaves / fanout), 1000).map((k) => k / 7);
  return { noise: integers(4, leaves, 5000), corrections };
}

/** û of one leaf. */
const estimate = (sum: number, tree: Tree, leaf: number, fanout: number) =>
  sum + tree.noise[leaf]! + (tree.corrections[Math.floor(leaf / fanout)] ?? 0);

/** One value at a time, in the words of the release rule; the smoother is `recent`. */
function pushEach(values: Float64Array, tree: Tree, { theta, resolution, n, fanout }: Setting): Float64Array {
  let [sum, filled, leaf, perValue] = [0, 0, 0, theta / resolution / 2];
  return values.map((value) => {
    sum += quantise(value, theta, resolution);
    if (++filled < n) return perValue * resolution;
    const u = estimate(sum, tree, leaf, fanout);
    const last = (u - (n - 1) * perValue) * resolution;
    [sum, filled, leaf, perValue] = [0, 0, leaf + 1, u / n];
    return last;
  });
}

/** Publishes the stream in batches, through the kernels. */
function pushBatches(core: Core, batches: Float64Array[], tree: Tree, setting: Setting): Float64Array {
  const { theta, resolution, n, fanout } = setting;
  let [partial, filled, leaf, perValue] = [0, 0, 0, theta / resolution / 2];
  const published = batches.map((values) => {
    const blocks = Math.floor((filled + values.length) / n);
    const sums = new Float64Array(blocks);
    partial = core.blockSums(values, theta, resolution, n, filled, partial, sums, Infinity).sum;
    core.estimateLeaves(sums, tree, fanout, leaf, sums);
    const [shares, lasts] = [new Float64Array(blocks + 1), new Float64Array(blocks)];
    sums.forEach((u, k) => {
      shares[k] = perValue * resolution;
      lasts[k] = (u - (n - 1) * perValue) * resolution;
      perValue = u / n;
    });
    shares[blocks] = perValue * resolution;
    const out = new Float64Array(values.length);
    core.publishBlocks(shares, lasts, n, filled, out);
    filled = (filled + values.length) % n;
    leaf += blocks;
    return out;
  });
  return Float64Array.from(published.flatMap((part) => [...part]));
}

describe.each([wasm, jsCore])("$name core", (core) => {
  const sumsOf = (values: Float64Array, theta: number, resolution: number, n: number) => {
    const sums = new Float64Array(Math.floor(values.length / n));
    return { partial: core.blockSums(values, theta, resolution, n, 0, 0, sums, Infinity).sum, sums };
  };

  test("five values in blocks of two, worked by hand", () => {
    // 1.4, 1.5, −3, 99, 0.2 clamped to [0, 10] and rounded: 1 + 2, 0 + 10, and 0 of a block still running.
    expect(sumsOf(Float64Array.of(1.4, 1.5, -3, 99, 0.2), 10, 1, 2)).toEqual({
      sums: Float64Array.of(3, 10),
      partial: 0,
    });
    // In quarters: 1.4 is 5.6 of them, so 6; 1.5 is 6; 0.2 is 0.8, so 1.
    expect(sumsOf(Float64Array.of(1.4, 1.5, -3, 99, 0.2), 10, 0.25, 2)).toEqual({
      sums: Float64Array.of(12, 40),
      partial: 1,
    });
  });

  test("counts the values above a limit, in batches of any length", () => {
    for (const length of [0, 1, 3, 5, 511, 512, 515, 8191, 8193, 20_002]) {
      const values = integers(12, length, 10); // many are 7 exactly: they are not above it
      for (const limit of [-11, 0, 7, 10, Infinity]) {
        const { above } = core.blockSums(values, 3, 1, 16, 5, 0, new Float64Array(2000), limit);
        expect(above).toBe(values.filter((value) => value > limit).length);
      }
    }
  });

  test("two blocks of two published, worked by hand", () => {
    // Sums 3 and 10, noise 2 and −1, correction 0.5: û = 3 + 2 + 0.5 and 10 − 1 + 0.5.
    const tree = { noise: Float64Array.of(2, -1), corrections: Float64Array.of(0.5) };
    const u = Float64Array.of(3, 10);
    core.estimateLeaves(u, tree, 2, 0, u);
    expect(u).toEqual(Float64Array.of(5.5, 9.5));
    // Half of a first prediction 8, of û₁ and of û₂: shares 4, 2.75, 4.75; last values 5.5 − 4 and 9.5 − 2.75.
    const out = new Float64Array(5);
    core.publishBlocks(Float64Array.of(4, 2.75, 4.75), Float64Array.of(1.5, 6.75), 2, 0, out);
    expect(out).toEqual(Float64Array.of(4, 1.5, 2.75, 6.75, 4.75));
  });

  test.each([
    ["−0", -0, 0],
    ["the smallest subnormal", 5e-324, 0],
    ["a negative subnormal", -5e-324, 0],
    ["half a step", 0.5, 1],
    ["just below half a step", 0.499, 0],
    ["2⁵³ − 1", 2 ** 53 - 1, 2 ** 52],
    ["2⁵³", 2 ** 53, 2 ** 52],
    ["2⁵³ + 2", 2 ** 53 + 2, 2 ** 52],
    ["−2⁵³ + 1", 1 - 2 ** 53, 0],
    ["2⁵² − 1", 2 ** 52 - 1, 2 ** 52 - 1],
    ["the largest double", Number.MAX_VALUE, 2 ** 52],
  ])("%s, up to θ = 2⁵²", (_, value, want) => {
    for (const length of [1, 600]) {
      const { sums } = sumsOf(new Float64Array(length).fill(value), 2 ** 52, 1, 1);
      expect(bits(sums)).toBe(bits(new Float64Array(length).fill(want)));
    }
  });

  test("any way of cutting a stream publishes the same bits as one value at a time", () => {
    fc.assert(
      fc.property(batch, cuts, setting, (values, at, setting) => {
        const tree = treeOf(Math.ceil(values.length / setting.n), setting.fanout);
        const published = pushBatches(core, cut(values, at), tree, setting);
        expect(bits(published) === bits(pushEach(values, tree, setting))).toBe(true);
      }),
      { seed: 1, numRuns: 150 },
    );
  });

  test("block sums: integers from 0 to n·Θ, the same for any order within the block", () => {
    fc.assert(
      fc.property(batch, setting, (values, { resolution, n, theta }) => {
        const { sums } = sumsOf(values, theta, resolution, n);
        const largest = n * Math.floor(theta / resolution + 0.5);
        expect(sums.every((sum) => Number.isInteger(sum) && sum >= 0 && sum <= largest)).toBe(true);
        const reversed = values.slice();
        for (let start = 0; start + n <= values.length; start += n)
          reversed.subarray(start, start + n).reverse();
        expect(bits(sumsOf(reversed, theta, resolution, n).sums) === bits(sums)).toBe(true);
      }),
      { seed: 2, numRuns: 100 },
    );
  });

  test("values below 0 count as 0, values above θ as θ, others as the nearest multiple of g", () => {
    fc.assert(
      fc.property(batch, setting, (values, { resolution, theta }) => {
        const { sums } = sumsOf(values, theta, resolution, 1);
        // v/g and + ½ round by 2⁻⁵² of themselves at most.
        const slack = resolution * (0.5 + (theta / resolution + 1) * 2 ** -51);
        const off = (x: number, i: number) =>
          Math.abs(x * resolution - Math.min(Math.max(values[i]!, 0), theta));
        expect(sums.every((x, i) => off(x, i) <= slack)).toBe(true);
        expect(
          bits(
            sumsOf(
              values.map((v) => (v < 0 ? 0 : v)),
              theta,
              resolution,
              1,
            ).sums,
          ),
        ).toBe(bits(sums));
      }),
      { seed: 3, numRuns: 100 },
    );
  });

  test("a batch with NaN or ±∞ anywhere is refused, naming the place and not the value", () => {
    const place = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(
        batch,
        place,
        fc.constantFrom(NaN, Infinity, -Infinity),
        setting,
        (values, where, bad, { n }) => {
          fc.pre(values.length > 0);
          const index = Math.floor(where * values.length);
          const spoilt = values.slice();
          spoilt[index] = bad;
          expect(() => sumsOf(spoilt, 1000, 1, n)).toThrow(
            new TypeError(`values[${index}]: expected a finite number; nothing of this batch was taken`),
          );
        },
      ),
      { seed: 4, numRuns: 100 },
    );
  });

  test("one level has no corrections", () => {
    const tree = { noise: integers(6, 1000, 100), corrections: new Float64Array(0) };
    const [sums, out] = [integers(7, 1000, 100), new Float64Array(1000)];
    core.estimateLeaves(sums, tree, 16, 0, out);
    expect(bits(out)).toBe(bits(sums.map((sum, i) => sum + tree.noise[i]!)));
  });

  test("estimates from any leaf on", () => {
    fc.assert(
      fc.property(fc.nat(30_000), fc.nat(200), fc.integer({ min: 2, max: 64 }), (count, leaf, fanout) => {
        const tree = treeOf(leaf + count, fanout);
        const [sums, out] = [integers(8, count, 1e6), new Float64Array(count)];
        core.estimateLeaves(sums, tree, fanout, leaf, out);
        const want = sums.map((sum, i) => estimate(sum, tree, leaf + i, fanout));
        expect(bits(out) === bits(want)).toBe(true);
      }),
      { seed: 5, numRuns: 100 },
    );
  });

  test("says what does not fit", () => {
    const five = new Float64Array(5);
    const sums = (n: number, filled: number, room: number) => () =>
      core.blockSums(five, 1, 1, n, filled, 0, new Float64Array(room), Infinity);
    expect(sums(0, 0, 5)).toThrow("block: expected 1 to 2³⁰ values with fewer filled, got 0 with 0 filled");
    expect(sums(4, 4, 5)).toThrow(RangeError);
    expect(sums(4, -1, 5)).toThrow(RangeError);
    expect(sums(2, 1, 2)).toThrow("block: expected room for 3 complete ones, got 2");
    expect(() => core.estimateLeaves(five, treeOf(7, 2), 2, 3, five)).toThrow(
      "leaf: expected 5 leaves of 7, got 3 as the first",
    );
    expect(() => core.estimateLeaves(five, treeOf(7, 2), 2, 0, new Float64Array(4))).toThrow(/^out:/);
  });
});

test("neither values, sums nor noise stay in WASM memory, and what stood there has no effect", () => {
  const kernels = loadDataKernels();
  const values = integers(11, 20_000, 1e6).map((k) => Math.abs(k) + 0.123);
  const tree = treeOf(1250, 16);
  const setting = { theta: 1e6, resolution: 2 ** -10, n: 16, fanout: 16 };
  const want = bits(pushBatches(jsCore, [values], tree, setting));
  for (const poison of [0x00, 0x7f, 0xff]) {
    new Uint8Array(kernels.memory.buffer, kernels.heapBase()).fill(poison);
    expect(bits(pushBatches(wasm, [values], tree, setting)) === want).toBe(true);
  }
  const sums = new Float64Array(1250);
  wasm.blockSums(values, setting.theta, setting.resolution, setting.n, 0, 0, sums, 1e5);
  wasm.estimateLeaves(sums, tree, setting.fanout, 0, new Float64Array(1250));
  const secrets = new Set(
    [...values, ...sums, ...tree.noise, ...tree.corrections].filter((secret) => secret !== 0),
  );
  const memory = new Float64Array(kernels.memory.buffer.slice(0));
  expect(memory.some((number) => secrets.has(number))).toBe(false);
});

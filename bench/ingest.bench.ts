/** How fast is a batch of 2²⁰ values taken in and published? Opponents: the same in JavaScript, and an everyday loop. */
import type { Core, Tree } from "../src/core/core.js";
import { jsCore } from "../src/core/js/index.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { Arena, loadDataKernels } from "../src/core/wasm/instance.js";
import { measure, type Row } from "./harness.js";

const COUNT = 2 ** 20;
const [theta, resolution, fanout] = [1000, 1, 16];
const values = Float64Array.from({ length: COUNT }, (_, i) => ((i * 7919) % 10007) / 8 - 20);
const tree: Tree = {
  noise: Float64Array.from({ length: COUNT }, (_, i) => ((i * 7919) % 10007) - 5003),
  corrections: Float64Array.from({ length: COUNT / fanout }, (_, i) => ((i * 7919) % 10007) / 3 - 1667),
};
const out = new Float64Array(COUNT);

export async function* rows(): AsyncGenerator<Row> {
  const wasm = makeWasmCore();
  const copy = new Float64Array(COUNT);
  const limit = () => copy.set(values);
  for (const n of [1, 16, 256, 4096]) {
    const contenders = { js: () => release(jsCore, n), naive: () => releaseOneByOne(n), limit };
    const what = `2²⁰ values, blocks of ${n}`;
    yield await measure({
      path: "ingest",
      case: `${what}, copies included`,
      wasm: () => release(wasm, n),
      ...contenders,
    });
    if (n === 256)
      yield await measure({
        path: "ingest",
        case: `${what}, already in WASM memory`,
        wasm: inMemory(n),
        ...contenders,
      });
  }
}

/** A whole batch, as the perturber does it, with the smoother `recent`. */
function release(core: Core, n: number): void {
  const sums = n === 1 ? out : new Float64Array(COUNT / n);
  core.blockSums(values, theta, resolution, n, 0, 0, sums, Infinity);
  core.estimateLeaves(sums, tree, fanout, 0, sums);
  if (n === 1) return; // with g = 1 an estimate is what its position publishes
  const { shares, lasts } = predict(sums, n);
  core.publishBlocks(shares, lasts, n, 0, out);
}

function predict(estimates: Float64Array, n: number): { shares: Float64Array; lasts: Float64Array } {
  const [shares, lasts] = [new Float64Array(estimates.length), new Float64Array(estimates.length)];
  let perValue = theta / resolution / 2;
  for (let t = 0; t < estimates.length; t++) {
    const u = estimates[t]!;
    shares[t] = perValue * resolution;
    lasts[t] = (u - (n - 1) * perValue) * resolution;
    perValue = u / n;
  }
  return { shares, lasts };
}

/** Ingest with values and published values staying in WASM memory; only block sums and predictions cross. */
function inMemory(n: number): () => void {
  const kernels = loadDataKernels();
  const arena = new Arena(kernels);
  const [at, outAt] = [arena.put(values), arena.take(COUNT * 8)];
  const [sumsAt, sharesAt, lastsAt] = [0, 0, 0].map(() => arena.take((COUNT / n) * 8)) as [
    number,
    number,
    number,
  ];
  const [noiseAt, correctionsAt] = [arena.put(tree.noise), arena.put(tree.corrections)];
  const sums = new Float64Array(COUNT / n);
  return () => {
    kernels.blockSums(at, COUNT, theta, resolution, n, 0, 0, sumsAt);
    kernels.estimateLeaves(sumsAt, noiseAt, correctionsAt, fanout, fanout, COUNT / n, sumsAt);
    arena.read(sumsAt, sums);
    const { shares, lasts } = predict(sums, n);
    arena.write(sharesAt, shares);
    arena.write(lastsAt, lasts);
    kernels.publishBlocks(sharesAt, lastsAt, n, n, COUNT, outAt);
  };
}

/** The naive loop: every value through a few lines, the block's state in an object. */
function releaseOneByOne(n: number): void {
  const block = { sum: 0, filled: 0, index: 0, perValue: theta / resolution / 2 };
  values.forEach((value, i) => {
    if (!Number.isFinite(value)) throw new TypeError("value: expected a finite number");
    block.sum += Math.floor(Math.min(Math.max(value, 0), theta) / resolution + 0.5);
    block.filled++;
    if (block.filled < n) {
      out[i] = block.perValue * resolution;
      return;
    }
    const u = block.sum + tree.noise[block.index]! + tree.corrections[Math.floor(block.index / fanout)]!;
    out[i] = (u - (n - 1) * block.perValue) * resolution;
    block.perValue = u / n;
    block.sum = 0;
    block.filled = 0;
    block.index++;
  });
}

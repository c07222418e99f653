/** What does a new forest of 2²⁰ leaves cost? Opponents: the same in JavaScript, and float noise with Eq. 10–11. */
import { jsCore } from "../src/core/js/index.js";
import { leafCount, nodeCount } from "../src/core/tree.js";
import { Purpose, subStream } from "../src/core/random.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { makeScale } from "../src/core/tables/scale.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { measure, type Row } from "./harness.js";
import { printedConsistency } from "./consistency.bench.js";
import type { Core } from "../src/core/core.js";

const key = unsafeKey("bench");
const scale = makeScale(50_000n, 1n); // 5 levels, Θ = 1000, ε = 0.1

export async function* rows(): AsyncGenerator<Row> {
  const wasm = makeWasmCore();
  for (const [what, b, levels] of [
    ["2²⁰ leaves: 16 trees of 5 levels", 16, 5],
    ["256 leaves: 16 trees of 2 levels", 16, 2],
  ] as const) {
    const grow = (core: Core) => () => {
      for (let tree = 0; tree < b; tree++)
        core.growTree(subStream(key, Purpose.forest, 0, 0, tree), scale, b, levels);
    };
    const naive = () => {
      for (let tree = 0; tree < b; tree++)
        printedConsistency(floatNoise(nodeCount(b, levels)), leafCount(b, levels), b);
    };
    const bytes = new Uint8Array(65_536);
    const limit = () => {
      // Two keystream words a node: the platform's own random bytes, 64 KiB at a time.
      for (let left = b * nodeCount(b, levels) * 8; left > 0; left -= bytes.length)
        crypto.getRandomValues(left < bytes.length ? bytes.subarray(0, left) : bytes);
    };
    yield await measure({ path: "forest", case: what, wasm: grow(wasm), js: grow(jsCore), naive, limit });
  }
}

/** Laplace noise in doubles, as textbooks have it: fast to write, and not private (its low bits give the data away). */
function floatNoise(count: number): Float64Array {
  const noise = new Float64Array(count);
  const words = new Uint32Array(16_384);
  for (let i = 0; i < count; i++) {
    if (i % words.length === 0) crypto.getRandomValues(words);
    const u = (words[i % words.length]! + 0.5) / 2 ** 32 - 0.5;
    noise[i] = -50_000 * Math.sign(u) * Math.log(1 - 2 * Math.abs(u));
  }
  return noise;
}

/** What does one value at a time cost in plain JavaScript, and would a WASM call per value pay? (It would not.) */
import { quantise } from "../src/core/quantise.js";
import { Arena, loadDataKernels } from "../src/core/wasm/instance.js";
import { type System, privateStream } from "../src/index.js";
import { measure, type Row } from "./harness.js";

const COUNT = 65_536;
const [theta, resolution] = [1000, 1];
const values = Float64Array.from({ length: COUNT }, (_, i) => ((i * 7919) % 10007) / 8 - 20);

export async function* rows(): AsyncGenerator<Row> {
  for (const skipLevels of [0, 1, 2, 3]) {
    const stream = privateStream({
      epsilon: 0.1,
      max: theta,
      threshold: theta,
      tuning: { skipLevels },
      unsafeSeed: "push",
    });
    yield await measure({
      path: "push",
      case: `${COUNT} values one at a time, blocks of ${16 ** skipLevels} (wasm: its arithmetic alone; limit: the same in JavaScript)`,
      wasm: crossing,
      js: () => pushAll(stream),
      limit: bare,
    });
  }
}

/** One loop for all streams, as in a server: what engines learn of one they use for the next. */
function pushAll(stream: System): number {
  let published = 0;
  for (let i = 0; i < COUNT; i++) published += stream.push(values[i]!)!;
  return published;
}

/** Check, clamp, round and add, and nothing else. */
function bare(): number {
  let sum = 0;
  for (let i = 0; i < COUNT; i++) {
    const value = values[i]!;
    if (!Number.isFinite(value)) throw new TypeError("value: expected a finite number");
    sum += quantise(value, theta, resolution);
  }
  return sum;
}

const kernels = loadDataKernels();
const at = new Arena(kernels).take(16);

/** Adds up values in WASM, one call per value. */
function crossing(): number {
  const staged = new Float64Array(kernels.memory.buffer, at, 1); // anew: streams may have grown the memory
  let sum = 0;
  for (let i = 0; i < COUNT; i++) {
    staged[0] = values[i]!;
    sum = kernels.blockSums(at, 1, theta, resolution, 2 ** 30, 0, sum, at + 8);
  }
  return sum;
}

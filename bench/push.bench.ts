/** What does one value at a time cost in plain JavaScript, and would a WASM call per value pay? (It would not.) */
import type { Tree } from "../src/core/core.js";
import { quantise } from "../src/core/quantise.js";
import { Arena, loadKernels } from "../src/core/wasm/instance.js";
import { measure, type Row } from "./harness.js";

const COUNT = 65_536;
const [theta, resolution, fanout] = [1000, 1, 16];
const values = Float64Array.from({ length: COUNT }, (_, i) => ((i * 7919) % 10007) / 8 - 20);
const tree: Tree = {
  noise: Float64Array.from({ length: COUNT }, (_, i) => ((i * 7919) % 10007) - 5003),
  corrections: Float64Array.from({ length: COUNT / fanout }, (_, i) => ((i * 7919) % 10007) / 3 - 1667),
};

export async function* rows(): AsyncGenerator<Row> {
  for (const n of [1, 16, 256])
    yield await measure({
      path: "push",
      case: `${COUNT} values one at a time, blocks of ${n} (wasm: a call per value)`,
      wasm: () => pushAll(new CrossingPusher(n)),
      js: () => pushAll(new Pusher(n)),
    });
}

/** The state that a stream carries from value to value, with the smoother `recent`. */
class Pusher {
  #sum = 0;
  #filled = 0;
  #leaf = 0;
  #perValue = theta / resolution / 2;
  readonly #n: number;

  constructor(n: number) {
    this.#n = n;
  }

  push(value: number): number {
    if (!Number.isFinite(value)) throw new TypeError("value: expected a finite number");
    this.#sum = this.add(this.#sum, value);
    if (++this.#filled < this.#n) return this.#perValue * resolution;
    const { noise, corrections } = tree;
    const u = this.#sum + noise[this.#leaf]! + corrections[Math.floor(this.#leaf / fanout)]!;
    const last = (u - (this.#n - 1) * this.#perValue) * resolution;
    this.#perValue = u / this.#n;
    this.#sum = 0;
    this.#filled = 0;
    this.#leaf++;
    return last;
  }

  add(sum: number, value: number): number {
    return sum + quantise(value, theta, resolution);
  }
}

/** The same, but each value crosses to WASM and back. */
class CrossingPusher extends Pusher {
  readonly #kernels = loadKernels();
  readonly #at: number;
  readonly #staged: Float64Array;

  constructor(n: number) {
    super(n);
    this.#at = new Arena(this.#kernels).take(16);
    this.#staged = new Float64Array(this.#kernels.memory.buffer, this.#at, 1);
  }

  override add(sum: number, value: number): number {
    this.#staged[0] = value;
    return this.#kernels.blockSums(this.#at, 1, theta, resolution, 2 ** 30, 0, sum, this.#at + 8);
  }
}

function pushAll(pusher: Pusher): number {
  let published = 0;
  for (let i = 0; i < COUNT; i++) published += pusher.push(values[i]!);
  return published;
}

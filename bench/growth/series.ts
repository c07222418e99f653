/** Series of the growth bench: each does the same work at growing sizes and states the exponents that are expected. */
import { openHub, privateHistogram, privateStream } from "../../src/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { makeSelection } from "../../src/core/tables/selection.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { makeWasmCore } from "../../src/core/wasm/index.js";

/** Work that is timed, and what it leaves in memory. */
export interface Work {
  run(): unknown;
  /** Held until memory has been measured. */
  readonly kept?: unknown;
}

export interface Growth {
  readonly name: string;
  readonly x: string;
  readonly sizes: readonly number[];
  /** The exponents that are expected at most: of time, and of memory if it is measured. */
  readonly time: number;
  readonly memory?: number;
  /** Memory of typed arrays alone: of one stream, whose objects are fewer than what compilers leave in the heap. */
  readonly arraysOnly?: boolean;
  /** Not timed; `run` is. */
  prepare(size: number): Work | Promise<Work>;
}

const powers = (base: number, from: number, to: number, step = 1): number[] =>
  Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, i) => base ** (from + i * step));

const options = { epsilon: 1, max: 1000 } as const;
const batch = Float64Array.from({ length: 2 ** 16 }, (_, i) => (i * 7919) % 1000);

/** Values through a stream, `batch` again and again. */
function feed(stream: { pushMany(values: Float64Array): unknown }, count: number): void {
  for (let left = count; left > 0; left -= batch.length) stream.pushMany(batch.subarray(0, left));
}

export const GROWTHS: readonly Growth[] = [
  {
    ...{ name: "values", x: "values pushed", sizes: powers(2, 10, 26, 2), time: 1, memory: 0 },
    arraysOnly: true,
    prepare(size) {
      const kept = privateStream({ ...options, threshold: 1000, maxRange: 2 ** 16 });
      return { kept, run: () => feed(kept, size) };
    },
  },
  {
    ...{ name: "keys", x: "keys of a hub, 16 values each", sizes: powers(10, 0, 6), time: 1, memory: 1 },
    prepare(size) {
      const kept = openHub({ ...options, threshold: 1000, maxRange: 4096, live: 1024 });
      const values = batch.subarray(0, 16);
      const run = async () => {
        for (let key = 0; key < size; key++) await kept.pushMany(`key ${key}`, values);
      };
      return { kept, run };
    },
  },
  {
    ...{ name: "candidates", x: "candidates for θ (variant paper)", sizes: powers(2, 6, 20, 2), time: 1 },
    prepare(size) {
      const core = makeWasmCore();
      const bins = Uint32Array.from({ length: 65_536 }, (_, i) => ((i * 7919) % 65_536) % size);
      const selection = makeSelection({
        ...{ candidates: size, step: 1, holdout: 65_536, epsilon: 1, releaseEpsilon: 1 },
        ...{ maxRange: 2 ** 20, fanout: 16, noise: "laplace" as const },
      });
      const random = () => subStream(unsafeKey("growth"), Purpose.threshold, 0, 0);
      return { run: () => core.noisyMax(random(), bins, selection) };
    },
  },
  {
    ...{ name: "buckets", x: "buckets of a histogram", sizes: powers(4, 1, 6), time: 1, memory: 1 },
    prepare(size) {
      let now = 0;
      const kept = privateHistogram({
        ...{ epsilon: 1, every: "1s", maxRange: "256s", origin: 0, clock: () => now },
        edges: Array.from({ length: size - 1 }, (_, i) => i + 1),
      });
      const run = () => {
        for (let tick = 0; tick < 256; tick++) {
          kept.add((tick * 7919) % size, { at: now });
          now += 1000;
          kept.advance();
        }
      };
      return { kept, run };
    },
  },
  {
    ...{ name: "range length", x: "values in the range, 1,000 answers", sizes: powers(2, 0, 20, 2), time: 0 },
    prepare(size) {
      const stream = privateStream({ ...options, threshold: 1000 });
      feed(stream, 2 ** 21);
      return {
        run() {
          for (let i = 0; i < 1000; i++) stream.range(i * 500, i * 500 + size);
        },
      };
    },
  },
  {
    ...{
      name: "history",
      x: "values that range can look back on",
      sizes: powers(2, 21, 25),
      time: 0,
      memory: 1,
    },
    prepare(size) {
      const kept = privateStream({ ...options, threshold: 1000, history: size });
      feed(kept, size);
      return {
        kept,
        run() {
          for (let i = 0; i < 1000; i++) kept.range(kept.length - 2 ** 20, kept.length - i);
        },
      };
    },
  },
];

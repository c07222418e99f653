/**
 * How long can a push take? Every push of a stream is timed, in several runs; the time of a push is its least, so that what
 * else runs on the machine does not count. Each run has another ε, so that no run finds tables of noise that another one
 * made. Opponent: drawing a whole tree at once, as a push would without slices.
 */
import { leafCount } from "../src/core/tree.js";
import { Purpose, subStream } from "../src/core/random.js";
import { makeScale } from "../src/core/tables/scale.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { privateStream, type StreamOptions } from "../src/index.js";
import { row, type Row } from "./harness.js";

const RUNS = 8;

interface Case {
  readonly what: string;
  readonly options: Partial<StreamOptions>;
  readonly count: number;
  /** Fan-out and levels of its trees, where they are large. */
  readonly tree?: readonly [fanout: number, levels: number];
  /** Values from 0 to 1000, spread evenly, unless it says others. */
  readonly valueAt?: (i: number) => number;
}

const CASES: readonly Case[] = [
  { what: "defaults", options: {}, count: 400_000 },
  { what: "variant paper", options: { variant: "paper" }, count: 400_000 },
  {
    what: "variant paper, 2²⁰ candidates for θ",
    options: { variant: "paper", max: 2 ** 20, tuning: { thresholdStep: 1 } },
    count: 100_000,
  },
  {
    what: "blocks of 1, trees of 2¹⁶ leaves",
    options: { tuning: { skipLevels: 0 } },
    count: 400_000,
    tree: [16, 5],
  },
  {
    what: "chosen θ, blocks of 1, trees of 2²⁰ leaves",
    options: { holdout: 4096, maxRange: 2 ** 24, tuning: { skipLevels: 0, fanout: 32 } },
    count: 10_000,
    tree: [32, 5],
  },
  {
    what: "θ that is raised with the second tree, blocks of 1, fan-out 2, trees of 2¹⁹ leaves",
    options: { holdout: 4096, tuning: { skipLevels: 0, fanout: 2 } },
    count: 4096 + 2 ** 19 + 1000,
    tree: [2, 20],
    valueAt: (i) => (i < 4096 ? i % 8 : (i * 7919) % 1000),
  },
  {
    what: "θ that is chosen once more after the first tree, blocks of 1, fan-out 2, trees of 2¹⁹ leaves",
    options: { holdout: 4096, tuning: { skipLevels: 0, fanout: 2, refine: true } },
    count: 4096 + 2 ** 19 + 1000,
    tree: [2, 20],
  },
  {
    what: "public θ, blocks of 1, trees of 2²⁰ leaves",
    options: { threshold: 1000, maxRange: 2 ** 24, tuning: { skipLevels: 0, fanout: 32 } },
    count: 2_200_000,
    tree: [32, 5],
  },
  {
    what: "public θ, blocks of 1, fan-out 2, trees of 2¹⁹ leaves",
    options: { threshold: 1000, tuning: { skipLevels: 0, fanout: 2 } },
    count: 1_100_000,
    tree: [2, 20],
  },
  {
    what: "public θ, blocks of 1, all history",
    options: { threshold: 1000, history: Infinity, tuning: { skipLevels: 0 } },
    count: 2_000_000,
    tree: [16, 5],
  },
];

/** The least time of every push over all runs. */
function leastTimes(count: number, begin: () => (i: number) => void): Float64Array {
  const least = new Float64Array(count).fill(Infinity);
  for (let run = 0; run < RUNS; run++) {
    const push = begin();
    let before = performance.now();
    for (let i = 0; i < count; i++) {
      push(i);
      const now = performance.now();
      if (now - before < least[i]!) least[i] = now - before;
      before = now;
    }
  }
  return least;
}

const longest = (times: Float64Array): number => times.reduce((most, time) => Math.max(most, time), 0);

function wholeTree([fanout, levels]: readonly [number, number]): number {
  const core = makeWasmCore();
  const scale = makeScale(BigInt(levels * 1000), 1n);
  const times = Array.from({ length: RUNS }, (_, tree) => {
    const start = performance.now();
    core.growTree(subStream(unsafeKey("bench"), Purpose.forest, 0, 0, tree), scale, fanout, levels);
    return performance.now() - start;
  });
  return Math.min(...times);
}

export function* rows(): Generator<Row> {
  let streams = 0;
  for (const { what, options, count, tree, valueAt = (i: number) => (i * 7919) % 1000 } of CASES) {
    process.stderr.write(`stall: ${what}\n`);
    const all = { max: 1000, unsafeSeed: "stall", ...options };
    const times = leastTimes(count, () => {
      const stream = privateStream({ ...all, epsilon: 1 + streams++ / 1024 });
      return (i) => stream.push(valueAt(i));
    });
    const naiveMs = tree === undefined ? null : wholeTree(tree);
    const leaves = tree === undefined ? "" : `; naive: a tree of ${leafCount(...tree)} leaves at once`;
    yield row("stall", `${what}: longest push${leaves}`, longest(times), null, naiveMs, null);
  }
}

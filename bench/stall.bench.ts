/**
 * How long can a push take? Every push of a stream is timed, in several runs on the same key; the time of a push is its least,
 * so that what else runs on the machine does not count. Opponent: drawing a whole tree at once, as a push would without slices.
 */
import { leafCount } from "../src/core/tree.js";
import { Stage, subStream } from "../src/core/random.js";
import { makeScale } from "../src/core/tables/scale.js";
import { unsafeKey } from "../src/core/unsafeKey.js";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { privateStream, type StreamOptions } from "../src/index.js";
import { row, type Row } from "./harness.js";

const RUNS = 5;

interface Case {
  readonly what: string;
  readonly options: Partial<StreamOptions>;
  readonly count: number;
  /** Fan-out and levels of its trees, where they are large. */
  readonly tree?: readonly [fanout: number, levels: number];
}

const CASES: readonly Case[] = [
  { what: "defaults", options: {}, count: 400_000 },
  { what: "variant paper", options: { variant: "paper" }, count: 400_000 },
  {
    what: "blocks of 1, trees of 2¹⁶ leaves",
    options: { tuning: { skipLevels: 0 } },
    count: 400_000,
    tree: [16, 5],
  },
  {
    what: "chosen θ, blocks of 1, trees of 2²⁰ leaves (the first block draws the first tree)",
    options: { holdout: 4096, maxRange: 2 ** 24, tuning: { skipLevels: 0, fanout: 32 } },
    count: 10_000,
    tree: [32, 5],
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
    core.growTree(subStream(unsafeKey("bench"), Stage.forest, 0, 0, tree), scale, fanout, levels);
    return performance.now() - start;
  });
  return Math.min(...times);
}

export function* rows(): Generator<Row> {
  for (const { what, options, count, tree } of CASES) {
    process.stderr.write(`stall: ${what}\n`);
    const all = { epsilon: 1, max: 1000, unsafeSeed: "stall", ...options };
    const times = leastTimes(count, () => {
      const stream = privateStream(all);
      return (i) => stream.push((i * 7919) % 1000);
    });
    const naiveMs = tree === undefined ? null : wholeTree(tree);
    const leaves = tree === undefined ? "" : `; naive: a tree of ${leafCount(...tree)} leaves at once`;
    yield row("stall", `${what}: longest push${leaves}`, longest(times), null, naiveMs, null);
  }
}

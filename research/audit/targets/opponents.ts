/**
 * The opponents end to end, through the code that publishes, each on the smallest stream that shows all of its noise. Evidence is
 * added up over the noisy numbers that a value is in, as far as they can be told from what is published.
 */
import type { Core } from "../../../src/core/core.js";
import { makeComparison } from "../../systems/comparison.js";
import type { MethodName } from "../../systems/methods.js";
import { type ComparisonOptions, resolveComparison } from "../../systems/options.js";
import { WINDOW } from "../../systems/wEvent.js";
import { type MakeTargets, type Target, THETA, type World } from "../target.js";

/** ln of P(h | true sum 0)/P(h | true sum Θ) for Laplace noise of scale t. */
const evidence = (h: number, t: number): number => (Math.abs(h - THETA) - Math.abs(h)) / t;

interface Attack {
  /** Difference between the two inputs, in words. */
  readonly name: string;
  readonly features: readonly string[];
  readonly maxRange: number;
  /** δ, for Gaussian noise. */
  readonly delta?: number;
  readonly values: (world: World) => Float64Array;
  /** @param prefix sums of the first 0, 1, 2, … published numbers */
  readonly read: (prefix: Float64Array, published: Float64Array, epsilon: number) => readonly number[];
}

function targetOf(method: MethodName, attack: Attack): MakeTargets {
  const { name, features, maxRange, delta, values, read } = attack;
  return (epsilon: number, core: Core): readonly Target[] => {
    const options = {
      ...{ method, epsilon, max: THETA, threshold: THETA, holdout: 0, maxRange },
      ...(delta === undefined ? {} : { delta }),
    } satisfies ComparisonOptions;
    const settings = resolveComparison(options);
    const inputs = [values(0), values(1)] as const;
    const width = features.length;
    return [
      {
        ...{ name, features, effort: 1 },
        observe(world, random, rows) {
          const keys = new Uint32Array((8 * rows.length) / width);
          core.keystream(random, keys);
          for (let i = 0; i < rows.length / width; i++) {
            const system = makeComparison(settings, core, keys.slice(8 * i, 8 * i + 8));
            const published = system.pushMany(inputs[world]);
            const prefix = new Float64Array(published.length + 1);
            published.forEach((number, k) => (prefix[k + 1] = prefix[k]! + number));
            rows.set(read(prefix, published, epsilon), i * width);
          }
        },
      },
    ];
  };
}

/** `count` values of which the one at `place` is 0 or Θ, and the others `rest`. */
const oneOf =
  (count: number, place: number, rest = 0) =>
  (world: World): Float64Array => {
    const values = new Float64Array(count).fill(rest);
    values[place] = world * THETA;
    return values;
  };

const all =
  (count: number) =>
  (world: World): Float64Array =>
    new Float64Array(count).fill(world * THETA);

/** A tree in which prefixes a and b show the two nodes that the first value is in. */
const tree = (maxRange: number, count: number, a: number, b: number): Attack => ({
  name: "the first value, 0 or max",
  features: ["evidence of two prefix sums", "first published number"],
  maxRange,
  values: oneOf(count, 0),
  read: (prefix, published, epsilon) => {
    const t = (2 * THETA) / epsilon;
    return [evidence(prefix[a]!, t) + evidence(prefix[b]!, t), published[0]!];
  },
});

/** δ of the audited rows: an event of small probability would show nothing but δ. */
export const GAUSSIAN_DELTA = 0.01;

/** Gaussian noise of one size on each of the numbers that `weigh` adds up: their sum is the likelihood ratio. */
const gauss = (maxRange: number, count: number, weigh: (prefix: Float64Array) => number): Attack => ({
  name: "the first value, 0 or max",
  features: ["likelihood ratio", "first published number"],
  ...{ maxRange, delta: GAUSSIAN_DELTA, values: oneOf(count, 0) },
  read: (prefix, published) => [weigh(prefix), published[0]!],
});

/** Entries of the square root of the counting matrix, and of its inverse. */
const ROOT = [1, 1 / 2, 3 / 8, 5 / 16];
const INVERSE = [1, -1 / 2, -1 / 8, -1 / 16];

/** cᵀ·B⁻¹·p for four prefix sums p: what four noisy numbers C·x + z say about the first value. */
const factorised = gauss(4, 4, (prefix) => {
  let sum = 0;
  for (let t = 0; t < 4; t++) for (let k = 0; k <= t; k++) sum += ROOT[t]! * INVERSE[k]! * prefix[t - k + 1]!;
  return sum;
});

const pegasus: Attack = {
  name: "the first value, 0 or max",
  features: ["evidence of the noisy value", "second published number"],
  maxRange: 4,
  values: oneOf(2, 0),
  read: (_prefix, published, epsilon) => [evidence(published[0]!, THETA / (0.8 * epsilon)), published[1]!],
};

const windowed: Attack = {
  name: `${WINDOW} values in a row, 0 or max`,
  features: ["first release", "values before it", "sum of published numbers"],
  maxRange: 128,
  values: all(WINDOW),
  read: (prefix, published) => {
    const first = published.findIndex((number) => number !== 0);
    return [first < 0 ? 0 : published[first]!, first, prefix[prefix.length - 1]!];
  },
};

/** By method. */
export const OPPONENT_TARGETS = {
  binary: targetOf("binary", tree(4, 2, 1, 2)),
  "binary-monotone": targetOf("binary-monotone", tree(4, 2, 1, 2)),
  honaker: targetOf("honaker", tree(4, 2, 1, 2)),
  // 19 is one node of the upper level; 1 is one of the lower.
  "k-ary": targetOf("k-ary", tree(20, 19, 1, 19)),
  "smooth-binary": targetOf("smooth-binary", tree(5, 3, 1, 3)),
  // The third value is in a tree of one level, and in the count up to 4.
  "binary-hybrid": targetOf("binary-hybrid", {
    ...tree(4, 4, 0, 0),
    name: "the third value, 0 or max",
    values: oneOf(4, 2),
    read: (prefix, published, epsilon) => {
      const t = (2 * THETA) / epsilon;
      const since = (end: number) => prefix[end]! - prefix[2]!;
      return [evidence(since(3), t) + evidence(since(4), t), published[2]!];
    },
  }),
  "pegasus-average": targetOf("pegasus-average", pegasus),
  "pegasus-median": targetOf("pegasus-median", pegasus),
  "pegasus-james-stein": targetOf("pegasus-james-stein", pegasus),
  partition: targetOf("partition", {
    name: "the first value, 0 or max",
    features: ["values before the first cut", "count at the first cut, less all values so far"],
    maxRange: 32,
    values: oneOf(32, 0, THETA),
    read: (_prefix, published) => {
      const first = published.findIndex((number) => number !== 0);
      return [first, first < 0 ? 0 : published[first]! - (first + 1) * THETA];
    },
  }),
  bd: targetOf("bd", windowed),
  ba: targetOf("ba", windowed),
  // Three samples of 20 values, corrected by gains of nearly 1/2, 1/3 and 1/4: the noisy samples follow from what is published.
  fast: targetOf("fast", {
    name: "all values of the horizon, 0 or max",
    features: ["evidence of three samples", "first published number"],
    maxRange: 20,
    values: all(3),
    read: (_prefix, published, epsilon) => {
      const [x, y, z] = published as unknown as [number, number, number];
      const samples = [2 * x, 3 * y - 2 * x, 4 * z - 3 * y];
      const t = (3 * THETA) / epsilon;
      return [samples.reduce((sum, sample) => sum + evidence(sample, t), 0), x];
    },
  }),
} as const satisfies Partial<Record<MethodName, MakeTargets>>;

/** Targets whose noise is Gaussian: they claim (ε, δ). */
export const GAUSSIAN_TARGETS = {
  "k-ary-gauss": targetOf(
    "k-ary-gauss",
    gauss(20, 19, (prefix) => prefix[1]! + prefix[19]!),
  ),
  "smooth-binary-gauss": targetOf(
    "smooth-binary-gauss",
    gauss(5, 3, (prefix) => prefix[1]! + prefix[3]!),
  ),
  "square-root": targetOf("square-root", factorised),
  banded: targetOf("banded", factorised),
  blt: targetOf("blt", factorised),
} as const satisfies Partial<Record<MethodName, MakeTargets>>;

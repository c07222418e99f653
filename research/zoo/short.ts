/** Measures what a short hold-out costs, with and without a second choice of θ, against waiting for a long one. */
import type { PrivateStream } from "../../src/stream/system.js";
import { valueStream } from "../../src/stream/holdoutStream.js";
import { prefixSums, type Range, randomRanges } from "../metrics.js";
import { zooMax, zooStream } from "./zoo.js";

/** Waiting, publishing early, and publishing early with a second choice of θ when the first tree ends. */
export const WAYS = ["wait", "short", "refined"] as const;
export type Way = (typeof WAYS)[number];

/** Where ranges lie: in the first tree, behind it, or anywhere. */
export const PLACES = ["first", "after", "all"] as const;
/** Mean squared errors of answers, and of sums of published numbers. */
export const KINDS = ["answers", "published"] as const;
type Errors = Readonly<Record<(typeof KINDS)[number], number>>;
export type ShortErrors = Readonly<Record<(typeof PLACES)[number], Errors>>;

export interface ShortCell {
  readonly stream: string;
  readonly epsilon: number;
  readonly errors: Readonly<Record<Way, ShortErrors>>;
}

export interface ShortOptions {
  readonly streams: readonly string[];
  readonly epsilons: readonly number[];
  readonly runs: number;
  readonly queries: number;
  readonly seed: string;
  /** The short hold-out. */
  readonly holdout: number;
  readonly maxRange: number;
}

/** Waiting means values of a whole tree: the usual hold-out. */
const usualHoldout = (maxRange: number): number => maxRange / 16;

export function measureShort(options: ShortOptions): ShortCell[] {
  const { streams, epsilons, runs, maxRange } = options;
  const longest = usualHoldout(maxRange);
  return streams.flatMap((stream) => {
    const values = zooStream(stream, longest + maxRange);
    const truth = prefixSums(values);
    return epsilons.map((epsilon) => {
      const mean = (way: Way): ShortErrors => {
        const all = Array.from({ length: runs }, (_, run) =>
          oneRun(options, way, stream, epsilon, run, values, truth),
        );
        const of = (place: (typeof PLACES)[number]): Errors => ({
          answers: all.reduce((sum, errors) => sum + errors[place].answers / runs, 0),
          published: all.reduce((sum, errors) => sum + errors[place].published / runs, 0),
        });
        return { first: of("first"), after: of("after"), all: of("all") };
      };
      return {
        ...{ stream, epsilon },
        errors: { wait: mean("wait"), short: mean("short"), refined: mean("refined") },
      };
    });
  });
}

function oneRun(
  { seed, queries, holdout, maxRange }: ShortOptions,
  way: Way,
  name: string,
  epsilon: number,
  run: number,
  values: Float64Array,
  truth: Float64Array,
): ShortErrors {
  const tree = usualHoldout(maxRange);
  const held = way === "wait" ? tree : holdout;
  const stream = valueStream({
    ...{ epsilon, max: zooMax(name), holdout: held, maxRange },
    tuning: { refine: way === "refined" },
    unsafeSeed: `${seed}, ${name}, ${epsilon}, short, run ${run}`,
  });
  stream.pushMany(values.subarray(0, held + maxRange));
  const ranges = (part: string, length: number, from: number): Range[] =>
    randomRanges(`${seed}, ${part} of run ${run}`, length, queries).map((range) => ({
      from: range.from + from,
      to: range.to + from,
    }));
  return {
    // Each way's own first tree and all that it publishes; behind the first tree, the same values for all of them.
    first: errorsIn(stream, ranges("first", tree, held), held, truth),
    after: errorsIn(stream, ranges("after", maxRange - tree, holdout + tree), held, truth),
    all: errorsIn(stream, ranges("all", maxRange, held), held, truth),
  };
}

/** @param ranges of the input, of which the stream has held out the first `held` values */
function errorsIn(
  stream: PrivateStream,
  ranges: readonly Range[],
  held: number,
  truth: Float64Array,
): Errors {
  let [answers, published] = [0, 0];
  for (const { from, to } of ranges) {
    const exact = truth[to]! - truth[from]!;
    const sum = (answer: "best" | "published") => stream.range(from - held, to - held, { answer }).sum;
    answers += (sum("best") - exact) ** 2 / ranges.length;
    published += (sum("published") - exact) ** 2 / ranges.length;
  }
  return { answers, published };
}

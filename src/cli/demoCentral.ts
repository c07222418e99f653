/** The first screen of brume demo: ToPS on the built-in stream, a picture and five ranges beside the truth. */
import { planValues } from "../stream/plan.js";
import { valueStream } from "../stream/holdoutStream.js";
import type { PrivateStream } from "../stream/system.js";
import { bold, faint, green } from "./colour.js";
import { EXAMPLE } from "./example.js";
import { table } from "./table.js";
import { wrap } from "./wrap.js";

export const HOLDOUT = 65_536;
const LENGTH = EXAMPLE.length - HOLDOUT;
const DAY = 86_400;

/** Lines of the picture. */
const ROWS = 12;
/** Points of the picture: with the labels beside it, it is 100 columns wide. */
const MOST_POINTS = 90;

/** Ranges in published positions: position 0 is the first second after the hold-out. */
const RANGES = [
  ["first hour", 0, 3600],
  ["day 1", 0, DAY],
  ["day 4", 3 * DAY, 4 * DAY],
  ["first week", 0, 7 * DAY],
  ["everything", 0, LENGTH],
] as const;

export interface Central {
  readonly epsilon: number;
  readonly heldOut: number;
  readonly published: number;
  readonly seconds: number;
  readonly threshold: number;
  /** Means of equal intervals. */
  readonly picture: {
    readonly perPoint: number;
    readonly truth: readonly number[];
    readonly released: readonly number[];
  };
  /** `from` and `to` are published positions. */
  readonly ranges: readonly {
    readonly name: string;
    readonly from: number;
    readonly to: number;
    readonly truth: number;
    /** The true sum of values clamped to θ: what the interval holds. */
    readonly clamped: number;
    readonly sum: number;
    readonly low: number;
    readonly high: number;
  }[];
  /** Share of the total that clamping to θ removed: the true one, and bounds by noisy counts. */
  readonly hidden: { readonly truth: number; readonly low: number; readonly high: number };
}

/** The stream of the demo after all its values. */
export function demoStream(values: Float64Array, epsilon: number): PrivateStream {
  const stream = valueStream({ epsilon, max: EXAMPLE.max, holdout: HOLDOUT });
  stream.pushMany(values);
  return stream;
}

export function releaseCentral(values: Float64Array, epsilon: number): Central {
  const started = performance.now();
  const stream = demoStream(values, epsilon);
  const seconds = (performance.now() - started) / 1000;
  const truth = values.subarray(HOLDOUT);
  const { blockLength } = planValues({ epsilon, max: EXAMPLE.max, holdout: HOLDOUT });
  const points = Math.min(MOST_POINTS, Math.floor(LENGTH / blockLength / 3));
  const perPoint = Math.floor(LENGTH / points);
  const spans = Array.from({ length: points }, (_, i) => [i * perPoint, (i + 1) * perPoint] as const);
  const total = sumOf(truth);
  const threshold = stream.statement().threshold!;
  const cut = truth.reduce((sum, value) => sum + Math.max(0, value - threshold), 0);
  const { low, high } = stream.range(0, LENGTH).hidden!;
  return {
    epsilon,
    heldOut: HOLDOUT,
    published: LENGTH,
    seconds,
    threshold,
    picture: {
      perPoint,
      truth: spans.map(([from, to]) => sumOf(truth.subarray(from, to)) / perPoint),
      released: spans.map(([from, to]) => stream.range(from, to).mean),
    },
    ranges: RANGES.map(([name, from, to]) => {
      const answer = stream.range(from, to);
      const { sum, low, high } = answer;
      const own = truth.subarray(from, to);
      const clamped = own.reduce((total, value) => total + Math.min(value, threshold), 0);
      return { name, from, to, truth: sumOf(own), clamped, sum, low, high };
    }),
    hidden: { truth: cut / total, low: low / total, high: high / total },
  };
}

export function showCentral(release: Central): string {
  const { epsilon, heldOut, published, seconds, threshold, picture, ranges, hidden } = release;
  const drawn = chart(picture.truth, picture.released)
    .replaceAll("·", faint("·"))
    .replaceAll(/●+/g, (points) => green(points));
  const percent = (part: number): string => `${(100 * part).toFixed(2)} %`;
  return [
    bold("ToPS: one server sees the values and publishes private numbers"),
    wrap(
      `Queries per second at a name server; each value is protected with ε = ${epsilon}. ${heldOut} values chose θ = ${threshold}; ${published} were published in ${seconds.toFixed(2)} s.`,
    ),
    `Means of ${picture.perPoint} seconds: ${faint("·")} truth, ${green("●")} published`,
    drawn,
    "",
    table(
      ["range", "positions", "true sum", "clamped", "private sum", "95 % interval", "error"],
      ranges.map(({ name, from, to, truth, clamped, sum, low, high }) => [
        name,
        `${from} to ${to - 1}`,
        truth.toFixed(0),
        clamped.toFixed(0),
        sum.toFixed(0),
        `${low.toFixed(0)} to ${high.toFixed(0)}`,
        percent((sum - truth) / truth),
      ]),
    ),
    wrap(
      `Position 0 is the first published value, after the hold-out. The interval is for the sum of values clamped to θ, the error against the true sum. Clamping hides ${percent(hidden.truth)} of the total, by noisy counts ${percent(hidden.low)} to ${percent(hidden.high)}.`,
    ),
  ].join("\n");
}

/** Two series as a picture of text: the first as dots, the second as points on top. */
function chart(under: readonly number[], over: readonly number[]): string {
  const all = [...under, ...over];
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const rowOf = (value: number) => Math.round(((value - low) / (high - low || 1)) * (ROWS - 1));
  const lines = Array.from({ length: ROWS }, (_, i) => {
    const row = ROWS - 1 - i;
    const label = (low + ((high - low) * row) / (ROWS - 1)).toFixed(1).padStart(8);
    const cells = under.map((value, x) => (rowOf(over[x]!) === row ? "●" : rowOf(value) === row ? "·" : " "));
    return `${label} ┤${cells.join("")}`.trimEnd();
  });
  return lines.join("\n");
}

export function sumOf(values: Float64Array): number {
  return values.reduce((a, b) => a + b, 0);
}

/** Streams for the accuracy of ToPL, by name: files, those of the paper as the lab makes them, and textbook shapes. */
import { uniformBelow } from "../uniform.js";
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { DATASET_NAMES, type DatasetName, TABLE1 } from "../data/datasets.js";
import { generate } from "../data/generate.js";
import { normalQuantile } from "../../src/core/normal.js";
import { makeStream, ZOO, type ZooGroup, zooMax, zooStream } from "../zoo/zoo.js";
import { LOCAL_TUNING } from "./tuning.js";

export interface Stream {
  readonly name: string;
  /** The public bound. */
  readonly max: number;
  /** Values `from` … `from + length − 1`; data that end before are continued by their mirror image. */
  values(from: number, length: number): Float64Array;
}

/** Independent values, as functions of a uniform number in (0, 1); most have bounds far above what usually comes. */
const SHAPES: Record<string, { max: number; quantile: (u: number) => number }> = {
  uniform: { max: 1000, quantile: (u) => 1000 * u },
  exponential: { max: 1000, quantile: (u) => -20 * Math.log(u) },
  // Median 20, σ = 1: one value in 10⁴ is above 800.
  lognormal: { max: 5000, quantile: (u) => 20 * Math.exp(normal(u)) },
  // Pareto with exponent 2.5: infinite fourth moment, a tail that clamping always hides some of.
  pareto: { max: 5000, quantile: (u) => 10 * (u ** (-1 / 2.5) - 1) },
  // Nine in ten around 20, one in ten around 600: no gap is the end of the data.
  bimodal: {
    max: 1000,
    quantile: (u) => (u < 0.9 ? 20 + 5 * normal(u / 0.9) : 600 + 50 * normal(10 * u - 9)),
  },
  // Nothing near 0, and nothing far from the middle.
  narrow: { max: 1000, quantile: (u) => 500 + 30 * normal(u) },
};

export const STREAM_NAMES: readonly string[] = [...DATASET_NAMES, ...Object.keys(SHAPES)];

/** A built-in stream. */
export function namedStream(name: string): Stream {
  if (name in TABLE1) return recorded(name, TABLE1[name as DatasetName].max, generate(name as DatasetName));
  const shape = SHAPES[name];
  if (!shape) throw new TypeError(`--stream: expected one of ${STREAM_NAMES.join(", ")}, got ${name}`);
  return {
    name,
    max: shape.max,
    values(from, length) {
      const random = subStream(unsafeKey(name), Purpose.baseline, 0, 0);
      random.position = 2 * from; // two words a number
      const uniform = new Float64Array(length);
      uniformBelow(random, 2 ** 53, uniform);
      return uniform.map((u) => Math.min(shape.max, Math.max(0, shape.quantile((u + 0.5) / 2 ** 53))));
    },
  };
}

/** Streams of the zoo that change in time: there the hold-out says little about what follows, whatever the rule. */
const CHANGING: readonly string[] = [
  ...["on-off daily", "daily wave", "drift", "shift", "growth", "burst"],
  ...["office hours", "random walk", "up and down", "adoption", "more often", "decline", "flash crowds"],
];

/** The others of a group; "local" are the streams that only ToPL's rule is decided on (tuning.ts). */
export function steadyStreams(group: string): string[] {
  if (group === "local") return Object.keys(LOCAL_TUNING);
  if (!Object.hasOwn(ZOO, group))
    throw new TypeError(`--zoo: expected one of ${Object.keys(ZOO).join(", ")}, local, got ${group}`);
  return Object.keys(ZOO[group as ZooGroup]).filter((name) => !CHANGING.includes(name));
}

export function zooByName(name: string, length: number): Stream {
  const own = LOCAL_TUNING[name];
  const all = own ? makeStream(own, `local 1, ${name}`, length) : zooStream(name, length);
  return { name, max: own?.max ?? zooMax(name), values: (from, count) => all.slice(from, from + count) };
}

/** @param entry name=FILE:max */
export function fileStream(entry: string): Stream {
  const [, name, file, max] = /^(.+?)=(.+):(\d+(?:\.\d+)?)$/.exec(entry) ?? [];
  if (file === undefined) throw new TypeError(`--data: expected name=FILE:max, got ${entry}`);
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return recorded(name!, Number(max), Float64Array.from(text.trim().split(/\s+/), Number));
}

const recorded = (name: string, max: number, data: Float64Array): Stream => ({
  name,
  max,
  values: (from, length) =>
    Float64Array.from({ length }, (_, i) => {
      const k = (from + i) % (2 * data.length);
      return data[k < data.length ? k : 2 * data.length - 1 - k]!;
    }),
});

/** The standard normal value below which a share u lies. */
const normal = (u: number): number => Math.sign(u - 0.5) * normalQuantile(Math.abs(2 * u - 1));

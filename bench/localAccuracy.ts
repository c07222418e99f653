/**
 * How good is θ, and the release, on real data? The paper's setting: 65 536 values learn θ with a varying ε, then 2²⁰ values
 * are released with ε = 1 (shorter data goes on mirrored); mean squared error over random ranges.
 *
 *     npm run accuracy:local -- --data pos=pos.txt:1657 --runs 20
 *
 * FILE holds one number per line (.gz is unpacked); the number after the colon is the public bound `max`.
 */
import { readFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { gunzipSync } from "node:zlib";
import { makeWasmCore } from "../src/core/wasm/index.js";
import { Stage, subStream, unsafeKey } from "../src/core/random.js";
import { type Aggregator, aggregator, type AggregatorOptions } from "../src/local/aggregator.js";
import type { Mechanism } from "../src/core/mechanism.js";
import { hybrid, stochasticRounding } from "../src/local/mechanisms.js";
import { varianceOf } from "../src/local/moments.js";
import { reporter } from "../src/local/reporter.js";

const HOLDOUT = 65_536;
const RANGE = 2 ** 20;
const RELEASE_EPSILON = 1;
const EPSILONS = [0.2, 0.6, 1, 1.6, 2];
const QUERIES = 200;
const METHODS: Record<string, Partial<AggregatorOptions>> = {
  SW: { estimator: "ems", prune: false, objective: "paper" },
  "SW-W": { prune: "paper", objective: "paper" },
  default: {},
};

const core = makeWasmCore();

function readValues(file: string): Float64Array {
  const bytes = readFileSync(file);
  const text = (file.endsWith(".gz") ? gunzipSync(bytes) : bytes).toString("utf8");
  return Float64Array.from(text.trim().split(/\s+/), Number);
}

/** `length` values from position `from` on; the data go on mirrored. */
function stream(data: Float64Array, from: number, length: number): Float64Array {
  const at = (i: number) => i % (2 * data.length);
  return Float64Array.from({ length }, (_, i) => {
    const k = at(from + i);
    return data[k < data.length ? k : 2 * data.length - 1 - k]!;
  });
}

/** Random ranges [from, to) within `length`. */
function ranges(name: string, count: number, length: number): [number, number][] {
  const ends = new Float64Array(2 * count);
  core.uniformBelow(subStream(unsafeKey(name), Stage.baseline, 0, 0), length + 1, ends);
  return Array.from({ length: count }, (_, i) => {
    const [a, b] = [ends[2 * i]!, ends[2 * i + 1]!];
    return a === b ? [0, length] : [Math.min(a, b), Math.max(a, b)];
  });
}

const running = (values: Float64Array): Float64Array => {
  const sums = new Float64Array(values.length + 1);
  values.forEach((value, i) => (sums[i + 1] = sums[i]! + value));
  return sums;
};

const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Distinct values and their shares. */
function histogram(values: Float64Array): [number, number][] {
  const counts = new Map<number, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].map(([value, count]) => [value, count / values.length]);
}

/** The MSE over random ranges that releasing with θ would have, values in any order: r/3 of noise, r²/6 of squared bias. */
function expectedError(shares: [number, number][], theta: number, mechanism: Mechanism): number {
  const average = (f: (value: number) => number) =>
    shares.reduce((sum, [value, share]) => sum + share * f(value), 0);
  const noise = average((value) => theta ** 2 * varianceOf(mechanism, Math.min(1, value / theta)));
  const hidden = average((value) => Math.max(0, value - theta));
  return (RANGE / 3) * noise + (RANGE ** 2 / 6) * hidden ** 2;
}

/** Learns from `values` and gives the aggregator that knows θ. */
async function learn(values: Float64Array, max: number, epsilon: number, method: string, seed: string) {
  const server = aggregator({
    epsilon: RELEASE_EPSILON,
    learnEpsilon: epsilon,
    max,
    holdout: HOLDOUT,
    ...METHODS[method],
  });
  const device = reporter({ epsilon, max, phase: "learn", core, unsafeKey: unsafeKey(seed) });
  server.learn(device.reportMany(values));
  return { server, theta: await server.threshold() };
}

const figure = (value: number): string => value.toExponential(1).replace("e+", "e");

interface Measured {
  readonly errors: number[];
  /** 95 % intervals that hold the sum of the clamped values, and of the values themselves. */
  clamped: number;
  true: number;
}

/** Releases all values with θ; squared errors and coverage over random ranges, against the values themselves. */
function release(
  server: Aggregator,
  values: Float64Array,
  max: number,
  theta: number,
  seed: string,
  into: Measured,
) {
  const device = reporter({
    epsilon: RELEASE_EPSILON,
    max,
    phase: "release",
    threshold: theta,
    core,
    unsafeKey: unsafeKey(seed),
  });
  server.release(device.reportMany(values));
  const truth = running(values);
  const clamped = running(values.map((value) => Math.min(value, theta)));
  for (const [from, to] of ranges(seed, QUERIES, RANGE)) {
    const answer = server.range(from, to);
    const [low, high] = answer.interval();
    const holds = (sum: number) => (low <= sum && sum <= high ? 1 : 0);
    into.errors.push((answer.sum - (truth[to]! - truth[from]!)) ** 2);
    into.clamped += holds(clamped[to]! - clamped[from]!);
    into.true += holds(truth[to]! - truth[from]!);
  }
}

async function table(
  name: string,
  data: Float64Array,
  max: number,
  runs: number,
  releases: number,
): Promise<void> {
  const hold = stream(data, 0, HOLDOUT);
  const released = stream(data, HOLDOUT, RANGE);
  const shares = histogram(released);
  const mechanisms = [hybrid(RELEASE_EPSILON), stochasticRounding(RELEASE_EPSILON)] as const;
  const grid = Array.from({ length: 1024 }, (_, i) => (max * (i + 1)) / 1024);
  const possible = grid.map((theta) => expectedError(shares, theta, mechanisms[0]));
  const best = possible.indexOf(Math.min(...possible));
  console.log(
    `\n${name}, max = ${max}; best possible: θ = ${grid[best]!.toFixed(1)}, ${figure(possible[best]!)}\n`,
  );
  console.log(
    "| ε | method | median θ [min–max] | expected MSE | with SR | measured MSE | 95 % intervals: clamped sum | true sum |",
  );
  console.log("|---|---|---|---|---|---|---|---|");
  for (const epsilon of EPSILONS)
    for (const method of Object.keys(METHODS)) {
      const thetas: number[] = [];
      const measured: Measured = { errors: [], clamped: 0, true: 0 };
      for (let run = 0; run < runs; run++) {
        const seed = `accuracy ${name} ${epsilon} ${run}`;
        const { server, theta } = await learn(hold, max, epsilon, method, seed);
        thetas.push(theta);
        // Releasing takes longest: ours only.
        if (method === "default" && run < releases) release(server, released, max, theta, seed, measured);
      }
      thetas.sort((a, b) => a - b);
      const [low, middle, high] = [thetas[0]!, thetas[runs >> 1]!, thetas.at(-1)!].map((theta) =>
        theta.toFixed(1),
      );
      const expected = mechanisms.map((m) =>
        figure(mean(thetas.map((theta) => expectedError(shares, theta, m)))),
      );
      const { errors } = measured;
      const percent = (count: number) => `${((100 * count) / errors.length).toFixed(1)} %`;
      const done =
        errors.length > 0
          ? [figure(mean(errors)), percent(measured.clamped), percent(measured.true)]
          : ["", "", ""];
      console.log(
        `| ${epsilon} | ${method} | ${middle} [${low}–${high}] | ${[...expected, ...done].join(" | ")} |`,
      );
    }
}

const { values: options } = parseArgs({
  options: {
    data: { type: "string", multiple: true, default: [] },
    runs: { type: "string", default: "20" },
    releases: { type: "string", default: "10" },
  },
});
if (options.data.length === 0)
  throw new TypeError("--data: expected name=FILE:max, as often as there are files");
console.log(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, ${options.runs} runs a line, ${options.releases} of them released`,
);
for (const entry of options.data) {
  const parts = /^(.+?)=(.+):(\d+(?:\.\d+)?)$/.exec(entry);
  if (!parts) throw new TypeError(`--data: expected name=FILE:max, got ${entry}`);
  await table(
    parts[1]!,
    readValues(parts[2]!),
    Number(parts[3]),
    Number(options.runs),
    Number(options.releases),
  );
}

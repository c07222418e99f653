/**
 * How good is θ, and the release? The paper's setting: 65 536 values learn θ with a varying ε, then 2²⁰ values are released
 * with ε = 1; mean squared error over random ranges, and how often 95 % intervals hold.
 *
 *     npm run measure -- local --data pos=pos.txt:1657 --runs 20 --releases 20
 *     npm run measure -- local --stream Fare --stream uniform --releases 0
 *     npm run measure -- local --zoo fresh --runs 40
 *
 * --days measures answers by days (days.ts). --data takes a file with one number per line (.gz is unpacked) and the public bound `max`; --stream a built-in stream
 * ("all": each of them); --zoo a group of the zoo (tuning, fresh, local), whose streams that stay the same in time compare the
 * default with SW-W.
 */
import { uniformBelow } from "../uniform.js";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import { makeWasmCore } from "../../src/core/wasm/index.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import type { PaperTuning } from "../../src/local/paper/settings.js";
import { reporter } from "../../src/local/anyCoreReporter.js";
import type { Mechanism } from "../../src/core/tables/sectors.js";
import { hybrid, stochasticRounding } from "../../src/local/mechanisms.js";
import { varianceOf } from "../../src/local/moments.js";
import { thresholdShares } from "../../src/local/channel.js";
import { Comparison, type ExpectedError, total } from "./compare.js";
import { measureDays } from "./days.js";
import { releaser, running } from "./release.js";
import { fileStream, namedStream, steadyStreams, type Stream, STREAM_NAMES, zooByName } from "./streams.js";

const HOLDOUT = 65_536;
const RANGE = 2 ** 20;
const RELEASE_EPSILON = 1;
const EPSILONS = [0.2, 0.6, 1, 1.6, 2];
const QUERIES = 200;
const METHODS: Record<string, PaperTuning> = {
  SW: { estimator: "ems", tail: "whole", objective: "paper" },
  "SW-W": { tail: "paper", objective: "paper" },
  default: {},
};

const core = makeWasmCore();

/** Random ranges [from, to) within `length`. */
function ranges(name: string, count: number, length: number): [number, number][] {
  const ends = new Float64Array(2 * count);
  uniformBelow(subStream(unsafeKey(name), Purpose.baseline, 0, 0), length + 1, ends);
  return Array.from({ length: count }, (_, i) => {
    const [a, b] = [ends[2 * i]!, ends[2 * i + 1]!];
    return a === b ? [0, length] : [Math.min(a, b), Math.max(a, b)];
  });
}

const mean = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0) / values.length;

/** Standard error of the mean. */
function standardError(values: readonly number[]): number {
  const middle = mean(values);
  const squares = values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  return Math.sqrt(squares / (values.length - 1) / values.length);
}

/** The MSE over random ranges that releasing with θ would have, values in any order: r/3 of noise, r²/6 of squared bias. */
function expectedErrors(values: Float64Array): (theta: number, mechanism: Mechanism) => ExpectedError {
  const sorted = values.slice().sort();
  const [sums, squares] = [running(sorted), running(sorted.map((value) => value * value))];
  const n = values.length;
  return (theta, mechanism) => {
    let [kept, high] = [0, n]; // values up to θ
    while (kept < high) {
      const middle = (kept + high) >> 1;
      if (sorted[middle]! <= theta) kept = middle + 1;
      else high = middle;
    }
    const clamped = (sums[kept]! + (n - kept) * theta) / n;
    const square = (squares[kept]! + (n - kept) * theta ** 2) / n;
    // The variance is a parabola in the value's share of θ, symmetric about ½.
    const [end, middle] = [varianceOf(mechanism, 0), varianceOf(mechanism, 0.5)];
    const noise = theta ** 2 * middle + 4 * (end - middle) * (square - theta * clamped + theta ** 2 / 4);
    return { noise: (RANGE / 3) * noise, bias: (RANGE ** 2 / 6) * (sums[n]! / n - clamped) ** 2 };
  };
}

/** Learns from `values` and gives the aggregator that knows θ. */
async function learn(values: Float64Array, max: number, epsilon: number, method: string, seed: string) {
  const server = new PaperAggregator({
    epsilon: RELEASE_EPSILON,
    max,
    holdout: HOLDOUT,
    tuning: { learnEpsilon: epsilon, ...METHODS[method] },
  });
  const device = reporter({ variant: "paper", epsilon, max, phase: "learn", unsafeSeed: seed });
  server.learn(device.reportMany(values));
  return { server, theta: await server.threshold() };
}

/** One line of the table: a method at one ε, over all runs. */
interface Line {
  readonly epsilon: number;
  readonly method: string;
  readonly thetas: number[];
  /** Squared errors over ranges and releases, and shares of intervals that hold, one number per run. */
  readonly measured: { readonly error: number; readonly clamped: number; readonly true: number }[];
}

/**
 * Squared errors over random ranges of many releases with one θ, and the share of 95 % intervals that hold the sum of the
 * clamped values, and of the values themselves.
 */
function measure(release: ReturnType<typeof releaser>, values: Float64Array, theta: number, seeds: string[]) {
  const truth = running(values);
  const clamped = running(values.map((value) => Math.min(value, theta)));
  const total = { error: 0, clamped: 0, true: 0 };
  for (const seed of seeds) {
    const answer = release(seed);
    for (const [from, to] of ranges(seed, QUERIES, RANGE)) {
      const found = answer(from, to);
      const { low, high } = found;
      const share = (sums: Float64Array) => {
        const sum = sums[to]! - sums[from]!;
        return (low <= sum && sum <= high ? 1 : 0) / (seeds.length * QUERIES);
      };
      total.error += (found.sum - (truth[to]! - truth[from]!)) ** 2 / (seeds.length * QUERIES);
      total.clamped += share(clamped);
      total.true += share(truth);
    }
  }
  return total;
}

async function measureLines(stream: Stream, runs: number, releases: number): Promise<Line[]> {
  const hold = stream.values(0, HOLDOUT);
  const released = stream.values(HOLDOUT, RANGE);
  const { max } = stream;
  const lines: Line[] = [];
  for (const epsilon of EPSILONS)
    for (const method of Object.keys(METHODS)) {
      const line: Line = { epsilon, method, thetas: [], measured: [] };
      lines.push(line);
      for (let run = 0; run < runs; run++) {
        const seed = `accuracy ${stream.name} ${epsilon} ${run}`;
        const { server, theta } = await learn(hold, max, epsilon, method, seed);
        line.thetas.push(theta);
        if (method !== "default" || releases === 0) continue;
        const release = releaser(core, server, released, { epsilon: RELEASE_EPSILON, max });
        const seeds = Array.from({ length: releases }, (_, i) => `${seed} ${i}`);
        line.measured.push(measure(release, released, theta, seeds));
      }
    }
  return lines;
}

const figure = (value: number): string => value.toExponential(1).replace("e+", "e");

/** With its standard error, from runs, which are independent; ranges of one release are not. */
const percent = (shares: readonly number[]): string =>
  `${(100 * mean(shares)).toFixed(1)} ± ${(100 * standardError(shares)).toFixed(1)} %`;

async function table(stream: Stream, runs: number, releases: number): Promise<void> {
  const lines = await measureLines(stream, runs, releases);
  const expected = expectedErrors(stream.values(HOLDOUT, RANGE));
  const mechanisms = [hybrid(RELEASE_EPSILON), stochasticRounding(RELEASE_EPSILON)] as const;
  const grid = Array.from({ length: 1024 }, (_, i) => (stream.max * (i + 1)) / 1024);
  const possible = grid.map((theta) => total(expected(theta, mechanisms[0])));
  const best = possible.indexOf(Math.min(...possible));
  console.log(
    `\n${stream.name}, max = ${stream.max}; best possible: θ = ${grid[best]!.toFixed(1)}, ${figure(possible[best]!)}\n`,
  );
  console.log(
    "| ε | method | median θ [min–max] | expected MSE | with SR | over default | measured MSE | 95 % intervals: clamped sum | true sum |",
  );
  console.log("|---|---|---|---|---|---|---|---|---|");
  for (const { epsilon, method, thetas, measured } of lines) {
    const sorted = thetas.toSorted((a, b) => a - b);
    const [low, middle, high] = [sorted[0]!, sorted[runs >> 1]!, sorted[sorted.length - 1]!].map((t) =>
      t.toFixed(1),
    );
    const mse = (of: readonly number[], mechanism: Mechanism) =>
      mean(of.map((theta) => total(expected(theta, mechanism))));
    const own = lines.find((line) => line.epsilon === epsilon && line.method === "default")!;
    const ratio = mse(thetas, mechanisms[0]) / mse(own.thetas, mechanisms[0]);
    const cells = [
      ...mechanisms.map((mechanism) => figure(mse(thetas, mechanism))),
      method === "default" ? "" : ratio.toPrecision(2),
      ...(measured.length === 0
        ? ["", "", ""]
        : [
            figure(mean(measured.map(({ error }) => error))),
            percent(measured.map(({ clamped }) => clamped)),
            percent(measured.map((shares) => shares.true)),
          ]),
    ];
    console.log(`| ${epsilon} | ${method} | ${middle} [${low}–${high}] | ${cells.join(" | ")} |`);
  }
}

async function compareZoo(group: string, runs: number): Promise<void> {
  const setting = {
    ...{ epsilons: EPSILONS, holdout: HOLDOUT, maxRange: RANGE, releaseEpsilon: RELEASE_EPSILON },
    runs,
  };
  const comparison = new Comparison(setting);
  for (const name of steadyStreams(group)) {
    const stream = zooByName(name, HOLDOUT + RANGE);
    const expected = expectedErrors(stream.values(HOLDOUT, RANGE));
    const mechanism = hybrid(RELEASE_EPSILON);
    const thetas = [...thresholdShares()].map((share) => share * stream.max);
    await comparison.add(core, stream, (theta) => expected(theta, mechanism), thetas);
  }
  comparison.summary();
  comparison.split();
}

const { values: options } = parseArgs({
  options: {
    data: { type: "string", multiple: true, default: [] },
    stream: { type: "string", multiple: true, default: [] },
    zoo: { type: "string" },
    days: { type: "string" },
    runs: { type: "string", default: "20" },
    releases: { type: "string", default: "20" },
  },
});
const names = options.stream.includes("all") ? STREAM_NAMES : options.stream;
if (options.data.length + names.length === 0 && (options.zoo ?? options.days) === undefined)
  throw new TypeError(
    "expected --data name=FILE:max or --stream NAME, as often as there are streams; or --zoo GROUP, or --days TABLE",
  );
console.log(
  `${cpus().length} × ${cpus()[0]?.model}, Node ${process.version}, ${new Date().toISOString().slice(0, 10)}, ${options.runs} runs a line, ${options.releases} releases a run`,
);
const files = options.data.map(fileStream);
if (options.days !== undefined) await measureDays(options.days, Number(options.runs), files);
if (options.zoo !== undefined) await compareZoo(options.zoo, Number(options.runs));
for (const stream of [...(options.days === undefined ? files : []), ...names.map(namedStream)])
  await table(stream, Number(options.runs), Number(options.releases));

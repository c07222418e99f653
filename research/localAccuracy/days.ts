/**
 * How good are answers by days?
 *
 *     npm run measure -- local --days table      reports that a mean needs, by formula
 *     npm run measure -- local --days variance   one report of a day beside one of the paper's Hybrid mechanism, by formula
 *     npm run measure -- local --days paper      a second day of 65 536 beside the paper's variant with as many reports
 *     npm run measure -- local --days lines      the same by formula, on the ten streams of streams.ts, or on those of --data
 *     npm run measure -- local --days steady     ten days of values that stay the same
 *     npm run measure -- local --days drift      values that become three times as large on the sixth day
 *     npm run measure -- local --days factor     how much room the first θ should have (factor.ts)
 *     npm run measure -- local --days coverage   how often intervals hold, draw by draw (coverage.ts)
 *
 * on eight distributions that had no say in the constants (freshValues.ts), but for `lines`. Seeds are fixed.
 */
import { uniformBelow } from "../uniform.js";
import { normalQuantile } from "../../src/core/normal.js";
import { Purpose, subStream } from "../../src/core/random.js";
import { unsafeKey } from "../../src/core/unsafeKey.js";
import { Aggregator } from "../../src/local/aggregator.js";
import { reporter } from "../../src/local/anyCoreReporter.js";
import { dayWindow, hybrid } from "../../src/local/mechanisms.js";
import { estimateOf, varianceOf } from "../../src/local/moments.js";
import { PaperAggregator } from "../../src/local/paper/paperAggregator.js";
import { coverage } from "./coverage.js";
import { errorsOf, factors } from "./factor.js";
import { FRESH } from "./freshValues.js";
import { namedStream, type Stream, STREAM_NAMES } from "./streams.js";

const DAY = 86_400_000;

function uniforms(length: number, seed: string): Float64Array {
  const drawn = new Float64Array(length);
  uniformBelow(subStream(unsafeKey(seed), Purpose.baseline, 0, 0), 2 ** 32, drawn);
  return drawn.map((u) => (u + 0.5) / 2 ** 32);
}

const meanOf = (values: Iterable<number>): number => {
  const all = [...values];
  return all.reduce((a, b) => a + b, 0) / all.length;
};
const rootMeanSquare = (errors: readonly number[]): number => Math.sqrt(meanOf(errors.map((x) => x * x)));
const percent = (share: number): string => (100 * share).toPrecision(2);

/** Least n with a half-width of at most `part` of the mean. */
function reportsFor(epsilon: number, ratio: number, part: number): number {
  const mechanism = dayWindow(epsilon);
  const z = normalQuantile(0.95);
  const skew = (estimateOf(mechanism, mechanism.cells - 1) * z * z) / 6;
  const reach = (n: number) => (z * Math.sqrt(n * varianceOf(mechanism, ratio)) + skew) / (n * ratio);
  let [low, high] = [1, 2 ** 40];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (reach(middle) <= part) high = middle;
    else low = middle;
  }
  return high;
}

function table(): void {
  console.log("| mean/θ | ε = 1 | ε = 2 | ε = 4 |\n| --- | --- | --- | --- |");
  for (const ratio of [0.8, 0.5, 0.3, 0.19, 0.09, 0.05]) {
    const cells = [1, 2, 4].map((epsilon) =>
      [0.25, 0.1]
        .map((part) => Number(reportsFor(epsilon, ratio, part).toPrecision(2)).toLocaleString("en"))
        .join(" / "),
    );
    console.log(`| ${ratio} | ${cells.join(" | ")} |`);
  }
}

/** Standard errors of a mean, as ratios: above 1 the paper's mechanism has less. */
function variance(): void {
  console.log("| ε | value 0 | 0.2 θ | 0.5 θ |\n| --- | --- | --- | --- |");
  for (const epsilon of [0.1, 0.25, 0.5, 0.6, 1, 2, 4]) {
    const [own, other] = [dayWindow(epsilon), hybrid(epsilon)];
    const ratios = [0, 0.2, 0.5].map((x) => Math.sqrt(varianceOf(own, x) / varianceOf(other, x)).toFixed(2));
    console.log(`| ${epsilon} | ${ratios.join(" | ")} |`);
  }
}

const highOf = (stream: (u: number) => number): number => uniforms(20_000, "max").map(stream).sort()[19_900]!;

async function paper(runs: number): Promise<void> {
  const n = 65_536;
  console.log(
    "| values | ε | mean: days | paper | window at the paper's θ | p95: days | paper |\n| --- | --- | --- | --- | --- | --- | --- |",
  );
  for (const epsilon of [0.5, 1, 2]) {
    const logarithms: number[][] = [];
    for (const [name, stream] of Object.entries(FRESH)) {
      const max = 10 * highOf(stream);
      const errors: Record<string, number[]> = { days: [], paper: [], window: [], days95: [], paper95: [] };
      for (let run = 0; run < runs; run++) {
        const values = uniforms(2 * n, `${name} ${run}`).map((u) => Math.min(max, stream(u)));
        const [first, second] = [values.subarray(0, n), values.subarray(n)];
        const truth = meanOf(second);
        const seed = (what: string) => ({ unsafeSeed: `${name} ${epsilon} ${run} ${what}` });
        let now = DAY / 2;
        const server = new Aggregator({ epsilon, max, clock: () => now });
        await server.terms();
        server.add(reporter({ epsilon, max, ...seed("first") }).reportMany(first));
        now += DAY;
        const { threshold } = await server.terms();
        server.add(reporter({ epsilon, max, threshold, ...seed("second") }).reportMany(second));
        const today = { from: DAY, to: 2 * DAY };
        const mean = server.between(today.from, today.to).mean ?? 0;
        errors["days"]!.push(mean / truth - 1);
        const sorted = (all: Float64Array) => all.slice().sort()[Math.floor(0.95 * n)]!;
        const p95 = await server.quantile(0.95, today);
        errors["days95"]!.push(Math.abs((p95.value ?? p95.low!) / sorted(second) - 1));
        const two = new PaperAggregator({ epsilon, max, holdout: n, maxRange: n });
        const both = { variant: "paper", epsilon, max } as const;
        two.learn(reporter({ ...both, phase: "learn", ...seed("learn") }).reportMany(first));
        const theta = await two.threshold();
        two.release(
          reporter({ ...both, phase: "release", threshold: theta, ...seed("release") }).reportMany(second),
        );
        errors["paper"]!.push(two.total().mean / truth - 1);
        const alike = new Aggregator({ epsilon, max, threshold: theta, follow: false, clock: () => now });
        alike.add(reporter({ epsilon, max, threshold: theta, ...seed("window") }).reportMany(second));
        errors["window"]!.push((alike.between(today.from, today.to).mean ?? 0) / truth - 1);
        errors["paper95"]!.push(Math.abs((await two.quantile(0.95)).value / sorted(first) - 1));
      }
      const cells = [
        ...["days", "paper", "window"].map((what) => rootMeanSquare(errors[what]!)),
        ...[meanOf(errors["days95"]!), meanOf(errors["paper95"]!)],
      ];
      logarithms.push(cells.map(Math.log));
      console.log(`| ${name} | ${epsilon} | ${cells.map((x) => `${percent(x)} %`).join(" | ")} |`);
    }
    const together = logarithms[0]!.map((_, i) => Math.exp(meanOf(logarithms.map((line) => line[i]!))));
    console.log(`| geometric mean | ${epsilon} | ${together.map((x) => `${percent(x)} %`).join(" | ")} |`);
  }
}

/**
 * Error of the mean of a second day over that of the paper's variant, one line per stream: with its default, whose θ is chosen
 * for ranges of 2²⁰ values, and with a θ chosen for ranges of one day alone. θ is chosen from drawn reports; errors follow from it
 * by formula, root mean square over the runs.
 */
async function lines(runs: number, streams: readonly Stream[]): Promise<void> {
  const [n, epsilons] = [65_536, [0.2, 0.6, 1, 1.6, 2]];
  console.log(`| stream | ${epsilons.map((epsilon) => `ε = ${epsilon}`).join(" | ")} |`);
  console.log(`|${" --- |".repeat(1 + epsilons.length)}`);
  const logarithms = epsilons.map(() => [[], []] as [number[], number[]]);
  for (const stream of streams) {
    const { name, max } = stream;
    const cells: string[] = [];
    for (const [column, epsilon] of epsilons.entries()) {
      const squares = [0, 0, 0]; // days, the paper's default, for one day
      for (let run = 0; run < runs; run++) {
        const [first, second] = [stream.values(2 * run * n, n), stream.values((2 * run + 1) * n, n)];
        const seed = { unsafeSeed: `${name} ${epsilon} ${run}` };
        let now = DAY / 2;
        const server = new Aggregator({ epsilon, max, clock: () => now });
        server.add(reporter({ epsilon, max, ...seed }).reportMany(first));
        now += DAY;
        const { threshold } = await server.terms();
        squares[0]! += errorsOf(second, dayWindow(epsilon))(threshold, n).error ** 2;
        const learn = reporter({ variant: "paper", phase: "learn", epsilon, max, ...seed }).reportMany(first);
        for (const [i, maxRange] of [2 ** 20, n].entries()) {
          const two = new PaperAggregator({ epsilon, max, holdout: n, maxRange });
          two.learn(learn);
          squares[1 + i]! += errorsOf(second, hybrid(epsilon))(await two.threshold(), n).error ** 2;
        }
      }
      const ratios = [1, 2].map((i) => Math.sqrt(squares[0]! / squares[i]!));
      ratios.forEach((ratio, i) => logarithms[column]![i]!.push(Math.log(ratio)));
      cells.push(ratios.map((ratio) => ratio.toFixed(2)).join(" / "));
    }
    console.log(`| ${name} | ${cells.join(" | ")} |`);
  }
  const means = logarithms.map((both) => both.map((of) => Math.exp(meanOf(of)).toFixed(2)).join(" / "));
  console.log(`| geometric mean | ${means.join(" | ")} |`);
}

async function tenDays(runs: number, factor: number): Promise<void> {
  console.log(
    "| ε | max | reports a day | error of the mean, day 1 → 2 → 6 → 7 → 10 | hidden, day 10 | covered |\n| --- | --- | --- | --- | --- | --- |",
  );
  for (const epsilon of [1, 4])
    for (const times of [1, 10])
      for (const n of [200, 2000, 20_000]) {
        const errors = Array.from({ length: 10 }, (): number[] => []);
        let [hidden, held, asked] = [0, 0, 0];
        for (const [name, stream] of Object.entries(FRESH))
          for (let run = 0; run < runs; run++) {
            const max = times * highOf(stream);
            let now = DAY / 2;
            const server = new Aggregator({ epsilon, max, clock: () => now });
            for (let day = 0; day < 10; day++, now += DAY) {
              const { threshold } = await server.terms();
              const seed = `${name} ${run} ${day} ${n} ${times} ${epsilon}`;
              const values = uniforms(n, seed).map((u) => Math.min(max, (day < 5 ? 1 : factor) * stream(u)));
              server.add(reporter({ epsilon, max, threshold, unsafeSeed: seed }).reportMany(values));
              const { mean, low, high } = server.between(day * DAY, (day + 1) * DAY);
              const [truth, counted] = [
                meanOf(values),
                meanOf(values.map((value) => Math.min(value, threshold))),
              ];
              errors[day]!.push((mean ?? (low! + high!) / 2) / truth - 1);
              asked++;
              if (low! <= counted && counted <= high!) held++;
              if (day === 9) hidden += (1 - counted / truth) / (runs * Object.keys(FRESH).length);
            }
          }
        const days = [0, 1, 5, 6, 9].map((day) => percent(rootMeanSquare(errors[day]!))).join(" → ");
        console.log(
          `| ${epsilon} | × ${times} | ${n} | ${days} % | ${percent(hidden)} % | ${((100 * held) / asked).toFixed(1)} % of ${asked} |`,
        );
      }
}

/**
 * @param runs of each setting
 * @param streams in the place of the built-in ones of `lines`
 */
export async function measureDays(what: string, runs: number, streams: readonly Stream[]): Promise<void> {
  if (what === "table") return table();
  if (what === "variance") return variance();
  if (what === "paper") return paper(runs);
  if (what === "steady" || what === "drift") return tenDays(runs, what === "drift" ? 3 : 1);
  if (what === "lines") return lines(runs, streams.length > 0 ? streams : STREAM_NAMES.map(namedStream));
  if (what === "factor") return factors(10);
  if (what === "coverage") return coverage(runs);
  throw new RangeError(
    `--days: expected table, variance, paper, lines, steady, drift, factor or coverage, got ${what}`,
  );
}

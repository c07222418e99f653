/**
 * Hourly counts, means and p95 of the same events at the same ε, by Brume and by OpenDP: error and time side by side.
 *
 *     python3 -m venv build/opendp && build/opendp/bin/pip install opendp
 *     npx tsx bench/peers/eventsVsOpendp.ts build/opendp/bin/python
 *
 * OpenDP releases one number for each hour, and nothing else: so does Brume with one level. With hours and days it answers
 * both, and any range of time, at the same ε; for whole hours alone that costs noise, which the table shows. Not part of
 * the tests.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import seedrandom from "seedrandom";
import { privateCounter, privateHistogram, privateStream } from "../../src/index.js";

const [HOURS, PER_HOUR, EPSILON, THETA, RUNS] = [24, 20_000, 1, 500, 5];
const HOUR = 3_600_000;
const start = Date.UTC(2026, 2, 1);
const random = seedrandom("events");
const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());

/** Lognormal latencies in whole milliseconds, busier at noon, spread evenly within an hour. */
const hours = Array.from({ length: HOURS }, (_, hour) =>
  Array.from({ length: Math.round(PER_HOUR * (1 + 0.5 * Math.sin((Math.PI * hour) / 12))) }, () =>
    Math.max(1, Math.round(50 * Math.exp(normal()))),
  ),
);
const edges = { min: 1, max: 60_000, buckets: 64 };
const candidates = Array.from({ length: 65 }, (_, i) => Math.round(60_000 ** (i / 64)));
/** Hours alone, as OpenDP has them; and hours with days. */
const LEVELS = [["1h"], ["1h", "1d"]] as const;

interface Result {
  /** Root mean squared error over hours and runs. */
  readonly error: number;
  readonly seconds: number;
}
type Results = Record<"count" | "mean" | "p95", Result>;

const rms = (errors: readonly number[]): number =>
  Math.sqrt(errors.reduce((sum, e) => sum + e * e, 0) / errors.length);

/** One error for each hour of each run. */
function measure(
  run: () => {
    add(value: number, at: number): void;
    error(values: readonly number[], from: number): number;
    end(): void;
  },
): Result {
  const errors: number[] = [];
  let seconds = 0;
  for (let i = 0; i < RUNS; i++) {
    const before = performance.now();
    const release = run();
    hours.forEach((values, hour) =>
      values.forEach((value, j) =>
        release.add(value, start + HOUR * hour + Math.floor((HOUR * j) / values.length)),
      ),
    );
    release.end();
    seconds += (performance.now() - before) / 1000 / RUNS;
    hours.forEach((values, hour) => errors.push(release.error(values, start + HOUR * hour)));
  }
  return { error: rms(errors), seconds };
}

const end = start + HOURS * HOUR;
const common = (levels: readonly string[]) => {
  let made = false; // a stream begins before its first event
  const clock = () => (made ? end : ((made = true), start));
  return { epsilon: EPSILON, every: "1h", levels, clock };
};
const ours = (levels: readonly string[]): Results => ({
  count: measure(() => {
    const counter = privateCounter(common(levels));
    return {
      add: (_, at) => counter.add({ at }),
      end: () => void counter.advance(end),
      error: (values, from) => counter.between(from, from + HOUR).value! - values.length,
    };
  }),
  mean: measure(() => {
    const mean = privateStream({ ...common(levels), of: "mean", max: THETA, threshold: THETA });
    return {
      add: (value, at) => mean.add(value, { at }),
      end: () => void mean.advance(end),
      error: (values, from) =>
        mean.between(from, from + HOUR).value! -
        values.reduce((sum, value) => sum + Math.min(value, THETA), 0) / values.length,
    };
  }),
  p95: measure(() => {
    const histogram = privateHistogram({ ...common(levels), edges });
    return {
      add: (value, at) => histogram.add(value, { at }),
      end: () => void histogram.advance(end),
      error(values, from) {
        const { quantiles } = histogram.between(from, from + HOUR, { quantiles: [0.95] });
        return values.filter((value) => value < quantiles[0]!.value!).length / values.length - 0.95;
      },
    };
  }),
});

const python = process.argv[2] ?? "python3";
const script = join(import.meta.dirname, "opendp_events.py");
const input = JSON.stringify({
  hours,
  theta: THETA,
  epsilon: EPSILON,
  candidates: [...new Set(candidates)],
  runs: RUNS,
});
const { stdout, stderr, status } = spawnSync(python, [script], {
  input,
  encoding: "utf8",
  maxBuffer: 2 ** 26,
});
if (status !== 0) throw new Error(`${python}: expected OpenDP to run, got\n${stderr}`);
const theirs = JSON.parse(stdout) as Results;

const events = hours.reduce((sum, values) => sum + values.length, 0);
console.log(`${events} events in ${HOURS} hours, ε = ${EPSILON}, ${RUNS} runs\n`);
const [hourly, daily] = LEVELS.map(ours);
console.log(
  "| what | error, hours | error, hours and days | error, OpenDP | seconds, Brume | seconds, OpenDP |",
);
console.log("| --- | ---: | ---: | ---: | ---: | ---: |");
const figure = (x: number): string => String(Number(x.toPrecision(2)));
const names = { count: "hourly count", mean: "hourly mean, ms", p95: "rank of the hourly p95" } as const;
for (const name of ["count", "mean", "p95"] as const) {
  const errors = [hourly, daily, theirs].map((results) => results![name].error);
  const cells = [...errors, hourly![name].seconds, theirs[name].seconds].map(figure);
  console.log(`| ${names[name]} | ${cells.join(" | ")} |`);
}

/** The Worker behind "From devices": many devices and one server, all in here. */
import { aggregator, type Aggregator, reporter } from "brume";
import { exampleStream } from "brume/research";
import { columnEnd, COLUMNS } from "../plots/columns.js";
import type { FromDevices, Histogram, ToDevices } from "./protocol.js";

const BATCH = 2 ** 14;
/** Bins of the plot; the estimate has 1024. */
const BINS = 128;
/** Milliseconds between two pictures. */
const FRAME = 33;

addEventListener("message", ({ data }: MessageEvent<ToDevices>) => {
  run(data).catch((error: unknown) => send({ type: "failed", message: (error as Error).message }));
});

async function run(asked: ToDevices): Promise<void> {
  const { source, max, epsilon, learners, devices, estimator } = asked;
  const all = source.kind === "example" ? exampleStream(source.seed) : source.values;
  const values = all.subarray(0, devices);
  const server = aggregator({
    epsilon,
    max,
    holdout: learners,
    maxRange: values.length - learners,
    tuning: { estimator },
  });

  const learner = reporter({ epsilon, max, phase: "learn" });
  await inBatches(0, learners, (from, to) => {
    server.learn(learner.reportMany(values.subarray(from, to)));
    send({ type: "learning", done: to, of: learners });
  });

  const truth = new TrueHistogram(values.subarray(0, learners), max);
  let shown = 0;
  const { shares, updates } = await server.distribution({
    onProgress({ updates, shares }) {
      if (performance.now() - shown < FRAME) return;
      shown = performance.now();
      send({ type: "estimating", updates, histogram: truth.beside(shares) });
    },
  });
  const threshold = await server.threshold();
  send({ type: "threshold", updates, threshold, histogram: truth.beside(shares) });
  await release(asked, values, server, threshold);
}

async function release(
  { max, epsilon, learners, window }: ToDevices,
  values: Float64Array,
  server: Aggregator,
  threshold: number,
): Promise<void> {
  const device = reporter({ epsilon, max, phase: "release", threshold });
  const line = () => new Float64Array(COLUMNS).fill(NaN);
  const lines = { truth: line(), private: line(), low: line(), high: line() };
  const sums = new Float64Array(values.length + 1);
  values.forEach((value, i) => (sums[i + 1] = sums[i]! + value));
  let drawn = 0;
  const drawTo = (end: number) => {
    for (; drawn < COLUMNS && columnEnd(drawn, values.length) <= end; drawn++) {
      const to = columnEnd(drawn, values.length);
      const start = Math.max(0, to - window);
      lines.truth[drawn] = (sums[to]! - sums[start]!) / (to - start);
      const from = Math.max(start, learners);
      if (2 * (to - from) < window) continue;
      const answer = server.range(from - learners, to - learners);
      lines.private[drawn] = answer.mean;
      lines.low[drawn] = answer.low / (to - from);
      lines.high[drawn] = answer.high / (to - from);
    }
  };
  let shown = 0;
  await inBatches(learners, values.length, (from, to) => {
    server.release(device.reportMany(values.subarray(from, to)));
    if (performance.now() - shown < FRAME && to < values.length) return;
    shown = performance.now();
    drawTo(to);
    send({ type: "releasing", at: to, total: values.length, published: server.length, ...lines });
  });
  const { sum, low, high } = server.range(0, server.length);
  const truth = sums[values.length]! - sums[learners]!;
  const clamped = values.subarray(learners).reduce((over, value) => over + Math.max(0, value - threshold), 0);
  send({ type: "done", truth, clamped, sum, low, high, explanation: server.explain() });
}

/** The true distribution in the plot's bins, cut off where hardly anything follows. */
class TrueHistogram {
  readonly #max: number;
  readonly #width: number;
  readonly #ends: Float64Array;
  readonly #shares: Float64Array;

  constructor(values: Float64Array, max: number) {
    const sorted = values.slice().sort();
    const reach = Math.min(max, 1.4 * sorted[Math.floor(0.999 * (values.length - 1))]!) || max;
    const width = reach / BINS;
    this.#max = max;
    this.#width = width > 0.5 ? Math.ceil(width) : width; // whole numbers fall evenly into bins
    const bins = Math.ceil(reach / this.#width);
    this.#ends = Float64Array.from({ length: bins }, (_, i) => (i + 1) * this.#width);
    this.#shares = new Float64Array(bins);
    for (const value of values) {
      const bin = Math.floor(Math.min(Math.max(value, 0), max) / this.#width);
      if (bin < bins) this.#shares[bin]! += 1 / values.length;
    }
  }

  /** With an estimate in bins of its own over [0, max], shared out over these. */
  beside(shares: Float64Array): Histogram {
    const estimate = new Float64Array(this.#ends.length);
    const scale = this.#max / shares.length / this.#width;
    shares.forEach((share, j) => {
      const [from, to] = [j * scale, (j + 1) * scale];
      for (let bin = Math.floor(from); bin < Math.min(estimate.length, to); bin++)
        estimate[bin]! += (share * (Math.min(to, bin + 1) - Math.max(from, bin))) / scale;
    });
    return { ends: this.#ends, truth: this.#shares, estimate };
  }
}

/** Lets messages in and pictures out between batches. */
async function inBatches(from: number, to: number, work: (from: number, to: number) => void): Promise<void> {
  for (let start = from; start < to; start += BATCH) {
    work(start, Math.min(to, start + BATCH));
    await new Promise((resume) => setTimeout(resume));
  }
}

function send(message: FromDevices): void {
  postMessage(message);
}

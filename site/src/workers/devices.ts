/** The Worker behind the devices: many reporters and one server, all in here. */
import { aggregator, type Aggregator, reporter } from "brume";
import { exampleStream, squareWave } from "brume/research";
import type { Source } from "./protocol.js";

export interface ToDevices {
  readonly source: Source;
  readonly max: number;
  readonly epsilon: number;
  readonly devices: number;
  /** Milliseconds that all reports take to come in. */
  readonly pace: number;
}

export interface Percentile {
  readonly p: number;
  readonly value: number;
  /** A 95 % interval. */
  readonly low: number;
  readonly high: number;
  readonly truth: number;
}

/** What the server knows after so many reports. */
export interface Snapshot {
  readonly type: "snapshot";
  readonly reports: number;
  /** Right ends of the bins, in units of the values; the shares in them. */
  readonly ends: Float64Array;
  readonly truth: Float64Array;
  readonly estimate: Float64Array;
  readonly percentiles: readonly Percentile[];
}

export type FromDevices =
  /** Some devices: what they have, and what their reports say, in the same units. */
  | { readonly type: "crowd"; readonly values: Float64Array; readonly sent: Float64Array }
  | Snapshot
  | { readonly type: "done"; readonly explanation: string }
  | { readonly type: "failed"; readonly message: string };

export const PERCENTILES = [0.1, 0.25, 0.5, 0.75, 0.9] as const;
const CROWD = 400;
const SNAPSHOTS = 12;
const BINS = 96;
const REPORT_BYTES = 8;

addEventListener("message", ({ data }: MessageEvent<ToDevices>) => {
  run(data).catch((error: unknown) => send({ type: "failed", message: (error as Error).message }));
});

async function run({ source, max, epsilon, devices, pace }: ToDevices): Promise<void> {
  const all = source.kind === "example" ? exampleStream(source.seed) : source.values;
  const step = Math.max(1, Math.floor(all.length / devices));
  const count = Math.min(devices, Math.ceil(all.length / step));
  const values = Float64Array.from({ length: count }, (_, i) => Math.min(max, Math.max(0, all[i * step]!)));
  const reports = reporter({ epsilon, max, phase: "learn" }).reportMany(values);
  send({ type: "crowd", values: values.slice(0, CROWD), sent: sentValues(reports, epsilon, max) });

  const sorted = values.slice().sort();
  const histogram = new TrueHistogram(values, max);
  const server = aggregator({ epsilon, max, holdout: count, tuning: { estimator: "ems" } });
  const start = performance.now();
  for (let i = 1; i <= SNAPSHOTS; i++) {
    const [from, to] = [Math.floor((count * (i - 1)) / SNAPSHOTS), Math.floor((count * i) / SNAPSHOTS)];
    server.learn(reports.subarray(REPORT_BYTES * from, REPORT_BYTES * to));
    const { shares } = await server.distribution();
    const percentiles = await percentilesOf(server, sorted);
    send({ type: "snapshot", reports: to, ...histogram.beside(shares), percentiles });
    const wait = start + (pace * i) / SNAPSHOTS - performance.now();
    if (wait > 0) await new Promise((resume) => setTimeout(resume, wait));
  }
  send({ type: "done", explanation: server.explain() });
}

/** What the first reports say, in units of the values: the wave reaches a little beyond both ends. */
function sentValues(reports: Uint8Array, epsilon: number, max: number): Float64Array {
  const { top, width } = squareWave(epsilon);
  const view = new DataView(reports.buffer);
  const length = Math.min(CROWD, reports.length / REPORT_BYTES);
  return Float64Array.from({ length }, (_, i) => {
    const cell = view.getUint32(REPORT_BYTES * i, true) >>> 8;
    return ((cell - width / 2) / top) * max;
  });
}

/** The library's percentiles with their intervals, and the truth beside them. */
async function percentilesOf(server: Aggregator, sorted: Float64Array): Promise<Percentile[]> {
  const found: Percentile[] = [];
  for (const p of PERCENTILES) {
    const { value, low, high } = await server.quantile(p);
    found.push({ p, value, low, high, truth: sorted[Math.floor(p * sorted.length)]! });
  }
  return found;
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
      const bin = Math.floor(value / this.#width);
      if (bin < bins) this.#shares[bin]! += 1 / values.length;
    }
  }

  /** With an estimate in bins of its own over [0, max], shared out over these. */
  beside(shares: Float64Array): Pick<Snapshot, "ends" | "truth" | "estimate"> {
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

function send(message: FromDevices): void {
  postMessage(message);
}

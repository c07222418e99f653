/** The Worker behind the devices: many reporters and one server, all in here. */
import { aggregator, type Aggregator, type LocalBin, reporter } from "brume";
import { dayWindow, exampleStream } from "brume/research";
import type { Shares } from "../charts/distribution.js";
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
  /** Null: it lies above θ, or nobody can tell. */
  readonly value: number | null;
  /** A 95 % interval. */
  readonly low: number;
  readonly high: number;
  readonly truth: number;
}

/** What the server knows after so many reports. */
export interface Snapshot extends Shares {
  readonly type: "snapshot";
  readonly reports: number;
  /** θ of the day: larger values count as θ. */
  readonly threshold: number;
  readonly mean: Omit<Percentile, "p">;
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
const DAY = 86_400_000;
const REPORT_BYTES = 8;

addEventListener("message", ({ data }: MessageEvent<ToDevices>) => {
  run(data).catch((error: unknown) => send({ type: "failed", message: (error as Error).message }));
});

async function run({ source, max, epsilon, devices, pace }: ToDevices): Promise<void> {
  const all = source.kind === "example" ? exampleStream(source.seed) : source.values;
  const step = Math.max(1, Math.floor(all.length / devices));
  const count = Math.min(devices, Math.ceil(all.length / step));
  const values = Float64Array.from({ length: count }, (_, i) => Math.min(max, Math.max(0, all[i * step]!)));
  // Yesterday the same devices reported under `max`; at midnight the server chose θ from that.
  let now = DAY / 2;
  const server = aggregator({ epsilon, max, clock: () => now });
  await server.terms();
  server.add(reporter({ epsilon, max }).reportMany(values));
  now += DAY;
  const { threshold } = await server.terms();
  const reports = reporter({ epsilon, max, threshold }).reportMany(values);
  send({ type: "crowd", values: values.slice(0, CROWD), sent: sentValues(reports, epsilon, threshold) });

  const sorted = values.slice().sort();
  const start = performance.now();
  for (let i = 1; i <= SNAPSHOTS; i++) {
    const [from, to] = [Math.floor((count * (i - 1)) / SNAPSHOTS), Math.floor((count * i) / SNAPSHOTS)];
    server.add(reports.subarray(REPORT_BYTES * from, REPORT_BYTES * to));
    const today = { from: DAY, to: 2 * DAY };
    const { mean, low, high } = server.between(today.from, today.to);
    const truth = values.subarray(0, to).reduce((sum, value) => sum + value, 0) / to;
    const percentiles = await percentilesOf(server, sorted);
    send({
      ...{ type: "snapshot", reports: to, threshold, percentiles },
      ...sharesOf((await server.histogram(today)).bins, values),
      mean: { value: mean, low: low!, high: high!, truth },
    });
    const wait = start + (pace * i) / SNAPSHOTS - performance.now();
    if (wait > 0) await new Promise((resume) => setTimeout(resume, wait));
  }
  send({ type: "done", explanation: server.explain() });
}

/** What the first reports say, in units of the values: the window reaches a little beyond both ends. */
function sentValues(reports: Uint8Array, epsilon: number, threshold: number): Float64Array {
  const { top, width } = dayWindow(epsilon);
  const view = new DataView(reports.buffer);
  const length = Math.min(CROWD, reports.length / REPORT_BYTES);
  return Float64Array.from({ length }, (_, i) => {
    const cell = view.getUint32(REPORT_BYTES * i, true) >>> 8;
    return ((cell - width / 2) / top) * threshold;
  });
}

/** The library's percentiles of today with their intervals, and the truth beside them. */
async function percentilesOf(server: Aggregator, sorted: Float64Array): Promise<Percentile[]> {
  const found: Percentile[] = [];
  for (const p of PERCENTILES) {
    const { value, low, high } = await server.quantile(p, { from: DAY, to: 2 * DAY });
    found.push({ p, value, low: low!, high: high!, truth: sorted[Math.floor(p * sorted.length)]! });
  }
  return found;
}

/** The histogram with its band, and the true shares of its bins; the last one holds all that lies above. */
function sharesOf(bins: readonly LocalBin[], values: Float64Array): Shares {
  const truth = new Float64Array(bins.length);
  const width = bins[0]!.to;
  for (const value of values)
    truth[Math.min(bins.length - 1, Math.floor(value / width))]! += 1 / values.length;
  const of = (read: (bin: LocalBin) => number): Float64Array => Float64Array.from(bins, read);
  return {
    ends: of(({ to }) => to),
    truth,
    estimate: of(({ share }) => share),
    low: of(({ low }) => low),
    high: of(({ high }) => high),
  };
}

function send(message: FromDevices): void {
  postMessage(message);
}

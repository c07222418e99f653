/** One day of many devices and one server: what the devices' page shows, and what it repeats with other noise. */
import { type Aggregator, aggregator, type LocalBin, reporter } from "brume";
import seedrandom from "seedrandom";
import type { Shares } from "../charts/distribution.js";
import type { Run } from "../look/coverage.js";

export const PERCENTILES = [0.1, 0.25, 0.5, 0.75, 0.9] as const;
export const REPORT_BYTES = 8;
const DAY = 86_400_000;
const TODAY = { from: DAY, to: 2 * DAY } as const;

export interface Percentile {
  readonly p: number;
  /** Null: it lies above θ, or nobody can tell. */
  readonly value: number | null;
  /** A 95 % interval. */
  readonly low: number;
  readonly high: number;
  readonly truth: number;
}

/** Answers of the server, beside the truth about the devices that have reported. */
export interface Known extends Shares {
  readonly reports: number;
  /** θ of the day: larger values are clamped to it. */
  readonly threshold: number;
  /** Mean of the values clamped to θ. */
  readonly mean: Omit<Percentile, "p">;
  readonly percentiles: readonly Percentile[];
}

export interface DeviceSettings {
  readonly epsilon: number;
  readonly max: number;
  /** Seed of the devices' noise; omitted for secret noise. */
  readonly seed?: string;
}

/** Page load times in milliseconds as browsers measure them, made up: most near a second, some slow. The same every time. */
export function loadTimes(devices: number, max: number): Float64Array {
  const random = seedrandom("loads");
  return Float64Array.from({ length: devices }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const slow = random() < 0.18 ? 2.6 : 1; // on a phone network
    return Math.round(Math.min(max, 60 + 950 * slow * Math.exp(0.42 * normal)));
  });
}

export class DeviceDay {
  readonly threshold: number;
  readonly reports: Uint8Array;
  readonly #values: Float64Array;
  readonly #server: Aggregator;
  /** Devices that have reported. */
  #taken = 0;

  private constructor(values: Float64Array, server: Aggregator, threshold: number, reports: Uint8Array) {
    this.#values = values;
    this.#server = server;
    this.threshold = threshold;
    this.reports = reports;
  }

  /** Yesterday the same devices reported under `max`; at midnight the server chose θ from that. */
  static async begin(values: Float64Array, { epsilon, max, seed }: DeviceSettings): Promise<DeviceDay> {
    const key = (day: string) => (seed === undefined ? {} : { unsafeSeed: `${seed}, ${day}` });
    let now = DAY / 2;
    const server = aggregator({ epsilon, max, clock: () => now });
    await server.terms();
    server.add(reporter({ epsilon, max, ...key("yesterday") }).reportMany(values));
    now += DAY;
    const { threshold } = await server.terms();
    const reports = reporter({ epsilon, max, threshold, ...key("today") }).reportMany(values);
    return new DeviceDay(values, server, threshold, reports);
  }

  /** Takes the reports of more devices, in their order. */
  take(devices: number): void {
    this.#server.add(this.reports.subarray(REPORT_BYTES * this.#taken, REPORT_BYTES * devices));
    this.#taken = devices;
  }

  async ask(percentiles: readonly number[] = PERCENTILES): Promise<Known> {
    const { mean, low, high } = this.#server.between(TODAY.from, TODAY.to);
    const values = this.#values.slice(0, this.#taken).sort();
    const found: Percentile[] = [];
    for (const p of percentiles) {
      const { value, low, high } = await this.#server.quantile(p, TODAY);
      found.push({ p, value, low: low!, high: high!, truth: values[Math.floor(p * values.length)]! });
    }
    const clamped = (sum: number, value: number) => sum + Math.min(value, this.threshold);
    const truth = values.reduce(clamped, 0) / values.length;
    return {
      ...{ reports: this.#taken, threshold: this.threshold, percentiles: found },
      ...sharesOf((await this.#server.histogram(TODAY)).bins, values),
      mean: { value: mean, low: low!, high: high!, truth },
    };
  }

  explain(): string {
    return this.#server.explain();
  }
}

/** Answers that the page shows with "95 %". */
export type Repeated = "mean" | "median" | "histogram";

/** A whole day with other noise. */
export async function repeatDay(
  values: Float64Array,
  settings: DeviceSettings,
  which: Repeated,
): Promise<Run> {
  const day = await DeviceDay.begin(values, settings);
  day.take(values.length);
  const known = await day.ask(which === "median" ? [0.5] : []);
  return which === "median" ? known.percentiles[0]! : which === "mean" ? known.mean : bandRun(known);
}

/** A band as one interval around 0: it holds 0 if every true share is inside. The ends are those of the tightest bins. */
export function bandRun({ low, high, truth }: Shares): Run {
  const ends = (ends: Float64Array) => ends.map((end, i) => end - truth[i]!);
  return { low: Math.max(...ends(low)), high: Math.min(...ends(high)), truth: 0 };
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

/** The second screen of brume demo: ToPL, the same values as devices that report for themselves. */
import { DAY } from "../events/days/calendar.js";
import { Aggregator } from "../local/aggregator.js";
import { reporter } from "../local/anyCoreReporter.js";
import { bold } from "./colour.js";
import { HOLDOUT, sumOf } from "./demoCentral.js";
import { EXAMPLE } from "./example.js";
import { table } from "./table.js";
import { wrap } from "./wrap.js";

const PERCENTILES = [0.25, 0.5, 0.75, 0.95, 0.99] as const;
/** Devices of the second day whose mean is asked for. */
const COUNTS = [10_000, 100_000, EXAMPLE.length - HOLDOUT] as const;

interface Estimated {
  readonly truth: number;
  readonly estimate: number | null;
  readonly low: number;
  readonly high: number;
}

export interface Local {
  readonly epsilon: number;
  /** Reports of the first day, and of the second. */
  readonly first: number;
  readonly second: number;
  readonly seconds: number;
  /** θ of the second day, chosen from the first. */
  readonly threshold: number;
  /** Means of the first day, and of the first `devices` of the second. */
  readonly means: readonly (Estimated & { readonly devices: number; readonly day: 1 | 2 })[];
  /** Percentiles of the second day. */
  readonly percentiles: readonly (Estimated & { readonly p: number })[];
}

/** Two days of the demo: the first values report under `max`, the others under the θ that was chosen from them. */
async function* demoDays(values: Float64Array, epsilon: number) {
  const common = { epsilon, max: EXAMPLE.max };
  let now = DAY / 2;
  const server = new Aggregator({ ...common, clock: () => now });
  await server.terms();
  // In the field each device has a reporter of its own; here one stands for all.
  server.add(reporter(common).reportMany(values.subarray(0, HOLDOUT)));
  yield { server, day: 1 as const, devices: HOLDOUT };
  now += DAY;
  const { threshold } = await server.terms();
  const devices = reporter({ ...common, threshold });
  for (let i = 0; i < COUNTS.length; i++) {
    server.add(devices.reportMany(values.subarray(HOLDOUT + (COUNTS[i - 1] ?? 0), HOLDOUT + COUNTS[i]!)));
    yield { server, day: 2 as const, devices: COUNTS[i]! };
  }
}

/** The server of the demo after all reports. */
export async function demoServer(values: Float64Array, epsilon: number): Promise<Aggregator> {
  let last: Aggregator | undefined;
  for await (const { server } of demoDays(values, epsilon)) last = server;
  return last!;
}

export async function releaseLocal(values: Float64Array, epsilon: number): Promise<Local> {
  const started = performance.now();
  const means: Local["means"][number][] = [];
  let last: Aggregator | undefined;
  for await (const { server, day, devices } of demoDays(values, epsilon)) {
    const { mean, low, high } = server.between((day - 1) * DAY, day * DAY);
    const from = day === 1 ? 0 : HOLDOUT;
    const truth = sumOf(values.subarray(from, from + devices)) / devices;
    means.push({ devices, day, truth, estimate: mean, low: low!, high: high! });
    last = server;
  }
  const server = last!;
  const seconds = (performance.now() - started) / 1000;
  const sorted = values.slice(HOLDOUT).sort();
  const percentiles: Local["percentiles"][number][] = [];
  for (const p of PERCENTILES) {
    const { value, low, high } = await server.quantile(p, { from: DAY, to: 2 * DAY });
    percentiles.push({
      ...{ p, truth: sorted[Math.floor(p * sorted.length)]! },
      ...{ estimate: value, low: low!, high: high! },
    });
  }
  return {
    ...{ epsilon, first: HOLDOUT, second: sorted.length, seconds, means, percentiles },
    threshold: (await server.terms()).threshold,
  };
}

export function showLocal({ epsilon, first, second, seconds, threshold, means, percentiles }: Local): string {
  const row = (what: string, { truth, estimate, low, high }: Estimated): string[] => [
    what,
    truth.toFixed(2),
    estimate?.toFixed(2) ?? "–",
    `${low.toFixed(2)} to ${high.toFixed(2)}`,
  ];
  return [
    bold("ToPL: the same values as devices, each of which perturbs its own"),
    wrap(
      `Every device sends one report with ε = ${epsilon}. On the first day ${first} report under the bound ${EXAMPLE.max}; from them the server chooses θ = ${threshold.toFixed(1)} for the second day, with ${second} reports. All in ${seconds.toFixed(2)} s.`,
    ),
    "",
    table(
      ["what the server knows", "truth", "estimate", "95 % interval"],
      [
        ...means.map((mean) => row(`mean of ${mean.devices} devices, day ${mean.day}`, mean)),
        ...percentiles.map((one) => row(`${+(100 * one.p).toFixed(0)} % of values are below`, one)),
      ],
    ),
    wrap(
      `Percentiles are of the second day. Intervals hold for any values, clamped to θ. Those of percentiles are wide.`,
    ),
  ].join("\n");
}

/** The second screen of brume demo: ToPL, the same values as devices that report for themselves. */
import { PaperAggregator } from "../local/paper/paperAggregator.js";
import { reporter } from "../local/anyCoreReporter.js";
import { bold } from "./colour.js";
import { HOLDOUT, sumOf } from "./demoCentral.js";
import { EXAMPLE } from "./example.js";
import { table } from "./table.js";
import { wrap } from "./wrap.js";

const PERCENTILES = [0.25, 0.5, 0.75, 0.95, 0.99] as const;
/** Devices whose mean is asked for, after those that taught θ. */
const COUNTS = [10_000, 100_000, EXAMPLE.length - HOLDOUT] as const;

interface Estimated {
  readonly truth: number;
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

export interface Local {
  readonly epsilon: number;
  readonly learned: number;
  readonly released: number;
  readonly seconds: number;
  readonly threshold: number;
  /** Of the first `devices` that reported under θ. */
  readonly means: readonly (Estimated & { readonly devices: number })[];
  /** Of the devices that taught θ. */
  readonly percentiles: readonly (Estimated & { readonly p: number })[];
}

/** The server of the demo after all reports. In the field each device has a reporter of its own; here one stands for all. */
export async function demoServer(values: Float64Array, epsilon: number): Promise<PaperAggregator> {
  const common = { epsilon, max: EXAMPLE.max };
  const server = new PaperAggregator({ ...common, holdout: HOLDOUT });
  server.learn(
    reporter({ variant: "paper", ...common, phase: "learn" }).reportMany(values.subarray(0, HOLDOUT)),
  );
  const threshold = await server.threshold();
  const releasing = reporter({ variant: "paper", ...common, phase: "release", threshold });
  server.release(releasing.reportMany(values.subarray(HOLDOUT)));
  return server;
}

export async function releaseLocal(values: Float64Array, epsilon: number): Promise<Local> {
  const started = performance.now();
  const server = await demoServer(values, epsilon);
  const seconds = (performance.now() - started) / 1000;
  const sorted = values.slice(0, HOLDOUT).sort();
  const percentiles: Local["percentiles"][number][] = [];
  for (const p of PERCENTILES) {
    const { value, low, high } = await server.quantile(p);
    percentiles.push({ p, truth: sorted[Math.floor(p * HOLDOUT)]!, estimate: value, low, high });
  }
  return {
    epsilon,
    learned: server.learned,
    released: server.length,
    seconds,
    threshold: await server.threshold(),
    means: COUNTS.map((devices) => {
      const { mean, low, high } = server.range(0, devices);
      const truth = sumOf(values.subarray(HOLDOUT, HOLDOUT + devices)) / devices;
      return { devices, truth, estimate: mean, low: low / devices, high: high / devices };
    }),
    percentiles,
  };
}

export function showLocal({
  epsilon,
  learned,
  released,
  seconds,
  threshold,
  means,
  percentiles,
}: Local): string {
  const row = (what: string, { truth, estimate, low, high }: Estimated): string[] => [
    what,
    truth.toFixed(2),
    estimate.toFixed(2),
    `${low.toFixed(2)} to ${high.toFixed(2)}`,
  ];
  return [
    bold("ToPL: the same values as devices, each of which perturbs its own"),
    wrap(
      `Every device sends one report with ε = ${epsilon}. ${learned} reports taught the server θ = ${threshold.toFixed(1)}; ${released} came under it. All in ${seconds.toFixed(2)} s.`,
    ),
    "",
    table(
      ["what the server knows", "truth", "estimate", "95 % interval"],
      [
        ...means.map((mean) => row(`mean of ${mean.devices} devices`, mean)),
        ...percentiles.map((one) => row(`${+(100 * one.p).toFixed(0)} % of values are below`, one)),
      ],
    ),
    wrap(
      `Means are of devices that reported under θ, percentiles of the ${learned} that taught it. Intervals of percentiles hold for any distribution, so they are wide.`,
    ),
  ].join("\n");
}

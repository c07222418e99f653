/** The Worker behind the devices: many reporters and one server, all in here. */
import { dayWindow } from "brume-research";
import type { Run } from "../look/coverage.js";
import {
  DeviceDay,
  type DeviceSettings,
  type Known,
  loadTimes,
  type Repeated,
  REPORT_BYTES,
  repeatDay,
} from "./deviceDay.js";

export interface ToDevices extends DeviceSettings {
  /** The visitor's own; none for made-up load times. */
  readonly values: Float64Array | undefined;
  readonly devices: number;
  /** Milliseconds that all reports take to come in; or which answer is asked for once more, with other noise. */
  readonly task: { readonly pace: number } | { readonly again: Repeated };
}

export interface Snapshot extends Known {
  readonly type: "snapshot";
}

export type FromDevices =
  /** Some devices: what they have, and what their reports say, in the same units. */
  | { readonly type: "crowd"; readonly values: Float64Array; readonly sent: Float64Array }
  | Snapshot
  | { readonly type: "done"; readonly explanation: string }
  | { readonly type: "again"; readonly run: Run }
  | { readonly type: "failed"; readonly message: string };

const CROWD = 400;
const SNAPSHOTS = 12;

addEventListener("message", ({ data }: MessageEvent<ToDevices>) => {
  run(data).catch((error: unknown) => send({ type: "failed", message: (error as Error).message }));
});

async function run({ values: own, devices, task, ...settings }: ToDevices): Promise<void> {
  const values = own === undefined ? loadTimes(devices, settings.max) : sampled(own, devices, settings.max);
  if ("again" in task) send({ type: "again", run: await repeatDay(values, settings, task.again) });
  else await stream(values, settings, task.pace);
}

/** Every so many-th value, between 0 and `max`. */
function sampled(all: Float64Array, devices: number, max: number): Float64Array {
  const step = Math.max(1, Math.floor(all.length / devices));
  const length = Math.min(devices, Math.ceil(all.length / step));
  return Float64Array.from({ length }, (_, i) => Math.min(max, Math.max(0, all[i * step]!)));
}

async function stream(values: Float64Array, settings: DeviceSettings, pace: number): Promise<void> {
  const day = await DeviceDay.begin(values, settings);
  send({
    type: "crowd",
    values: values.slice(0, CROWD),
    sent: sentValues(day.reports, settings.epsilon, day.threshold),
  });
  const start = performance.now();
  for (let i = 1; i <= SNAPSHOTS; i++) {
    day.take(Math.floor((values.length * i) / SNAPSHOTS));
    send({ type: "snapshot", ...(await day.ask()) });
    const wait = start + (pace * i) / SNAPSHOTS - performance.now();
    if (wait > 0) await new Promise((resume) => setTimeout(resume, wait));
  }
  send({ type: "done", explanation: day.explain() });
}

/** Middles of the cells of the first reports, in units of the values: the window reaches a little beyond both ends. */
function sentValues(reports: Uint8Array, epsilon: number, threshold: number): Float64Array {
  const { top, width } = dayWindow(epsilon);
  const view = new DataView(reports.buffer);
  const length = Math.min(CROWD, reports.length / REPORT_BYTES);
  return Float64Array.from({ length }, (_, i) => {
    const cell = view.getUint32(REPORT_BYTES * i, true) >>> 8;
    return ((cell - width / 2) / top) * threshold;
  });
}

function send(message: FromDevices): void {
  postMessage(message);
}

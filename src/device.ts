/**
 * A page that reports with a budget: `import { device } from "brume/device"`. The budget is kept in the page's storage, and
 * reports are sent until the server has them. No wasm, no dependency, loads in a plain page.
 */
import { Device, type DeviceOptions } from "./device/device.js";

export type { BudgetOptions } from "./device/budget.js";
export type { Software } from "./core/software.js";
export type { DeviceStatement, ReportOptions } from "./device/device.js";
export type { Report } from "./local/report.js";
export type { Duration } from "./events/days/duration.js";
export type { Device, DeviceOptions };

/** `device({ name: "load", epsilon: 1, max: 60_000, budget: { reports: 1, every: "1d" }, url: "/reports", terms: "/terms" })` */
export const device = (options: DeviceOptions): Device => new Device(options);

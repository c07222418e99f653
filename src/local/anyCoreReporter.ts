/** A reporter that may run on wasm, apart from reporter.ts so that no device carries the wasm code. */
import { chooseCore } from "../core/choose.js";
import { Reporter, type ReporterOptions } from "./reporter.js";

/** A device's reporter: `reporter({ epsilon: 1, max: 500, phase: "learn" }).report(value)`. */
export const reporter = (options: ReporterOptions): Reporter => new Reporter(options, chooseCore);

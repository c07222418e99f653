/** A reporter of either variant that may run on wasm, apart from reporter.ts so that no device carries the wasm code. */
import { chooseData } from "../core/choose.js";
import { paperReporter, type PaperReporterOptions } from "./paper/paperReporter.js";
import { dayReporter, type Reporter, type ReporterOptions } from "./reporter.js";

/** A device's reporter: `reporter({ epsilon: 1, max: 500 }).report(value)`. */
export const reporter = (options: ReporterOptions | PaperReporterOptions): Reporter =>
  Object.hasOwn(options, "variant")
    ? paperReporter(options as PaperReporterOptions, chooseData)
    : dayReporter(options, chooseData);

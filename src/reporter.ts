/** The device's entry, `import { reporter } from "brume/reporter"`: no wasm, no dependency, loads in a plain page. */
import type { CoreChoice } from "./core/choose.js";
import type { Reports } from "./core/core.js";
import { reports } from "./core/js/reports.js";
import { Reporter, type ReporterOptions } from "./local/reporter.js";

export { packReport, type Phase, type Report, unpackReport } from "./local/report.js";
export type { CoreChoice, Reporter, ReporterOptions };

function deviceCore(choice: CoreChoice): Reports {
  if (choice === "wasm")
    throw new Error('core: expected "auto" or "js" in brume/reporter, got "wasm"; import it from "brume"');
  return reports;
}

/** A device's reporter: `reporter({ epsilon: 1, max: 500, phase: "learn" }).report(value)`. */
export const reporter = (options: ReporterOptions): Reporter => new Reporter(options, deviceCore);

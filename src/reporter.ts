/** The device's entry, `import { reporter } from "brume/reporter"`: no wasm, no dependency, loads in a plain page. */
import { checkChoice } from "./core/checks.js";
import type { CoreChoice } from "./core/choose.js";
import type { Reports } from "./core/core.js";
import { fillReports } from "./core/js/reports.js";
import { dayReporter, type Reporter, type ReporterOptions } from "./local/reporter.js";

export { packReport, type Report, unpackReport } from "./local/report.js";
export type { CoreChoice, Reporter, ReporterOptions };

function deviceCore(choice: CoreChoice = "auto"): Reports {
  checkChoice("core", choice, ["auto", "js"]);
  return { fillReports };
}

/** A device's reporter: `reporter({ epsilon: 1, max: 500 }).report(value)`. */
export const reporter = (options: ReporterOptions): Reporter => dayReporter(options, deviceCore);

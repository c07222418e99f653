/** The device's half of the paper's ToPL: a learn-report of [0, max], or a release-report of [0, θ]. */
import { checkChoice, ownOptions } from "../../core/checks.js";
import { checkMax, checkThreshold } from "../channel.js";
import { checkLocalEpsilon } from "../mechanisms.js";
import { type Phase, PHASES } from "../report.js";
import { type CoreOf, Reporter, type ReporterOptions } from "../reporter.js";
import { paperChannel } from "./paperChannel.js";

export interface PaperReporterOptions extends ReporterOptions {
  readonly variant: "paper";
  /** "learn": Square Wave on [0, max]. "release": Hybrid on [0, threshold], which is needed then. */
  readonly phase: Phase;
}

const OPTIONS = ["variant", "epsilon", "max", "phase", "threshold", "core", "unsafeSeed"];

/** A reporter for one phase. Report every value once, in one phase. */
export function paperReporter(options: PaperReporterOptions, coreOf: CoreOf): Reporter {
  const { variant, epsilon, max, phase, threshold, core, unsafeSeed } = ownOptions(
    "reporter",
    options,
    OPTIONS,
  );
  checkChoice("variant", variant, ["paper"]);
  const known = checkChoice("phase", phase, PHASES);
  const bound = checkBound(known, checkMax(max), threshold);
  const channel = paperChannel(known, checkLocalEpsilon("epsilon", epsilon), bound);
  return new Reporter(channel, coreOf(core), unsafeSeed);
}

/** The upper end of the phase's domain. */
function checkBound(phase: Phase, max: number, threshold: number | undefined): number {
  if (phase === "release") return checkThreshold(threshold, max);
  if (threshold !== undefined) throw new TypeError('threshold: expected none in phase "learn"');
  return max;
}

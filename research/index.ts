/** Names for researchers, beside those of the library: the systems that it is compared with, and the parts behind it. */
export { EXAMPLE, exampleStream } from "../src/cli/example.js";
export { chooseCore, type CoreChoice } from "../src/core/choose.js";
export type { Core } from "../src/core/core.js";
export type { Mechanism } from "../src/core/tables/sectors.js";
export { unsafeKey } from "../src/core/unsafeKey.js";
export {
  dayWindow,
  hybrid,
  piecewise,
  squareWave,
  squareWaveWidth,
  stochasticRounding,
} from "../src/local/mechanisms.js";
export { estimateOf, varianceOf, worstVariance } from "../src/local/moments.js";
export { type Audit, audit, type AuditOptions, type MechanismName } from "./audit/audit.js";
export {
  type EvaluateOptions,
  type Experiment,
  prepare,
  runTrial,
  type SystemName,
  type TrialResult,
} from "./evaluate.js";
export { type NoiseTree, noiseTree, type NoiseTreeOptions } from "./noiseTree.js";
export {
  makeOpponent,
  type Opponent,
  OPPONENT_NAMES,
  type OpponentName,
  OPPONENTS,
  type PrivacyUnit,
  type Theta,
  UNIT_TITLES,
} from "./opponents/list.js";
export {
  comparison,
  type ComparisonOptions,
  METHOD_NAMES,
  type MethodName,
  system,
  type SystemOptions,
} from "./systems/index.js";

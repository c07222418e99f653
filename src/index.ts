/** Brume: differentially private data streams. The public names. */
export { baseline, METHOD_NAMES, type BaselineOptions, type MethodName } from "./baselines/index.js";
export type { Account, StageAccount } from "./central/account.js";
export type { RangeAnswer } from "./central/answer.js";
export { plan, type Plan } from "./central/plan.js";
export type { Publisher, RangeOptions, SealablePublisher } from "./central/publisher.js";
export type { TopsOptions } from "./central/settings.js";
export type { SmootherChoice } from "./central/smoothers/index.js";
export type { OwnSmoother } from "./central/smoothers/own.js";
export type { SnapshotKey } from "./central/snapshot.js";
export { restore, tops } from "./central/tops.js";
export { chooseCore, type CoreChoice } from "./core/choose.js";
export type { Core } from "./core/core.js";
export { unsafeKey } from "./core/unsafeKey.js";
export type { Mechanism } from "./core/mechanism.js";
export type { LocalAccount, LocalStage } from "./local/account.js";
export {
  aggregator,
  type Aggregator,
  type AggregatorOptions,
  type Distribution,
} from "./local/aggregator.js";
export type { LocalAnswer } from "./local/answer.js";
export type { Progress, Watching } from "./local/estimate.js";
export type { Batch, Refused } from "./local/intake.js";
export { hybrid, piecewise, squareWave, squareWaveWidth, stochasticRounding } from "./local/mechanisms.js";
export { estimateOf, varianceOf, worstVariance } from "./local/moments.js";
export { packReport, type Phase, type Report, unpackReport } from "./local/report.js";
export { reporter, type Reporter, type ReporterOptions } from "./local/reporter.js";
export { hub, type Hub, type HubOptions } from "./keeping/hub.js";
export { keep, type KeepOptions, type KeptPublisher } from "./keeping/keep.js";
export { memoryStore } from "./keeping/stores/memory.js";
export type { Store, Stored } from "./keeping/stores/store.js";
export { type Chunk, publishAll, type Pushable } from "./streams/iterate.js";
export { webTransform } from "./streams/web.js";

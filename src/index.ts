/** Brume: differentially private data streams. The public names. */
export { baseline, METHOD_NAMES, type BaselineOptions, type MethodName } from "../research/systems/index.js";
export type { Account, StageAccount } from "./stream/statement.js";
export type { RangeAnswer } from "./stream/answer.js";
export { plan, type Plan } from "./stream/plan.js";
export type { Publisher, RangeOptions, SealablePublisher } from "./stream/system.js";
export type { TopsOptions } from "./stream/options.js";
export type { SmootherChoice } from "./stream/smoothers/index.js";
export type { OwnSmoother } from "./stream/smoothers/own.js";
export type { SnapshotKey } from "./stream/snapshot.js";
export { restore, tops } from "./stream/stream.js";
export { chooseCore, type CoreChoice } from "./core/choose.js";
export type { Core } from "./core/core.js";
export { unsafeKey } from "./core/unsafeKey.js";
export type { Mechanism } from "./core/tables/mechanism.js";
export type { LocalAccount, LocalStage } from "./local/statement.js";
export {
  aggregator,
  type Aggregator,
  type AggregatorOptions,
  type Distribution,
} from "./local/aggregator.js";
export type { LocalAnswer } from "./local/answer.js";
export type { Progress, Watching } from "./local/em.js";
export type { Batch, Refused } from "./local/batch.js";
export { hybrid, piecewise, squareWave, squareWaveWidth, stochasticRounding } from "./local/mechanisms.js";
export { estimateOf, varianceOf, worstVariance } from "./local/moments.js";
export { packReport, type Phase, type Report, unpackReport } from "./local/report.js";
export { reporter, type Reporter, type ReporterOptions } from "./local/reporter.js";
export { hub, type Hub, type HubOptions } from "./durable/hub.js";
export { keep, type KeepOptions, type KeptPublisher } from "./durable/openStream.js";
export { memoryStore } from "./durable/stores/memory.js";
export type { Store, Stored } from "./durable/stores/store.js";
export { type Chunk, publishAll, type Pushable } from "./adapters/iterate.js";
export { webTransform } from "./adapters/web.js";

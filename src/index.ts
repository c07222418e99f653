/** Brume: differentially private data streams. The public names. */
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

/** Brume: differentially private data streams. The public names. */
export { type TextInput, textInput, type TextOptions } from "./adapters/textInput.js";
export { webTransform } from "./adapters/web.js";
export { type Chunk, publishAll, type ValueSink } from "./adapters/iterate.js";
export type { DurableStream, OpenStreamOptions } from "./durable/durableStream.js";
export type { DurableEvents } from "./durable/durableEvents.js";
export { openStream } from "./durable/openStream.js";
export type { Stored } from "./durable/openDurable.js";
export type { DurableAggregator } from "./durable/durableAggregator.js";
export type { DurablePaperAggregator } from "./durable/durablePaperAggregator.js";
export {
  openAggregator,
  type OpenAggregatorOptions,
  type OpenPaperAggregatorOptions,
} from "./durable/openAggregator.js";
export type { Hub, HubProgress, HubStats } from "./durable/hub/hub.js";
export { openHub } from "./durable/openHub.js";
export type { EventHub, EventHubStats } from "./durable/eventHub/eventHub.js";
export type { KeyedEvent, MetricEvent, SectionReports } from "./durable/eventHub/submissions.js";
export type {
  DiscoveredKeys,
  EventHubOptions,
  HistogramMetric,
  HubSection,
  Metric,
  PeopleMetric,
  StreamMetric,
} from "./durable/eventHub/eventHubOptions.js";
export type { ClosedSpan } from "./durable/eventHub/hubMetric.js";
export type { RequestId } from "./durable/eventHub/requestIds.js";
export type { HubOptions } from "./durable/hub/hubOptions.js";
export {
  type Budget,
  type Odometer,
  openOdometer,
  type OdometerOptions,
  type OdometerStatement,
  type Release,
  type StatementOptions,
  type Terms,
} from "./durable/budget/odometer.js";
export type { ApproximateSpending, EqualDraws } from "./durable/budget/composition.js";
export { memoryStore } from "./durable/stores/memory.js";
export type {
  NamedSnapshot,
  Store,
  StoredSnapshot,
  StoreError,
  StoreErrorCode,
} from "./durable/stores/store.js";
export type {
  BetweenOptions,
  Clipped,
  Counter,
  Estimate,
  EventAnswer,
  EventStream,
  Limited,
  Period,
  PeriodStream,
  Series,
  Window,
} from "./events/answer/answers.js";
export type { EdgeRule, Edges } from "./events/answer/buckets.js";
export type { Day } from "./events/days/calendar.js";
export type { Over, PeopleOptions } from "./events/people/distinct.js";
export type { Duration, Time } from "./events/days/duration.js";
export type { Histogram, HistogramAnswer, HistogramQuery } from "./events/answer/histogramAnswers.js";
export type { DroppedEvents, EventInfo } from "./events/eventInfo.js";
export type { CounterOptions } from "./events/options.js";
export { privateCounter, privateHistogram, privateStream, restore } from "./privateStream.js";
export type { EventOptions, EventStreamOptions, HistogramOptions, HistoryOptions } from "./events/options.js";
export type { PerPerson } from "./events/people/people.js";
export type { QuantileAnswer, ShareAnswer } from "./events/answer/quantiles.js";
export type { EventStatement } from "./events/statement.js";
export type { Discover } from "./events/keys/keyDiscovery.js";
export type { Shares } from "./events/shares.js";
export { aggregator, type Aggregator } from "./local/aggregator.js";
export type { DistributionQuery } from "./local/dayAnswers.js";
export type { LocalTerms } from "./local/thetas.js";
export type { AggregatorOptions } from "./local/aggregatorOptions.js";
export type { ClippedShare, LocalAnswer } from "./local/localAnswer.js";
export type { DayQuantile, DayShare, LocalBin, LocalHistogram } from "./local/localDistribution.js";
export type { LocalStatement } from "./local/localStatement.js";
export type { RejectedCounts, ReportBatch } from "./local/intake.js";
export type { Progress, RunOptions } from "./local/em.js";
export type { Phase, Report } from "./local/report.js";
export { reporter } from "./local/anyCoreReporter.js";
export type { Reporter, ReporterOptions } from "./local/reporter.js";
export type { DistributionOptions } from "./local/estimate.js";
export type { LocalQuantile, LocalShare, PercentileOptions } from "./local/percentiles.js";
export type { PaperAnswer } from "./local/paper/answer.js";
export type { Distribution, PaperAggregator, PaperRangeOptions } from "./local/paper/paperAggregator.js";
export type { PaperReporterOptions } from "./local/paper/paperReporter.js";
export type { PaperOptions, PaperTuning, PaperVariant } from "./local/paper/settings.js";
export type { PaperStage, PaperStatement } from "./local/paper/statement.js";
export type { RangeAnswer } from "./stream/answer/answer.js";
export type { Hidden } from "./stream/answer/clipping.js";
export type { StreamOptions, Tuning } from "./stream/options.js";
export type { Plan } from "./stream/plan.js";
export type { EventPlan, PlannedError } from "./events/plan.js";
export { plan } from "./plan.js";
export type { CustomSmoother } from "./stream/predict/smoothers/custom.js";
export type { SmootherChoice } from "./stream/predict/smoothers/index.js";
export type { SnapshotKey } from "./snapshot/streamCipher.js";
export type { StageStatement, Statement } from "./stream/statement.js";
export type { PrivateStream, RangeOptions, System } from "./stream/system.js";
export type { CoreChoice } from "./core/choose.js";
export type { Software } from "./core/software.js";

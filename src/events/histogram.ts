/**
 * Publishes how values are distributed over any range of time, under differential privacy for one event, added or
 * removed, or for one person.
 *
 *     event ─▶ Intake (tick, person) ─▶ bucket and group of its tick ─▶ block ends ─▶ BucketForests ─▶ BucketIndex
 *
 * There is no threshold and no hold-out: the first block is published. Buckets are disjoint, so all of them together
 * cost what one costs; an event counts in one bucket and one group.
 */
import { checkConfidence, ownOptions, refuseValue } from "../core/checks.js";
import type { Core } from "../core/core.js";
import type { Decoder, Encoder } from "../stream/codec.js";
import type { SnapshotKey } from "../stream/sealing.js";
import { publishedWindow } from "./answers.js";
import { BucketForests } from "./bucketForests.js";
import { BucketIndex } from "./bucketIndex.js";
import { bucketCounts, bucketOf, columnCount } from "./buckets.js";
import { durationText, parseTime, type Time } from "./duration.js";
import {
  checkNumbers,
  type ClosedBlock,
  type Histogram,
  type HistogramAnswer,
  type HistogramQuery,
  midpointMean,
  totalOf,
} from "./histogramAnswers.js";
import { type HistogramSettings, histogramParameters } from "./histogramOptions.js";
import { type DroppedEvents, type EventInfo, Intake } from "./intake.js";
import { OpenTicks } from "./openTicks.js";
import { BLOCK_CAP } from "./options.js";
import { peopleOf } from "./people.js";
import { type NoisyCounts, quantileOf, shareOf } from "./quantiles.js";
import { Snapshots, type Snapshotted } from "./snapshots.js";
import { type EventStatement, explainEvents, randomnessOf, unitOf } from "./statement.js";
import { startOf } from "./ticks.js";

export class TickedHistogram implements Histogram, Snapshotted {
  readonly snapshots: Snapshots;
  readonly #settings: HistogramSettings;
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #edges: Float64Array;
  readonly #buckets: number;
  readonly #intake: Intake;
  readonly #open: OpenTicks;
  readonly #index: BucketIndex;
  #forests: BucketForests;
  /** The integer counts of the running block, per column. */
  #block: Float64Array;

  constructor(settings: HistogramSettings, core: Core, key: Uint32Array) {
    this.#settings = settings;
    this.#core = core;
    this.#key = key;
    const { edges, schedule, stream, group } = settings;
    this.#edges = edges;
    this.#buckets = edges.length + 1;
    const columns = columnCount(this.#buckets, group);
    this.snapshots = new Snapshots(
      () => histogramParameters(settings),
      (writer) => this.#save(writer),
    );
    this.#intake = new Intake(schedule, peopleOf(settings, core, key));
    this.#open = new OpenTicks(columns);
    this.#index = new BucketIndex(stream, columns, settings.noiseScale);
    this.#forests = this.#forestsFrom(0);
    this.#block = new Float64Array(columns);
  }

  /** @param block the block that is estimated next */
  #forestsFrom(block: number): BucketForests {
    const { stream, group, perEvent, fraction } = this.#settings;
    const columns = columnCount(this.#buckets, group);
    return new BucketForests(this.#core, this.#key, stream, columns, perEvent, fraction, block);
  }

  get edges(): readonly number[] {
    return Array.from(this.#edges);
  }

  get closed(): number {
    return this.#intake.closed;
  }

  get dropped(): DroppedEvents {
    return this.#intake.dropped;
  }

  get sequence(): number {
    return this.snapshots.sequence;
  }

  add(value: number, event?: EventInfo): void {
    if (!Number.isFinite(value)) refuseValue();
    const tick = this.#intake.admit(event, this.#prepare);
    if (tick >= 0) this.takeInto(tick, value);
  }

  /** Makes room for an event: what comes after it cannot fail. */
  readonly #prepare = (tick: number): void => {
    this.#open.row(tick);
  };

  /** Takes an event that was checked before, into a tick that is not closed. */
  takeInto(tick: number, value: number): void {
    const row = this.#open.row(tick);
    const bucket = bucketOf(this.#edges, value);
    const { group } = this.#settings;
    row[bucket]!++;
    if (group > 1) row[this.#buckets + Math.floor(bucket / group)]!++;
  }

  /** What can fail comes first, on copies. What changes the state comes last and cannot fail. */
  advance(now?: Time): ClosedBlock[] {
    const { schedule, stream, group } = this.#settings;
    const time = now === undefined ? schedule.clock() : parseTime("now", now);
    const [from, to] = this.#intake.due(time);
    const running = this.#block.slice();
    const estimates: Float64Array[] = [];
    const blocks: ClosedBlock[] = [];
    for (let tick = from; tick < to; tick++) {
      const row = this.#open.sums(tick);
      if (row !== undefined)
        for (let i = 0; i < row.length; i++) running[i] = Math.min(BLOCK_CAP, running[i]! + row[i]!);
      const end = tick + 1;
      if (end % stream.blockLength !== 0) continue;
      const position = end / stream.blockLength - 1;
      const estimate = this.#forests.estimate(position, running);
      running.fill(0);
      estimates.push(estimate);
      blocks.push({
        position,
        from: startOf(schedule, end - stream.blockLength),
        to: startOf(schedule, end),
        counts: bucketCounts(estimate, this.#buckets, group),
      });
    }
    this.#index.reserve(estimates.length);

    for (const estimate of estimates) this.#index.add(estimate);
    this.#block = running;
    this.#open.close(from, to);
    this.#intake.closeBefore(to, time);
    return blocks;
  }

  between(from: Time, to: Time, query: HistogramQuery = {}): HistogramAnswer {
    const asked = ownOptions("between", query, ["quantiles", "shares", "confidence"]);
    const confidence = checkConfidence(asked.confidence ?? 0.95);
    const { schedule, stream, group } = this.#settings;
    const { blockLength } = stream;
    const published = this.#index.finished === 0 ? 0 : this.closed;
    const span = { length: published, oldest: this.#index.oldest * blockLength };
    const { window, start, end } = publishedWindow(schedule, 0, span, from, to);
    const { sums, spread } = this.#index.sums(start / blockLength, end / blockLength);
    const counts = bucketCounts(sums, this.#buckets, group);
    const noisy: NoisyCounts = { counts, edges: this.#edges, group, spread };
    return {
      ...window,
      confidence,
      total: totalOf(noisy, confidence),
      counts: Array.from(counts),
      countError: Math.sqrt(spread.variance * (group === 1 ? 1 : group / (group + 1))),
      midpointMean: midpointMean(noisy),
      quantiles: checkNumbers("quantiles", asked.quantiles, (p) => p > 0 && p < 1, "between 0 and 1").map(
        (p) => quantileOf(noisy, p, confidence),
      ),
      shares: checkNumbers("shares", asked.shares, Number.isFinite, "that are finite").map((x) =>
        shareOf(noisy, x, confidence),
      ),
    };
  }

  statement(): EventStatement {
    const { stream, schedule, group, noiseScale } = this.#settings;
    const { fanout, levels, blockLength, unsafeSeed } = stream;
    return {
      system: `ToPS over ticks, histogram of ${this.#buckets} buckets`,
      ...unitOf(this.#settings),
      delta: 0,
      private: unsafeSeed === undefined,
      composition:
        group === 1
          ? "Every event is in one bucket of one tick, and forests are disjoint: ε in all."
          : `Every event is in one bucket and in one group of ${group} buckets, at half of ε each, and forests are disjoint: ε in all.`,
      threshold: null,
      holdoutTicks: 0,
      fanout,
      levels,
      block: durationText(blockLength * schedule.every),
      noise: "discrete Laplace, sampled exactly",
      noiseScales: { counts: noiseScale },
      randomness: randomnessOf(unsafeSeed),
      core: this.#core.name,
      published: this.#index.finished * blockLength,
    };
  }

  explain(): string {
    return explainEvents(this.statement());
  }

  snapshot(key: SnapshotKey): Promise<Uint8Array> {
    return this.snapshots.take(key);
  }

  #save(writer: Encoder): void {
    const horizon = this.#intake.horizon(); // the caller's clock runs before anything is written
    writer.words(this.#key);
    this.#intake.save(writer, horizon);
    this.#open.save(writer, this.closed, horizon);
    for (const count of this.#block) writer.double(count);
    this.#index.save(writer, this.#settings.fraction);
  }

  load(state: Decoder): void {
    this.#intake.load(state);
    this.#open.load(state, this.closed);
    this.#block = this.#block.map(() => state.double());
    this.#index.load(state, this.#settings.fraction);
    this.#forests = this.#forestsFrom(this.#index.finished);
  }
}

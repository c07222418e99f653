/**
 * Publishes sums, counts or means of events at times, under differential privacy for one event, added or removed.
 *
 *     event ─▶ Intake (tick, person) ─▶ OpenTicks ─▶ tick closed ─▶ BlockPublisher ─▶ one number per tick
 *
 * The clock or the caller closes ticks (`advance`); events never do. Ticks of the hold-out choose θ and give the first
 * prediction; later ticks are published. The stages read disjoint events, so ε holds for all of it (docs/events.md).
 */
import { checkConfidence, ownOptions, refuseValue } from "../core/checks.js";
import type { Core } from "../core/core.js";
import { quantise } from "../core/quantise.js";
import { Stage } from "../core/random.js";
import { makeAnswer } from "../stream/answer.js";
import { BlockPublisher } from "../stream/blockPublisher.js";
import type { Decoder, Encoder } from "../stream/codec.js";
import type { SnapshotKey } from "../stream/sealing.js";
import type { Parameters } from "../stream/snapshot.js";
import { WarmStart } from "../stream/warmStart.js";
import {
  type BetweenOptions,
  type ClosedTicks,
  type Counter,
  type EventAnswer,
  type EventStream,
  publishedWindow,
  type TickStream,
} from "./answers.js";
import { derivedKey } from "./derivedKey.js";
import { durationText, parseTime, type Time } from "./duration.js";
import { type DroppedEvents, type EventInfo, Intake } from "./intake.js";
import { OpenTicks } from "./openTicks.js";
import { BLOCK_CAP, type EventSettings, tickParameters } from "./options.js";
import { People } from "./people.js";
import { ratioOf } from "./ratio.js";
import { Snapshots, type Snapshotted } from "./snapshots.js";
import { type EventStatement, explainEvents, randomnessOf, unitOf } from "./statement.js";
import { ThresholdTally } from "./threshold.js";
import { startOf } from "./ticks.js";
import { WaitingValues } from "./waitingValues.js";

export class TickedStream implements TickStream, Snapshotted {
  readonly snapshots: Snapshots;
  readonly #settings: EventSettings;
  readonly #core: Core;
  readonly #key: Uint32Array;
  readonly #intake: Intake;
  readonly #open: OpenTicks;
  readonly #tally: ThresholdTally | undefined;
  readonly #waiting = new WaitingValues();
  readonly #warm = new WarmStart();
  /** θ in units of the stream; NaN until it is known. */
  #theta = NaN;
  readonly #resolution: number;
  readonly #sums: number;
  readonly #counts: number;
  /** One per column, once the hold-out is over. */
  #publishers: readonly BlockPublisher[] = [];

  constructor(settings: EventSettings, core: Core, key: Uint32Array) {
    this.#settings = settings;
    this.#core = core;
    this.#key = key;
    const { columns, threshold, choosing, warming, schedule, limit } = settings;
    const people =
      limit === undefined ? undefined : new People(derivedKey(core, key, Stage.people, 4), limit);
    this.snapshots = new Snapshots(
      () => streamParameters(settings),
      (writer) => this.#save(writer),
    );
    this.#intake = new Intake(schedule, people);
    this.#open = new OpenTicks(columns.length);
    this.#resolution = columns[0]!.stream.resolution;
    this.#sums = columns.findIndex(({ counts }) => !counts);
    this.#counts = columns.findIndex(({ counts }) => counts);
    if (threshold === "noisy-max")
      this.#tally = new ThresholdTally(columns[0]!.stream, choosing, settings.perTick);
    else this.#theta = threshold;
    if (choosing + warming === 0) this.#begin();
  }

  get closed(): number {
    return this.#intake.closed;
  }

  get length(): number {
    return this.#publishers[0]?.length ?? 0;
  }

  get dropped(): DroppedEvents {
    return this.#intake.dropped;
  }

  get sequence(): number {
    return this.snapshots.sequence;
  }

  get #held(): number {
    return this.#settings.choosing + this.#settings.warming;
  }

  /** Takes an event; only counted where the stream has no sums. */
  take(value: number, event: EventInfo | undefined): void {
    if (!Number.isFinite(value)) refuseValue();
    const tick = this.#intake.admit(event);
    if (tick < 0) return;
    if (Number.isNaN(this.#theta)) this.#hold(value, tick);
    else this.#addTo(tick, value);
  }

  #addTo(tick: number, value: number): void {
    const row = this.#open.row(tick);
    const [sums, counts] = [this.#sums, this.#counts];
    if (sums >= 0)
      row[sums] = Math.min(BLOCK_CAP, row[sums]! + quantise(value, this.#theta, this.#resolution));
    if (counts >= 0) row[counts] = Math.min(BLOCK_CAP, row[counts]! + 1);
  }

  /** Before θ is known: a tick that chooses it, or one that waits for it. */
  #hold(value: number, tick: number): void {
    if (tick < this.#settings.choosing) this.#tally!.add(value, tick);
    else this.#waiting.add(tick, value);
  }

  advance(now?: Time): ClosedTicks {
    const { schedule } = this.#settings;
    const time = now === undefined ? schedule.clock() : parseTime("now", now);
    const [from, to] = this.#intake.due(time);
    const first = Math.min(to, Math.max(from, this.#held));
    const out = this.#settings.columns.map(() => new Float64Array(to - first));
    for (let tick = from; tick < to; tick++) this.#close(tick, out, tick - first);
    this.#intake.closeBefore(to, time);
    const closed = { from: startOf(schedule, first), every: schedule.every, values: out[0]! };
    return out.length === 1 ? closed : { ...closed, counts: out[1]! };
  }

  #close(tick: number, out: readonly Float64Array[], place: number): void {
    const row = this.#open.take(tick);
    if (tick < this.#held) this.#closeHeld(tick, row);
    else
      this.#publishers.forEach((publisher, i) => {
        out[i]![place] = publisher.pushUnits(row?.[i] ?? 0);
      });
  }

  #closeHeld(tick: number, row: Float64Array | undefined): void {
    const { choosing, columns } = this.#settings;
    if (tick >= choosing) this.#warm.add(row?.[0] ?? 0);
    if (tick + 1 === choosing) {
      this.#theta = this.#tally!.choose(this.#core, this.#key) * columns[0]!.stream.resolution;
      this.#waiting.drain((waiting, value) => this.#addTo(waiting, value));
    }
    if (tick + 1 === this.#held) this.#begin();
  }

  #begin(): void {
    this.#publishers = this.#settings.columns.map(({ counts, stream }, i) => {
      const theta = counts ? 1 : this.#unitsOfTheta;
      const first =
        i === 0 && this.#settings.warming > 0
          ? this.#warm.mean(this.#core, this.#key, theta, stream.epsilon)
          : (this.#settings.perTick * theta) / (counts ? 1 : 2);
      const publisher = this.#publisher(i, theta, first);
      publisher.prepare();
      return publisher;
    });
  }

  get #unitsOfTheta(): number {
    return Math.floor(this.#theta / this.#resolution + 0.5);
  }

  /** The second column has noise of its own. */
  #publisher(column: number, theta: number, first: number): BlockPublisher {
    const key = column === 0 ? this.#key : derivedKey(this.#core, this.#key, Stage.column, 8);
    const warming = column === 0 ? this.#settings.warming : 0; // ticks behind the first prediction: its noise
    const settings = { ...this.#settings.columns[column]!.stream, warming };
    return new BlockPublisher(this.#core, key, settings, theta, first, BLOCK_CAP);
  }

  between(from: Time, to: Time, options: BetweenOptions = {}): EventAnswer {
    const confidence = checkConfidence(ownOptions("between", options, ["confidence"]).confidence ?? 0.95);
    const { window, start, end } = publishedWindow(
      this.#settings.schedule,
      this.#held,
      this.#publishers[0],
      from,
      to,
    );
    const raw = this.#publishers.map((publisher) =>
      start === end ? { sum: 0, spread: { variance: 0, fourth: 0 } } : publisher.answer(start, end, "best"),
    );
    const answers = raw.map(({ sum, spread }, i) => {
      const unit = this.#settings.columns[i]!.stream.resolution;
      const { sum: value, standardError, low, high } = makeAnswer(sum, 1, spread, unit, confidence);
      return { ...window, value, standardError, low, high, confidence };
    });
    if (raw.length === 0) return { ...window, value: 0, standardError: 0, low: 0, high: 0, confidence };
    if (raw.length === 1) return answers[0]!;
    const mean = (p: number) => ratioOf(raw[0]!, raw[1]!, this.#unitsOfTheta, p);
    const [ratio, narrow] = [mean(confidence), mean(0.6827)];
    const unit = this.#resolution;
    return {
      ...window,
      value: ratio.value * unit,
      standardError: ((narrow.high - narrow.low) / 2) * unit,
      low: ratio.low * unit,
      high: ratio.high * unit,
      confidence,
      sum: answers[0]!,
      count: answers[1]!,
    };
  }

  statement(): EventStatement {
    const { columns, of } = this.#settings;
    const { fanout, levels, blockLength, unsafeSeed } = columns[0]!.stream;
    const theta = of === "count" || Number.isNaN(this.#theta) ? null : this.#theta;
    const scales = columns.map(({ counts, stream }) => {
      const largest = counts ? 1 : theta;
      return [counts ? "counts" : "sums", largest === null ? null : (levels * largest) / stream.epsilon];
    });
    return {
      system: `ToPS over ticks, ${of}`,
      ...unitOf(this.#settings),
      delta: 0,
      private: unsafeSeed === undefined,
      composition:
        of === "mean"
          ? "Sums and counts are two releases of the same events, at half of ε each; hold-out and published ticks are disjoint: ε in all."
          : "Every event is in one tick, ticks of the hold-out and published ticks are disjoint, and so are forests: ε in all.",
      threshold: theta,
      holdoutTicks: this.#held,
      fanout,
      levels,
      block: durationText(blockLength * this.#settings.schedule.every),
      noise: "discrete Laplace, sampled exactly",
      noiseScales: Object.fromEntries(scales) as Record<string, number | null>,
      randomness: randomnessOf(unsafeSeed),
      core: this.#core.name,
      published: this.length,
    };
  }

  explain(): string {
    return explainEvents(this.statement());
  }

  snapshot(key: SnapshotKey): Promise<Uint8Array> {
    return this.snapshots.take(key);
  }

  #save(writer: Encoder): void {
    writer.words(this.#key);
    this.#intake.save(writer);
    writer.double(this.#theta);
    this.#tally?.save(writer);
    this.#warm.save(writer);
    this.#open.save(writer, this.closed, this.#intake.horizon());
    this.#waiting.save(writer);
    for (const publisher of this.#publishers) publisher.save(writer);
  }

  load(state: Decoder): void {
    this.#intake.load(state);
    this.#theta = state.double();
    this.#tally?.load(state);
    this.#warm.load(state);
    this.#open.load(state, this.closed);
    this.#waiting.load(state);
    if (this.closed < this.#held) return;
    this.#publishers = this.#settings.columns.map(({ counts }, i) => {
      const publisher = this.#publisher(i, counts ? 1 : this.#unitsOfTheta, 0);
      publisher.load(state);
      publisher.prepare();
      return publisher;
    });
  }
}

export class ValueEvents extends TickedStream implements EventStream {
  add(value: number, event?: EventInfo): void {
    this.take(value, event);
  }
}

export class CountedEvents extends TickedStream implements Counter {
  add(event?: EventInfo): void {
    this.take(1, event);
  }
}

/** What a snapshot is bound to. */
export function streamParameters(settings: EventSettings): Parameters {
  const { of, threshold, choosing, warming, columns } = settings;
  return tickParameters(settings, columns[0]!.stream, { of, chosen: threshold, choosing, warming });
}

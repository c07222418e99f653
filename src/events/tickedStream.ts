/**
 * Publishes sums, counts or means of events at times, under differential privacy for one event, added or removed.
 *
 *     event ─▶ Intake (tick, person) ─▶ OpenTicks ─▶ tick closed ─▶ BlockPublisher ─▶ one number per tick
 *
 * The clock or the caller closes ticks (`advance`); events never do. Ticks of the hold-out choose θ and give the first
 * prediction; later ticks are published. The stages read disjoint events, so ε holds for all of it (docs/events.md).
 */
import { checkConfidence, ownOptions, refuseReentry, refuseValue } from "../core/checks.js";
import type { Core } from "../core/core.js";
import { quantise } from "../core/quantise.js";
import { Stage } from "../core/random.js";
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
import { parseTime, type Time } from "./duration.js";
import { eventAnswer } from "./eventAnswer.js";
import { type DroppedEvents, type EventInfo, Intake } from "./intake.js";
import { OpenTicks } from "./openTicks.js";
import { BLOCK_CAP, type EventSettings, tickParameters } from "./options.js";
import { peopleOf } from "./people.js";
import { Snapshots, type Snapshotted } from "./snapshots.js";
import { type EventStatement, explainEvents, streamStatement } from "./statement.js";
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
  /** Where θ is to be chosen. */
  readonly #waiting: WaitingValues | undefined;
  #warm = new WarmStart();
  /** θ in units of the stream; NaN until it is known. */
  #theta = NaN;
  readonly #resolution: number;
  readonly #sums: number;
  readonly #counts: number;
  /** One per column, once the hold-out is over. */
  #publishers: readonly BlockPublisher[] = [];
  /** Ticks are being published, and a caller's smoother may run. */
  #busy = false;

  constructor(settings: EventSettings, core: Core, key: Uint32Array) {
    this.#settings = settings;
    this.#core = core;
    this.#key = key;
    const { columns, threshold, choosing, warming, schedule } = settings;
    this.snapshots = new Snapshots(
      () => streamParameters(settings),
      (writer) => this.#save(writer),
    );
    this.#intake = new Intake(schedule, peopleOf(settings, core, key));
    this.#open = new OpenTicks(columns.length);
    this.#resolution = columns[0]!.stream.resolution;
    this.#sums = columns.findIndex(({ counts }) => !counts);
    this.#counts = columns.findIndex(({ counts }) => counts);
    if (threshold === "noisy-max") {
      this.#tally = new ThresholdTally(columns[0]!.stream, choosing, settings.perTick);
      this.#waiting = new WaitingValues(this.#tally.candidates);
    } else this.#theta = threshold;
    if (choosing + warming === 0) this.#publishers = this.#begin(this.#theta, this.#warm);
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
    if (this.#busy) refuseReentry();
    if (!Number.isFinite(value)) refuseValue();
    const tick = this.#intake.admit(event, this.#prepare);
    if (tick >= 0) this.takeInto(tick, value);
  }

  /** Makes room for an event: what comes after it cannot fail. */
  readonly #prepare = (tick: number): void => {
    if (!Number.isNaN(this.#theta)) this.#open.row(tick);
    else if (tick >= this.#settings.choosing) this.#waiting!.prepare(tick);
  };

  /** Takes an event that was checked before, into a tick that is not closed. Before θ is known, a tick chooses it or waits for it. */
  takeInto(tick: number, value: number): void {
    if (!Number.isNaN(this.#theta)) {
      const sum = this.#sums < 0 ? 0 : quantise(value, this.#theta, this.#resolution);
      this.#addTo(this.#open.row(tick), sum, 1);
    } else if (tick < this.#settings.choosing) this.#tally!.add(value, tick);
    else {
      const { max, resolution } = this.#settings.columns[0]!.stream;
      this.#waiting!.add(tick, quantise(value, max, resolution));
    }
  }

  #addTo(row: Float64Array, sum: number, count: number): void {
    const sums = this.#sums;
    const counts = this.#counts;
    if (sums >= 0) row[sums] = Math.min(BLOCK_CAP, row[sums]! + sum);
    if (counts >= 0) row[counts] = Math.min(BLOCK_CAP, row[counts]! + count);
  }

  /** What can fail comes first, on copies. What changes the state comes last and cannot fail. */
  advance(now?: Time): ClosedTicks {
    if (this.#busy) refuseReentry();
    const { schedule, choosing } = this.#settings;
    const time = now === undefined ? schedule.clock() : parseTime("now", now);
    const [from, to] = this.#intake.due(time);
    const first = Math.min(to, Math.max(from, this.#held));
    const chooses = from < choosing && choosing <= to;
    const theta = chooses ? this.#chooseTheta() : this.#theta;
    const settled = chooses ? this.#settle(theta) : undefined;
    const row = (tick: number) => settled?.get(tick) ?? this.#open.sums(tick);
    const warm = this.#warm.copy();
    for (let tick = Math.max(from, choosing); tick < Math.min(to, this.#held); tick++)
      warm.add(row(tick)?.[0] ?? 0);
    const begins = from < this.#held && this.#held <= to;
    const publishers = begins ? this.#begin(theta, warm) : this.#publishers;
    const commits = publishers.map((publisher, column) =>
      publisher.prepareTicks(
        Float64Array.from({ length: to - first }, (_, i) => row(first + i)?.[column] ?? 0),
      ),
    );
    const none = new Float64Array(0);

    this.#busy = true; // stays so if a smoother fills the stack: nobody knows then what was published
    this.#theta = theta;
    this.#warm = warm;
    this.#publishers = publishers;
    if (settled !== undefined) this.#endChoice(settled);
    this.#open.close(from, to);
    this.#intake.closeBefore(to, time);
    const out = commits.map((commit) => commit());
    this.#busy = false;
    const closed = { from: startOf(schedule, first), every: schedule.every, values: out[0] ?? none };
    return this.#settings.columns.length === 1 ? closed : { ...closed, counts: out[1] ?? none };
  }

  /** θ in units of the stream. Private noise on true counts: the same for the same counts. */
  #chooseTheta(): number {
    return this.#tally!.choose(this.#core, this.#key) * this.#resolution;
  }

  /** What the ticks that waited for θ sum to. */
  #settle(theta: number): Map<number, Float64Array> {
    const rows = new Map<number, Float64Array>();
    for (const { tick, sum, count } of this.#waiting!.clamped(this.#unitsOf(theta))) {
      const row = new Float64Array(this.#settings.columns.length);
      this.#addTo(row, sum, count);
      rows.set(tick, row);
    }
    return rows;
  }

  #endChoice(settled: ReadonlyMap<number, Float64Array>): void {
    for (const [tick, row] of settled) this.#open.set(tick, row);
    this.#waiting!.wipe();
    this.#tally!.wipe();
  }

  /** What publishes, once the hold-out is over. */
  #begin(theta: number, warm: WarmStart): BlockPublisher[] {
    return this.#settings.columns.map(({ counts, stream }, i) => {
      const units = counts ? 1 : this.#unitsOf(theta);
      const first =
        i === 0 && this.#settings.warming > 0
          ? warm.mean(this.#core, this.#key, units, stream.epsilon)
          : (this.#settings.perTick * units) / (counts ? 1 : 2);
      const publisher = this.#publisher(i, units, first);
      publisher.prepare();
      return publisher;
    });
  }

  /** Θ in grid units. */
  #unitsOf(theta: number): number {
    return Math.floor(theta / this.#resolution + 0.5);
  }

  /** The second column has noise of its own. */
  #publisher(column: number, theta: number, first: number): BlockPublisher {
    const key = column === 0 ? this.#key : derivedKey(this.#core, this.#key, Stage.column, 8);
    const warming = column === 0 ? this.#settings.warming : 0; // ticks behind the first prediction: its noise
    const settings = { ...this.#settings.columns[column]!.stream, warming };
    return new BlockPublisher(this.#core, key, settings, theta, first, BLOCK_CAP);
  }

  between(from: Time, to: Time, options: BetweenOptions = {}): EventAnswer {
    if (this.#busy) refuseReentry();
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
    const units = this.#settings.columns.map(({ stream }) => stream.resolution);
    return eventAnswer(window, raw, units, this.#unitsOf(this.#theta), confidence);
  }

  statement(): EventStatement {
    return streamStatement(this.#settings, this.#theta, this.#core.name, this.length);
  }

  explain(): string {
    return explainEvents(this.statement());
  }

  snapshot(key: SnapshotKey): Promise<Uint8Array> {
    return this.snapshots.take(key);
  }

  #save(writer: Encoder): void {
    if (this.#busy) refuseReentry();
    const horizon = this.#intake.horizon(); // the caller's clock runs before anything is written
    writer.words(this.#key);
    this.#intake.save(writer, horizon);
    writer.double(this.#theta);
    this.#tally?.save(writer);
    this.#warm.save(writer);
    this.#open.save(writer, this.closed, horizon);
    if (Number.isNaN(this.#theta)) this.#waiting!.save(writer, this.#settings.choosing, horizon);
    for (const publisher of this.#publishers) publisher.save(writer);
  }

  load(state: Decoder): void {
    this.#intake.load(state);
    this.#theta = state.double();
    this.#tally?.load(state);
    this.#warm.load(state);
    this.#open.load(state, this.closed);
    if (Number.isNaN(this.#theta)) this.#waiting!.load(state, this.#settings.choosing);
    if (this.closed < this.#held) return;
    this.#publishers = this.#settings.columns.map(({ counts }, i) => {
      const publisher = this.#publisher(i, counts ? 1 : this.#unitsOf(this.#theta), 0);
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

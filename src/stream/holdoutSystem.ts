/**
 * Values in, private numbers out: a hold-out that chooses θ, then a publisher. ToPS is this, and so is every
 * system it is compared with, with other parts.
 *
 * A call that fails changes nothing: what can fail comes first, what changes the state comes last and cannot fail.
 */
import { batchOf, type ValueBatch } from "../core/batches.js";
import { checkFinite, refuseReentry, refuseValue } from "../core/checks.js";
import type { AnswerKind, RangeAnswer } from "./answer/answer.js";
import type { Hidden } from "./answer/clipping.js";
import { type Beginning, copyHoldout, type Holdout } from "./holdout/holdout.js";
import { heldOut, type Settings } from "./options.js";
import { answerRange, type Publisher } from "./publisher.js";
import { explainStatement, type Statement } from "./statement.js";
import type { RangeOptions, System } from "./system.js";

/** Settings and functions in which one system differs from another. */
export interface SystemParts<P extends Publisher> {
  readonly settings: Settings;
  /** How a range is answered if the caller does not say. */
  readonly answer: AnswerKind;
  /** A hold-out that has seen no value. */
  holdout(): Holdout;
  /** How many idle values at the end of the hold-out pass while the publisher draws what takes long. */
  readonly drawing?: number;
  publisher(beginning: Beginning): P;
  statement(progress: SystemProgress<P>): Statement;
  /** Estimate of the amount that clamping removes in published positions, in units of the stream, if they are known. */
  clipping?(progress: SystemProgress<P>, from: number, to: number, confidence: number): Hidden | undefined;
}

/** Where a system is: in its hold-out, or behind it. */
export interface SystemProgress<P extends Publisher> {
  readonly holdout?: Holdout;
  /** Decisions of the hold-out, and the publisher that they began. */
  readonly release?: Release<P>;
}

interface Release<P extends Publisher> {
  readonly beginning: Beginning;
  readonly publisher: P;
}

export class HoldoutSystem<P extends Publisher> implements System {
  // Parameters
  readonly #parts: SystemParts<P>;
  /** Values that choose θ, all before those that only give time to draw, and all that are held out. */
  readonly #choosing: number;
  readonly #drawsFrom: number;
  readonly #heldOut: number;
  // State
  #progress: SystemProgress<P>;
  /** The publisher, once the release has begun. */
  #publisher: P | undefined;
  /** The publisher while no call is under way: all that a push needs to ask. */
  #ready: P | undefined;
  /** The release after the hold-out, if it is drawn during the hold-out's last values. Follows from the hold-out: never saved. */
  #next: Release<P> | undefined;
  /** The hold-out takes fewer values than this before there is work to do that can fail. */
  #nextEnd: number;
  /** A call is under way in which code of the caller may run: getters of a batch, or a smoother. */
  #busy = false;

  /** @param progress where a restored system is */
  constructor(parts: SystemParts<P>, progress: SystemProgress<P> = firstProgress(parts)) {
    this.#parts = parts;
    this.#choosing = parts.settings.holdout.choosing;
    this.#heldOut = heldOut(parts.settings);
    this.#drawsFrom = this.#heldOut - (parts.drawing ?? 0);
    this.#progress = progress;
    this.#publisher = this.#ready = progress.release?.publisher;
    this.#nextEnd = this.#endAfter(progress.holdout?.held ?? this.#heldOut);
    if (progress.holdout !== undefined && this.#drawsAt(progress.holdout.held))
      this.#next = release(parts, progress.holdout);
    (this.#publisher ?? this.#next?.publisher)?.prepare?.();
  }

  protected get progress(): SystemProgress<P> {
    return this.#progress;
  }

  get length(): number {
    return this.#publisher?.length ?? 0;
  }

  get received(): number {
    return (this.#progress.holdout?.held ?? this.#heldOut) + this.length;
  }

  push(value: number): number | undefined {
    if (!Number.isFinite(value)) refuseValue();
    if (this.#ready !== undefined) return this.#ready.push(value);
    if (this.#busy) refuseReentry();
    const holdout = this.#progress.holdout!;
    if (holdout.held + 1 >= this.#nextEnd) this.#endPart(Float64Array.of(value), new Float64Array(0));
    else {
      holdout.add(value);
      if (this.#next !== undefined) this.#draw();
    }
    return undefined;
  }

  pushMany(values: ValueBatch): Float64Array {
    const batch = this.readBatch(values);
    try {
      // Held-out values are copied, so that another thread cannot change one after it was checked. Publishers check the
      // values that they publish while they add them up.
      return this.#take(batch, (part) => checkFinite(new Float64Array(part)));
    } catch (error) {
      checkFinite(batch); // says which value of this batch it was
      throw error;
    }
  }

  /** Takes values that are checked already, and that nobody changes. */
  receive(batch: Float64Array): Float64Array {
    if (this.#busy) refuseReentry();
    return this.#take(batch, (part) => part);
  }

  /** A batch as `batchOf` gives it. A caller's getters may run, but not call this system. */
  protected readBatch(values: ValueBatch): Float64Array {
    if (this.#busy) refuseReentry();
    return this.#whileBusy(() => batchOf(values));
  }

  /** @param checked makes sure of values that are held out */
  #take(batch: Float64Array, checked: (part: Float64Array) => Float64Array): Float64Array {
    if (this.#publisher !== undefined) return this.#publisher.pushMany(batch);
    const holdout = this.#progress.holdout!;
    const part = checked(batch.subarray(0, this.#heldOut - holdout.held));
    if (holdout.held + part.length >= this.#nextEnd) return this.#endPart(part, batch.subarray(part.length));
    const published = new Float64Array(0); // before the values are taken: even this may fail
    holdout.addMany(part, part.length);
    this.#draw();
    return published;
  }

  range(from: number, to: number, options: RangeOptions = {}): RangeAnswer {
    this.checkIdle();
    const answer = answerRange(this.#publisher, from, to, options, this.#parts.answer);
    const hidden = this.#parts.clipping?.(this.#progress, from, to, answer.confidence);
    const received = { from: this.#heldOut + from, to: this.#heldOut + to };
    return { ...answer, received, ...(hidden === undefined ? {} : { hidden }) };
  }

  statement(): Statement {
    return this.#parts.statement(this.#progress);
  }

  explain(): string {
    return explainStatement(this.statement());
  }

  /** Fails in the middle of another call on this system. */
  protected checkIdle(): void {
    if (this.#busy) refuseReentry();
  }

  #whileBusy<T>(work: () => T): T {
    this.#busy = true;
    this.#ready = undefined;
    try {
      return work();
    } finally {
      this.#ready = this.#publisher;
      this.#busy = false;
    }
  }

  /** After how many values of the hold-out θ is chosen, what follows is made or the hold-out ends, whichever comes first. */
  #endAfter(held: number): number {
    if (held < this.#choosing) return this.#choosing;
    return held < this.#drawsFrom ? this.#drawsFrom : this.#heldOut;
  }

  /** Whether a hold-out that has seen so many values is at those that only give time to draw. */
  #drawsAt(held: number): boolean {
    return this.#drawsFrom < this.#heldOut && held >= this.#drawsFrom;
  }

  /** Draws what is due by now. The value is taken already: what fails here, on a stack overflow, is drawn later. */
  #draw(): void {
    try {
      (this.#next?.publisher ?? this.#publisher)?.draw?.(this.received - this.#drawsFrom);
    } catch {
      return;
    }
  }

  /**
   * Takes values up to the end of a part of the hold-out and beyond, on a copy. The copy becomes the state when all has succeeded.
   * @param held values of the hold-out
   * @param rest values after it; none if it goes on
   */
  #endPart(held: Float64Array, rest: Float64Array): Float64Array {
    const before = this.#progress.holdout!;
    const numbers = this.#whileBusy(() => {
      const fresh = this.#parts.holdout();
      const holdout = before.held === 0 ? fresh : copyHoldout(before, fresh);
      try {
        holdout.addMany(held, held.length);
        const next =
          holdout.done || this.#drawsAt(holdout.held)
            ? (this.#next ?? release(this.#parts, holdout))
            : undefined;
        const progress = holdout.done ? { release: next! } : { holdout };
        const published = progress.release?.publisher.pushMany(rest) ?? new Float64Array(0);
        this.#progress = progress;
        this.#publisher = progress.release?.publisher;
        this.#next = holdout.done ? undefined : next;
        this.#nextEnd = this.#endAfter(holdout.held);
        return published;
      } catch (error) {
        holdout.wipe();
        throw error;
      }
    });
    before.wipe();
    this.#draw();
    return numbers;
  }
}

function firstProgress<P extends Publisher>(parts: SystemParts<P>): SystemProgress<P> {
  const holdout = parts.holdout();
  return holdout.done ? { release: release(parts, holdout) } : { holdout };
}

function release<P extends Publisher>(parts: SystemParts<P>, holdout: Holdout): Release<P> {
  const beginning = holdout.begin();
  return { beginning, publisher: parts.publisher(beginning) };
}

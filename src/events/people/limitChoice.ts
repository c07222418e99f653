/**
 * Chooses k, how many events of a person count in a day, from the people of the first whole day. Events of that day and of
 * the part of a day before it are not published. With c(k) = the number of people who had more than k events,
 *
 *     score(k) = −max(c(k) − ⌊hM/ε⌋, 0) − (β/ε)·ln k,   k = round(2^(j/4))
 *
 * and the winner of score + noise is k. M is the standard error of a whole day per k/ε: k + 1 in the place of k brings back
 * c(k) events of a total and adds M/ε of noise, so the best k is where about M/ε people have more. h and β were measured
 * (research/notes/limit-choice.md).
 *
 * Privacy: a person and day that is added raises every c(k) by 0 or 1, all in one direction; the hinge is monotone and the
 * penalty public. So one-sided noise of scale 1/ε is ε-private (docs/noisy-max.md). The day is used for nothing else: all of
 * ε is for the choice.
 */
import type { NoiseCore } from "../../core/core.js";
import { Purpose, subStream } from "../../core/random.js";
import { type Choice, chooseByBins, eventChoice } from "../../stream/holdout/choice.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { rankSpread } from "../answer/buckets.js";
import { dayIndex } from "../days/dayNoise.js";
import { dayError } from "../holdout.js";
import { type EventSettings, movedBy } from "../eventSettings.js";
import type { People } from "./people.js";
import { SHARES } from "../shares.js";

/** β: below it, k is often twice too large. */
export const LIMIT_BETA = 8;
/** h: what is dropped is a bias, and adds up with the noise as squares do, so more than M/ε people may have more. */
export const LIMIT_HINGE = 1.5;
/** Beside the purposes of the choice of θ. */
const LIMIT = 3;

export class LimitChoice {
  // Parameters
  readonly #choice: Choice;
  // State
  /** The whole day whose people choose k. */
  from: number;
  until: number;

  /** @param began when the metric began */
  constructor(settings: EventSettings, began: number) {
    this.#choice = limitChoice(settings);
    const { calendar } = settings.schedule;
    const first = calendar.dayAt(began);
    const { start, end } = began === first.start ? first : calendar.dayAt(first.end);
    [this.from, this.until] = [start, end];
  }

  /** Nothing but the number of a person's events matters, and their table of the day has it. */
  add(): void {
    return undefined;
  }

  /** k. Changes nothing: the next call draws the same. @param key 8 secret words */
  choose(core: NoiseCore, key: Uint32Array, people: People): number {
    const { candidates } = this.#choice;
    const bins = people.bins(this.from, candidates);
    const random = subStream(key, Purpose.holdout, LIMIT, dayIndex(this.from));
    try {
      return candidates[chooseByBins(core, random, this.#choice, bins, LIMIT_BETA, 0)]!;
    } finally {
      bins.fill(0); // true counts
    }
  }

  /** The table of the day is forgotten with the day. */
  wipe(): void {
    return undefined;
  }

  save(writer: Encoder): void {
    writer.double(this.from);
  }

  load(reader: Decoder): void {
    this.from = reader.double();
  }
}

/** Candidates for k and their scores. @param hinge h; the study tries others */
export const limitChoice = (settings: EventSettings, hinge = LIMIT_HINGE): Choice =>
  eventChoice(settings.epsilon, 1, 8, hinge * errorPerLimit(settings), settings.limit!.most!);

/** M: the standard error of a whole day, per k/ε; of a histogram that of the number of events below the median. */
function errorPerLimit(settings: EventSettings): number {
  const { buckets, shares } = settings;
  const error = (dayError(settings) * SHARES) / shares.release;
  if (buckets === undefined) return error;
  const count = buckets.edges.length + 1;
  const { variance } = rankSpread(count, buckets.group, Math.floor(count / 2), 0.5);
  return error * movedBy(settings, 1) * Math.sqrt(variance);
}

/** The publisher behind the hold-out, for any way to add noise, and how it answers a range. */
import { checkChoice, checkConfidence, ownOptions, checkRange } from "../core/checks.js";
import { ANSWER_KINDS, type AnswerKind, makeAnswer, type MeasuredAnswer } from "./answer/answer.js";
import type { RangeOptions } from "./system.js";
import type { RawAnswer } from "./answer/rangeIndex.js";
import { NO_SPREAD } from "./answer/variance.js";

export interface Publisher {
  /** Values published so far. */
  readonly length: number;
  /** First position that can still be asked for. */
  readonly oldest: number;
  /** Grid units → units of the stream. */
  readonly resolution: number;
  /** Draws what takes long before a push needs it. */
  prepare?(): void;
  /** Prepares in parts, before the first value: what is due after so many idle values of the hold-out. Cannot fail. */
  draw?(values: number): void;
  /** Takes a finite value and gives the number published for it, both in units of the stream. */
  push(value: number): number;
  /** Takes a batch and gives the same bits as one by one. Fails before anything changes if a value is not finite. */
  pushMany(values: Float64Array): Float64Array;
  /** The sum over published positions [from, to), in grid units. */
  answer(from: number, to: number, kind: AnswerKind): RawAnswer;
}

/** Fails unless [from, to) is published and still kept. Before the release begins there is nothing to ask for. */
export function checkPublished(
  released: Publisher | undefined,
  call: "range" | "published",
  from: number,
  to: number,
): void {
  checkRange(call, from, to, released ?? { length: 0, oldest: 0 }, "history");
}

const EMPTY: RawAnswer = { sum: 0, spread: NO_SPREAD };

/** Answers `range(from, to, options)`, or says what is wrong with it. */
export function answerRange(
  released: Publisher | undefined,
  from: number,
  to: number,
  options: RangeOptions,
  usual: AnswerKind,
): MeasuredAnswer {
  checkPublished(released, "range", from, to);
  const asked = ownOptions("range", options, ["answer", "confidence"]);
  const kind = checkChoice("answer", asked.answer ?? usual, ANSWER_KINDS);
  const confidence = checkConfidence(asked.confidence ?? 0.95);
  if (released === undefined || from === to) return makeAnswer(EMPTY, 0, 1, confidence);
  return makeAnswer(released.answer(from, to, kind), to - from, released.resolution, confidence);
}

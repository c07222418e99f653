/** The answer of an event stream, from what its columns sum to: one column is a sum or a count, two make a mean. */
import { makeAnswer } from "../stream/answer.js";
import type { RawAnswer } from "../stream/ranges.js";
import type { EventAnswer, Window } from "./answers.js";
import { ratioOf } from "./ratio.js";

/**
 * @param raw per column, in grid units; none before anything is published
 * @param units grid units → units of the stream, per column
 * @param most Θ in grid units: the largest mean there can be
 */
export function eventAnswer(
  window: Window,
  raw: readonly RawAnswer[],
  units: readonly number[],
  most: number,
  confidence: number,
): EventAnswer {
  const answers = raw.map(({ sum, spread }, i): EventAnswer => {
    const { sum: value, standardError, low, high } = makeAnswer(sum, 1, spread, units[i]!, confidence);
    return { ...window, value, standardError, low, high, confidence };
  });
  const [sum, count] = answers;
  if (sum === undefined) return { ...window, value: 0, standardError: 0, low: 0, high: 0, confidence };
  if (count === undefined) return sum;
  const mean = (p: number) => ratioOf(raw[0]!, raw[1]!, most, p);
  const [ratio, narrow] = [mean(confidence), mean(0.6827)];
  const unit = units[0]!;
  return {
    ...window,
    value: ratio.value * unit,
    standardError: ((narrow.high - narrow.low) / 2) * unit,
    low: ratio.low * unit,
    high: ratio.high * unit,
    confidence,
    sum,
    count,
  };
}

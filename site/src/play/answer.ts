/** The answer to a range: private sum and mean, two segments for what may be off, and the truth under the mist. */
import { intervalBar } from "../charts/intervalBar.js";
import { type Meaning, place, span } from "../data/meaning.js";
import { h } from "../look/dom.js";
import { amount, percent, withUnit } from "../look/format.js";
import type { Answer, NoAnswer } from "../workers/protocol.js";

/** @param width of the place it goes to, in pixels */
export function answerView(answer: Answer | NoAnswer, meaning: Meaning, width: number): Node[] {
  if (answer.type === "no answer") return [h("p", { class: "empty" }, WHY[answer.why])];
  const { from, to, asked, truth, clamped, hidden, threshold, sum, low, high } = answer;
  const length = to - from;
  const off = Math.abs(sum - truth) / (Math.abs(truth) || 1);
  const missing = [
    ...(asked.from < from ? ["The part before it is held out."] : []),
    ...(asked.to > to ? ["The rest is not streamed yet."] : []),
  ];
  return [
    h(
      "p",
      { class: "answer-main" },
      h("strong", { class: "private", id: "answer-sum" }, amount(sum)),
      ` ${meaning.sumUnit} `,
      h("span", { class: "quiet", id: "answer-mean" }, `mean ${withUnit(sum / length, meaning.unit)}`),
    ),
    h(
      "p",
      { class: "quiet small", id: "answer-range" },
      [`${place(from, meaning)} to ${place(to, meaning)}: ${span(length, meaning)}.`, ...missing].join(" "),
    ),
    intervalBar(
      { sum, low, high, clamped: hidden?.high ?? clamped, truth },
      amount,
      Math.min(860, Math.max(280, width)),
    ),
    h(
      "p",
      { class: "small", id: "answer-parts" },
      h("span", { class: "noise-part" }, `Noise: ± ${amount((high - low) / 2)}, with 95 % confidence. `),
      h(
        "span",
        { class: "clamped-part" },
        hidden === undefined
          ? `Values above θ = ${withUnit(threshold, meaning.unit)} are clamped to θ; this method does not say how much that cuts off. `
          : `Values above θ = ${withUnit(threshold, meaning.unit)} are clamped to θ: that cuts off about ${amount(hidden.sum)}, at most ${amount(hidden.high)}, by private counts. `,
      ),
    ),
    h(
      "p",
      { class: "hint" },
      "Only you know: ",
      h(
        "span",
        { class: "secret", id: "answer-secret" },
        `${amount(clamped)} is cut off, and the private sum is ${percent(off)} off.`,
      ),
    ),
  ];
}

const WHY = {
  "held out": "No answer yet: these values are held out to choose θ and are never published.",
  "not streamed yet": "No answer yet: this range is not streamed yet.",
} as const;

export const emptyAnswer = (): Node =>
  h("p", { class: "empty quiet" }, "Drag over the plot, or fill in two positions.");

export const waitingAnswer = (): Node => h("p", { class: "empty quiet" }, "Publishing…");

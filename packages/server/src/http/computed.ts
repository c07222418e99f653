/** The answers of a query: how much a query may ask for, and in which parts it is computed. */
import type { HistogramAnswer, HistogramQuery, Series } from "brume";
import { DAY } from "brume/node";
import { milliseconds, SPANS } from "../config/duration.js";
import type { ResolvedMetric } from "../config/metrics.js";
import type { Answer, Question } from "../service.js";
import { BadRequest } from "./errors.js";

/** The answers to a query. */
export interface Computed {
  /** Which period the answers have, if they are a series. */
  readonly series?: { readonly period: string; readonly why?: string };
  readonly answers: readonly Answer[];
}

const MOST_STEPS = 2000;
/** Steps × buckets × (4 + quantiles + shares): a bound on the time of a query, and on the length of its answer. */
const MOST_CELLS = 2 ** 20;
/** The cost of a step's counts, in quantiles: every answer has them. */
const COUNTS = 4;
/** Buckets × (quantiles + shares) of a part: up to 20 ms. */
const PART = 8192;

/** How many answers a question has, at most. */
function stepsOf(question: Question, { every, options }: ResolvedMetric): number {
  if (!("every" in question)) return 1;
  const { from, to, every: period } = question;
  if (period === "auto") {
    const asked = options !== undefined && "levels" in options ? (options.levels ?? []) : [];
    const longest = asked.length === 0 ? DAY : Math.max(...asked.map((level) => lengthOf(String(level))));
    // The library takes no level with more answers, but for the longest.
    return Math.max(Math.min(MOST_STEPS, Math.ceil((to - from) / every)), Math.ceil((to - from) / longest));
  }
  return Math.max(1, Math.ceil((to - from) / lengthOf(period)));
}

/** Milliseconds of a period that was checked. */
const lengthOf = (period: string): number =>
  Object.hasOwn(SPANS, period) ? SPANS[period as keyof typeof SPANS] : milliseconds(period);

/** How many counts an answer has; 1 if the metric is no histogram. */
export function bucketsOf({ options }: ResolvedMetric): number {
  if (options === undefined || !("edges" in options)) return 1;
  const { edges } = options;
  return ("min" in edges ? (edges.buckets ?? 64) : edges.length) + 1;
}

/** Refuses a query that is too large, before anything is computed. */
export function checkCost(question: Question, metric: ResolvedMetric, asked: HistogramQuery): void {
  const { quantiles = [], shares = [] } = asked;
  const steps = stepsOf(question, metric);
  if (steps > MOST_STEPS)
    throw new BadRequest(
      `every: expected at most ${MOST_STEPS} steps in the range, got ${steps}; take longer steps, or a shorter range`,
    );
  const cells = steps * bucketsOf(metric) * (COUNTS + quantiles.length + shares.length);
  if (cells > MOST_CELLS)
    throw new BadRequest(
      `query: expected steps × buckets × (${COUNTS} + quantiles + shares) of at most ${MOST_CELLS}, got ${cells}; take longer steps, a shorter range or fewer quantiles`,
    );
}

/**
 * Asks the hub, in parts with few quantiles and shares each. A period that closes between two parts may lengthen the range
 * that they are about: then they are asked for again.
 * @param isWanted throws if nobody waits for the answer any more
 */
export async function answersOf(
  asked: HistogramQuery,
  buckets: number,
  isWanted: () => void,
  ask: (part: HistogramQuery) => Promise<Answer | Series<Answer>>,
): Promise<Computed> {
  const parts = partsOf(asked, Math.max(1, Math.floor(PART / buckets)));
  for (;;) {
    const computed: Computed[] = [];
    for (const part of parts) {
      isWanted();
      computed.push(plain(await ask(part)));
    }
    const [first, ...others] = computed as [Computed, ...Computed[]];
    if (others.every(({ answers }) => isSame(first.answers, answers)))
      return others.length === 0
        ? first
        : {
            ...first,
            answers: first.answers.map((_, i) => merged(computed.map(({ answers }) => answers[i]!))),
          };
  }
}

function plain(found: Answer | Series<Answer>): Computed {
  if (!("answers" in found)) return { answers: [found] };
  const { answers, ...series } = found;
  return { series, answers };
}

const isSame = (one: readonly Answer[], other: readonly Answer[]): boolean =>
  one.length === other.length &&
  one.every(({ from, to }, i) => from === other[i]!.from && to === other[i]!.to);

function merged(answers: readonly Answer[]): Answer {
  return {
    ...(answers[0] as HistogramAnswer),
    quantiles: answers.flatMap((answer) => (answer as HistogramAnswer).quantiles),
    shares: answers.flatMap((answer) => (answer as HistogramAnswer).shares),
  };
}

/** Splits a question into parts with at most `most` quantiles or shares each. */
function partsOf(asked: HistogramQuery, most: number): HistogramQuery[] {
  const { quantiles = [], shares = [], ...rest } = asked;
  if (quantiles.length + shares.length <= most) return [asked];
  return [
    ...slices(quantiles, most).map((quantiles) => ({ ...rest, quantiles })),
    ...slices(shares, most).map((shares) => ({ ...rest, shares })),
  ];
}

const slices = (list: readonly number[], most: number): (readonly number[])[] =>
  Array.from({ length: Math.ceil(list.length / most) }, (_, i) => list.slice(i * most, (i + 1) * most));

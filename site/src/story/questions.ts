/** Everything the story asks the library, answered in a Worker. Every number on the page comes from here. */
import { plan, privateStream, type SmootherChoice } from "brume";
import { comparison, noiseTree } from "brume-research";
import type { Run } from "../look/coverage.js";
import { clampedSum } from "../workers/clampedSum.js";
import { CALLS, callStream, MARKED } from "./calls.js";
import { absence, METER, meterStream, STORY_DAY } from "./meter.js";

const DAY = 1440; // minutes
const SEED = "story";

const values = meterStream();
const sums = new Float64Array(values.length + 1);
values.forEach((value, i) => (sums[i + 1] = sums[i]! + value));

const { holdout, maxRange, max } = METER;
const options = (epsilon: number, seed?: string) => ({
  ...{ epsilon, max, holdout, maxRange },
  ...(seed === undefined ? {} : { unsafeSeed: seed }),
});

/** True sum over published positions. */
const truth = (from: number, to: number) => sums[holdout + to]! - sums[holdout + from]!;

const calls = callStream();
const callsIn = (first: number, last: number) => calls.subarray(first, last).reduce((a, b) => a + b, 0);
const callDay = (day: number) => [day * CALLS.perDay, (day + 1) * CALLS.perDay] as const;

/** The helpline through the library. Everything is published: the longest call is public, so no θ is chosen. */
function helpline(epsilon: number, seed?: string) {
  const { max, maxRange } = CALLS;
  const key = seed === undefined ? {} : { unsafeSeed: seed };
  const stream = privateStream({ epsilon, max, threshold: max, maxRange, history: Infinity, ...key });
  return { stream, published: stream.pushMany(calls) };
}

/** The first picture: calls one by one and minutes by day, secret and published. */
export function helplineDays(epsilon: number) {
  const { stream, published } = helpline(epsilon, SEED);
  const [from, to] = [MARKED.at - MARKED.around, MARKED.at + MARKED.around];
  const days = Array.from({ length: CALLS.days }, (_, day) => {
    const { sum, low, high } = stream.range(...callDay(day));
    return { sum, low, high, truth: callsIn(...callDay(day)) };
  });
  return {
    raw: calls.slice(from, to),
    published: published.slice(from, to),
    block: stream.statement().blockLength,
    days,
    off: days.reduce((all, { sum, truth }) => all + Math.abs(sum - truth) / truth, 0) / days.length,
    reach: days.reduce((all, { low, high, truth }) => all + (high - low) / 2 / truth, 0) / days.length,
  };
}

/** Answers that the page shows with "95 %", each over and over with other noise. */
export const REPEATED = {
  /** Minutes of the day of the marked call. */
  helpline(epsilon: number, seed?: string): Run {
    const day = callDay(Math.floor(MARKED.at / CALLS.perDay));
    const { low, high } = helpline(epsilon, seed).stream.range(...day);
    return { low, high, truth: callsIn(...day) };
  },
  /** The margin of the noise on the sum of all weeks, whose truth is the sum of the readings clamped to θ. */
  weeks(epsilon: number, seed?: string): Run {
    const stream = privateStream(options(epsilon, seed));
    const clamped = clampedSum(stream, values, { holdout, start: holdout, end: values.length });
    const { low, high } = stream.range(0, stream.length);
    return { low, high, truth: clamped };
  },
  /** The sum of all weeks, with what clamping may hide. */
  result(epsilon: number, seed?: string): Run {
    const stream = privateStream(options(epsilon, seed));
    stream.pushMany(values);
    const { low, high, hidden } = stream.range(0, stream.length);
    return { low, high: high + (hidden?.high ?? 0), truth: truth(0, stream.length) };
  },
} as const;

/** @param seed of the noise, which is secret without it */
export function runs(which: keyof typeof REPEATED, epsilon: number, count: number, seed?: string): Run[] {
  return Array.from({ length: count }, (_, i) =>
    REPEATED[which](epsilon, seed === undefined ? undefined : `${seed} ${i}`),
  );
}

/** The story's day, raw and published, and how far the sum of all weeks is off. */
export function day(epsilon: number) {
  const stream = privateStream(options(epsilon, SEED));
  const published = stream.pushMany(values);
  const from = STORY_DAY * DAY;
  const { sum, low, high } = stream.range(0, stream.length);
  return {
    raw: values.slice(from, from + DAY),
    published: published.slice(from - holdout, from - holdout + DAY),
    block: stream.statement().blockLength,
    sum,
    low,
    high,
    truth: truth(0, stream.length),
  };
}

/** Releases with other noise that the guess is made on. */
const GUESSES = 20;
/** People are out by day: minutes of the day that the guess is made within. */
const MORNING = 360;
const NIGHT = 1320;

/** How well somebody finds the absence in what is published, who knows its length and takes the quietest such part of the day. */
export interface Guess {
  /** Minutes of the day, by the release that the page shows. */
  readonly from: number;
  readonly to: number;
  /** Releases with other noise; in how many the guess is right within an hour; the share in which a guess without numbers is. */
  readonly releases: number;
  readonly right: number;
  readonly blind: number;
}

export function guess(epsilon: number): Guess {
  const { left, back } = absence(STORY_DAY)!;
  const length = back - left;
  const from = STORY_DAY * DAY - holdout;
  const isRight = (start: number) => Math.abs(start - left) <= 60;
  const starts = Array.from({ length: NIGHT - length - MORNING + 1 }, (_, i) => MORNING + i);
  const quietest = (seed: string): number => {
    const stream = privateStream({ ...options(epsilon, seed) });
    const day = stream.pushMany(values.subarray(0, (STORY_DAY + 1) * DAY)).subarray(from, from + DAY);
    const added = new Float64Array(DAY + 1);
    day.forEach((value, i) => (added[i + 1] = added[i]! + value));
    const used = (start: number) => added[start + length]! - added[start]!;
    return starts.reduce((a, b) => (used(b) < used(a) ? b : a));
  };
  const shown = quietest(SEED);
  const right = Array.from({ length: GUESSES }, (_, i) => quietest(`guess ${i}`)).filter(isRight).length;
  const blind = starts.filter(isRight).length / starts.length;
  return { from: shown, to: shown + length, releases: GUESSES, right, blind };
}

export interface ErrorPoint {
  /** Minutes in the range. */
  readonly length: number;
  /** Standard errors of its sum, and how far this release of the naive way really is off, in watt minutes. */
  readonly naive: number;
  readonly naiveOff: number;
  /** Undefined for a range that is shorter than a block: Brume has no answer for it. */
  readonly ours: number | undefined;
}

/** Step 1: noise on every value, and Brume, of the same ranges. */
export function everyValue(epsilon: number): ErrorPoint[] {
  const naive = comparison({ epsilon, max, maxRange, unsafeSeed: SEED, method: "flat" });
  naive.pushMany(values.subarray(holdout));
  const ours = privateStream(options(epsilon, SEED));
  ours.pushMany(values);
  const block = ours.statement().blockLength;
  return Array.from({ length: 17 }, (_, i) => 2 ** i).map((length) => {
    const flat = naive.range(0, length);
    return {
      length,
      naive: flat.standardError,
      naiveOff: Math.abs(flat.sum - truth(0, length)),
      ours: length % block === 0 ? ours.range(0, length).standardError : undefined,
    };
  });
}

export interface CapPoint {
  readonly theta: number;
  /** Standard error of the sum of a week, and what the cap takes from it, in watt minutes. */
  readonly noise: number;
  readonly cut: number;
}

const WEEK = 7 * DAY;

/** Step 2: what each cap costs, and the one that the library chooses privately. */
export function cap(epsilon: number): { points: CapPoint[]; chosen: number } {
  const thetas = Array.from({ length: 41 }, (_, i) => Math.round(100 * 10 ** (i / 20)));
  const released = values.subarray(holdout);
  const points = thetas.map((theta) => {
    const { errors } = plan({ epsilon, max, maxRange, threshold: theta });
    const near = errors.reduce((a, b) =>
      Math.abs(Math.log(b.length / WEEK)) < Math.abs(Math.log(a.length / WEEK)) ? b : a,
    );
    const cut = released.reduce((sum, value) => sum + Math.max(0, value - theta), 0);
    return { theta, noise: near.standardErrorPerTheta * theta, cut: (cut * WEEK) / released.length };
  });
  const stream = privateStream(options(epsilon, SEED));
  stream.pushMany(values.subarray(0, holdout + 1));
  return { points, chosen: stream.statement().threshold ?? max };
}

/** Steps 3 and 4: one tree as drawn and as made consistent, and what consistency does to errors over many trees. */
export function tree(epsilon: number, seed: string) {
  const shape = { epsilon, theta: 1000, fanout: 4, levels: 3 };
  const one = noiseTree({ ...shape, unsafeSeed: seed });
  let [drawn, consistent] = [0, 0];
  const trees = 200;
  for (let i = 0; i < trees; i++) {
    const other = noiseTree({ ...shape, unsafeSeed: `many ${i}` });
    drawn += meanSquare(other.drawn.subarray(0, 16));
    consistent += meanSquare(other.consistent.subarray(0, 16));
  }
  return { ...one, leafDrawn: Math.sqrt(drawn / trees), leafConsistent: Math.sqrt(consistent / trees) };
}

const meanSquare = (numbers: Float64Array) =>
  numbers.reduce((sum, number) => sum + number * number, 0) / numbers.length;

/** Step 5: a few blocks, and what was published in them, added up from the first of them on. */
export function smoothing(epsilon: number, smoother: Exclude<SmootherChoice, (...args: never[]) => unknown>) {
  const stream = privateStream({ ...options(epsilon, SEED), smoother });
  const published = stream.pushMany(values);
  const block = stream.statement().blockLength;
  const [first, count] = [Math.floor(24_000 / block), Math.max(4, Math.round(2048 / block))];
  const from = first * block;
  const added = new Float64Array(count * block);
  for (let i = 0, all = 0; i < added.length; i++) added[i] = all += published[from + i]!;
  const jumps = Array.from({ length: count }, (_, i) => published[from + (i + 1) * block - 1]!);
  let error = 0;
  for (let i = 0; i + block <= published.length; i += block)
    error += Math.abs(published[i]! - truth(i, i + block) / block);
  return {
    block,
    from: holdout + from,
    added,
    truth: added.map((_, i) => truth(from, from + i + 1)),
    largestJump: jumps.reduce((a, b) => (Math.abs(b) > Math.abs(a) ? b : a)),
    off: error / Math.floor(published.length / block),
  };
}

/** Step 6: what was used since the first day, block by block, and the answer for all weeks. */
export function result(epsilon: number) {
  const stream = privateStream(options(epsilon, SEED));
  stream.pushMany(values);
  const block = stream.statement().blockLength;
  const blocks = Math.floor(stream.length / block);
  const lines = Array.from({ length: blocks }, (_, i) => {
    const to = (i + 1) * block;
    const { sum, low, high } = stream.range(0, to);
    return { to, sum, low, high, truth: truth(0, to) };
  });
  const { sum, low, high, hidden } = stream.range(0, stream.length);
  return { lines, sum, low, high, clamped: hidden?.high ?? 0, truth: truth(0, stream.length) };
}

export const QUESTIONS = { helplineDays, runs, day, guess, everyValue, cap, tree, smoothing, result };
export type Questions = typeof QUESTIONS;

/** Everything that a visitor of the lab can set. */
import { choiceField, type Fields, numberField, textField } from "../look/state.js";
import type { LogSettings, Question } from "../workers/logPlayer.js";

export interface State {
  /** Seed of the example stream and, unless `noise` is "secret", of all noise. */
  readonly seed: string;
  readonly noise: "seed" | "secret";
  readonly epsilon: number;
  readonly max: number;
  readonly holdout: number;
  readonly maxRange: number;
  readonly smoother: "recent" | "mean" | "median" | "moving" | "exponential";
  /** Blocks averaged by "moving". */
  readonly blocks: number;
  /** α of "exponential". */
  readonly alpha: number;
  readonly skip: "auto" | "paper" | "0" | "1" | "2" | "3" | "4" | "5";
  readonly method: Method;
  /** Values in the averages of the plot. */
  readonly window: number;
  /** Values per second. */
  readonly speed: number;
  /** Where a paused stream stands; 0 is a running one. */
  readonly at: number;
  /** The range asked for, in positions of the stream; empty when from = to. */
  readonly from: number;
  readonly to: number;
  /** The part that the plot shows; all of it when left = right. */
  readonly left: number;
  readonly right: number;
  /** Which percentile is drawn over time. */
  readonly percentile: "50" | "90" | "95" | "99";
  /** Which file of the visitor's, as a random word: a link tells nobody its name. "" is the example. */
  readonly file: string;
  /** Whether the lab reads data as values one after the other, or as events at their times. */
  readonly as: "values" | "events";
  /** ε of events: for one person and day, or for one event. */
  readonly dayEpsilon: number;
  readonly protect: "person" | "event";
  /** Events of a person that count in a day. */
  readonly limit: number;
  readonly of: "count" | "sum";
  /** The public bound of a value that events carry. */
  readonly bound: number;
  readonly every: (typeof EVERY)[number];
  readonly levels: "all" | "day" | "alone";
  /** "" is the browser's. */
  readonly zone: string;
  /** Periods of the plot. */
  readonly period: "auto" | (typeof EVERY)[number] | "1w";
  /** Which interval of events is run 200 times. */
  readonly question: Question;
  /** Minutes of a log per second. */
  readonly tempo: number;
}

/** How often numbers of events may be published. */
export const EVERY = ["5m", "15m", "1h", "1d"] as const;

export type Method = "ours" | "paper" | "pak" | "naive";

export const FIELDS: Fields<State> = {
  seed: textField("brume", /^.{1,64}$/),
  noise: choiceField("seed", "secret"),
  epsilon: numberField(0.05, 0.001, 10, false),
  max: numberField(1000, 1e-6, 1e9, false),
  holdout: numberField(2 ** 16, 16, 2 ** 22),
  maxRange: numberField(2 ** 20, 2 ** 8, 2 ** 24),
  smoother: choiceField("recent", "mean", "median", "moving", "exponential"),
  blocks: numberField(4, 1, 4096),
  alpha: numberField(0.6, 0.01, 1, false),
  skip: choiceField("auto", "paper", "0", "1", "2", "3", "4", "5"),
  method: choiceField("ours", "paper", "pak", "naive"),
  window: numberField(7200, 1, 2 ** 20),
  speed: numberField(50_000, 1, 1e7),
  at: numberField(0, 0, 2 ** 24),
  from: numberField(0, 0, 2 ** 24),
  to: numberField(0, 0, 2 ** 24),
  left: numberField(0, 0, 2 ** 24),
  right: numberField(0, 0, 2 ** 24),
  percentile: choiceField("50", "90", "95", "99"),
  file: textField("", /^[a-z0-9]{0,16}$/),
  as: choiceField("values", "events"),
  dayEpsilon: numberField(1, 0.001, 10, false),
  protect: choiceField("person", "event"),
  limit: numberField(3, 1, 1000),
  of: choiceField("count", "sum"),
  bound: numberField(60, 1e-6, 1e9, false),
  every: { ...choiceField(...EVERY), initial: "1h" },
  levels: choiceField("all", "day", "alone"),
  zone: textField("", /^[\w+/-]{0,64}$/),
  period: choiceField("auto", ...EVERY, "1w"),
  question: choiceField("total", "day", "period", "range", "limited"),
  tempo: numberField(1440, 1, 1e6),
};

/** The part of the state that decides what is published of events. */
export const LOG_KEYS = [
  ...(["dayEpsilon", "protect", "limit", "of", "bound", "every", "levels", "zone", "seed", "noise"] as const),
] satisfies readonly (keyof State)[];

/** The browser's zone. */
export const ownZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

/** @param known which columns the events have */
export function logSettings(
  state: State,
  known: { readonly people: boolean; readonly values: boolean },
): LogSettings {
  const { dayEpsilon, protect, limit, of, bound, every, levels, zone, seed, noise } = state;
  return {
    epsilon: dayEpsilon,
    of: known.values ? of : "count",
    max: bound,
    every,
    levels: levelsOf(every, levels),
    zone: zone || ownZone(),
    limit: protect === "person" && known.people ? limit : undefined,
    ...(noise === "seed" ? { seed } : {}),
  };
}

/** Periods that share ε, finest first. */
export function levelsOf(every: State["every"], levels: State["levels"]): string[] {
  if (levels === "alone" || every === "1d") return [every];
  return levels === "all" && every !== "1h" ? [every, "1h", "1d"] : [every, "1d"];
}

/** The part of the state that decides what is published. */
export const RELEASE_KEYS = [
  ...(["epsilon", "max", "holdout", "maxRange", "smoother", "blocks", "alpha"] as const),
  ...(["skip", "method", "seed", "noise"] as const),
] satisfies readonly (keyof State)[];

export type ReleaseSettings = Pick<State, (typeof RELEASE_KEYS)[number]>;

export const releaseSettings = (state: State): ReleaseSettings =>
  Object.fromEntries(RELEASE_KEYS.map((key) => [key, state[key]])) as unknown as ReleaseSettings;

/** Name and description of each method. */
export const METHODS: Record<Method, { readonly name: string; readonly hint: string }> = {
  ours: { name: "Brume", hint: "exact noise on a tree, θ chosen privately" },
  paper: { name: "Paper", hint: "the same system as printed in 2021" },
  pak: { name: "PAK", hint: "an earlier system, (ε, δ), whose θ may lie above the largest value" },
  naive: { name: "Naive", hint: "noise on every value, no threshold" },
};

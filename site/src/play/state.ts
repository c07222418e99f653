/** Everything that a visitor of the lab can set. */
import { choiceField, type Fields, numberField, textField } from "../look/state.js";

export interface State {
  /** Of the example stream and, unless `noise` is "secret", of all noise. */
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
}

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
};

/** The part of the state that decides what is published. */
export const RELEASE_KEYS = [
  ...(["epsilon", "max", "holdout", "maxRange", "smoother", "blocks", "alpha"] as const),
  ...(["skip", "method", "seed", "noise"] as const),
] satisfies readonly (keyof State)[];

export type ReleaseSettings = Pick<State, (typeof RELEASE_KEYS)[number]>;

export const releaseSettings = (state: State): ReleaseSettings =>
  Object.fromEntries(RELEASE_KEYS.map((key) => [key, state[key]])) as unknown as ReleaseSettings;

/** What each method is called and is. */
export const METHODS: Record<Method, { readonly name: string; readonly hint: string }> = {
  ours: { name: "Brume", hint: "exact noise on a tree, θ chosen privately" },
  paper: { name: "Paper", hint: "the same system as printed in 2021" },
  pak: { name: "PAK", hint: "an earlier system, (ε, δ), whose θ may lie above the largest value" },
  naive: { name: "Naive", hint: "noise on every value, no threshold" },
};

/** Everything that a visitor of the comparison can set. */
import { choiceField, type Fields, numberField, textField } from "../look/state.js";

export interface State {
  readonly methods: string;
  readonly epsilons: string;
  readonly repeat: number;
  readonly queries: number;
  readonly measure: "relative" | "mse";
  readonly seed: string;
}

/** Systems whose results are frozen, and which a run compares unless others are chosen. */
export const FROZEN_METHODS = ["tops", "paper", "pak", "hhatc16", "h2", "k-ary", "binary", "flat", "base"];

export const FIELDS: Fields<State> = {
  methods: textField(FROZEN_METHODS.join(","), /^[a-z0-9-]+(,[a-z0-9-]+)*$/i),
  epsilons: textField("0.02, 0.1, 0.5, 2", /^.{1,200}$/),
  repeat: numberField(5, 2, 100),
  queries: numberField(200, 10, 2000),
  measure: choiceField("relative", "mse"),
  seed: textField("brume", /^.{1,64}$/),
};

/** The numbers in a list with commas, semicolons or spaces; `undefined` if anything else is in it. */
export function budgets(text: string): number[] | undefined {
  const words = text.split(/[\s,;]+/).filter((word) => word !== "");
  const numbers = [...new Set(words.map(Number))];
  const good = numbers.length > 0 && numbers.every((number) => number >= 0.001 && number <= 10);
  return good ? numbers.sort((a, b) => a - b) : undefined;
}

/**
 * The list of smoothers. Adding one is a file of its own and a line here: types, names, messages, the command line and the
 * conformance test (test/stream/predict/smoothers.test.ts) follow from it.
 */
import { checkInteger, checkPositive, ownOptions, shown } from "../../../core/checks.js";
import { exponential } from "./exponential.js";
import { mean } from "./mean.js";
import { median } from "./median.js";
import { moving } from "./moving.js";
import { custom, type CustomSmoother } from "./custom.js";
import { recent } from "./recent.js";
import { shrunk } from "./shrunk.js";
import type { Smoother, SmootherContext } from "./smoother.js";

export type { Smoother, SmootherContext };

/** Smoothers without a parameter, by name. */
export const PLAIN = {
  shrunk: (context: SmootherContext) => shrunk(context, 0),
  recent,
  mean,
  median,
} satisfies Record<string, (context: SmootherContext) => Smoother>;

/** A smoother with one number as its parameter. */
interface Parametric {
  /** The parameter in messages, and on the command line. */
  readonly symbol: string;
  readonly flag: string;
  readonly check: (value: number) => void;
  readonly make: (value: number, context: SmootherContext) => Smoother;
  readonly describe: (value: number) => string;
}

/** A period has at most this many values: one estimate is kept for every block of it. */
const LONGEST_PERIOD = 2 ** 24;

/** Smoothers with a parameter, by its name. */
export const PARAMETRIC = {
  period: {
    symbol: "n",
    flag: "N",
    check: (n) => checkInteger("smoother.period", n, 2, LONGEST_PERIOD),
    make: (n, context) => shrunk(context, n),
    describe: (n) => `shrunk, with a period of ${n} values`,
  },
  moving: {
    symbol: "w",
    flag: "W",
    check: (w) => checkInteger("smoother.moving", w, 1, 4096),
    make: moving,
    describe: (w) => `moving (${w})`,
  },
  exponential: {
    symbol: "α",
    flag: "A",
    check: (alpha) => {
      if (checkPositive("smoother.exponential", alpha) > 1)
        throw new RangeError(`smoother.exponential: expected 0 < α ≤ 1, got ${shown(alpha)}`);
    },
    make: exponential,
    describe: (alpha) => `exponential (${alpha})`,
  },
} satisfies Record<string, Parametric>;

type PlainName = keyof typeof PLAIN;
type ParameterName = keyof typeof PARAMETRIC;
type WithParameter = { [N in ParameterName]: { readonly [P in N]: number } }[ParameterName];

/** A smoother by name, by its parameter, or a function of your own. */
export type SmootherChoice = PlainName | WithParameter | CustomSmoother;

const plainNames = /* @__PURE__ */ Object.keys(PLAIN) as PlainName[];
const parameterNames = /* @__PURE__ */ Object.keys(PARAMETRIC) as ParameterName[];

/** The choice, checked and copied: nothing that happens to the caller's object or to Object.prototype later counts. */
export function checkSmoother(choice: unknown): SmootherChoice {
  const plain = plainNames.find((known) => known === choice);
  if (plain !== undefined) return plain;
  if (typeof choice === "function") return choice as CustomSmoother;
  const given: Partial<Record<ParameterName, unknown>> =
    typeof choice === "object" && choice !== null ? ownOptions("smoother", choice, parameterNames) : {};
  const name = parameterNames.find((known) => given[known] !== undefined);
  if (name === undefined) {
    const expected = [
      ...plainNames.map((known) => `"${known}"`),
      ...parameterNames.map((known) => `{ ${known}: ${PARAMETRIC[known].symbol} }`),
    ];
    throw new TypeError(`smoother: expected ${expected.join(", ")} or a function, got ${shown(choice)}`);
  }
  const value = given[name] as number;
  PARAMETRIC[name].check(value);
  return { [name]: value } as unknown as WithParameter;
}

/** The smoother that has a parameter, and its value. */
function parameterOf(choice: WithParameter): [Parametric, number] {
  const [[name, value]] = Object.entries(choice) as [[ParameterName, number]];
  return [PARAMETRIC[name], value];
}

/** @param choice checked by {@link checkSmoother} */
export function makeSmoother(choice: SmootherChoice, context: SmootherContext): Smoother {
  if (typeof choice === "string") return PLAIN[choice](context);
  if (typeof choice === "function") return custom(choice, context);
  const [{ make }, value] = parameterOf(choice);
  return make(value, context);
}

/** The choice in words, for statements. */
export function smootherName(choice: SmootherChoice): string {
  if (typeof choice === "string") return choice;
  if (typeof choice === "function") return "own function";
  const [{ describe }, value] = parameterOf(choice);
  return describe(value);
}

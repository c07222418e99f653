/**
 * ε of many independent draws together, at a δ > 0: optimal composition (Kairouz, Oh, Viswanath 2015). n draws that are
 * pure ε_i each are dominated by n randomised responses, so with L = Σ ± ε_i, "+" with odds p_i = e^ε_i/(1 + e^ε_i),
 *
 *     δ(ε) = Σ over l > ε of P(L = l)·(1 − e^(ε − l))
 *
 * It holds if later draws depend on earlier ones, and if draws overlap in time (Vadhan, Wang 2021; Lyu 2022), but the ε_i
 * must not depend on them.
 *
 * Every rounding is upwards. A larger ε_i dominates a smaller one, so ε_i are rounded up to a grid, and g draws of ε_i may
 * count as one of g·ε_i. exp comes from integers (fixedPoint.ts). Probabilities are non-negative doubles that are only added
 * and multiplied: after N roundings the relative error is below N·2⁻⁵², for which the sum is enlarged.
 */
import { checkInteger, shown } from "../../core/checks.js";
import { expFixed } from "../../core/tables/fixedPoint.js";
import { type Charge, checkEpsilon, deltaOf, drawsOf, exact, type ExactDraws, rounded } from "./ledger.js";

/** Equal draws of noise that share nothing: each is pure ε for one unit. */
export interface EqualDraws {
  readonly epsilon: number;
  /** How many draws. */
  readonly times: number;
}

/** (ε, δ) of releases together. It holds if the list of releases was not chosen by what they showed. */
export interface ApproximateSpending {
  /** ε of all releases together at this δ, rounded up. */
  readonly epsilon: number;
  /** The δ that was asked for. */
  readonly delta: number;
  /** Draws of noise that one unit is in and that share nothing. */
  readonly draws: number;
}

/** Draws that are composed one by one; more are put together to larger ones. */
const MOST_DRAWS = 4096n;
/** Kinds of draws that are composed one by one. */
const MOST_KINDS = 64;
/** Cells that the loss may have. */
const CELLS = 40_000n;
const BITS = 256;
const ONE = 1n << BigInt(BITS);
const UNIT = /* @__PURE__ */ exact(1);
/** Above one by more than any rounding of a double. */
const UP = 1 + 2 ** -51;
/** Above what denormal numbers may lose in all. */
const UNDERFLOW = 1e-290;
/** Digits of an answer, at least. */
const DIGITS = 6;
const LEAST_DELTA = 1e-100;

/**
 * The ε of many releases together at a δ > 0, by optimal composition: never more than their sum, and never less than the
 * true one. Releases must not share noise, and their ε must not have been chosen by what other releases showed.
 */
export function composedEpsilon(draws: readonly EqualDraws[], delta: number): number {
  return composed(
    draws.map(({ epsilon, times }) => ({
      epsilon: exact(checkEpsilon("epsilon", epsilon)),
      times: BigInt(checkInteger("times", times, 1, 2 ** 40)),
    })),
    checkDelta(delta),
  );
}

export function checkDelta(delta: unknown): number {
  if (typeof delta === "number" && delta >= LEAST_DELTA && delta < 1) return delta;
  throw new RangeError(`delta: expected ${LEAST_DELTA} ≤ δ < 1, got ${shown(delta)}; 1e-9 is usual`);
}

/** The least ε, rounded up to six digits, such that all draws together are (ε, δ)-private; at most their sum. */
export function composed(draws: readonly ExactDraws[], delta: number): number {
  const sum = draws.reduce((total, { epsilon, times }) => total + epsilon * times, 0n);
  const merged = merge(draws);
  if (sum === 0n || merged === undefined) return rounded(sum);
  const loss = new Loss(merged);
  const grain = 10n ** BigInt(sum.toString().length - 1 - DIGITS);
  let [low, high] = [-1n, sum / grain + 1n];
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (loss.deltaAt(middle * grain) <= delta) high = middle;
    else low = middle;
  }
  const epsilon = high * grain;
  return rounded(epsilon < sum ? epsilon : sum);
}

/**
 * (ε, δ) of the part that spent most, with what reads all of the data. Releases with a δ of their own leave less of it for
 * the composition: 1 − (1 − δ′)·Π(1 − δᵢ) ≤ δ′ + Σ δᵢ.
 */
export function approximateSpending(charges: readonly Charge[], asked: number): ApproximateSpending {
  const spent = charges.reduce((sum, charge) => sum + deltaOf(charge), 0n); // not below that of any part
  if (spent > 0n && asked <= rounded(spent))
    throw new RangeError(
      `delta: expected more than ${rounded(spent)}, which votes for keys have spent, got ${asked}`,
    );
  const delta = spent === 0n ? asked : rounded(exact(asked) - spent) * (1 - 2 ** -50);
  const whole = charges.filter(({ part }) => part === null).map(drawsOf);
  const parts = new Map<string, ExactDraws[]>();
  for (const charge of charges)
    if (charge.part !== null) parts.set(charge.part, [...(parts.get(charge.part) ?? []), drawsOf(charge)]);
  // Parts with equal draws spend the same.
  const kinds = new Map([...parts.values()].map((draws) => [keyOf(draws), draws]));
  const spendings = (kinds.size === 0 ? [[]] : [...kinds.values()]).map((draws) => [...whole, ...draws]);
  const each = spendings.map((draws) => ({
    // The sum holds for every δ.
    epsilon: kinds.size > MOST_KINDS ? sumOf(draws) : composed(draws, delta),
    draws: Number(draws.reduce((total, { times }) => total + times, 0n)),
  }));
  const worst = each.reduce((most, one) => (one.epsilon > most.epsilon ? one : most));
  return { epsilon: worst.epsilon, delta: asked, draws: worst.draws };
}

const keyOf = (draws: readonly ExactDraws[]): string =>
  draws
    .map(({ epsilon, times }) => `${epsilon}×${times}`)
    .sort()
    .join(" ");

const sumOf = (draws: readonly ExactDraws[]): number =>
  rounded(draws.reduce((total, { epsilon, times }) => total + epsilon * times, 0n));

/** The effect of composition, in a sentence. @param spent the sum of ε */
export const approximateWords = ({ epsilon, delta, draws }: ApproximateSpending, spent: number): string =>
  epsilon < spent
    ? `at δ = ${delta} the same releases are ε = ${epsilon}: ${draws} draws of noise share nothing, and the list of releases was not chosen by what they showed`
    : `at δ = ${delta} it is the same ε = ${epsilon}: ${draws === 1 ? "all of it may share one draw of noise" : "the draws of noise are too few or too large"}, so ε adds up`;

/** At most 2·MOST_DRAWS draws that dominate these; undefined if there are too many different ones. */
function merge(draws: readonly ExactDraws[]): ExactDraws[] | undefined {
  const kinds = new Map<bigint, bigint>();
  for (const { epsilon, times } of draws) kinds.set(epsilon, (kinds.get(epsilon) ?? 0n) + times);
  if (kinds.size > MOST_DRAWS / 2n) return undefined;
  const count = [...kinds.values()].reduce((total, times) => total + times, 0n);
  const group = (count + MOST_DRAWS - 1n) / MOST_DRAWS;
  return [...kinds]
    .flatMap(([epsilon, times]) => [
      { epsilon: epsilon * group, times: times / group },
      { epsilon: epsilon * (times % group), times: 1n },
    ])
    .filter(({ epsilon, times }) => epsilon > 0n && times > 0n);
}

/** The law of the loss L on a grid, each probability an upper bound. */
class Loss {
  /** P(L = (2k − last)·step) at k. */
  readonly #odds: Float64Array;
  readonly #step: bigint;
  /** Factor that covers all roundings. */
  readonly #slack: number;

  constructor(draws: readonly ExactDraws[]) {
    this.#step = gridOf(draws);
    const steps = draws.map(({ epsilon, times }) => ({
      size: Number((epsilon + this.#step - 1n) / this.#step),
      times: Number(times),
    }));
    const last = steps.reduce((total, { size, times }) => total + size * times, 0);
    this.#odds = new Float64Array(last + 1);
    this.#odds[0] = 1;
    let [end, roundings] = [0, 0];
    for (const { size, times } of steps) {
      const { plus, minus } = response(BigInt(size) * this.#step);
      for (let draw = 0; draw < times; draw++) {
        end += size;
        roundings += 3;
        for (let k = end; k >= size; k--)
          this.#odds[k] = this.#odds[k]! * minus + this.#odds[k - size]! * plus;
        for (let k = size - 1; k >= 0; k--) this.#odds[k] = this.#odds[k]! * minus;
      }
    }
    this.#slack = 1 + (roundings + last + 8) * 2 ** -50;
  }

  /** An upper bound of δ(ε). @param epsilon in units of 10⁻³⁰ */
  deltaAt(epsilon: bigint): number {
    const last = this.#odds.length - 1;
    // The first k with (2k − last)·step > ε.
    const first = Number((epsilon + BigInt(last) * this.#step) / (2n * this.#step)) + 1;
    if (first > last) return 0;
    const above = BigInt(2 * first - last) * this.#step - epsilon;
    let shrunk = doubleBelow(expBelow(above)); // a lower bound of e^(ε − l)
    const factor = doubleBelow(expBelow(2n * this.#step));
    let delta = 0;
    for (let k = first; k <= last; k++) {
      delta += this.#odds[k]! * ((1 - shrunk) * UP);
      shrunk = shrunk * factor * (1 - 2 ** -51);
    }
    return delta * this.#slack + UNDERFLOW;
  }
}

/** The coarsest grid that all ε lie on, or one with CELLS cells, to which they are rounded up. */
function gridOf(draws: readonly ExactDraws[]): bigint {
  const step = draws.reduce((divisor, { epsilon }) => gcd(divisor, epsilon), 0n);
  const sum = draws.reduce((total, { epsilon, times }) => total + epsilon * times, 0n);
  const count = draws.reduce((total, { times }) => total + times, 0n);
  const cells = sum / step;
  return cells <= CELLS ? step : sum / (CELLS - count) + 1n;
}

/** Upper bounds of the odds of randomised response. */
function response(epsilon: bigint): { readonly plus: number; readonly minus: number } {
  const low = expBelow(epsilon);
  const high = low + 2n;
  return {
    plus: doubleAbove((ONE * ONE) / (ONE + low) + 1n),
    minus: doubleAbove((ONE * high) / (ONE + high) + 1n),
  };
}

/** A lower bound of 2^BITS·e^(−x), by less than two. @param x in units of 10⁻³⁰ */
function expBelow(x: bigint): bigint {
  const nearest = expFixed(x, UNIT, BITS); // off by less than one
  return nearest > 0n ? nearest - 1n : 0n;
}

const doubleAbove = (fixed: bigint): number => (Number(fixed) / 2 ** BITS) * UP;
const doubleBelow = (fixed: bigint): number => (Number(fixed) / 2 ** BITS) * (1 - 2 ** -51);

function gcd(a: bigint, b: bigint): bigint {
  while (b > 0n) [a, b] = [b, a % b];
  return a;
}

/**
 * Discrete Gaussian noise, P(k) ∝ exp(−k²/(2σ²)) on the integers, sampled exactly by rejection (Canonne, Kamath and
 * Steinke 2020, Algorithm 3): a discrete Laplace variable Y of scale t = ⌊σ⌋ + 1 from our own kernel is accepted with
 * probability exp(−γ), γ = (|Y| − σ²/t)²/(2σ²). For rows of comparison that are labelled (ε, δ), and for nothing else.
 *
 * A uniform number of 52 bits is compared with exp(−γ) in doubles where that is certain by 2⁻⁴⁰, far more than a double's
 * error; where it is not, 160 bits more are drawn and compared with exp in fixed point. So no rounding decides.
 */
import type { Core } from "../../src/core/core.js";
import { type Random, Purpose, subStream } from "../../src/core/random.js";
import { exactRational, expFixed } from "../../src/core/tables/fixedPoint.js";
import { makeScale, type Scale } from "../../src/core/tables/scale.js";
import type { Draws } from "./draws.js";

const BATCH = 1024;
/** exp and γ in doubles are off by less than this, times 1 + γ; beyond γ = 2⁸ nothing is accepted but in fixed point. */
const CERTAIN = 2 ** -40;
const MORE_WORDS = 5;
const BITS = 52 + 32 * MORE_WORDS;

export class GaussianDraws implements Draws {
  readonly #core: Core;
  readonly #proposals: Random;
  readonly #coins: Random;
  readonly #scale: Scale;
  readonly #sigmaSquared: number;
  /** σ²/t. */
  readonly #centre: number;
  readonly #batch = new Float64Array(BATCH);
  readonly #words = new Uint32Array(2 * BATCH);
  #next = BATCH;

  /** @param purpose takes two sub-streams from this number on */
  constructor(core: Core, key: Uint32Array, sigmaSquared: number, part: number, purpose: number) {
    this.#core = core;
    this.#proposals = subStream(key, Purpose.baseline, 0, part, purpose);
    this.#coins = subStream(key, Purpose.baseline, 0, part, purpose + 1);
    const t = Math.floor(Math.sqrt(sigmaSquared)) + 1;
    this.#scale = makeScale(BigInt(t), 1n);
    this.#sigmaSquared = sigmaSquared;
    this.#centre = sigmaSquared / t;
  }

  /** The discrete Gaussian's variance is σ² but for a share of e^(−2π²σ²): below 10⁻⁸ from σ = 1 on. */
  get spread() {
    return { variance: this.#sigmaSquared, fourth: 0 };
  }

  take(): number {
    for (;;) {
      if (this.#next === BATCH) this.#refill();
      const i = this.#next++;
      const proposal = this.#batch[i]!;
      const uniform = (this.#words[2 * i]! >>> 6) * 2 ** 26 + (this.#words[2 * i + 1]! >>> 6);
      if (this.#accepts(proposal, uniform)) return proposal;
    }
  }

  #refill(): void {
    this.#core.laplace(this.#proposals, this.#scale, this.#batch);
    this.#core.keystream(this.#coins, this.#words);
    this.#next = 0;
  }

  /** @param uniform below 2⁵² */
  #accepts(proposal: number, uniform: number): boolean {
    const gamma = (Math.abs(proposal) - this.#centre) ** 2 / (2 * this.#sigmaSquared);
    const margin = Math.exp(-gamma) - uniform * 2 ** -52;
    if (gamma < 256 && Math.abs(margin) > CERTAIN) return margin > 0;
    const more = new Uint32Array(MORE_WORDS);
    this.#core.keystream(this.#coins, more);
    return acceptsExactly(proposal, uniform, more, this.#sigmaSquared);
  }
}

/** Whether uniform·2⁻⁵² with `more` digits is below exp(−γ): γ = (|Y|·t·d − n)²/(2·n·d·t²) for σ² = n/d. */
export function acceptsExactly(
  proposal: number,
  uniform: number,
  more: Uint32Array,
  sigmaSquared: number,
): boolean {
  const { numerator: n, denominator: d } = exactRational(sigmaSquared);
  const t = BigInt(Math.floor(Math.sqrt(sigmaSquared)) + 1);
  const difference = BigInt(Math.abs(proposal)) * t * d - n;
  const chance = expFixed(difference * difference, 2n * n * d * t * t, BITS);
  return more.reduce((digits, word) => (digits << 32n) | BigInt(word), BigInt(uniform)) < chance;
}

/**
 * The least σ² for which noise on integers of ℓ₂ sensitivity Δ is (ε, δ)-private, rounded up. The discrete Gaussian is
 * ρ-concentrated with ρ = Δ²/(2σ²) (Canonne, Kamath and Steinke, Theorem 14), which gives (their Corollary 13)
 *
 *     δ = min over α > 1 of exp((α − 1)(αρ − ε))/(α − 1)·(1 − 1/α)^α.
 *
 * Departure: each paper has its own, looser formula for σ; all Gaussian rows get this one.
 */
export function gaussianVariance(sensitivitySquared: number, epsilon: number, delta: number): number {
  const name = `${epsilon}, ${delta}`;
  let unit = units.get(name);
  if (unit === undefined) {
    if (units.size === MOST_UNITS) units.clear();
    units.set(name, (unit = unitVariance(epsilon, delta)));
  }
  return sensitivitySquared * unit;
}

/** By ε and δ: it takes a millisecond to find. */
const units = new Map<string, number>();
const MOST_UNITS = 64;

/** σ² for Δ = 1, by bisection over ln ρ. */
function unitVariance(epsilon: number, delta: number): number {
  let [low, high] = [Math.log(1e-30), Math.log(epsilon + 1)];
  for (let i = 0; i < 200; i++) {
    const middle = (low + high) / 2;
    if (logDelta(Math.exp(middle), epsilon) < Math.log(delta)) low = middle;
    else high = middle;
  }
  return (1 + 1e-9) / (2 * Math.exp(low));
}

/** ln δ at ρ; the function of α has one minimum, found by golden section in ln(α − 1). */
export function logDelta(rho: number, epsilon: number): number {
  const at = (x: number): number => {
    const less = Math.exp(x); // α − 1
    const alpha = 1 + less;
    return less * (alpha * rho - epsilon) - x + alpha * Math.log1p(-1 / alpha);
  };
  const golden = (Math.sqrt(5) - 1) / 2;
  let [low, high] = [-20, 80];
  for (let i = 0; i < 120; i++) {
    const span = golden * (high - low);
    if (at(high - span) < at(low + span)) high = low + span;
    else low = high - span;
  }
  return Math.min(0, at((low + high) / 2));
}

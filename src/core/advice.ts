/** Lines of `explain` about settings that are allowed and seldom meant. They follow from public parameters alone. */

/** From here on a guess is right nearly always. */
const WEAK_EPSILON = 10;
/** How many times θ a bound is that was hardly meant. */
const FAR = 1000;

/** How much ε gives away, where that is nearly everything. */
export function epsilonAdvice(epsilon: number): string[] {
  if (!(epsilon > WEAK_EPSILON)) return [];
  const sure = Math.exp(-epsilon) < 1e-6 ? "99.999 9 %" : `${(100 / (1 + Math.exp(-epsilon))).toFixed(3)} %`;
  return [
    `ε = ${epsilon} protects little: a guess about somebody that is right with odds of 50 % may be right with ${sure}. Usual values are 0.1 to 2.`,
  ];
}

/** Advice if the public bound is far above θ; none while θ is not known. */
export function boundAdvice(min: number, max: number, theta: number | null): string[] {
  if (theta === null || !(theta > min && max - min >= FAR * (theta - min))) return [];
  return [
    `max = ${max} is over a thousand times θ = ${Number(theta.toPrecision(6))}: values above θ are clamped to θ. If they matter, give a larger threshold; if max was a guess, one nearer to the largest value that you expect rounds and chooses θ more finely.`,
  ];
}

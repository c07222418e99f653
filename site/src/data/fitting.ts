/** Settings that suit a stream of so many values. They follow from public numbers alone. */
import { plan } from "brume";

export interface Fitting {
  readonly holdout: number;
  readonly maxRange: number;
  readonly window: number;
  readonly speed: number;
}

/** An eighth held out at most, one forest for all the rest. */
export function fitting(n: number): Fitting {
  const below = 2 ** Math.floor(Math.log2(n));
  return {
    holdout: Math.max(16, Math.min(2 ** 16, below / 8)),
    maxRange: Math.min(2 ** 24, Math.max(2 ** 8, below < n ? 2 * below : below)),
    window: Math.max(1, Math.round(n / 150)),
    speed: n > 400_000 ? 1_000_000 : n > 80_000 ? 50_000 : n > 8000 ? 10_000 : 1000,
  };
}

const EPSILONS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** Share of θ that the mean of a tenth of the stream may be off by: one standard deviation. */
const GOAL = 0.01;

/** The smallest ε of a round size at which `plan` predicts a standard error below 1 % of θ for a tenth of the stream. */
export function suggestedEpsilon(n: number, max: number): number {
  const { holdout, maxRange } = fitting(n);
  const length = Math.max(1, (n - holdout) / 10);
  const good = EPSILONS.find((epsilon) => {
    const { errors } = plan({ epsilon, max, holdout, maxRange });
    const nearest = errors.reduce((a, b) =>
      Math.abs(Math.log(b.length / length)) < Math.abs(Math.log(a.length / length)) ? b : a,
    );
    return nearest.standardErrorPerTheta / nearest.length <= GOAL;
  });
  return good ?? EPSILONS[EPSILONS.length - 1]!;
}

/** 1, 2 or 5 times a power of ten, no smaller than x. */
export function roundedUp(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x || 1));
  return Number(([1, 2, 5, 10].find((digit) => digit * power >= x)! * power).toPrecision(1));
}

/** Random options of publishers: usual ones, extreme ones, and some that are refused. */
import type { ComparisonOptions, MethodName } from "../../research/index.js";
import type { StreamOptions, Tuning } from "../../src/index.js";
import type { Dice } from "./dice.js";

/** Those that a stream always has here. */
type Given = Required<Pick<StreamOptions, "variant" | "smoother" | "maxRange">> & {
  readonly tuning: Tuning & { readonly fanout: number };
};
export type SystemOptions = (StreamOptions & Given) | ComparisonOptions;

export function randomTops(dice: Dice): StreamOptions & Given {
  const fanout = dice.pick([2, 3, 4, 16, 64, 2 + dice.below(63)]);
  const max = randomMax(dice);
  const maxRange = Math.round(dice.scaled(dice.chance(0.1) ? fanout : 300, 9000)); // forests of a few values are slow
  const fixed = dice.chance(0.4);
  const variant = dice.pick(["default", "default", "paper"] as const);
  const resolution = dice.pick([undefined, undefined, max / 64, 0.1, 1, 2 ** -10]);
  const longer = dice.chance(0.2) ? { history: dice.pick([Infinity, 2 * maxRange, 8 * maxRange]) } : {};
  return {
    epsilon: randomEpsilon(dice),
    max,
    maxRange,
    holdout: fixed ? dice.below(30) : 1 + dice.below(300),
    smoother: dice.chance(0.05)
      ? ownSmoother
      : dice.pick([
          ...(["recent", "mean", "median", "shrunk"] as const),
          ...[{ moving: 1 + dice.below(9) }, { exponential: 0.3 }, { period: 2 + dice.below(300) }],
        ]),
    tuning: {
      fanout,
      skipLevels: dice.pick(["auto", "paper", 0, dice.below(5)]),
      warmStart: dice.chance(0.7),
      ...(dice.chance(0.3) && variant === "default" && !fixed
        ? { follow: true, refine: dice.chance(0.7) }
        : {}),
      ...(resolution === undefined ? {} : { resolution }),
    },
    variant,
    unsafeSeed: `fuzz ${dice.word()}`,
    ...longer,
    ...(fixed ? { threshold: max * dice.pick([1, 0.5, dice.unit(), 1 / 256]) } : {}),
    ...(dice.chance(0.2) ? { min: max * dice.pick([-0.5, -1, -3, -0.1, 0.25]) } : {}),
  };
}

/** A system to compare ToPS with; they draw from the same kernels in other ways. */
export function randomMethod(dice: Dice, methods: readonly MethodName[]): ComparisonOptions {
  return {
    method: dice.pick(methods),
    epsilon: randomEpsilon(dice),
    max: randomMax(dice),
    maxRange: Math.round(dice.scaled(16, 2000)),
    holdout: 1 + dice.below(300),
    notPrivate: true,
    unsafeSeed: `fuzz ${dice.word()}`,
  };
}

/** Usual ones, and both ends of what a double can hold. */
export const randomMax = (dice: Dice): number =>
  dice.chance(0.1)
    ? dice.pick([dice.scaled(1e-300, 1e-3), dice.scaled(1e6, 1e300), 5e-324, Number.MAX_VALUE])
    : dice.pick([1, 100, 256, 1000, dice.scaled(0.01, 1e6)]);

export const randomEpsilon = (dice: Dice): number =>
  dice.pick([0.1, 1, 3, dice.scaled(0.001, 50), dice.scaled(1e-9, 1e9)]);

/** A caller's own smoother, which fails now and then. */
export function ownSmoother(means: readonly number[]): number {
  if (means.length % 7 === 6) throw new Error("no prediction today");
  return means.length % 5 === 4 ? NaN : 0.7 * means.at(-1)!;
}

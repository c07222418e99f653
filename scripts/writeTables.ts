/** Writes the tables that noise is drawn from, one JSON object per line, for scripts/checkTables.py. */
import { pathToFileURL } from "node:url";
import { chooseCore } from "../src/core/choose.js";
import { MECHANISM_NUMBER, SCALE_COLUMNS, TAIL_WORDS } from "../src/core/layout.js";
import { expCoin } from "../src/core/tables/coin.js";
import { exactRational } from "../src/core/tables/fixedPoint.js";
import { columnsBefore, makeScale } from "../src/core/tables/scale.js";
import type { Mechanism } from "../src/core/tables/sectors.js";
import { makeSelection } from "../src/core/tables/selection.js";
import { discoveryRule } from "../src/events/keys/keyDiscovery.js";
import { dayWindow, hybrid, piecewise, squareWave, stochasticRounding } from "../src/local/mechanisms.js";

/** t as numerator and denominator: small, large, awkward, and of the exact rationals that doubles stand for. */
const SCALES: readonly (readonly [bigint, bigint])[] = [
  ...([1, 2, 3, 40, 256, 257, 4096, 40_000, 2 ** 24 + 1, 2 ** 33 + 7, 2 ** 40] as const).map(
    (t) => [BigInt(t), 1n] as const,
  ),
  ...[0.1, 0.3, 0.7, 1.1, Math.PI, 1e-3, 7.7].map((epsilon): [bigint, bigint] => {
    const { numerator, denominator } = exactRational(epsilon);
    return [3n * 1000n * denominator, numerator];
  }),
  [1n, 3n],
  [2n, 7n],
  [1n, 2n ** 32n],
  [10n ** 15n, 999n],
];
const COINS: readonly (readonly [bigint, bigint])[] = [
  [0n, 1n],
  [1n, 1n],
  [1n, 3n],
  [131n, 1n],
  [1n, 10n ** 12n],
];
const EPSILONS = [1e-6, 0.1, 0.5, 0.61, 1, 2, 4, 24];
/** ε, share in 32nds and δ of discoveries. */
const DISCOVERIES: readonly (readonly [number, number, number])[] = [
  [2, 8, 1e-9],
  [1, 8, 1e-6],
  [0.1, 5, 1e-12],
  [0.3, 30, 1e-3],
  [7.7, 1, 1e-9],
];
/** ε of choices of θ and of k by permute-and-flip. */
const CHOICES = [0.05, 0.3, 1, Math.PI, 10];
const MECHANISMS = { dayWindow, squareWave, stochasticRounding, piecewise, hybrid };

const text = (numerator: bigint, denominator: bigint) => ({
  numerator: String(numerator),
  denominator: String(denominator),
});

/** Tables of the kernel; its twin makes the same (test/core/scale.test.ts). */
function scaleEntry([numerator, denominator]: readonly [bigint, bigint]): object {
  const scale = makeScale(numerator, denominator);
  const words = scale.words(chooseCore("wasm").fillDigit);
  const digits = scale.weights.map((_, digit) => [columnsBefore(digit), columnsBefore(digit + 1)] as const);
  return {
    ...{ kind: "scale", divisor: scale.divisor, escape: scale.escape },
    ...text(scale.numerator, scale.denominator),
    header: [...words.subarray(0, SCALE_COLUMNS)],
    shifts: scale.weights.map(Math.log2),
    columns: digits.map(([from, to]) => [...words.subarray(SCALE_COLUMNS + from, SCALE_COLUMNS + to)]),
    tails: digits.map(([from, to]) => [
      ...words.subarray(scale.tails + TAIL_WORDS * from, scale.tails + TAIL_WORDS * to),
    ]),
  };
}

function mechanismEntry(name: string, make: (epsilon: number) => Mechanism, epsilon: number): object {
  const { numerator, denominator } = exactRational(epsilon);
  const { top, width, weights, words } = make(epsilon);
  return {
    ...{ kind: "mechanism", name, ...text(numerator, denominator), top, width },
    weights: weights.map(String),
    words: [...words.subarray(0, MECHANISM_NUMBER)],
  };
}

/** The threshold of truncated noise, and what is said of δ. The rational is ε of the noise that is drawn. */
function truncatedEntry([epsilon, share, asked]: readonly [number, number, number]): object {
  const { scale, k, delta } = discoveryRule(epsilon, share, asked);
  const fraction = ({ numerator, denominator }: ReturnType<typeof exactRational>) =>
    text(numerator, denominator);
  return {
    ...{ kind: "truncated", ...text(scale.denominator, scale.numerator), k },
    ...{ asked: fraction(exactRational(asked)), delta: fraction(exactRational(delta)) },
  };
}

/** The coins that the noise of a choice is tossed with: 2·exp(−T/t) for a whole stride T = ⌈t⌉, and 1/(1 + exp(−1/t)). */
function selectionEntry(epsilon: number): object {
  const bounds = { candidates: 4096, step: 1, holdout: 65_536, maxRange: 2 ** 20, fanout: 16 };
  const choice = makeSelection({ ...bounds, epsilon, releaseEpsilon: epsilon, noise: "exponential" });
  return {
    ...{ kind: "selection", ...text(choice.scale.numerator, choice.scale.denominator) },
    ...{
      stride: choice.stride,
      strideCoin: [...choice.strideCoin.words],
      sideCoin: [...choice.sideCoin.words],
    },
  };
}

/** All tables, as lines. */
export function tableLines(): string[] {
  return [
    ...SCALES.map(scaleEntry),
    ...COINS.map(([numerator, denominator]) => ({
      ...{ kind: "coin", ...text(numerator, denominator) },
      words: [...expCoin(numerator, denominator).words],
    })),
    ...DISCOVERIES.map(truncatedEntry),
    ...CHOICES.map(selectionEntry),
    ...Object.entries(MECHANISMS).flatMap(([name, make]) =>
      EPSILONS.map((epsilon) => mechanismEntry(name, make, epsilon)),
    ),
  ].map((entry) => JSON.stringify(entry));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) console.log(tableLines().join("\n"));

/** Mechanisms that other papers propose for the same task, by name: the one list. */
import { levelCount } from "../../src/stream/levels.js";
import { BinaryTree, monotone } from "./binary.js";
import { GaussianDraws, gaussianVariance } from "./discreteGaussian.js";
import { type Draws, laplaceDraws, laplaceScale } from "./draws.js";
import {
  banded,
  buffered,
  columnNormOf,
  type Factorisation,
  FactorisedCounter,
  squareRoot,
} from "./factorisation.js";
import { Fast, fastSamples } from "./fast.js";
import { fitGrid, onGrid } from "./grid.js";
import type { Hierarchy, Make, PublishSettings } from "./hierarchy.js";
import { Hybrid, HYBRID_LEVELS } from "./hybrid.js";
import { KARY, karyLevels, KarySubtraction } from "./karySubtraction.js";
import { Partition } from "./partition.js";
import { Pegasus, type PegasusSmoother } from "./pegasus.js";
import { increments, type Mechanism, type PrefixMechanism, RecordedStream, roundingFor } from "./record.js";
import { SmoothBinary, smoothHeight } from "./smoothBinary.js";
import { Absorption, Distribution, EventWindow, WINDOW } from "./wEvent.js";

type Rounding = (x: number) => number;

/** Room for single noises, and for sums of one noise per value. */
const MARGIN = 100;

/** Builds a mechanism from Θ on the grid, the number of its part, and a rounding for what it publishes. */
type Build = (theta: number, part: number, round: Rounding) => Mechanism;

/**
 * @param noise the largest scale of a noise for Θ = 1
 * @param values how many values are summed at most
 */
function publisher(
  { grid: { resolution }, tree: { maxRange, history } }: PublishSettings,
  theta: number,
  noise: number,
  values: number,
  restarts: boolean,
  build: Build,
) {
  const grid = fitGrid(theta, resolution, noise, values);
  const round = roundingFor(grid.theta * (values + MARGIN * noise * Math.sqrt(maxRange)));
  return onGrid(
    new RecordedStream((part) => build(grid.theta, part, round), { length: maxRange, history, restarts }),
    grid,
  );
}

/** A tree of one level or more with noise of one kind on every node, for a stream of known length. */
interface Tree {
  /** How many nodes a value is in, and the counter. */
  readonly nodes: (maxRange: number) => number;
  readonly counter: (maxRange: number, draws: Draws, theta: number) => PrefixMechanism;
}

const laplaceTree =
  ({ nodes, counter }: Tree): Make =>
  (core, key, settings, theta) => {
    const {
      privacy: { epsilon },
      tree: { maxRange },
    } = settings;
    const count = nodes(maxRange);
    return publisher(settings, theta, count / epsilon, maxRange, true, (units, part, round) => {
      const draws = laplaceDraws(core, key, laplaceScale(units, epsilon, count), part, 1);
      return increments(counter(maxRange, draws, units), round);
    });
  };

/** σ for Θ = 1. */
const sigma = ({ privacy: { epsilon }, delta }: PublishSettings, columnNorm: number): number =>
  Math.sqrt(gaussianVariance(columnNorm, epsilon, delta));

/** A tree with Gaussian noise, for the ℓ₂ norm of a column: the square root of `nodes`. */
const gaussTree =
  ({ nodes, counter }: Tree): Make =>
  (core, key, settings, theta) => {
    const {
      privacy: { epsilon },
      tree: { maxRange },
      delta,
    } = settings;
    const norm = nodes(maxRange);
    return publisher(settings, theta, sigma(settings, norm), maxRange, true, (units, part, round) => {
      const draws = new GaussianDraws(
        core,
        key,
        gaussianVariance(norm * units ** 2, epsilon, delta),
        part,
        1,
      );
      return increments(counter(maxRange, draws, units), round);
    });
  };

const binaryLevels = (maxRange: number): number => levelCount(maxRange, 2);
const binary: Tree = {
  nodes: binaryLevels,
  counter: (maxRange, draws) => new BinaryTree(binaryLevels(maxRange), draws, false),
};
const monotoneBinary: Tree = {
  nodes: binaryLevels,
  counter: (maxRange, draws, theta) => monotone(new BinaryTree(binaryLevels(maxRange), draws, false), theta),
};
const honaker: Tree = {
  nodes: binaryLevels,
  counter: (maxRange, draws) => new BinaryTree(binaryLevels(maxRange), draws, true),
};
const kary: Tree = {
  nodes: karyLevels,
  counter: (maxRange, draws) => new KarySubtraction(karyLevels(maxRange), draws),
};
const smooth: Tree = {
  nodes: (maxRange) => smoothHeight(maxRange) / 2,
  counter: (maxRange, draws) => new SmoothBinary(smoothHeight(maxRange), draws),
};
const factorised = (factorisation: Factorisation): Tree => ({
  nodes: (maxRange) => columnNormOf(factorisation, maxRange),
  counter: (maxRange, draws) => new FactorisedCounter(factorisation, maxRange, draws),
});

const laplaceRow = (mechanism: string, tree: Tree, fanout = 2): Hierarchy => ({
  mechanism,
  fanout,
  skips: false,
  levels: tree.nodes,
  make: laplaceTree(tree),
});

const gaussRow = (mechanism: string, tree: Tree, fanout = 2): Hierarchy => ({
  mechanism,
  fanout,
  skips: false,
  levels: (maxRange) => Math.ceil(tree.nodes(maxRange)),
  gaussian: true,
  scale: (settings, theta) => theta * sigma(settings, tree.nodes(settings.tree.maxRange)),
  make: gaussTree(tree),
});

/** Noise of more than one scale, and no hierarchy of its own. */
const adaptiveRow = (mechanism: string, make: Make): Hierarchy => ({
  mechanism,
  fanout: 2,
  skips: false,
  levels: () => 1,
  scale: () => null,
  make,
});

const pegasus = (smoother: PegasusSmoother): Hierarchy =>
  adaptiveRow(`PeGaSus: perturber, grouper, smoother (${smoother})`, (core, key, settings, theta) => {
    const {
      privacy: { epsilon },
      tree: { maxRange },
    } = settings;
    return publisher(
      settings,
      theta,
      40 / epsilon,
      maxRange,
      false,
      (units, _part, round) => new Pegasus(core, key, units, epsilon, smoother, round),
    );
  });

const windowed = (mechanism: string, budget: () => Distribution | Absorption): Hierarchy => ({
  ...adaptiveRow(mechanism, (core, key, settings, theta) => {
    const {
      privacy: { epsilon },
      tree: { maxRange },
    } = settings;
    return publisher(
      settings,
      theta,
      2 ** 16 / epsilon,
      maxRange,
      false,
      (units) => new EventWindow(core, key, units, epsilon, WINDOW, budget()),
    );
  }),
  protects: () => ({
    definition: "w-event differential privacy",
    neighbours: `streams of the same length that differ within ${WINDOW} values in a row`,
    unit: `any ${WINDOW} values in a row`,
    notProtected: [
      `a person with values more than ${WINDOW} apart: the guarantee is for one window`,
      "when values arrive, and how many there are",
      "against anyone who can read the memory of this process",
    ],
  }),
});

export const OPPONENTS = {
  binary: laplaceRow("binary tree of known length", binary),
  "binary-monotone": {
    ...laplaceRow("binary tree of known length, made monotone", monotoneBinary),
  },
  "binary-hybrid": adaptiveRow("binary tree without end (Hybrid Mechanism)", (core, key, settings, theta) => {
    const { epsilon } = settings.privacy;
    const noise = (2 * HYBRID_LEVELS) / epsilon;
    return publisher(settings, theta, noise, 2 ** 32, false, (units, _part, round) =>
      increments(new Hybrid(core, key, units, epsilon), round),
    );
  }),
  honaker: laplaceRow("binary tree of known length, estimated from below (Honaker)", honaker),
  "k-ary": laplaceRow(`tree of fan-out ${KARY} with subtraction`, kary, KARY),
  "k-ary-gauss": gaussRow(`tree of fan-out ${KARY} with subtraction, Gaussian noise`, kary, KARY),
  "smooth-binary": laplaceRow("smooth binary mechanism with Laplace noise", smooth),
  "smooth-binary-gauss": gaussRow("smooth binary mechanism", smooth),
  "square-root": gaussRow("square-root factorisation of the counting matrix", factorised(squareRoot)),
  banded: gaussRow("banded square-root factorisation", factorised(banded)),
  blt: gaussRow("buffered linear Toeplitz factorisation", factorised(buffered)),
  "pegasus-average": pegasus("average"),
  "pegasus-median": pegasus("median"),
  "pegasus-james-stein": pegasus("james-stein"),
  partition: adaptiveRow("online partition, segments counted", (core, key, settings, theta) => {
    const {
      privacy: { epsilon },
      tree: { maxRange },
    } = settings;
    const noise = (4 * HYBRID_LEVELS) / epsilon;
    return publisher(settings, theta, noise, 2 ** 32, false, (units, _part, round) =>
      increments(new Partition(core, key, units, epsilon, maxRange), round),
    );
  }),
  bd: windowed("budget distribution", () => new Distribution(WINDOW)),
  ba: windowed("budget absorption", () => new Absorption(WINDOW)),
  fast: {
    ...adaptiveRow("FAST: sampling and a Kalman filter", (core, key, settings, theta) => {
      const {
        privacy: { epsilon },
        tree: { maxRange },
      } = settings;
      const noise = fastSamples(maxRange) / epsilon;
      return publisher(
        settings,
        theta,
        noise,
        maxRange,
        true,
        (units, part, round) => new Fast(core, key, units, epsilon, maxRange, part, round),
      );
    }),
    protects: (maxRange: number) => ({
      definition: "user-level differential privacy over a horizon",
      neighbours: `streams of the same length that differ in any of ${maxRange} values from a multiple of ${maxRange} on`,
      unit: `all of ${maxRange} values in a row, from a multiple of ${maxRange} on`,
      notProtected: [
        `a person with values in several horizons of ${maxRange} values: each costs ε`,
        "when values arrive, and how many there are",
        "against anyone who can read the memory of this process",
      ],
    }),
  },
} as const satisfies Record<string, Hierarchy>;

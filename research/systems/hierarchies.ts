/** The ways to publish a clamped stream, by name: adding one is a line here. */
import { noiseScale } from "../../src/stream/release/forest.js";
import { BlockPublisher } from "../../src/stream/release/blockPublisher.js";
import { Zeros } from "./base.js";
import { Flat } from "./flat.js";
import { fitGrid, onGrid } from "./grid.js";
import type { Hierarchy, Make } from "./hierarchy.js";
import { NodeHierarchy } from "./nodes.js";
import { OPPONENTS } from "./opponents.js";
import { largestUnboundedScale, UNBOUNDED_LEVELS, unboundedShape } from "./unbounded.js";

/** Every node has noise of its own, nothing is reconciled. */
const inconsistent: Make = (core, key, settings, theta) => {
  const {
    privacy: { epsilon },
    grid: { resolution },
    tree: { fanout, levels, maxRange, history },
  } = settings;
  const grid = fitGrid(theta, resolution, levels / epsilon, maxRange);
  const scale = noiseScale(levels, grid.theta, epsilon);
  const shape = { fanout, levels, scale: () => scale, forestLength: maxRange, history };
  return onGrid(new NodeHierarchy(core, key, shape), grid);
};

/** As in ToPS; the first block is predicted as θ/2 a value. */
const consistent: Make = (core, key, settings, theta) => {
  const {
    privacy: { epsilon },
    tree: { levels, blockLength, blocksPerForest },
  } = settings;
  const grid = fitGrid(theta, settings.grid.resolution, levels / epsilon, blockLength * blocksPerForest);
  return new BlockPublisher(
    core,
    key,
    { ...settings, grid: { ...settings.grid, resolution: grid.resolution } },
    grid.theta,
    grid.theta / 2,
  );
};

const flat: Make = (core, key, settings, theta) => {
  const grid = fitGrid(theta, settings.grid.resolution, 1 / settings.privacy.epsilon, settings.tree.maxRange);
  return onGrid(new Flat(core, key, settings, grid.theta), grid);
};

const unbounded: Make = (core, key, { privacy: { epsilon }, grid: { resolution } }, theta) => {
  const grid = fitGrid(theta, resolution, largestUnboundedScale(epsilon), 2 ** (UNBOUNDED_LEVELS - 1));
  return onGrid(new NodeHierarchy(core, key, unboundedShape(grid.theta, epsilon)), grid);
};

export const HIERARCHIES = {
  h2: { mechanism: "binary hierarchy", fanout: 2, skips: false, make: inconsistent },
  h16: { mechanism: "hierarchy of fan-out 16", fanout: 16, skips: false, make: inconsistent },
  hc16: { mechanism: "hierarchy of fan-out 16, made consistent", fanout: 16, skips: false, make: consistent },
  hhatc16: {
    mechanism: "hierarchy of fan-out 16, made consistent, lowest levels predicted",
    fanout: 16,
    skips: true,
    make: consistent,
  },
  flat: { mechanism: "noise on every value", fanout: 16, skips: false, levels: () => 1, make: flat },
  unbounded: {
    mechanism: "binary hierarchy without end, level k at (1/9)·0.9^k·ε",
    fanout: 2,
    skips: false,
    levels: () => UNBOUNDED_LEVELS,
    scale: () => null,
    make: unbounded,
  },
  zeros: { mechanism: "zeros", fanout: 16, skips: false, levels: () => 0, make: () => new Zeros() },
  ...OPPONENTS,
} as const satisfies Record<string, Hierarchy>;

export type HierarchyName = keyof typeof HIERARCHIES;

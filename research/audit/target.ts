/** Targets of attacks: a mechanism on two neighbouring inputs, and what an attacker sees of a run. */
import type { Core } from "../../src/core/core.js";
import type { Random } from "../../src/core/random.js";
import type { Break } from "./breaks.js";

/** Which of the two neighbouring inputs. */
export type World = 0 | 1;

export interface Target {
  /** Difference between the two inputs, in words. */
  readonly name: string;
  /** The numbers an attacker looks at, per run. */
  readonly features: readonly string[];
  /** Share of the runs asked for that this target makes; below 1 where a run is slow. */
  readonly effort: number;
  /** Independent runs on one input: fills `rows` with one row of features per run. */
  observe(world: World, random: Random, rows: Float64Array): void;
}

/**
 * @param core runs the mechanism; a broken one for a break
 * @param fault the break, for one that is not in the core
 */
export type MakeTargets = (epsilon: number, core: Core, fault?: Break) => readonly Target[];

/** Θ of the audited configurations: the coarsest grid that a release takes by default. */
export const THETA = 256;

/** Ways to publish a clamped stream: what each says about itself, and how it is made. */
import type { Core } from "../../src/core/core.js";
import type { Publisher } from "../../src/stream/publisher.js";
import type { Settings } from "../../src/stream/options.js";
import type { Statement } from "../../src/stream/statement.js";

export interface PublishSettings extends Settings {
  /** δ of Gaussian noise; 0 elsewhere. */
  readonly delta: number;
}

/** θ in units of the stream, above 0. */
export type Make = (core: Core, key: Uint32Array, settings: PublishSettings, theta: number) => Publisher;

export interface Hierarchy {
  /** In words, for statements. */
  readonly mechanism: string;
  readonly fanout: number;
  /** Whether lowest levels are left to prediction. */
  readonly skips: boolean;
  /** Levels that carry noise, where that is not the height of the tree. */
  readonly levels?: (maxRange: number) => number;
  /** Scale of the noise, in units of the stream, where it is not levels·θ/ε; null where there is more than one. */
  readonly scale?: (settings: PublishSettings, theta: number) => number | null;
  /** Whether the noise is discrete Gaussian, so that it is (ε, δ)-private. */
  readonly gaussian?: true;
  /** Unit that ε protects, if that is not one value. */
  readonly protects?: (
    maxRange: number,
  ) => Pick<Statement, "definition" | "neighbours" | "unit" | "notProtected">;
  readonly make: Make;
}

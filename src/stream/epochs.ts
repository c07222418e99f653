/**
 * Stretches of a release: consecutive trees whose noise has the same scale. θ changes only where a tree begins, and trees
 * share no noise, so each stretch is a release of its own. A stream whose θ never changes is one stretch.
 */
import type { Scale } from "../core/tables/scale.js";
import type { Decoder, Encoder } from "./codec.js";
import { noiseScale } from "./forest.js";
import { laplaceVariance } from "./variance.js";

export interface Stretch {
  /** First block of the stretch, counted over all forests. */
  readonly block: number;
  /** Θ in grid units. */
  readonly theta: number;
  /** How many 32nds of ε the nodes of a tree have. */
  readonly parts: number;
  /** Scale of the noise on every node. */
  readonly scale: Scale;
  /** Variance of the noise on every node, in squared grid units. */
  readonly nodeVariance: number;
}

/** All of ε, in the 32nds that a tree's nodes and its counts share. */
export const ALL_PARTS = 32;

/** Parameters that determine a stretch's noise. */
export interface StretchShape {
  readonly levels: number;
  readonly epsilon: number;
}

export function makeStretch(
  { levels, epsilon }: StretchShape,
  block: number,
  theta: number,
  parts: number,
): Stretch {
  return {
    block,
    theta,
    parts,
    scale: noiseScale(levels, theta, epsilon, parts),
    nodeVariance: laplaceVariance((levels * theta * ALL_PARTS) / (parts * epsilon)),
  };
}

/** Where noise variances are asked for: by block. */
export interface NodeNoise {
  /** Variance of the noise on the nodes above a block. */
  varianceAt(block: number): number;
  /** The first block of the stretch that a block is in, and the first one after it. */
  startOf(block: number): number;
  endOf(block: number): number;
}

/** Noise that never changes. */
export function sameNoise(nodeVariance: number): NodeNoise {
  return { varianceAt: () => nodeVariance, startOf: () => 0, endOf: () => Infinity };
}

/** The stretches of the history that is kept; what came before them counts as the noisiest of it. */
export class Stretches implements NodeNoise {
  #list: readonly Stretch[];

  constructor(first: Stretch) {
    this.#list = [first];
  }

  get last(): Stretch {
    return this.#list[this.#list.length - 1]!;
  }

  get all(): readonly Stretch[] {
    return this.#list;
  }

  #indexAt(block: number): number {
    let i = this.#list.length - 1;
    while (i > 0 && this.#list[i]!.block > block) i--;
    return i;
  }

  varianceAt(block: number): number {
    return this.#list[this.#indexAt(block)]!.nodeVariance;
  }

  /** Θ of the stretch that a block is in, in grid units. */
  thetaAt(block: number): number {
    return this.#list[this.#indexAt(block)]!.theta;
  }

  startOf(block: number): number {
    return this.#list[this.#indexAt(block)]!.block;
  }

  endOf(block: number): number {
    return this.#list[this.#indexAt(block) + 1]?.block ?? Infinity;
  }

  /** The list with more stretches, made before anything changes; `replace` takes it and cannot fail. */
  followedBy(more: readonly Stretch[]): readonly Stretch[] {
    return more.length === 0 ? this.#list : [...this.#list, ...more];
  }

  /** @param oldest the first block that is kept: stretches before it become one */
  replace(list: readonly Stretch[], oldest: number): void {
    let old = 0;
    while (old + 1 < list.length && list[old + 1]!.block <= oldest) old++;
    if (old < 2) {
      this.#list = list;
      return;
    }
    const noisiest = list.slice(0, old).reduce((a, b) => (b.nodeVariance > a.nodeVariance ? b : a));
    this.#list = [{ ...noisiest, block: list[0]!.block }, ...list.slice(old)];
  }

  save(writer: Encoder): void {
    writer.count(this.#list.length);
    for (const { block, theta, parts } of this.#list) {
      writer.count(block);
      writer.count(theta);
      writer.count(parts);
    }
  }

  load(reader: Decoder, shape: StretchShape): void {
    this.#list = Array.from({ length: reader.count() }, () =>
      makeStretch(shape, reader.count(), reader.count(), reader.count()),
    );
  }
}

/**
 * Epochs of a release: consecutive trees whose noise has the same scale. θ changes only where a tree begins, and trees
 * share no noise, so each epoch is a release of its own. A stream whose θ never changes is one epoch.
 */
import type { Scale } from "../../core/tables/scale.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { noiseScale } from "./forest.js";
import { laplaceVariance } from "../answer/variance.js";

export interface Epoch {
  /** First block of the epoch, counted over all forests. */
  readonly block: number;
  /** Θ in grid units. */
  readonly theta: number;
  /** How many 32nds of ε the nodes of a tree have. */
  readonly share: number;
  /** Scale of the noise on every node. */
  readonly scale: Scale;
  /** Variance of the noise on every node, in squared grid units. */
  readonly nodeVariance: number;
}

/** All of ε, in the 32nds that a tree's nodes and its counts share. */
export const WHOLE = 32;

/** Parameters that determine an epoch's noise. */
export interface EpochShape {
  readonly levels: number;
  readonly epsilon: number;
}

export function makeEpoch(
  { levels, epsilon }: EpochShape,
  block: number,
  theta: number,
  share: number,
): Epoch {
  return {
    block,
    theta,
    share,
    scale: noiseScale(levels, theta, epsilon, share),
    nodeVariance: laplaceVariance((levels * theta * WHOLE) / (share * epsilon)),
  };
}

/** Where noise variances are asked for: by block. */
export interface NodeNoise {
  /** Variance of the noise on the nodes above a block. */
  varianceAt(block: number): number;
  /** The first block of the epoch that a block is in, and the first one after it. */
  startOf(block: number): number;
  endOf(block: number): number;
}

/** Noise that never changes. */
export function sameNoise(nodeVariance: number): NodeNoise {
  return { varianceAt: () => nodeVariance, startOf: () => 0, endOf: () => Infinity };
}

/** The epochs of the history that is kept; what came before them counts as the noisiest of it. */
export class Epochs implements NodeNoise {
  #list: readonly Epoch[];

  constructor(first: Epoch) {
    this.#list = [first];
  }

  get last(): Epoch {
    return this.#list[this.#list.length - 1]!;
  }

  get all(): readonly Epoch[] {
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

  /** Θ of the epoch that a block is in, in grid units. */
  thetaAt(block: number): number {
    return this.#list[this.#indexAt(block)]!.theta;
  }

  startOf(block: number): number {
    return this.#list[this.#indexAt(block)]!.block;
  }

  endOf(block: number): number {
    return this.#list[this.#indexAt(block) + 1]?.block ?? Infinity;
  }

  /** The list with more epochs, made before anything changes; `replace` takes it and cannot fail. */
  followedBy(more: readonly Epoch[]): readonly Epoch[] {
    return more.length === 0 ? this.#list : [...this.#list, ...more];
  }

  /** @param oldest the first block that is kept: epochs before it become one */
  replace(list: readonly Epoch[], oldest: number): void {
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
    for (const { block, theta, share } of this.#list) {
      writer.count(block);
      writer.count(theta);
      writer.count(share);
    }
  }

  load(reader: Decoder, shape: EpochShape): void {
    this.#list = Array.from({ length: reader.count() }, () =>
      makeEpoch(shape, reader.count(), reader.count(), reader.count()),
    );
  }
}

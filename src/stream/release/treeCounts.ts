/** The noisy counts of the trees that have ended, where θ follows the stream: for the history that is kept. */
import type { AboveCount } from "../holdout/thresholdCounts.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { type CountedPart, partLikeHeldOut, partOfTree } from "../answer/clipping.js";

export interface CountedTree {
  /** First block of the tree and the first one after it, counted over all forests. */
  readonly first: number;
  readonly end: number;
  /** Θ in grid units. */
  readonly theta: number;
  /** Values above the next candidate, with noise. */
  readonly count: number;
}

/** Parameters that counts are read with: all of them are public. */
export interface CountShape {
  readonly blockLength: number;
  /** Scale of the noise on a tree's count. */
  readonly scale: number;
  readonly epsilon: number;
  /** max − min in grid units: nothing is above a θ as large as this. */
  readonly largest: number;
}

export class TreeCounts {
  #list: readonly CountedTree[] = [];

  /** The list with more trees, made before anything changes; `replace` takes it and cannot fail. */
  followedBy(more: readonly CountedTree[]): readonly CountedTree[] {
    return more.length === 0 ? this.#list : [...this.#list, ...more];
  }

  /** @param oldest the first block that is kept */
  replace(list: readonly CountedTree[], oldest: number): void {
    let old = 0;
    while (old < list.length && list[old]!.end <= oldest) old++;
    this.#list = old === 0 ? list : list.slice(old);
  }

  /**
   * The parts of a range of positions, each with the count that speaks for it.
   * @param running Θ behind the last tree that was counted
   * @param heldOut what speaks for values there
   */
  partsOf(from: number, to: number, running: number, heldOut: AboveCount, shape: CountShape): CountedPart[] {
    const { blockLength: n, scale, epsilon, largest } = shape;
    const parts: CountedPart[] = [];
    let end = 0;
    for (const tree of this.#list) {
      end = tree.end * n;
      const values = Math.min(to, end) - Math.max(from, tree.first * n);
      if (values <= 0 || tree.theta >= largest) continue;
      const count = { count: tree.count, values: (tree.end - tree.first) * n };
      parts.push(partOfTree(tree.theta, values, count, scale));
    }
    const rest = to - Math.max(from, end);
    if (rest > 0 && running < largest) parts.push(partLikeHeldOut(running, rest, heldOut, epsilon));
    return parts;
  }

  /** As many bytes as the number of trees says. */
  save(writer: Encoder): void {
    writer.count(this.#list.length);
    for (const { first, end, theta, count } of this.#list) {
      writer.count(first);
      writer.count(end);
      writer.count(theta);
      writer.double(count);
    }
  }

  load(reader: Decoder): void {
    this.#list = Array.from({ length: reader.count() }, () => ({
      ...{ first: reader.count(), end: reader.count(), theta: reader.count(), count: reader.double() },
    }));
  }
}

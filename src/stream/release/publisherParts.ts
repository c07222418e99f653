/** Makes the objects that a BlockPublisher works with. */
import type { Core } from "../../core/core.js";
import { History } from "./history.js";
import { leastEpsilon } from "../epsilonShares.js";
import { fractionBits, largestSum } from "./forest.js";
import type { Settings } from "../options.js";
import { Predictor } from "../predict/predictor.js";
import { RangeIndex } from "../answer/rangeIndex.js";
import { warmValues } from "../shape.js";
import { largestTheta } from "./followTables.js";
import { TreeSequence } from "./treeSequence.js";
import { firstSpread } from "../answer/answerWeights.js";

export interface PublisherParts {
  /** Numbers inside are multiples of 1/fraction, a power of two. */
  readonly fraction: number;
  readonly trees: TreeSequence;
  readonly predictor: Predictor;
  readonly published: History;
  readonly ranges: RangeIndex;
}

/** The parameters are those of BlockPublisher. */
export function makeParts(
  core: Core,
  key: Uint32Array,
  settings: Settings,
  theta: number,
  firstMean: number,
): PublisherParts {
  const largest = largestSum(settings, leastEpsilon(settings.privacy), largestTheta(settings, theta));
  const bits = fractionBits(largest);
  const fraction = 2 ** bits;
  const trees = new TreeSequence(core, key, settings, theta, bits);
  const predictor = new Predictor(settings, trees.epochs, firstMean, fraction, largest);
  const { deferred, weights } = predictor.smoother;
  const published = new History(settings.tree, deferred !== undefined);
  const first = firstSpread(warmValues(settings), theta, settings.privacy.epsilon);
  const thetaAt = (block: number): number => trees.epochs.thetaAt(block);
  const ranges = new RangeIndex(published, settings.tree, trees.epochs, { first, weights }, thetaAt);
  return { fraction, trees, predictor, published, ranges };
}

/** Parameters that a smoother may use in addition to the estimates: all of them are public. */
export interface SmootherContext {
  /** Factor from a block sum in grid units to a mean in units of the stream. */
  readonly unit: number;
  /** `min` of the stream: a mean of 0 stands for it. */
  readonly least: number;
  readonly fanout: number;
  readonly levels: number;
  readonly blocksPerForest: number;
  /** Values per block. */
  readonly blockLength: number;
  /** The first prediction for the sum of a block, in grid units. */
  readonly first: number;
  /** Sums up to it stay exact, in grid units. A larger prediction of a caller's own counts as a failure. */
  readonly largest: number;
}

/** A run of consecutive blocks that count alike in a prediction. */
export interface PastRun {
  readonly blocks: number;
  /** Weight of each block. */
  readonly weight: number;
}

/** How much the blocks before block `block` ≥ 1 count in its prediction, newest first. Blocks are counted from 0. */
export type PastWeights = (block: number) => readonly PastRun[];

/** A smoother: the prediction p_t as a function of the released sums û_1 … û_(t−1) alone. */
export interface Smoother {
  /**
   * Takes û_t and gives p_(t+1), both block sums in the same unit.
   * @param nodeVariance of the noise on the nodes above block t, in squared grid units
   */
  next(estimate: number, nodeVariance: number): number;
  /** How often a caller's own function failed and was stood in for. */
  readonly failures?: number;
  /** Amount of all estimates so far that published sums defer, in grid units; omitted if it is always 0. */
  readonly deferred?: number;
  /** Left out where a prediction is no weighted sum of estimates. Error bars need it: a prediction holds their noise. */
  readonly weights?: PastWeights;
  /** How many numbers it remembers: always the same. */
  readonly size: number;
  /** Copies everything it remembers to an array of `size` numbers, for a snapshot. */
  save(to: Float64Array): void;
  /** Remembers what another smoother of the same kind saved. */
  load(from: Float64Array): void;
}

/** How a smoother that remembers an array alone saves and loads it. */
export function remembers(state: Float64Array): Pick<Smoother, "size" | "save" | "load"> {
  return {
    size: state.length,
    save: (to) => to.set(state),
    load: (from) => state.set(from),
  };
}

/** The last values pushed, at most `state.length − 1` of them: state[0] counts pushes, the rest is a ring. */
export function remember(state: Float64Array, value: number): void {
  const size = state.length - 1;
  state[1 + (state[0]! % size)] = value;
  state[0] = state[0]! + 1;
}

/** How many values the ring holds. */
export function remembered(state: Float64Array): number {
  return Math.min(state[0]!, state.length - 1);
}

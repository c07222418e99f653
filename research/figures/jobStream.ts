/** The stream of a job, with what does not change from run to run: worked out once for all jobs that follow. */
import { prefixSums, tile } from "../metrics.js";
import type { Job } from "./job.js";

export class Stream {
  /** Hold-out first. */
  readonly values: Float64Array;
  /** Prefix sums of what is released. */
  readonly truth: Float64Array;
  /** Values that a rule chooses θ from: the hold-out; without one, the released values themselves. */
  readonly read: Float64Array;
  #sorted: Float64Array | undefined;
  #bins: Uint32Array | undefined;

  constructor(values: Float64Array, holdout: number) {
    this.values = values;
    this.truth = prefixSums(values.subarray(holdout));
    this.read = holdout > 0 ? values.subarray(0, holdout) : values;
  }

  /** Values that a rule reads, ascending. */
  get sorted(): Float64Array {
    return (this.#sorted ??= this.read.slice().sort());
  }

  /** For noisy max over 1, 2, …: how many candidates lie below each value read, the first one not counted. */
  get bins(): Uint32Array {
    return (this.#bins ??= Uint32Array.from(this.read, (value) => Math.max(0, Math.ceil(value) - 1)));
  }
}

/** The last stream made from a data set. Jobs come in the order of the figures, which go from one stream to the next. */
const made = new WeakMap<Float64Array, { readonly key: string; readonly stream: Stream }>();

/** @param data the whole data set; data that is too short is continued by its mirror image */
export function streamOf(job: Job, data: Float64Array): Stream {
  const { holdout, maxRange } = job;
  const clamp = job.kind === "central" ? job.clamp : undefined;
  const key = `${holdout}, ${maxRange}, ${clamp}`;
  const last = made.get(data);
  if (last?.key === key) return last.stream;
  const length = holdout + maxRange;
  const values = data.length < length ? tile(data, length) : data.subarray(0, length);
  const stream = new Stream(
    clamp === undefined ? values : values.map((value) => Math.min(value, clamp)),
    holdout,
  );
  made.set(data, { key, stream });
  return stream;
}

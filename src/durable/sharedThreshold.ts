/**
 * One θ for all streams of a hub: the first values of the hub, no matter which streams they are for, choose it. Each of
 * them is used once, for θ alone, and is not published. The streams read other values, so the two ε compose in parallel.
 */
import type { Statement } from "../stream/statement.js";
import type { LiveStreams } from "./liveStreams.js";

/** The name of the stream that holds them out, in the store of the hub. */
export const HOLDOUT = "";

export class SharedThreshold {
  readonly #live: LiveStreams;
  /** How many values choose θ. */
  readonly of: number;
  #received = 0;
  #statement: Statement | undefined;

  constructor(live: LiveStreams, of: number) {
    this.#live = live;
    this.of = of;
  }

  /** Θ in units of the stream; undefined before it is chosen and stored. */
  get theta(): number | undefined {
    return this.#statement?.threshold ?? undefined;
  }

  get statement(): Statement | undefined {
    return this.#statement;
  }

  /** Values held out so far. */
  get received(): number {
    return this.#received;
  }

  /** Holds out the first values of a batch if θ needs them. Gives how many it took, when θ or these values are stored. */
  async hold(batch: Float64Array): Promise<number> {
    if (this.#statement !== undefined) return 0;
    return this.#live.use(HOLDOUT, async (stream) => {
      const taken = Math.min(batch.length, Math.max(0, this.of - stream.received));
      if (taken > 0) await stream.pushMany(batch.subarray(0, taken));
      const statement = await stream.statement(); // it waits for the store
      this.#received = stream.received;
      if (stream.received >= this.of) this.#statement = statement;
      return taken;
    });
  }
}

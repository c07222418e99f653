/**
 * One θ for all streams of a hub: the first values of the hub, no matter which streams they are for, choose it. Each of
 * them is used once, for θ alone, and is not published. The streams read other values, so the two ε compose in parallel.
 */
import type { Statement } from "../../stream/statement.js";
import type { LiveStreams } from "./liveStreams.js";
import { StoreError } from "../stores/store.js";

/** The name of the stream that holds them out, in the store of the hub. */
export const HOLDOUT = "";

export class SharedThreshold {
  readonly #live: LiveStreams;
  /** How many values choose θ. */
  readonly of: number;
  #received = 0;
  /** The last question to the store that a call had to wait for. */
  #reached: Promise<void> = Promise.resolve();
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

  /**
   * Holds out the first values of a batch if θ needs them. Gives how many it took, when θ or these values are stored.
   * @param reach runs before the hold-out changes, if values may be left for the stream of the batch
   */
  async hold(batch: Float64Array, reach: () => Promise<void>): Promise<number> {
    if (this.#statement !== undefined) return 0;
    const reached = batch.length > 1 ? this.#reached.then(reach) : this.#reached;
    this.#reached = reached.catch(() => undefined); // calls keep their order, and one that fails harms no other
    await reached;
    const taken = await this.#hold(batch);
    await this.#learn().catch((error: unknown) => {
      if (taken === 0 || taken < batch.length) throw taken === 0 ? error : heldOutPartly(error);
    });
    return taken;
  }

  async #hold(batch: Float64Array): Promise<number> {
    if (batch.length === 0) return 0;
    return this.#live.add(HOLDOUT, async (stream) => {
      const taken = Math.min(batch.length, Math.max(0, this.of - stream.received));
      if (taken > 0) await stream.pushMany(batch.subarray(0, taken));
      return taken;
    });
  }

  /** Learns θ if it is stored. Apart from the push: a conflict of another call must not make the push again. */
  #learn(): Promise<void> {
    return this.#live.use(HOLDOUT, async (stream) => {
      const { received } = stream; // of the moment of the statement: others may push while it waits for the store
      const statement = await stream.statement();
      this.#received = Math.max(this.#received, received);
      if (received >= this.of) this.#statement = statement;
    });
  }
}

/** The first values of a batch are held out, and the others are not stored: making the call again counts values twice. */
export function heldOutPartly(cause: unknown): StoreError {
  return new StoreError(
    "in-doubt",
    "hub: the first values of a batch are held out, and the others could not be stored; do not make the call again, progress tells how many count",
    { cause },
  );
}

/** An aggregator of either variant, as the code that stores it sees it. */
import { Snapshots } from "../events/snapshots.js";
import type { StreamCipher } from "../snapshot/streamCipher.js";
import type { Parameters } from "../snapshot/snapshot.js";
import type { Storable } from "./durable.js";

export class StorableAggregator<A> implements Storable {
  readonly aggregator: A;
  readonly snapshots: Snapshots;

  /** @param state everything that the aggregator knows at the moment */
  constructor(aggregator: A, parameters: Parameters, state: () => Uint8Array) {
    this.aggregator = aggregator;
    this.snapshots = new Snapshots(
      () => parameters,
      (writer) => writer.blob(state()),
    );
  }

  get sequence(): number {
    return this.snapshots.sequence;
  }

  encrypt(cipher: StreamCipher): Uint8Array | Promise<Uint8Array> {
    return this.snapshots.encrypt(cipher);
  }
}

/** Opens an aggregator of a store: continues its newest snapshot, or begins it. */
import { checkText, ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import { Aggregator } from "../local/aggregator.js";
import { AGGREGATOR_OPTIONS, type AggregatorOptions, refuseFormer } from "../local/aggregatorOptions.js";
import { PaperAggregator } from "../local/paper/paperAggregator.js";
import { isPaper, PAPER_OPTIONS, type PaperOptions, type PaperVariant } from "../local/paper/settings.js";
import { encodeState, openSnapshot, type Parameters } from "../snapshot/snapshot.js";
import { SnapshotSequence } from "../snapshot/snapshotSequence.js";
import { WithSnapshots } from "./withSnapshots.js";
import { aggregatorParameters, DurableAggregator } from "./durableAggregator.js";
import { DurablePaperAggregator, paperParameters } from "./durablePaperAggregator.js";
import type { Release } from "./budget/odometer.js";
import { type DurableKind, openAlone, type Stored } from "./openDurable.js";

export interface OpenAggregatorOptions extends AggregatorOptions, Stored {}
export interface OpenPaperAggregatorOptions extends PaperVariant, Stored {}

const STORED = ["name", "store", "key", "atLeast", "budget"];

export function openAggregator(asked: OpenPaperAggregatorOptions): Promise<DurablePaperAggregator>;
export function openAggregator(asked: OpenAggregatorOptions): Promise<DurableAggregator>;
export async function openAggregator(
  asked: OpenAggregatorOptions | OpenPaperAggregatorOptions,
): Promise<DurableAggregator | DurablePaperAggregator> {
  if (isPaper(asked)) {
    const own = ownOptions("openAggregator", asked, [...PAPER_OPTIONS, ...STORED]);
    const options = given(own, PAPER_OPTIONS) as PaperOptions;
    const make = (state: Uint8Array | undefined): PaperAggregator =>
      state === undefined ? new PaperAggregator(options) : PaperAggregator.resume(options, state);
    const parameters = paperParameters(checkText("name", own.name), options);
    const beginning = durableKindOf(parameters, make, (aggregator) => aggregator.state);
    return new DurablePaperAggregator(await openAlone(own, beginning));
  }
  refuseFormer("openAggregator", asked);
  const own = ownOptions("openAggregator", asked, [...AGGREGATOR_OPTIONS, ...STORED]);
  const options = given(own, AGGREGATOR_OPTIONS) as AggregatorOptions;
  const make = (state: Uint8Array | undefined): Aggregator => {
    const aggregator = new Aggregator(options);
    if (state !== undefined) aggregator.merge(state);
    return aggregator;
  };
  const parameters = aggregatorParameters(checkText("name", own.name), options);
  const beginning = durableKindOf(parameters, make, (aggregator) => aggregator.tally());
  return new DurableAggregator(await openAlone(own, beginning));
}

/**
 * How an aggregator begins, and how it continues.
 * @param make an aggregator, from a state or from nothing
 * @param stateOf what `make` takes
 */
function durableKindOf<A extends { statement(): Release }>(
  parameters: Parameters,
  make: (state: Uint8Array | undefined) => A,
  stateOf: (aggregator: A) => Uint8Array,
): DurableKind<WithSnapshots<A>> {
  const snapshotsOf = (aggregator: A): SnapshotSequence =>
    new SnapshotSequence(() => encodeState(parameters, (writer) => writer.blob(stateOf(aggregator))));
  return {
    begin: () => {
      const aggregator = make(undefined);
      return new WithSnapshots(aggregator, snapshotsOf(aggregator));
    },
    restore: async (snapshot, key) => {
      const { state, sequence, salt } = await openSnapshot(snapshot, key, parameters);
      const aggregator = make(state.blob());
      const snapshots = snapshotsOf(aggregator);
      snapshots.resume(sequence, salt);
      return new WithSnapshots(aggregator, snapshots);
    },
  };
}

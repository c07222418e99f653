/** Opens an aggregator of a store: continues its newest snapshot, or begins it. */
import { checkInteger, checkText, ownOptions } from "../core/checks.js";
import { given } from "../core/given.js";
import { Aggregator } from "../local/aggregator.js";
import { AGGREGATOR_OPTIONS, type AggregatorOptions, refuseFormer } from "../local/aggregatorOptions.js";
import { PaperAggregator } from "../local/paper/paperAggregator.js";
import { isPaper, PAPER_OPTIONS, type PaperOptions, type PaperVariant } from "../local/paper/settings.js";
import { snapshotKey } from "../snapshot/streamCipher.js";
import { openSnapshot, type Parameters } from "../snapshot/snapshot.js";
import { charge } from "./budget/budget.js";
import { CheckedStore, checkSequence } from "./checkedStore.js";
import { Committer } from "./journal/committer.js";
import { aggregatorParameters, DurableAggregator } from "./durableAggregator.js";
import { DurablePaperAggregator, paperParameters } from "./durablePaperAggregator.js";
import type { Release } from "./budget/odometer.js";
import type { Stored } from "./openStream.js";
import { StorableAggregator } from "./storableAggregator.js";

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
    const opened = await open(own, parameters, make, (aggregator) => aggregator.state);
    return new DurablePaperAggregator(...opened);
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
  return new DurableAggregator(...(await open(own, parameters, make, (aggregator) => aggregator.tally())));
}

/**
 * @param make an aggregator, from a state or from nothing
 * @param stateOf what `make` takes
 */
async function open<A extends { statement(): Release }>(
  { name, store: where, key: secret, atLeast = 0, budget }: Stored,
  parameters: Parameters,
  make: (state: Uint8Array | undefined) => A,
  stateOf: (aggregator: A) => Uint8Array,
) {
  checkInteger("atLeast", atLeast, 0, Number.MAX_SAFE_INTEGER);
  const store = new CheckedStore(where);
  const key = await snapshotKey(secret);
  const found = await store.get(name, atLeast);
  try {
    const opened = found && (await openSnapshot(found.bytes, key, parameters));
    const aggregator = make(opened?.state.blob());
    const storable = new StorableAggregator(aggregator, parameters, () => stateOf(aggregator));
    if (opened !== undefined) {
      checkSequence(name, found!.sequence, opened.sequence);
      storable.snapshots.resume(opened.sequence, opened.salt);
    }
    await charge(budget, name, aggregator.statement(), found === undefined);
    const cipher = await storable.snapshots.cipher(key);
    return [storable, store, new Committer(store), cipher, name] as const;
  } catch (reason) {
    await store.giveBack(name);
    throw reason;
  }
}

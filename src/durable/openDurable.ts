/** Opens what a store has under a name: continues its newest snapshot, or begins it, and charges its budget. */
import { checkInteger, checkText } from "../core/checks.js";
import { snapshotKey } from "../snapshot/streamCipher.js";
import { charge } from "./budget/budget.js";
import type { Budget } from "./budget/odometer.js";
import { CheckedStore, checkSequence } from "./checkedStore.js";
import type { Opened, Storable } from "./durable.js";
import type { OpenStreamOptions } from "./durableStream.js";
import { Committer } from "./journal/committer.js";

/** Options of the store, beside those of the stream itself. */
export type Stored = Pick<OpenStreamOptions, "name" | "store" | "key" | "atLeast" | "budget">;

/** Store, committer and key that the streams of one hub share. */
export interface Place {
  readonly store: CheckedStore;
  readonly committer: Committer;
  readonly key: CryptoKey;
}

/** How a stream of one kind begins, and how it continues. */
export interface DurableKind<S> {
  readonly begin: () => S;
  readonly restore: (snapshot: Uint8Array, key: CryptoKey) => Promise<S>;
}

/** Opens a stream that shares its place with no other. */
export async function openAlone<S extends Storable>(
  { name, store: where, key, atLeast = 0, budget }: Stored,
  kind: DurableKind<S>,
): Promise<Opened<S>> {
  checkText("name", name);
  checkInteger("atLeast", atLeast, 0, Number.MAX_SAFE_INTEGER);
  const store = new CheckedStore(where);
  const place = { store, committer: new Committer(store), key: await snapshotKey(key) };
  return openDurable(place, name, atLeast, budget, kind);
}

/** Claims the name, and gives it back if the stream cannot be opened. @param atLeast the lowest number of its snapshot */
export async function openDurable<S extends Storable>(
  { store, committer, key }: Place,
  name: string,
  atLeast: number,
  budget: Budget | undefined,
  { begin, restore }: DurableKind<S>,
): Promise<Opened<S>> {
  const found = await store.get(name, atLeast);
  try {
    const stream = found === undefined ? begin() : await restore(found.bytes, key);
    if (found !== undefined) checkSequence(name, found.sequence, stream.sequence);
    if (budget !== undefined) await charge(budget, name, stream.statement(), found === undefined);
    return { stream, store, committer, cipher: await stream.cipher(key), name };
  } catch (reason) {
    await store.giveBack(name);
    throw reason;
  }
}

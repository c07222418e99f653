/**
 * The stored states of a hub: one for each stream and each metric. A state says up to which record of the log it goes.
 * With every commit a few states are stored, those that have waited longest, so that all records of the log are covered
 * long before their slots are needed again, and no commit has much to store.
 */
import type { Decoder, Encoder } from "../../stream/codec.js";
import { StreamCipher } from "../../stream/sealing.js";
import { encodeState, openSnapshot, type Parameters, sealSnapshot } from "../../stream/snapshot.js";
import { type CheckedStore, checkSequence } from "../checkedStore.js";
import type { NamedSnapshot } from "../stores/store.js";
import { SLOTS } from "./log.js";

/** Something that has a state. */
export interface Item {
  /** Of the snapshot in the store. */
  readonly name: string;
  readonly parameters: Parameters;
  save(writer: Encoder): void;
}

interface Tracked {
  readonly item: Item;
  cipher: StreamCipher | undefined;
  sequence: number;
  /** The last record that the stored state covers. */
  covers: number;
  /** The first record that changed it since; Infinity if there is none. */
  since: number;
}

/** Every state is stored again within so many records. */
const TURN = SLOTS / 8;

export class States {
  readonly #store: CheckedStore;
  readonly #key: CryptoKey;
  readonly #tracked = new Map<Item, Tracked>();
  /** Changed since they were stored, the longest waiting first. */
  readonly #dirty = new Set<Tracked>();
  /** Of a state that is being stored: the record that it covers. */
  readonly #storing = new Map<NamedSnapshot, { readonly of: Tracked; readonly covers: number }>();

  constructor(store: CheckedStore, key: CryptoKey) {
    this.#store = store;
    this.#key = key;
  }

  /** The stored state of an item, if there is one. From now on the item is followed. */
  async load(item: Item): Promise<Decoder | undefined> {
    const { name, parameters } = item;
    const found = await this.#store.getAgain(name);
    const tracked: Tracked = { item, cipher: undefined, sequence: 0, covers: 0, since: Infinity };
    this.#tracked.set(item, tracked);
    if (found === undefined) return undefined;
    const { sequence, salt, state } = await openSnapshot(found.bytes, this.#key, parameters);
    checkSequence(name, found.sequence, sequence);
    tracked.sequence = sequence;
    tracked.covers = state.double();
    tracked.cipher = await StreamCipher.make(this.#key, salt);
    return state;
  }

  /** The last record that the stored state of an item covers. */
  covers(item: Item): number {
    return this.#tracked.get(item)?.covers ?? 0;
  }

  /** Says that a record changed an item. */
  touch(item: Item, position: number): void {
    const tracked = this.#tracked.get(item)!;
    if (tracked.since <= position) return;
    tracked.since = position;
    this.#dirty.add(tracked);
  }

  /** All records up to here are covered by stored states. */
  covered(position: number): number {
    let least = position;
    for (const { since } of this.#dirty) least = Math.min(least, since - 1);
    return least;
  }

  /**
   * The states that are to be stored with the next commit.
   * @param position the last record that is in memory
   */
  async due(position: number, all = false): Promise<NamedSnapshot[]> {
    const count = all ? this.#dirty.size : Math.ceil(this.#dirty.size / TURN);
    const chosen: Tracked[] = [];
    for (const tracked of this.#dirty) {
      if (chosen.length === count) break;
      if (all || position - tracked.since >= TURN) chosen.push(tracked);
    }
    const sealed: NamedSnapshot[] = [];
    for (const of of chosen) sealed.push(await this.#seal(of, position));
    return sealed;
  }

  async #seal(of: Tracked, position: number): Promise<NamedSnapshot> {
    const { item } = of;
    const plain = encodeState(item.parameters, (writer) => {
      writer.double(position);
      item.save(writer);
    });
    of.cipher ??= await StreamCipher.make(this.#key);
    const sequence = of.sequence + 1;
    const snapshot = { name: item.name, sequence, bytes: await sealSnapshot(of.cipher, sequence, plain) };
    this.#storing.set(snapshot, { of, covers: position });
    return snapshot;
  }

  /** Says that a state was stored. Records that came while it was being stored keep the item on the list. */
  stored(snapshot: NamedSnapshot): void {
    const { of, covers } = this.#storing.get(snapshot)!;
    this.#storing.delete(snapshot);
    of.sequence = snapshot.sequence;
    of.covers = covers;
    of.since = Infinity;
    this.#dirty.delete(of);
  }
}

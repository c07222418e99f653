/**
 * The log of a hub: record n holds the events and the closed ticks of commit n. What the hub has in memory follows from
 * its last stored states and the records after them, bit for bit, since noise is a function of keys.
 *
 * Records take turns in a fixed number of slots of the store. The store accepts a record only behind the one that its
 * slot has, so a process that does not know of another one's records cannot write, however far it has fallen behind.
 */
import type { Decoder, Encoder } from "../../stream/codec.js";
import { StreamCipher } from "../../stream/sealing.js";
import { encodeState, openSnapshot, sealSnapshot } from "../../stream/snapshot.js";
import { type CheckedStore, checkSequence } from "../checkedStore.js";
import { conflict, type NamedSnapshot } from "../stores/store.js";

/** A record may be overwritten when states that cover it are stored, which is done in time: states.ts. */
export const SLOTS = 1024;
/** Bytes of the shortest record; longer ones are padded. */
const SHORTEST = 1024;

export class EventLog {
  readonly #store: CheckedStore;
  readonly #key: CryptoKey;
  readonly #hub: string;
  readonly #cipher: StreamCipher;
  /** Slot → the number of its newest snapshot, where it is known. */
  readonly #sequences = new Map<number, number>();

  private constructor(store: CheckedStore, key: CryptoKey, hub: string, cipher: StreamCipher) {
    this.#store = store;
    this.#key = key;
    this.#hub = hub;
    this.#cipher = cipher;
  }

  static async open(store: CheckedStore, key: CryptoKey, hub: string): Promise<EventLog> {
    return new EventLog(store, key, hub, await StreamCipher.make(key));
  }

  /** The record at a position; undefined if it is not written yet. */
  async read(position: number): Promise<Decoder | undefined> {
    const slot = position % SLOTS;
    const name = this.#nameOf(slot);
    const found = await this.#store.getAgain(name);
    this.#sequences.set(slot, found?.sequence ?? 0);
    if (found === undefined) return undefined;
    const { sequence, state } = await openSnapshot(found.bytes, this.#key, { name });
    checkSequence(name, found.sequence, sequence);
    const own = state.double();
    if (own > position) throw conflict(name, sequence); // others are a whole round of the slots ahead
    return own === position ? state : undefined;
  }

  /** Whether this process knows what the slot of a position has. */
  knows(position: number): boolean {
    return this.#sequences.has(position % SLOTS);
  }

  /** A record, encrypted. */
  async seal(position: number, write: (writer: Encoder) => void): Promise<NamedSnapshot> {
    const slot = position % SLOTS;
    const name = this.#nameOf(slot);
    const sequence = this.#sequences.get(slot)! + 1;
    const plain = encodeState({ name }, (writer) => {
      writer.double(position);
      write(writer);
    });
    return { name, sequence, bytes: await sealSnapshot(this.#cipher, sequence, paddedTo(SHORTEST, plain)) };
  }

  /** Says that a record was stored. */
  stored(position: number): void {
    const slot = position % SLOTS;
    this.#sequences.set(slot, this.#sequences.get(slot)! + 1);
  }

  #nameOf(slot: number): string {
    return `${this.#hub}//${slot}`;
  }
}

/** With zeros behind, as long as a power of two, so that a length tells little about events. */
export function paddedTo(shortest: number, plain: Uint8Array): Uint8Array<ArrayBuffer> {
  let length = shortest;
  while (length < plain.length) length *= 2;
  const out = new Uint8Array(length);
  out.set(plain);
  return out;
}

/** Entries of a journal that are stored once, with some row, and never change: closed days. */
import { type Decoder, Encoder } from "../../snapshot/codec.js";
import { StreamCipher } from "../../snapshot/streamCipher.js";
import { encodeState, encryptSnapshot } from "../../snapshot/snapshot.js";
import type { Records } from "./records.js";
import { type NamedSnapshot, sameBytes, StoreError } from "../stores/store.js";

export interface JournalEntry {
  /** Unique in its journal. Public. */
  readonly name: string;
  readonly save: (writer: Encoder) => void;
  /** Told when the store has it. */
  readonly stored: () => void;
}

export class Entries {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  #nameOf(name: string): string {
    return `${this.#records.journal}/${name}`;
  }

  async encrypt({ name: own, save }: JournalEntry): Promise<NamedSnapshot> {
    const name = this.#nameOf(own);
    const cipher = await StreamCipher.make(this.#records.key);
    return { name, sequence: 1, bytes: await encryptSnapshot(cipher, 1, encodeState({ name }, save)) };
  }

  /** Awaits the outcome of a put. The entry may be there already, from before a restart: then it has the same content. */
  async settle(entry: JournalEntry, put: Promise<unknown>): Promise<void> {
    try {
      await put;
    } catch (error) {
      if (!(error instanceof StoreError && (error.code === "conflict" || error.code === "in-doubt"))) return;
      const state = await this.read(entry.name);
      if (state === undefined) return;
      const writer = new Encoder();
      entry.save(writer);
      const { bytes } = writer;
      if (!sameBytes(state.rest, bytes)) return;
    }
    entry.stored();
  }

  /** An entry that was stored; undefined if it is missing. */
  async read(name: string): Promise<Decoder | undefined> {
    return (await this.#records.read(this.#nameOf(name), {}))?.state;
  }

  /** Removes an entry, if the store can. */
  async remove(own: string): Promise<void> {
    const { store } = this.#records;
    const name = this.#nameOf(own);
    const found = await store.get(name);
    if (found !== undefined) await store.remove(name, found.sequence);
  }
}

/**
 * The journal: rows in a ring of slots of a store, one per commit, together with the parts of the state that are due.
 * A store takes a snapshot only if it follows the newest one, so of two services on one store one is refused.
 */
import type { NamedSnapshot, Store } from "brume";
import { Refusal } from "../refusal.js";
import type { StoredPart } from "./part.js";
import type { Sealer } from "./seal.js";

/** Rows that the store holds. A part is stored again before the row that changed it is overwritten. */
const SLOTS = 2048;
/** Rows after which a changed part is stored again. */
const PATIENCE = SLOTS / 8;
/** Commits within which all parts that wait are stored. */
const SPREAD = SLOTS / 4;
const CHUNK = 256;

/** Another service took the state over. */
export class Fenced extends Refusal {}

export interface StoredRow {
  readonly number: number;
  readonly bytes: Uint8Array;
}

export interface JournalStats {
  readonly commits: number;
  readonly parts: number;
  readonly failures: number;
}

export class Journal {
  readonly #store: Store;
  readonly #sealer: Sealer;
  /** The row that is written next. */
  next = 0;
  /** Parts that changed, those that changed first in front. */
  readonly #changed = new Set<StoredPart>();
  readonly #counts = { commits: 0, parts: 0, failures: 0 };

  constructor(store: Store, sealer: Sealer) {
    this.#store = store;
    this.#sealer = sealer;
  }

  get stats(): JournalStats {
    return { ...this.#counts };
  }

  /** Fills a part from the store; false if the store has none. */
  async load(stored: StoredPart): Promise<boolean> {
    const { part } = stored;
    const found = await this.#store.get(part.name);
    if (found === undefined) return false;
    const plain = this.#open(part.name, found.bytes);
    stored.sequence = found.sequence;
    stored.position = Buffer.from(plain.buffer, plain.byteOffset, 8).readDoubleLE(0);
    await part.load(plain.subarray(8));
    return true;
  }

  /** Stores parts that are new, before anything is published from them. */
  async begin(parts: readonly StoredPart[]): Promise<void> {
    for (let at = 0; at < parts.length; at += CHUNK) {
      const chunk = parts.slice(at, at + CHUNK);
      const snapshots = await Promise.all(chunk.map((part) => this.#snapshot(part)));
      if (!(await this.#put(snapshots)).every(Boolean)) throw fenced();
      chunk.forEach((part) => this.#stored(part));
    }
  }

  /** All rows that the store has, in order. */
  async rows(): Promise<StoredRow[]> {
    const rows: StoredRow[] = [];
    for (let slot = 0; slot < SLOTS; slot++) {
      const found = await this.#store.get(slotName(slot));
      if (found === undefined) break; // slots are filled in order
      const number = (found.sequence - 1) * SLOTS + slot;
      rows.push({ number, bytes: this.#open(`row ${number}`, found.bytes) });
    }
    rows.sort((a, b) => a.number - b.number);
    this.next = (rows.at(-1)?.number ?? -1) + 1;
    return rows;
  }

  /** Says that the row changed a part. */
  changed(part: StoredPart, row: number): void {
    if (part.changedBy !== undefined) return;
    part.changedBy = row;
    this.#changed.add(part);
  }

  /** Snapshots of the parts that are due: those that changed first. All of this moment, before the next row. */
  due(all = false): Promise<PartSnapshot[]> {
    const most = all ? Infinity : Math.ceil(this.#changed.size / SPREAD);
    const parts: StoredPart[] = [];
    for (const part of this.#changed) {
      if (parts.length >= most || (!all && this.next - part.changedBy! < PATIENCE)) break;
      parts.push(part);
    }
    for (const part of this.#changed)
      if (part.part.urgent === true && !parts.includes(part)) parts.push(part);
    return Promise.all(parts.map(async (part) => ({ part, snapshot: await this.#snapshot(part) })));
  }

  seal(row: Uint8Array): NamedSnapshot {
    const sequence = Math.floor(this.next / SLOTS) + 1;
    return { name: slotName(this.next % SLOTS), sequence, bytes: this.#sealer.seal(`row ${this.next}`, row) };
  }

  /**
   * Stores a row and parts in one transaction. When it rejects with anything but `Fenced`, nobody knows what the store
   * has: call it again with the same arguments.
   */
  async commit(row: NamedSnapshot, parts: readonly PartSnapshot[]): Promise<void> {
    try {
      const [written] = await this.#put([row, ...parts.map(({ snapshot }) => snapshot)]);
      if (!written && !(await this.#isStored(row))) throw fenced();
    } catch (error) {
      if (!(error instanceof Fenced)) this.#counts.failures++;
      throw error;
    }
    for (const { part } of parts) this.#stored(part);
    this.#counts.commits++;
    this.#counts.parts += parts.length;
    this.next++;
  }

  /** Whether the row got there by a call whose answer was lost. */
  async #isStored({ name, sequence, bytes }: NamedSnapshot): Promise<boolean> {
    const found = await this.#store.get(name);
    return found?.sequence === sequence && Buffer.compare(found.bytes, bytes) === 0;
  }

  async #put(snapshots: readonly NamedSnapshot[]): Promise<readonly boolean[]> {
    if (this.#store.putMany === undefined)
      throw new Refusal(
        "store: expected one with putMany, got one without; take sqliteStore or postgresStore",
      );
    return this.#store.putMany(snapshots);
  }

  /** The state of this moment: the row before the next one is in. */
  async #snapshot({ part, sequence }: StoredPart): Promise<NamedSnapshot> {
    const position = Buffer.alloc(8);
    position.writeDoubleLE(this.next - 1, 0);
    const state = await part.save();
    const bytes = this.#sealer.seal(part.name, Buffer.concat([position, state]));
    return { name: part.name, sequence: sequence + 1, bytes };
  }

  #stored(part: StoredPart): void {
    part.sequence++;
    part.position = this.next - 1;
    part.changedBy = undefined;
    this.#changed.delete(part);
    part.part.onStored?.();
  }

  #open(name: string, bytes: Uint8Array): Uint8Array {
    try {
      return this.#sealer.open(name, bytes);
    } catch (cause) {
      throw new Refusal(
        `state: cannot decrypt ${JSON.stringify(name)}: wrong key, or corrupt data; give the key that the state was made with, or begin with an empty state (docs/service.md, "When the state is damaged")`,
        { cause },
      );
    }
  }
}

export interface PartSnapshot {
  readonly part: StoredPart;
  readonly snapshot: NamedSnapshot;
}

const slotName = (slot: number): string => `journal/${slot}`;

const fenced = (): Fenced =>
  new Fenced(
    "state: another service writes to the same state, so this one stops; run one service for each state",
  );

/**
 * The rows of a journal: numbered without gaps, in a ring of slots, encrypted and padded to a power of two.
 *
 *     row n = position · fence · manifest · body, in slot (n − 1) mod 512
 *     manifest = for every section: hash of its name · version · last row that it covers
 *
 * A store accepts a row only behind the one that its slot has, so of two writers of a row one is refused. A process that
 * takes the journal over raises the fence, with a row of its own.
 */
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { StreamCipher } from "../../snapshot/streamCipher.js";
import { encodeState, encryptSnapshot } from "../../snapshot/snapshot.js";
import type { Records } from "./records.js";
import type { NamedSnapshot, StoredSnapshot } from "../stores/store.js";

/** One section of a manifest. */
export interface ManifestEntry {
  /** 2 words that stand for its name. */
  readonly hash: Uint32Array;
  /** 0 if the store has none. */
  readonly version: number;
  /** The last row that this version covers. */
  readonly covers: number;
}

export interface RingRow {
  readonly position: number;
  /** How often a process took the journal over, until this row. */
  readonly fence: number;
  readonly manifest: readonly ManifestEntry[];
  readonly body: Uint8Array;
}

/** Rows that the store holds. */
export const SLOTS = 512;
/** Bytes of the shortest row. */
const SHORTEST = 4096;
/** Slots that are read at once to see what another process wrote. */
const NEXT = 16;
/** How often the ring is read while another process writes. */
const ATTEMPTS = 4;

export class Ring {
  // Parameters
  readonly #records: Records;
  readonly #cipher: StreamCipher;
  // State
  /** Slot → the number of its newest snapshot. */
  readonly #versions = new Map<number, number>();
  /** Rows in memory, without gaps, until they are taken. */
  #rows: RingRow[] = [];

  private constructor(records: Records, cipher: StreamCipher) {
    this.#records = records;
    this.#cipher = cipher;
  }

  static async open(records: Records): Promise<Ring> {
    const ring = new Ring(records, await StreamCipher.make(records.key));
    await ring.#readAll();
    return ring;
  }

  /** Rows that were read, the oldest first. */
  get rows(): readonly RingRow[] {
    return this.#rows;
  }

  /** Gives the memory of the rows back. */
  forgetRows(): void {
    this.#rows = [];
  }

  #nameOf(slot: number): string {
    return `${this.#records.journal}//${slot}`;
  }

  /** A store without `getMany` gives slots of several moments: a gap counts if it stays. */
  async #readAll(): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      // Slots fill in order, and row 1 stays for a whole round: without it there is no journal.
      const first = await this.#records.store.getAgain(this.#nameOf(0));
      if (first === undefined) return;
      const rows = await this.#readSlots(Array.from({ length: SLOTS }, (_, slot) => slot));
      rows.sort((a, b) => a.position - b.position);
      const { position } = rows.at(-1)!;
      const least = Math.max(1, position - SLOTS + 1);
      const kept = rows.filter((row) => row.position >= least);
      const gap = kept.findIndex((row, i) => row.position !== least + i);
      if (gap < 0) return void (this.#rows = kept);
      if (attempt === ATTEMPTS) throw this.#records.refused(`row ${least + gap} is missing`);
    }
  }

  async #readSlots(slots: readonly number[]): Promise<RingRow[]> {
    const found = await this.#records.store.getMany(slots.map((slot) => this.#nameOf(slot)));
    const rows: RingRow[] = [];
    for (const [i, stored] of found.entries())
      if (stored !== undefined) rows.push(await this.#open(slots[i]!, stored));
    return rows;
  }

  async #open(slot: number, stored: StoredSnapshot): Promise<RingRow> {
    const { state } = await this.#records.open(this.#nameOf(slot), stored, {});
    this.#versions.set(slot, stored.sequence);
    const [position, fence] = [state.double(), state.count()];
    return { position, fence, manifest: readManifest(state, position), body: state.blob() };
  }

  /** Reads the rows that another process wrote since; returns whether there are any. */
  async readOn(): Promise<boolean> {
    const before = this.#rows.at(-1)?.position ?? 0;
    for (let next = before + 1; ; next += NEXT) {
      const slots = Array.from({ length: NEXT }, (_, i) => slotOf(next + i));
      const rows = (await this.#readSlots(slots)).filter(({ position }) => position >= next);
      if (rows.some(({ position }, i) => position !== next + i)) {
        await this.#readAll(); // more than a whole round, or slots of several moments
        return true;
      }
      this.#rows.push(...rows);
      if (rows.length < NEXT) return next + rows.length > before + 1;
    }
  }

  /** Whether another process wrote the row after `position`. */
  async hasRowAfter(position: number): Promise<boolean> {
    const slot = slotOf(position + 1);
    const found = await this.#records.store.getAgain(this.#nameOf(slot));
    return (found?.sequence ?? 0) > (this.#versions.get(slot) ?? 0);
  }

  /** The row as the store gets it. */
  async encrypt({ position, fence, manifest, body }: RingRow): Promise<NamedSnapshot> {
    const slot = slotOf(position);
    const name = this.#nameOf(slot);
    const plain = encodeState({ name }, (writer) => {
      writer.double(position);
      writer.count(fence);
      writeManifest(writer, manifest, position);
      writer.blob(body);
    });
    const sequence = (this.#versions.get(slot) ?? 0) + 1;
    const bytes = await encryptSnapshot(this.#cipher, sequence, padded(SHORTEST, plain));
    plain.fill(0);
    return { name, sequence, bytes };
  }

  /** Says that the store has a row that was encrypted, and holds it with those that were read. */
  take(row: RingRow): void {
    this.stored(row.position);
    this.#rows.push(row);
  }

  /** Says that the store has a row that was encrypted. */
  stored(position: number): void {
    const slot = slotOf(position);
    this.#versions.set(slot, (this.#versions.get(slot) ?? 0) + 1);
  }
}

const slotOf = (position: number): number => (position - 1) % SLOTS;

function writeManifest(writer: Encoder, manifest: RingRow["manifest"], position: number): void {
  writer.count(manifest.length);
  for (const { hash, version, covers } of manifest) {
    writer.words(hash);
    writer.count(version);
    writer.count(version === 0 ? 0 : position - covers);
  }
}

function readManifest(reader: Decoder, position: number): ManifestEntry[] {
  return Array.from({ length: reader.count() }, () => {
    const hash = reader.words(2);
    const version = reader.count();
    const behind = reader.count();
    return { hash, version, covers: version === 0 ? 0 : position - behind };
  });
}

/** With zeros behind, as long as a power of two, so that a length tells little about events. */
export function padded(shortest: number, plain: Uint8Array): Uint8Array<ArrayBuffer> {
  let length = shortest;
  while (length < plain.length) length *= 2;
  const out = new Uint8Array(length);
  out.set(plain);
  return out;
}

/**
 * A journal in a store: numbered rows in a ring of slots, and sections of the state that are stored in turn. What is in
 * memory follows from the stored sections and the rows after them, bit for bit.
 *
 *     row n = position · manifest · body, encrypted, padded to a power of two
 *     manifest = for every section: hash of its name · version · last row that it covers
 *
 * Nothing goes back unnoticed: rows have no gaps, a section is never older than the newest manifest says, and none covers
 * a row that is missing. What is older, missing or altered is refused at opening. A rollback of the whole store needs a
 * number from outside it: `atLeast`.
 *
 * A store accepts a row only behind the one that its slot has, so of two writers one is fenced.
 */
import { digest, hashText } from "../events/siphash.js";
import { type Decoder, Encoder } from "../stream/codec.js";
import { StreamCipher } from "../stream/sealing.js";
import {
  encodeState,
  openSnapshot,
  type OpenedSnapshot,
  type Parameters,
  sealSnapshot,
} from "../stream/snapshot.js";
import { type CheckedStore, checkSequence } from "./checkedStore.js";
import { Committer } from "./committer.js";
import { conflict, type NamedSnapshot, sameBytes, StoreError, type StoredSnapshot } from "./stores/store.js";

/** A part of the state that is stored by itself. */
export interface Section {
  /** Unique in its journal. Public. */
  readonly name: string;
  /** What its stored bytes are bound to. */
  readonly parameters?: Parameters;
  /** Writes the state of this moment. */
  save(writer: Encoder): void;
  /** It must be in the next commit. */
  readonly urgent?: boolean;
  /** Told that its newest state is in the store. */
  stored?(): void;
}

/** Something that is stored once and never changes. */
export interface Fixed {
  readonly name: string;
  readonly save: (writer: Encoder) => void;
  /** Told when the store has it. */
  readonly stored: () => void;
}

export interface StoredRow {
  readonly position: number;
  readonly body: Uint8Array;
}

/** Rows that the store holds. A section is stored again before the row that changed it is overwritten. */
export const SLOTS = 512;
/** Rows after which a changed section is stored again. */
const PATIENCE = SLOTS / 4;
/** Rows within which all sections that wait are stored. */
const SPREAD = SLOTS / 4;
/** Bytes of the shortest row; longer ones are padded to a power of two. */
const SHORTEST = 4096;
const CHUNK = 64;

/** Which state may follow which. */
const TRANSITIONS = {
  opening: ["open", "ended"],
  open: ["committing", "ended"],
  committing: ["open", "in doubt", "fenced"],
  /** Whether the newest row is stored is not known. */
  "in doubt": ["ended"],
  /** Another writer continued the journal. */
  fenced: ["ended"],
  ended: [],
} as const satisfies Record<string, readonly string[]>;

export type JournalState = keyof typeof TRANSITIONS;

interface Tracked {
  readonly section: Section;
  readonly name: string;
  cipher: StreamCipher | undefined;
  /** Its newest stored version; undefined if a failure left it unknown. */
  version: number | undefined;
  /** The newest version that the store is known to have had. */
  certain: number;
  /** The last row that the stored version covers. */
  covers: number;
  /** The first row that changed it since; Infinity if none did. */
  since: number;
}

/** Sections of one moment, encrypted. */
export interface Prepared {
  readonly snapshots: readonly {
    readonly snapshot: NamedSnapshot;
    readonly of: Tracked;
    readonly covers: number;
  }[];
}

interface Entry {
  readonly version: number;
  readonly covers: number;
}

/** Public counters. */
export interface JournalStats {
  readonly commits: number;
  readonly sections: number;
}

export class Journal {
  // Parameters
  readonly name: string;
  readonly #store: CheckedStore | undefined;
  readonly #committer: Committer | undefined;
  readonly #key: CryptoKey;
  readonly #cipher: StreamCipher;
  // State
  #state: JournalState = "opening";
  /** The newest row. */
  #position = 0;
  /** Slot → the number of its newest snapshot. */
  readonly #slots = new Map<number, number>();
  #rows: StoredRow[] = [];
  #manifest = new Map<string, Entry>();
  readonly #sections = new Map<Section, Tracked>();
  /** Changed since they were stored, those that changed first in front. */
  readonly #changed = new Set<Tracked>();
  #stats = { commits: 0, sections: 0 };
  /** The body of the newest row at opening; undefined if there is none. */
  newest: Uint8Array | undefined;

  private constructor(store: CheckedStore | undefined, key: CryptoKey, name: string, cipher: StreamCipher) {
    this.#store = store;
    this.#committer = store && new Committer(store);
    this.#key = key;
    this.name = name;
    this.#cipher = cipher;
  }

  /**
   * Reads all rows. Then `load` the sections, apply `rows`, and `begin`.
   * @param store undefined for a journal that lives as long as the process
   * @param atLeast the lowest number that the newest row may have
   */
  static async open(
    store: CheckedStore | undefined,
    key: CryptoKey,
    name: string,
    atLeast: number,
  ): Promise<Journal> {
    const journal = new Journal(store, key, name, await StreamCipher.make(key));
    if (store !== undefined) await journal.#readRing(store);
    if (journal.#position < atLeast)
      throw new StoreError(
        "rolled-back",
        `store: expected row ${atLeast} or a later one of ${JSON.stringify(name)}, got ${journal.#position === 0 ? "none" : journal.#position}; the store was rolled back, and continuing it would publish periods again. Restore the newest copy of the store`,
      );
    return journal;
  }

  get state(): JournalState {
    return this.#state;
  }

  /** The number of the newest row. */
  get position(): number {
    return this.#position;
  }

  get stats(): JournalStats {
    return { ...this.#stats };
  }

  #enter(next: JournalState): void {
    if (!(TRANSITIONS[this.#state] as readonly string[]).includes(next))
      throw new Error(`journal: expected a state that allows "${next}", got "${this.#state}"`);
    this.#state = next;
  }

  async #readRing(store: CheckedStore): Promise<void> {
    const first = await store.getAgain(this.#slotName(0));
    const found: (StoredSnapshot | undefined)[] = [first];
    // Slots fill in order, and row 1 stays for a whole round: without it there is no journal.
    if (first === undefined) return;
    for (let slot = 1; slot < SLOTS; slot += CHUNK) {
      const slots = Array.from({ length: Math.min(CHUNK, SLOTS - slot) }, (_, i) => slot + i);
      found.push(...(await Promise.all(slots.map((one) => store.getAgain(this.#slotName(one))))));
    }
    const rows = new Map<number, OpenedSnapshot>();
    for (const [slot, stored] of found.entries()) {
      if (stored === undefined) continue;
      const opened = await this.#openStored(this.#slotName(slot), stored, { name: this.#slotName(slot) });
      this.#slots.set(slot, stored.sequence);
      rows.set(opened.state.double(), opened);
    }
    this.#position = Math.max(...rows.keys());
    for (let n = this.#position; n > Math.max(0, this.#position - SLOTS); n--)
      if (!rows.has(n)) throw this.#refused(`row ${n} is missing`);
    for (const [position, { state }] of [...rows].sort(([a], [b]) => a - b)) {
      this.#manifest = readManifest(state, position);
      this.#rows.push({ position, body: state.blob() });
    }
    this.newest = this.#rows.at(-1)!.body;
  }

  async #openStored(name: string, stored: StoredSnapshot, parameters: Parameters): Promise<OpenedSnapshot> {
    let opened: OpenedSnapshot;
    try {
      opened = await openSnapshot(stored.bytes, this.#key, parameters);
    } catch (cause) {
      // Other parameters or another version are the caller's to know of: the bytes are what was stored.
      if (cause instanceof RangeError || cause instanceof TypeError) throw cause;
      throw this.#refused(
        `${JSON.stringify(name)} cannot be decrypted: the key is another one, or it was altered`,
        cause,
      );
    }
    checkSequence(name, stored.sequence, opened.sequence);
    return opened;
  }

  #refused(what: string, cause?: unknown): StoreError {
    return new StoreError(
      "rolled-back",
      `store: ${what} (journal ${JSON.stringify(this.name)}); continuing would publish periods again. Restore a whole copy of the store, or begin with an empty one`,
      { cause },
    );
  }

  /** The stored state of a section; undefined if there is none. From now on the section is followed. */
  async load(section: Section): Promise<Decoder | undefined> {
    const name = `${this.name}/${section.name}`;
    const tracked: Tracked = {
      ...{ section, name, cipher: undefined, version: 0, certain: 0, covers: 0, since: Infinity },
    };
    this.#sections.set(section, tracked);
    const found = await this.#store?.getAgain(name);
    const wanted = this.#manifest.get(hashOf(section.name)) ?? { version: 0, covers: 0 };
    if ((found?.sequence ?? 0) < wanted.version)
      throw this.#refused(
        found === undefined
          ? `section ${JSON.stringify(section.name)} is missing`
          : `section ${JSON.stringify(section.name)} has version ${found.sequence}, expected ${wanted.version} or a later one: it was rolled back`,
      );
    if (found === undefined) return undefined;
    const { salt, sequence, state } = await this.#openStored(name, found, { ...section.parameters, name });
    tracked.version = tracked.certain = sequence;
    tracked.covers = state.double();
    tracked.cipher = await StreamCipher.make(this.#key, salt);
    if (tracked.covers > this.#position)
      throw this.#refused(
        `row ${tracked.covers} is missing: section ${JSON.stringify(section.name)} covers it`,
      );
    if (tracked.covers < Math.max(wanted.covers, this.#position - SLOTS))
      throw this.#refused(`section ${JSON.stringify(section.name)} was rolled back`);
    return state;
  }

  /** The last row that the stored version of a section covers. */
  covers(section: Section): number {
    return this.#sections.get(section)!.covers;
  }

  /** Rows that some section lacks, in order. Can be asked for once. */
  *rows(): Generator<StoredRow> {
    let first = this.#position;
    for (const { covers } of this.#sections.values()) first = Math.min(first, covers);
    const rows = this.#rows;
    this.#rows = [];
    for (const row of rows) if (row.position > first) yield row;
  }

  /** Ends the opening. */
  begin(): void {
    this.#rows = [];
    this.#enter("open");
  }

  /** Begins to follow a section that is new; it is stored with the next commit. */
  add(section: Section): void {
    const name = `${this.name}/${section.name}`;
    const tracked: Tracked = {
      ...{ section, name, cipher: undefined, version: undefined, certain: 0, covers: this.#position },
      since: this.#position + 1,
    };
    this.#sections.set(section, tracked);
    this.#changed.add(tracked);
  }

  /** Says that a section changed by itself, with the next row. */
  touch(section: Section): void {
    const tracked = this.#sections.get(section)!;
    tracked.since = Math.min(tracked.since, this.#position + 1);
    this.#changed.add(tracked);
  }

  /**
   * Says that a row changed the sections that do not cover it. It is said of all of them: which ones are stored, and when,
   * then tells nothing of the row.
   */
  changedAll(row: number): void {
    for (const tracked of this.#sections.values())
      if (tracked.covers < row && tracked.since > row) {
        tracked.since = row;
        this.#changed.add(tracked);
      }
  }

  /** Encrypts the sections that are due, as they are now: all rows up to `position` are in them. */
  async prepare(all = false): Promise<Prepared> {
    if (this.#store === undefined) return { snapshots: [] };
    const most = Math.ceil(this.#sections.size / SPREAD);
    const chosen: Tracked[] = [];
    let turn = 0;
    for (const tracked of this.#changed) {
      const isNew = tracked.certain === 0;
      const due = !isNew && turn < most && this.#position - tracked.since >= PATIENCE;
      if (due) turn++;
      if (all || isNew || due || tracked.section.urgent === true) chosen.push(tracked);
    }
    const plains = chosen.map((of) => ({ of, plain: this.#encode(of), covers: this.#position })); // of one moment
    const snapshots = [];
    for (const { of, plain, covers } of plains) {
      of.version ??= await this.#storedVersion(of, covers);
      of.cipher ??= await StreamCipher.make(this.#key);
      const sequence = of.version + 1;
      const bytes = await sealSnapshot(of.cipher, sequence, plain);
      plain.fill(0);
      snapshots.push({ snapshot: { name: of.name, sequence, bytes }, of, covers });
    }
    return { snapshots };
  }

  /**
   * The version of a section that the store has, where the outcome of a put is not known. A version that covers later rows
   * is of another writer: an older state above it would take these rows back.
   */
  async #storedVersion({ section, name }: Tracked, position: number): Promise<number> {
    const found = await this.#store!.getAgain(name);
    if (found === undefined) return 0;
    const { state, sequence } = await this.#openStored(name, found, { ...section.parameters, name });
    if (state.double() > position) throw conflict(name, sequence);
    return sequence;
  }

  #encode({ section, name }: Tracked): Uint8Array<ArrayBuffer> {
    return encodeState({ ...section.parameters, name }, (writer) => {
      writer.double(this.#position);
      section.save(writer);
    });
  }

  /**
   * Stores a row, with sections and what is stored once: one transaction, if the store has them. Resolves to the row's
   * number. After a failure of the row the journal has ended: conflict if another writer was faster, else in doubt.
   */
  async commit(
    body: Uint8Array,
    { snapshots }: Prepared = { snapshots: [] },
    fixed: readonly Fixed[] = [],
  ): Promise<number> {
    this.#enter("committing");
    const position = this.#position + 1;
    if (this.#committer === undefined) {
      this.#position = position;
      for (const { stored } of fixed) stored();
      this.#enter("open");
      return position;
    }
    let row: Promise<unknown>;
    let sealed: NamedSnapshot;
    try {
      for (const { since, covers, section } of this.#changed)
        if (position - SLOTS >= since && !snapshots.some(({ of }) => of.section === section))
          throw new StoreError(
            "unavailable",
            `store: section ${JSON.stringify(section.name)} could not be stored since row ${covers}, and the journal is full; try again when the store is back`,
          );
      const own = (sealed = await this.#seal(position, body));
      const others = await Promise.all(fixed.map((one) => this.#sealFixed(one)));
      row = this.#committer.commit(() => own);
      const sections = snapshots.map(async (one) =>
        this.#storeSection(
          one,
          this.#committer!.commit(() => one.snapshot),
        ),
      );
      const once = others.map(async (one, i) =>
        this.#storeFixed(
          fixed[i]!,
          one,
          this.#committer!.commit(() => one),
        ),
      );
      await Promise.allSettled([row, ...sections, ...once]);
    } catch (error) {
      this.#enter("open"); // nothing was given to the store
      throw error;
    }
    await row.catch((cause: unknown) => this.#settle(sealed, cause));
    this.#slots.set(slotOf(position), (this.#slots.get(slotOf(position)) ?? 0) + 1);
    this.#position = position;
    this.#stats = { commits: this.#stats.commits + 1, sections: this.#stats.sections + snapshots.length };
    this.#enter("open");
    return position;
  }

  /** Something other than the store failed, perhaps out of memory: the store says whether the row is there. */
  async #settle({ name, sequence, bytes }: NamedSnapshot, cause: unknown): Promise<void> {
    if (cause instanceof StoreError) this.#fail(cause);
    const found = await this.#store!.getAgain(name).catch((error: unknown) => this.#fail(error));
    const newest = found?.sequence ?? 0;
    if (newest === sequence && sameBytes(found!.bytes, bytes)) return;
    if (newest >= sequence) this.#fail(cause);
    this.#enter("open");
    throw cause;
  }

  #fail(cause: unknown): never {
    if (cause instanceof StoreError && cause.code === "conflict") {
      this.#enter("fenced");
      throw cause;
    }
    this.#enter("in doubt");
    throw new StoreError(
      "in-doubt",
      `hub ${JSON.stringify(this.name)}: the store failed while it stored events; whether they count is not known, and adding them again may count them twice`,
      { cause },
    );
  }

  async #seal(position: number, body: Uint8Array): Promise<NamedSnapshot> {
    const slot = slotOf(position);
    const name = this.#slotName(slot);
    const plain = encodeState({ name }, (writer) => {
      writer.double(position);
      writer.count(this.#sections.size);
      for (const { section, certain, covers } of this.#sections.values()) {
        writer.words(hashText2(section.name));
        writer.count(certain);
        writer.count(certain === 0 ? 0 : position - covers);
      }
      writer.blob(body);
    });
    const sequence = (this.#slots.get(slot) ?? 0) + 1;
    const bytes = await sealSnapshot(this.#cipher, sequence, padded(SHORTEST, plain));
    plain.fill(0);
    return { name, sequence, bytes };
  }

  /** A section that cannot be stored does no harm to the row: rows are replayed, and its version is looked up again. */
  async #storeSection(
    { of, covers, snapshot }: Prepared["snapshots"][number],
    stored: Promise<unknown>,
  ): Promise<void> {
    try {
      await stored;
    } catch {
      of.version = undefined;
      return;
    }
    of.version = of.certain = snapshot.sequence;
    of.covers = covers;
    of.since = Infinity;
    this.#changed.delete(of);
    of.section.stored?.();
  }

  async #sealFixed({ name, save }: Fixed): Promise<NamedSnapshot> {
    const full = `${this.name}/${name}`;
    const plain = encodeState({ name: full }, save);
    return {
      name: full,
      sequence: 1,
      bytes: await sealSnapshot(await StreamCipher.make(this.#key), 1, plain),
    };
  }

  /** It may be there already, from before a restart: then it has the same content. */
  async #storeFixed(fixed: Fixed, { name }: NamedSnapshot, stored: Promise<unknown>): Promise<void> {
    try {
      await stored;
    } catch (error) {
      if (!(error instanceof StoreError && (error.code === "conflict" || error.code === "in-doubt"))) return;
      const found = await this.#store!.get(name);
      if (found === undefined) return;
      const { state } = await this.#openStored(name, found, { name });
      const writer = new Encoder();
      fixed.save(writer);
      if (!state.rest.every((byte, i) => byte === writer.bytes[i])) return;
    }
    fixed.stored();
  }

  /** What was stored once; undefined if it is missing. */
  async readFixed(name: string): Promise<Decoder | undefined> {
    const full = `${this.name}/${name}`;
    const found = await this.#store?.getAgain(full);
    return found && (await this.#openStored(full, found, { name: full })).state;
  }

  /** Removes what was stored once, if the store can. */
  async removeFixed(name: string): Promise<void> {
    const full = `${this.name}/${name}`;
    const found = await this.#store?.get(full);
    if (found !== undefined) await this.#store!.remove(full, found.sequence);
  }

  end(): void {
    if (this.#state !== "ended") this.#state = "ended";
  }

  #slotName(slot: number): string {
    return `${this.name}//${slot}`;
  }
}

const slotOf = (position: number): number => (position - 1) % SLOTS;

/** Not secret: it shortens a public name. */
const NAME_KEY = Uint32Array.of(0x6272756d, 0x65, 0, 0);

function hashText2(name: string): Uint32Array {
  hashText(NAME_KEY, name);
  return digest.slice(0, 2);
}

const hashOf = (name: string): string => hashText2(name).join();

function readManifest(reader: Decoder, position: number): Map<string, Entry> {
  return new Map(
    Array.from({ length: reader.count() }, () => {
      const hash = reader.words(2).join();
      const version = reader.count();
      const behind = reader.count();
      return [hash, { version, covers: version === 0 ? 0 : position - behind }] as const;
    }),
  );
}

/** With zeros behind, as long as a power of two, so that a length tells little about events. */
export function padded(shortest: number, plain: Uint8Array): Uint8Array<ArrayBuffer> {
  let length = shortest;
  while (length < plain.length) length *= 2;
  const out = new Uint8Array(length);
  out.set(plain);
  return out;
}

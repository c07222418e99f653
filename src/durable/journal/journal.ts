/**
 * A journal in a store: numbered rows (ring.ts), sections of the state that are stored in turn (sections.ts), and entries that
 * are stored once (entries.ts). What is in memory follows from the stored sections and the rows after them, bit for bit.
 *
 * Nothing goes back unnoticed: rows have no gaps, a section is never older than the newest row's manifest says, and none covers
 * a row that is missing. What is older, missing or altered is refused at opening. A rollback of the whole store needs a
 * number from outside it: `atLeast`.
 */
import type { Decoder } from "../../snapshot/codec.js";
import type { CheckedStore } from "../checkedStore.js";
import { Committer } from "./committer.js";
import { Entries, type JournalEntry } from "./entries.js";
import { Records } from "./records.js";
import { Ring, type RingRow, SLOTS } from "./ring.js";
import { isLeading, type PreparedSection, type Section, Sections } from "./sections.js";
import { States, type Transitions } from "./states.js";
import { conflict, isConflict, type NamedSnapshot, sameBytes, StoreError } from "../stores/store.js";

/** Which state may follow which. */
const TRANSITIONS = {
  opening: ["open"],
  open: ["committing"],
  committing: ["open", "in doubt", "fenced"],
  /** Whether the newest row is stored is not known. */
  "in doubt": [],
  /** Another writer continued the journal. */
  fenced: [],
} as const satisfies Transitions;

/** How often a take-over is tried while the process that has the journal writes. */
const ATTEMPTS = 64;

/** Objects of a journal that need its store. */
interface Stored {
  readonly records: Records;
  readonly ring: Ring;
  readonly entries: Entries;
  readonly committer: Committer;
}

export class Journal {
  // Parameters
  readonly #stored: Stored | undefined;
  readonly #sections: Sections;
  // State
  readonly #states = new States("journal", TRANSITIONS, "opening");
  #position = 0;
  #fence = 0;
  /** The body of the newest row at opening; undefined if there is none. */
  newest: Uint8Array | undefined;

  private constructor(stored: Stored | undefined, name: string) {
    this.#stored = stored;
    this.#sections = new Sections(stored?.records, name);
    this.#moveOn();
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
    const journal = new Journal(store && (await openStored(store, key, name)), name);
    if (journal.#position < atLeast)
      throw new StoreError(
        "rolled-back",
        `store: expected row ${atLeast} or a later one of ${JSON.stringify(name)}, got ${journal.#position === 0 ? "none" : journal.#position}; the store was rolled back, and continuing it would publish periods again. Restore the newest copy of the store`,
      );
    return journal;
  }

  get state(): keyof typeof TRANSITIONS {
    return this.#states.current;
  }

  /** The number of the newest row. */
  get position(): number {
    return this.#position;
  }

  /** How often a process took the journal over. */
  get fence(): number {
    return this.#fence;
  }

  /** Takes note of the newest row that was read. */
  #moveOn(): void {
    const newest = this.#stored?.ring.rows.at(-1);
    if (newest === undefined) return;
    this.#position = newest.position;
    this.#fence = newest.fence;
    this.newest = newest.body;
  }

  /**
   * Takes the journal over: the process that had it cannot write any more. The first row under a new fence comes before anything
   * else is read, so that nothing changes while the sections are loaded. Returns whether that row is stored; if not, the
   * journal is empty or has no room, and the next commit begins it.
   * @param known the fence that this process began before; undefined if it has not had the journal
   * @param bodyOf the first row's body, which must change nothing, from the newest one
   */
  async takeOver(known: number | undefined, bodyOf: (newest: Uint8Array) => Uint8Array): Promise<boolean> {
    const { ring, committer, records } = this.#stored!;
    if (known !== undefined) {
      if (this.#fence !== known) throw conflict(records.journal, this.#position);
      return true;
    }
    for (let attempt = 1; ; attempt++) {
      const newest = ring.rows.at(-1);
      if (newest === undefined || !hasRoom(newest)) {
        this.#fence++;
        return false;
      }
      const row = {
        ...newest,
        position: newest.position + 1,
        fence: newest.fence + 1,
        body: bodyOf(newest.body),
      };
      const encrypted = await ring.encrypt(row);
      try {
        await committer.commit(() => encrypted);
        ring.take(row);
        this.#moveOn();
        return true;
      } catch (error) {
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
        await ring.readOn();
        this.#moveOn();
      }
    }
  }

  /** The stored state of a section at this moment; undefined if there is none. */
  peek(section: Section): Promise<Decoder | undefined> {
    return this.#sections.peek(section);
  }

  /** The stored state of a section; undefined if there is none. From now on the section is followed. */
  async load(section: Section): Promise<Decoder | undefined> {
    if (this.#stored === undefined) return this.#sections.load(section, []);
    const { ring, records } = this.#stored;
    const state = await this.#sections.load(section, ring.rows.at(-1)?.manifest ?? []);
    if (state === undefined) return undefined;
    const covers = this.#sections.covers(section);
    if (covers > this.#position) {
      await ring.readOn(); // another process may have stored both since
      this.#moveOn();
    }
    if (covers > this.#position)
      throw records.refused(`row ${covers} is missing: section ${JSON.stringify(section.name)} covers it`);
    if (covers < (ring.rows[0]?.position ?? 1) - 1)
      throw records.refused(`section ${JSON.stringify(section.name)} was rolled back`);
    return state;
  }

  /** The last row that the stored version of a section covers. */
  covers(section: Section): number {
    return this.#sections.covers(section);
  }

  /** Rows that some section lacks, in order. Can be asked for once. */
  *rows(): Generator<RingRow> {
    const { covered } = this.#sections;
    const rows = this.#stored?.ring.rows ?? [];
    this.#stored?.ring.forgetRows();
    for (const row of rows) if (row.position > covered) yield row;
  }

  /** Whether another process has written rows since; false while a row of this one is on its way. */
  async isOvertaken(): Promise<boolean> {
    const position = this.#position;
    const isOpen = () => this.#states.current === "open" && this.#position === position;
    return isOpen() && (await this.#stored?.ring.hasRowAfter(position)) === true && isOpen();
  }

  /** Ends the opening. */
  begin(): void {
    this.#states.enter("open");
  }

  /**
   * Begins to follow a section that is new; it is stored with the next commit.
   * @param since the first row that is in it; default the next one
   */
  add(section: Section, since = this.#position + 1): void {
    this.#sections.add(section, since);
  }

  /** Says that a section changes by itself, with the next row. */
  touch(section: Section): void {
    this.#sections.touch(section, this.#position + 1);
  }

  /**
   * Says that a row changed the sections that do not cover it. It is said of all of them: which ones are stored, and when,
   * then tells nothing of the row.
   */
  changedAll(row: number): void {
    this.#sections.changedAll(row);
  }

  /** Encrypts the sections that are due, as they are now: all rows up to `position` are in them. */
  prepare(all = false): Promise<PreparedSection[]> {
    return this.#sections.prepare(this.#position, all);
  }

  /**
   * Stores a row, with sections and entries: one transaction, if the store has them. Resolves to the row's number. After a
   * failure of the row the journal has ended: conflict if another writer was faster, else in doubt.
   */
  async commit(
    body: Uint8Array,
    sections: readonly PreparedSection[] = [],
    once: readonly JournalEntry[] = [],
  ): Promise<number> {
    this.#states.enter("committing");
    const position = this.#position + 1;
    if (this.#stored === undefined) {
      for (const { stored } of once) stored();
    } else {
      const { row, put } = await this.#put(this.#stored, position, body, sections, once);
      await put.catch((cause: unknown) => this.#settle(row, cause));
      this.#stored.ring.stored(position);
    }
    this.#position = position;
    this.#states.enter("open");
    return position;
  }

  /** Gives everything to the store at once; `put` is the outcome of the row. */
  async #put(
    { ring, entries, committer }: Stored,
    position: number,
    body: Uint8Array,
    sections: readonly PreparedSection[],
    once: readonly JournalEntry[],
  ): Promise<{ readonly row: NamedSnapshot; readonly put: Promise<unknown> }> {
    try {
      const store = (one: PreparedSection): Promise<void> =>
        this.#sections.settle(
          one,
          committer.commit(() => one.snapshot),
        );
      const leading = sections.filter(({ of }) => isLeading(of.section));
      await Promise.all(leading.map(store)).catch(notStored);
      const last = sections.filter(
        (one) => !leading.includes(one) && this.#sections.isLast(one.of, position),
      );
      await Promise.all(last.map(store));
      this.#sections.checkRoom(position);
      const manifest = this.#sections.manifest();
      const row = await ring.encrypt({ position, fence: this.#fence, manifest, body });
      const others = await Promise.all(once.map((one) => entries.encrypt(one)));
      const put = committer.commit(() => row);
      await Promise.allSettled([
        put,
        ...sections.filter((one) => !leading.includes(one) && !last.includes(one)).map(store),
        ...others.map((one, i) =>
          entries.settle(
            once[i]!,
            committer.commit(() => one),
          ),
        ),
      ]);
      return { row, put };
    } catch (error) {
      this.#states.enter("open"); // nothing was given to the store
      throw error;
    }
  }

  /** Something other than the store failed, perhaps out of memory: the store says whether the row is there. */
  async #settle({ name, sequence, bytes }: NamedSnapshot, cause: unknown): Promise<void> {
    if (cause instanceof StoreError) this.#fail(cause);
    const { store } = this.#stored!.records;
    const found = await store.getAgain(name).catch((error: unknown) => this.#fail(error));
    const newest = found?.sequence ?? 0;
    if (newest === sequence && sameBytes(found!.bytes, bytes)) return;
    if (newest >= sequence) this.#fail(cause);
    this.#states.enter("open");
    throw cause;
  }

  #fail(cause: unknown): never {
    if (isConflict(cause)) {
      this.#states.enter("fenced");
      throw cause;
    }
    this.#states.enter("in doubt");
    throw new StoreError(
      "in-doubt",
      `hub ${JSON.stringify(this.#stored!.records.journal)}: the store failed while it stored events; whether they count is not known, and adding them again may count them twice`,
      { cause },
    );
  }

  /** An entry that was stored once; undefined if it is missing. */
  async readEntry(name: string): Promise<Decoder | undefined> {
    return this.#stored?.entries.read(name);
  }

  /** Removes an entry that was stored once, if the store can. */
  async removeEntry(name: string): Promise<void> {
    await this.#stored?.entries.remove(name);
  }
}

/** The row was not given to the store: whatever became of a section before it, nothing of the call is stored. */
function notStored(cause: unknown): never {
  if (!(cause instanceof StoreError) || cause.code !== "in-doubt") throw cause;
  throw new StoreError("unavailable", "store: a section of the journal could not be stored; try again", {
    cause,
  });
}

async function openStored(store: CheckedStore, key: CryptoKey, name: string): Promise<Stored> {
  const records = new Records(store, key, name);
  const ring = await Ring.open(records);
  return { records, ring, entries: new Entries(records), committer: new Committer(store) };
}

/** Whether the next row overwrites none that a stored section needs. */
const hasRoom = ({ position, manifest }: RingRow): boolean =>
  manifest.every(({ version, covers }) => version > 0 && covers >= position + 1 - SLOTS);

/**
 * Sections of a journal: pieces of the state that are stored by themselves, in turn. Each stored version says which rows it
 * covers; what is in memory follows from it and the rows behind it. A section is stored again before the row that changed
 * it first is overwritten.
 */
import { digest, hashText } from "../../events/people/siphash.js";
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { StreamCipher } from "../../snapshot/streamCipher.js";
import {
  encodeState,
  type OpenedSnapshot,
  type Parameters,
  encryptSnapshot,
} from "../../snapshot/snapshot.js";
import type { Records } from "./records.js";
import { type ManifestEntry, SLOTS } from "./ring.js";
import { conflict, type NamedSnapshot, StoreError } from "../stores/store.js";

/** A piece of the state that is stored by itself. */
export interface Section {
  /** Unique in its journal. Public. */
  readonly name: string;
  /** Parameters that the stored bytes are bound to. */
  readonly parameters?: Parameters;
  /** Writes the state of this moment. */
  save(writer: Encoder): void;
  /** Whether the section must be in the next commit. */
  readonly urgent?: boolean;
  /**
   * Whether the section holds what no row says. While it is urgent it is stored before the row that it comes with; and always over
   * the version that this process knows alone: a process that lost against another one must not replace what that one began with.
   */
  readonly leads?: boolean;
  /** Told that the section's newest state is in the store. */
  stored?(): void;
}

/** Rows after which a changed section is stored again. */
const PATIENCE = SLOTS / 4;
/** Rows within which all sections that wait are stored. */
const SPREAD = SLOTS / 4;

interface Tracked {
  // Parameters
  readonly section: Section;
  /** The section's name in the store. */
  readonly name: string;
  readonly hash: Uint32Array;
  // State
  cipher: StreamCipher | undefined;
  /** The newest stored version of the section; undefined if a failure left it unknown. */
  version: number | undefined;
  /** The newest version that the store is known to have had. */
  certain: number;
  /** The last row that the stored version covers. */
  covers: number;
  /** The first row that changed it since; Infinity if none did. */
  since: number;
}

/** A section of one moment, encrypted. */
export interface PreparedSection {
  readonly snapshot: NamedSnapshot;
  readonly of: Tracked;
  /** The last row that is in it. */
  readonly covers: number;
}

export class Sections {
  // Parameters
  readonly #records: Records | undefined;
  readonly #prefix: string;
  // State
  readonly #all = new Map<Section, Tracked>();
  /** Changed since they were stored, those that changed first in front. */
  readonly #changed = new Set<Tracked>();

  /** @param records undefined if nothing is stored */
  constructor(records: Records | undefined, journal: string) {
    this.#records = records;
    this.#prefix = journal;
  }

  /** Entries of the next row's manifest, one per section. */
  manifest(): ManifestEntry[] {
    return Array.from(this.#all.values(), ({ hash, certain, covers }) => ({
      hash,
      version: certain,
      covers,
    }));
  }

  /** Rows up to this one are in every stored section. */
  get covered(): number {
    let least = Infinity;
    for (const { covers } of this.#all.values()) least = Math.min(least, covers);
    return least;
  }

  /** The last row that the stored version of a section covers. */
  covers(section: Section): number {
    return this.#all.get(section)!.covers;
  }

  /** The stored state of a section that is not followed; undefined if there is none. */
  async peek(section: Section): Promise<Decoder | undefined> {
    const found = await this.#read({ section, name: `${this.#prefix}/${section.name}` });
    found?.state.double(); // the row that it covers
    return found?.state;
  }

  /**
   * Reads the stored version of a section, and follows the section from now on.
   * @param manifest of the newest row: no stored section is older
   */
  async load(section: Section, manifest: readonly ManifestEntry[]): Promise<Decoder | undefined> {
    const tracked = this.#follow(section, { version: 0, covers: 0, since: Infinity });
    const { hash } = tracked;
    const wanted = manifest.find((entry) => entry.hash.every((word, i) => word === hash[i]));
    const found = await this.#read(tracked);
    if ((found?.sequence ?? 0) < (wanted?.version ?? 0))
      throw this.#records!.refused(
        found === undefined
          ? `section ${JSON.stringify(section.name)} is missing`
          : `section ${JSON.stringify(section.name)} has version ${found.sequence}, expected ${wanted!.version} or a later one: it was rolled back`,
      );
    if (found === undefined) return undefined;
    const covers = found.state.double();
    if (covers < (wanted?.covers ?? 0))
      throw this.#records!.refused(`section ${JSON.stringify(section.name)} was rolled back`);
    Object.assign(tracked, { version: found.sequence, certain: found.sequence, covers });
    tracked.cipher = await StreamCipher.make(this.#records!.key, found.salt);
    return found.state;
  }

  /** Follows a section that is new; it is stored with the next commit. @param since the first row that is in it */
  add(section: Section, since: number): void {
    this.#changed.add(this.#follow(section, { version: undefined, covers: since - 1, since }));
  }

  #follow(section: Section, state: Pick<Tracked, "version" | "covers" | "since">): Tracked {
    const name = `${this.#prefix}/${section.name}`;
    const tracked = { section, name, hash: hashOf(section.name), cipher: undefined, certain: 0, ...state };
    this.#all.set(section, tracked);
    return tracked;
  }

  /** Says that a section changes by itself, with the next row. */
  touch(section: Section, next: number): void {
    const tracked = this.#all.get(section)!;
    tracked.since = Math.min(tracked.since, next);
    this.#changed.add(tracked);
  }

  /** Says that a row changed the sections that do not cover it: all of them, whatever is in the row. */
  changedAll(row: number): void {
    for (const tracked of this.#all.values())
      if (tracked.covers < row && tracked.since > row) {
        tracked.since = row;
        this.#changed.add(tracked);
      }
  }

  /**
   * Encrypts the sections that are due, as they are now.
   * @param position all rows up to this one are in them
   * @param all not only those that are due
   */
  async prepare(position: number, all: boolean): Promise<PreparedSection[]> {
    if (this.#records === undefined) return [];
    const plains = this.#due(position, all).map((of) => ({ of, plain: encodeSection(of, position) })); // of one moment
    const prepared: PreparedSection[] = [];
    for (const { of, plain } of plains) {
      of.version ??= await this.#storedVersion(of, position);
      of.cipher ??= await StreamCipher.make(this.#records.key);
      const sequence = of.version + 1;
      const bytes = await encryptSnapshot(of.cipher, sequence, plain);
      plain.fill(0);
      prepared.push({ snapshot: { name: of.name, sequence, bytes }, of, covers: position });
    }
    return prepared;
  }

  #due(position: number, all: boolean): Tracked[] {
    const most = Math.ceil(this.#all.size / SPREAD);
    const chosen: Tracked[] = [];
    let turn = 0;
    for (const tracked of this.#changed) {
      const isNew = tracked.certain === 0;
      const due = !isNew && turn < most && position - tracked.since >= PATIENCE;
      if (due) turn++;
      const last = this.isLast(tracked, position + 1);
      if (all || isNew || due || last || tracked.section.urgent === true) chosen.push(tracked);
    }
    return chosen;
  }

  #read({ section, name }: Pick<Tracked, "section" | "name">): Promise<OpenedSnapshot | undefined> {
    return this.#records?.read(name, section.parameters ?? {}) ?? Promise.resolve(undefined);
  }

  /**
   * The version of a section that the store has, if the outcome of a put is not known. A version that covers later rows is of
   * another writer: an older state above it would take these rows back.
   */
  async #storedVersion(of: Tracked, position: number): Promise<number> {
    const found = await this.#read(of);
    if (found === undefined) return 0;
    if (found.state.double() > position) throw conflict(of.name, found.sequence);
    return found.sequence;
  }

  /** Whether a section must be stored before this row, which takes the slot of its first change. */
  isLast({ since }: Pick<Tracked, "since">, position: number): boolean {
    return position - SLOTS >= since;
  }

  /** Refuses a row that would take the last trace of a change that is not stored. */
  checkRoom(position: number): void {
    for (const tracked of this.#changed)
      if (this.isLast(tracked, position))
        throw new StoreError(
          "unavailable",
          `store: section ${JSON.stringify(tracked.section.name)} could not be stored since row ${tracked.covers}, and the journal is full; try again when the store is back`,
        );
  }

  /**
   * Awaits the outcome of a put. A failure does no harm: rows are replayed, and the version is looked up again, unless the
   * section leads. If it is urgent, too, the failure is the caller's.
   */
  async settle({ of, covers, snapshot }: PreparedSection, put: Promise<unknown>): Promise<void> {
    try {
      await put;
    } catch (error) {
      if (isLeading(of.section)) throw error;
      if (of.section.leads !== true) of.version = undefined;
      return;
    }
    of.version = of.certain = snapshot.sequence;
    of.covers = covers;
    of.since = Infinity;
    this.#changed.delete(of);
    of.section.stored?.();
  }
}

/** Whether a section is stored before the row that it comes with. */
export const isLeading = ({ leads, urgent }: Section): boolean => leads === true && urgent === true;

function encodeSection({ section, name }: Tracked, position: number): Uint8Array<ArrayBuffer> {
  return encodeState({ ...section.parameters, name }, (writer) => {
    writer.double(position);
    section.save(writer);
  });
}

/** Not secret: it shortens a public name. */
const NAME_KEY = Uint32Array.of(0x6272756d, 0x65, 0, 0);

function hashOf(name: string): Uint32Array {
  hashText(NAME_KEY, name);
  return digest.slice(0, 2);
}

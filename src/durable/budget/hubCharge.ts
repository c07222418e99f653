/**
 * Charges of a hub of values to an odometer. A value goes to one stream, so the hub costs ε once for all of them. A stream
 * that was removed or lost, and begins anew, may read the same values another time: the hub costs ε as often as the stream
 * that began most often.
 *
 * The store of the hub has a mark, which says how often the hub was charged, and pages that say how often each stream has
 * begun. Streams that are in the store when the hub is charged first have begun once. A page that is gone counts as one on which every stream has used every charge, and a hub without its mark is charged
 * as a new one. Charges come first, then pages, then streams: what is lost in between costs ε twice, and never nothing.
 */
import type { Decoder, Encoder } from "../../snapshot/codec.js";
import { StreamCipher } from "../../snapshot/streamCipher.js";
import { encodeState, openSnapshot, type Parameters, encryptSnapshot } from "../../snapshot/snapshot.js";
import { charge, MARK, releaseNameOf } from "./budget.js";
import { type CheckedStore, checkSequence } from "../checkedStore.js";
import { Committer } from "../journal/committer.js";
import type { Budget, Release } from "./odometer.js";
import { isConflict, StoreError } from "../stores/store.js";

/** Streams are shared out among pages by their names, so that a stream that begins rewrites few others. */
const PAGES = 256;
/** Bytes of a name's hash, and of the random id of a beginning. */
const HASH = 16;
/** How often a change is tried when other processes change the same pages. */
const ATTEMPTS = 8;

/** An entry of the store, and where its next version goes. */
interface Stored {
  readonly sequence: number;
  readonly salt: Uint8Array<ArrayBuffer> | undefined;
}

/** How often a stream has begun. */
interface Begun {
  readonly times: number;
  /** The last time, so that a process knows its own beginnings from those of others. */
  readonly id: string;
}

/** How often streams have begun, by the hashes of their names. */
interface Page extends Stored {
  /** Times of a stream that is not listed. */
  readonly others: number;
  readonly begun: Map<string, Begun>;
}

export class HubCharge {
  // Parameters
  readonly #budget: Budget;
  readonly #release: Release;
  readonly #store: CheckedStore;
  readonly #committer: Committer;
  readonly #key: CryptoKey;
  readonly #mark: string;
  // State
  #stored: Stored = NOTHING;
  /** How often the hub was charged; the stored mark may be behind after a failure. */
  #times = 0;
  /** A flag for each page that has been stored. */
  #pages = new Uint8Array(PAGES);
  /** Ids of beginnings that are not stored for certain yet: tried again, it is the same beginning. */
  readonly #owed = new Map<string, string>();
  #waiting = new Set<string>();
  #next: Promise<void> | undefined;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(budget: Budget, release: Release, store: CheckedStore, key: CryptoKey) {
    this.#budget = budget;
    this.#release = release;
    this.#store = store;
    this.#committer = new Committer(store);
    this.#key = key;
    this.#mark = MARK + releaseNameOf(budget);
  }

  /** Charges a hub that begins, and checks the terms of one that goes on. Does nothing without a budget. */
  static async open(
    budget: Budget | undefined,
    release: Release,
    store: CheckedStore,
    key: CryptoKey,
  ): Promise<HubCharge | undefined> {
    if (budget === undefined) return undefined;
    const charged = new HubCharge(budget, release, store, key);
    await charged.#onNewest(() => charged.#open());
    return charged;
  }

  async #open(): Promise<void> {
    const begins = this.#stored === NOTHING;
    await charge(this.#budget, undefined, this.#release, begins);
    if (!begins) return;
    this.#times = 1;
    await this.#adopt();
    await this.#saveMark();
  }

  /** Lists streams that began before the hub had a budget: the first charge is for them, and begun anew they cost ε. */
  async #adopt(): Promise<void> {
    const pages = new Map<number, Page>();
    for (const name of this.#store.listed ? await this.#store.names() : []) {
      if (name.startsWith(MARK)) continue;
      const hash = await hashOf(name);
      const { begun } = await this.#pageOf(hash, pages);
      if (!begun.has(hash)) begun.set(hash, { times: 1, id: randomId() });
    }
    await Promise.all(Array.from(pages, ([number, page]) => this.#savePage(number, page)));
    for (const number of pages.keys()) this.#pages[number] = 1;
  }

  /** Charges a stream that begins, if it has used all charges of the hub. Resolves when that is stored. */
  begin(name: string): Promise<void> {
    this.#waiting.add(name);
    return (this.#next ??= this.#running.then(() => {
      const names = [...this.#waiting]; // all that came while others were being stored
      this.#waiting = new Set();
      this.#next = undefined;
      const turn = this.#onNewest(() => this.#begin(names));
      this.#running = turn.catch(() => undefined);
      return turn;
    }));
  }

  /** Acts on the newest state, and again if another process changed it meanwhile. */
  async #onNewest(act: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt++)
      try {
        await this.#load();
        return await act();
      } catch (error) {
        if (!isConflict(error) || attempt === ATTEMPTS) throw error;
      }
  }

  async #begin(names: readonly string[]): Promise<void> {
    const pages = new Map<number, Page>();
    let most = 0;
    for (const name of names) {
      const hash = await hashOf(name);
      const { begun, others } = await this.#pageOf(hash, pages);
      const before = begun.get(hash);
      const id = this.#owed.get(name) ?? randomId();
      this.#owed.set(name, id);
      const times = before?.id === id ? before.times : (before?.times ?? others) + 1;
      begun.set(hash, { times, id });
      most = Math.max(most, times);
    }
    if (most > this.#times) {
      await charge(this.#budget, undefined, this.#release, true);
      this.#times++;
      await this.#saveMark();
    }
    await Promise.all(Array.from(pages, ([number, page]) => this.#savePage(number, page)));
    if ([...pages.keys()].some((number) => this.#pages[number] === 0)) {
      for (const number of pages.keys()) this.#pages[number] = 1;
      await this.#saveMark();
    }
    for (const name of names) this.#owed.delete(name);
  }

  async #load(): Promise<void> {
    const found = await this.#get(this.#mark, MARK_KIND);
    if (found === undefined) {
      if (this.#stored === NOTHING) return;
      throw new StoreError(
        "rolled-back",
        "hub: the mark of its charges was removed from the store while the hub was open; open the hub again",
      );
    }
    const { state } = found;
    this.#stored = found;
    this.#times = Math.max(this.#times, state.count());
    this.#pages = new Uint8Array(state.blob());
  }

  async #saveMark(): Promise<void> {
    this.#stored = await this.#put(this.#mark, MARK_KIND, this.#stored, (writer) => {
      writer.count(this.#times);
      writer.blob(this.#pages);
    });
  }

  /** The page of a name's hash, loaded once. */
  async #pageOf(hash: string, pages: Map<number, Page>): Promise<Page> {
    const number = Number.parseInt(hash.slice(0, 2), 16);
    const page = pages.get(number) ?? (await this.#loadPage(number));
    pages.set(number, page);
    return page;
  }

  async #loadPage(number: number): Promise<Page> {
    const found = await this.#get(this.#pageName(number), PAGE_KIND);
    if (found === undefined)
      return { ...NOTHING, others: this.#pages[number] === 1 ? this.#times : 0, begun: new Map() };
    const { sequence, salt, state } = found;
    const others = state.count();
    const begun = new Map<string, Begun>();
    for (let i = state.count(); i > 0; i--)
      begun.set(state.text(), { times: state.count(), id: state.text() });
    return { sequence, salt, others, begun };
  }

  async #savePage(number: number, page: Page): Promise<void> {
    await this.#put(this.#pageName(number), PAGE_KIND, page, (writer) => {
      writer.count(page.others);
      writer.count(page.begun.size);
      for (const [hash, { times, id }] of page.begun) {
        writer.text(hash);
        writer.count(times);
        writer.text(id);
      }
    });
  }

  #pageName(number: number): string {
    return `${MARK}${number}/${this.#mark}`;
  }

  async #get(name: string, kind: string): Promise<(Stored & { readonly state: Decoder }) | undefined> {
    const found = await this.#store.get(name);
    await this.#store.giveBack(name);
    if (found === undefined) return undefined;
    const opened = await openSnapshot(found.bytes, this.#key, parametersOf(name, kind));
    checkSequence(name, found.sequence, opened.sequence);
    return opened;
  }

  async #put(name: string, kind: string, before: Stored, save: (writer: Encoder) => void): Promise<Stored> {
    const cipher = await StreamCipher.make(this.#key, before.salt);
    const sequence = before.sequence + 1;
    const plain = encodeState(parametersOf(name, kind), save);
    await this.#committer.commit(async () => ({
      ...{ name, sequence },
      bytes: await encryptSnapshot(cipher, sequence, plain),
    }));
    return { sequence, salt: cipher.salt };
  }
}

const NOTHING: Stored = { sequence: 0, salt: undefined };
const MARK_KIND = "charged hub";
const PAGE_KIND = "streams of a charged hub";

const parametersOf = (name: string, kind: string): Parameters => ({ kind, name });

/** Hexadecimal. Names of one hash would share their beginnings, and be charged too often. */
async function hashOf(name: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(name));
  return hexadecimal(new Uint8Array(digest, 0, HASH));
}

const randomId = (): string => hexadecimal(crypto.getRandomValues(new Uint8Array(HASH)));

const hexadecimal = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/**
 * Counted once: generated histories of calls by one to four writers on a durable path, while operations of the store fail
 * before or after they take effect and writers are killed. Calls are made again by the documented rules alone: after an
 * error that is `retryable`, and never after one that is "in-doubt". Afterwards
 *
 *   - every item that was accepted is in exactly one published number,
 *   - one in doubt is in at most one, and one that was refused to the end is in none,
 *   - a published number never changes, whoever asks (so each has one noise: a seed makes noise a function of its place),
 *   - the odometer knows every release.
 *
 * Noise is next to nothing (ε is in the thousands), so published numbers show what they hold. A path that is new implements `Path`; a store
 * that is new is given to `checkHistory`. `test/support/countedPaths.ts` has the paths.
 */
import { Dice } from "../../scripts/fuzz/dice.js";
import { type Odometer, openOdometer, type Store, type StoredSnapshot } from "../../src/index.js";

/** A writer: an object of the library on a store that fails. */
export interface Writer {
  /** Sends items; resolves when they are accepted. All of them are accepted or none, unless the error is "in-doubt". */
  send(items: readonly number[]): Promise<void>;
  /** Everything that is published: place → number. */
  read(): Promise<ReadonlyMap<string, number>>;
  /** Publishes what is due. */
  publish(): Promise<void>;
  close(): Promise<void>;
}

export interface Place {
  readonly store: Store;
  readonly odometer: Odometer;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Makes what all writers of a history share, if that is not the store: once. */
  readonly shared: <T>(make: () => T) => T;
  /**
   * Makes a call that fails as operations of the store do.
   * @param odds of a failure, per odds that a write to the store fails
   * @param undo releases what a call gave whose answer was lost
   */
  readonly fail: <T>(act: () => Promise<T>, odds?: number, undo?: (result: T) => void) => Promise<T>;
}

export interface Path {
  readonly name: string;
  /** How many items a history may have. */
  readonly items: number;
  readonly writers: number;
  /** The store gives a stream to one writer at a time: there is one writer, and it is never killed. */
  readonly alone?: boolean;
  /** How many accepted items choose θ and are never published. */
  readonly heldOut: number;
  /** Items cannot be told apart in what is published: they are counted. */
  readonly alike?: boolean;
  /** A period that is published while the store fails may be missed: nobody listened to its end. */
  readonly misses?: boolean;
  /** Odds that a read fails, per odds that a write does: some paths read hundreds of records to open. Default 1. */
  readonly reads?: number;
  open(place: Place): Writer;
  /** How often each item is in published numbers. */
  counted(published: ReadonlyMap<string, number>): ReadonlyMap<number, number>;
  /** Names of releases that the odometer must know. */
  readonly releases: readonly string[];
}

export interface HistoryResult {
  readonly faults: readonly string[];
  /** Operations of the store that failed. */
  readonly injected: number;
  readonly calls: number;
  readonly inDoubt: number;
}

/** A durable store in memory: no store is faster, and every history is repeatable. */
export function durableMemory(): Store {
  const snapshots = new Map<string, StoredSnapshot>();
  return {
    durable: true,
    get: (name) => Promise.resolve(snapshots.get(name)),
    put(name, sequence, bytes) {
      const newest = snapshots.get(name);
      if (newest?.sequence === sequence && Buffer.compare(newest.bytes, bytes) === 0)
        return Promise.resolve();
      if (sequence !== (newest?.sequence ?? 0) + 1)
        return Promise.reject(Object.assign(new Error("taken"), { code: "conflict" }));
      snapshots.set(name, { sequence, bytes: bytes.slice() });
      return Promise.resolve();
    },
    names: () => Promise.resolve([...snapshots.keys()]),
  };
}

/** Counts the failures of a history. */
interface Injector {
  readonly dice: Dice;
  /** Odds of a failure, of one operation. */
  rate: number;
  injected: number;
}

/** Lets the calls of one writer fail, before or after they take effect, sometimes several in a row. */
function failingCalls(injector: Injector): Place["fail"] {
  let row = 0;
  return async (act, odds = 1, undo) => {
    const { dice, rate } = injector;
    if (row === 0 && dice.chance(rate * odds)) row = dice.pick([1, 1, 2, 4, 8]);
    const broken = row > 0;
    const after = broken && dice.chance(0.5);
    if (broken) {
      row--;
      injector.injected++;
    }
    if (broken && !after) throw new Error("store: injected before");
    const result = await act();
    if (!broken) return result;
    undo?.(result);
    throw new Error("store: injected after");
  };
}

/** A store whose operations fail. @param reads odds that a read fails, per odds that a write does */
function failing(store: Store, fail: Place["fail"], reads: number): Store {
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]): Promise<unknown> =>
        fail(async () => (await Reflect.apply(member, target, args)) as unknown, name === "get" ? reads : 1);
    },
  });
}

/** Options of a history that tests set. */
export interface HistoryOptions {
  /** Wraps the store of every writer: a fault that is planted. */
  readonly plant?: (store: Store) => Store;
  /** A writer that makes calls again though they are in doubt. */
  readonly repeatsInDoubt?: boolean;
  /** The store; default: a durable one in memory. */
  readonly store?: Store;
  /** Odds of a failure, of one operation of the store. */
  readonly rate?: number;
}

type Outcome = "accepted" | "in doubt" | "refused";

const START = Date.UTC(2026, 5, 1, 9);
const HOUR = 3_600_000;
const KEY = new Uint8Array(32).fill(7);
const ATTEMPTS = 12;

/** Runs one history and says what is wrong. */
export async function checkHistory(
  path: Path,
  dice: Dice,
  options: HistoryOptions = {},
): Promise<HistoryResult> {
  const clean = options.store ?? durableMemory();
  const rate = options.rate ?? dice.pick([0, 0.02, 0.1, 0.3]);
  const injector: Injector = { dice, rate, injected: 0 };
  let now = START;
  const limit = { epsilon: 1e6, delta: 1 };
  const odometer = await openOdometer({ name: "odometer", store: durableMemory(), key: KEY, limit });
  let made: { readonly value: unknown } | undefined;
  const shared = <T>(make: () => T): T => (made ??= { value: make() }).value as T;
  const place = (store: Store, fail: Place["fail"]): Place => ({
    ...{ store, odometer, clock: () => now, shared, fail },
  });
  const planted = options.plant ?? ((store: Store): Store => store);
  const open = (): Writer => {
    const fail = failingCalls(injector);
    return path.open(place(planted(failing(clean, fail, path.reads ?? 1)), fail));
  };
  const history = new History(path);
  // One writer is never killed: it publishes what others accepted, however long they are away.
  const last = open();
  const writers = path.alone === true ? [last] : Array.from({ length: 1 + dice.below(path.writers) }, open);
  await history.publishSurely(last);
  const items = Array.from({ length: 4 + dice.below(path.items - 3) }, (_, i) => i);
  for (let next = 0; next < items.length;) {
    const round: Promise<void>[] = [];
    for (const [w, writer] of writers.entries()) {
      const batch = items.slice(next, next + dice.pick([1, 1, 2, 3]));
      next += batch.length;
      if (batch.length > 0) round.push(history.send(writer, batch, options.repeatsInDoubt === true));
      if (dice.chance(0.3)) round.push(history.read(writer));
      if (dice.chance(0.15)) round.push(history.publish(writer));
      if (path.alone !== true && dice.chance(0.1)) writers[w] = open(); // killed: what it was doing goes on unheard
    }
    await Promise.all(round);
    if (!dice.chance(0.2)) continue;
    await history.publishSurely(last); // it has the newest state, and the others wait
    now += HOUR;
    await history.publishSurely(last);
  }
  injector.rate = 0;
  await history.publishSurely(last);
  now += 2 * HOUR;
  await history.publishSurely(last);
  await again(() => last.close());
  const reader = path.open(place(clean, (act) => act()));
  await history.read(reader);
  return { ...history.verdict(odometer), injected: injector.injected };
}

/** A call that fails so often fails always. Of 2,700 histories of `release --state`, two had runs that failed a hundred times. */
const MOST_ATTEMPTS = 1000;

/** Makes a call until it succeeds, one that may always be made again, and gives how many attempts it took. */
async function again(act: () => Promise<void>): Promise<number> {
  for (let attempt = 1; ; attempt++)
    try {
      await act();
      return attempt;
    } catch (error) {
      if (attempt === MOST_ATTEMPTS) throw error;
    }
}

class History {
  readonly #path: Path;
  readonly #outcomes = new Map<number, Outcome>();
  readonly #published = new Map<string, number>();
  readonly #faults: string[] = [];
  #calls = 0;

  constructor(path: Path) {
    this.#path = path;
  }

  async send(writer: Writer, items: readonly number[], repeatsInDoubt: boolean): Promise<void> {
    const outcome = await this.#send(writer, items, repeatsInDoubt);
    for (const item of items) this.#outcomes.set(item, outcome);
  }

  async #send(writer: Writer, items: readonly number[], repeatsInDoubt: boolean): Promise<Outcome> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++)
      try {
        this.#calls++;
        await writer.send(items);
        return "accepted";
      } catch (error) {
        const { retryable, code } = error as { retryable?: boolean; code?: string };
        if (retryable !== true && !(repeatsInDoubt && code === "in-doubt")) {
          if (code !== "in-doubt") this.#faults.push(`neither retryable nor in doubt: ${String(error)}`);
          return "in doubt";
        }
      }
    return "refused";
  }

  async read(writer: Writer): Promise<void> {
    let published: ReadonlyMap<string, number>;
    try {
      published = await writer.read();
    } catch {
      return; // the store failed: nothing was said
    }
    for (const [place, number] of published) {
      const before = this.#published.get(place);
      if (before !== undefined && before !== number)
        this.#faults.push(`${place}: published as ${before}, then as ${number}`);
      this.#published.set(place, number);
    }
  }

  /** Marks items accepted so far as in doubt: they count once or never. */
  #mayMiss(): void {
    if (this.#path.misses !== true) return;
    for (const [item, outcome] of this.#outcomes)
      if (outcome === "accepted") this.#outcomes.set(item, "in doubt");
  }

  async publish(writer: Writer): Promise<void> {
    await writer.publish().catch(() => this.#mayMiss());
  }

  async publishSurely(writer: Writer): Promise<void> {
    if ((await again(() => writer.publish())) > 1) this.#mayMiss();
  }

  verdict(odometer: Odometer): Omit<HistoryResult, "injected"> {
    const faults = [...this.#faults];
    const counted = this.#path.counted(this.#published);
    const outcomes = [...this.#outcomes.values()];
    const accepted = outcomes.filter((outcome) => outcome === "accepted").length;
    const inDoubt = outcomes.filter((outcome) => outcome === "in doubt").length;
    if (this.#path.alike !== true) faults.push(...this.#itemFaults(counted));
    // Held-out items are in no number. All of them are there once anything is published.
    const { heldOut } = this.#path;
    const published = [...counted.values()].reduce((sum, times) => sum + times, 0);
    if (published > 0 && published + heldOut > accepted + inDoubt)
      faults.push(`${accepted} accepted and ${inDoubt} in doubt, but ${published + heldOut} counted`);
    if (published + heldOut < accepted)
      faults.push(`${accepted} accepted, but ${published + heldOut} counted`);
    const charged = new Set(
      odometer.statement().data.flatMap(({ releases }) => releases.map(({ name }) => name)),
    );
    for (const release of this.#path.releases)
      if (!charged.has(release)) faults.push(`odometer: ${release} is not charged`);
    return { faults, calls: this.#calls, inDoubt };
  }

  #itemFaults(counted: ReadonlyMap<number, number>): string[] {
    const faults: string[] = [];
    for (const [item, outcome] of this.#outcomes) {
      const times = counted.get(item) ?? 0;
      const [least, most] = [outcome === "accepted" ? 1 : 0, outcome === "refused" ? 0 : 1];
      if (times < least || times > most) faults.push(`item ${item}: ${outcome}, counted ${times} times`);
    }
    for (const item of counted.keys())
      if (!this.#outcomes.has(item)) faults.push(`item ${item}: nobody sent it`);
    return faults;
  }
}

/**
 * Snapshots in a folder of log files 1, 2, 3, …, for many streams and many processes on one machine. Only the newest file
 * is written, by the process that created it: a batch of snapshots is one write and one flush.
 *
 * A process that wants to write creates the next file first, and only then reads how far the older files go. Its first
 * append says so, and what is written to them later does not count. A writer looks for a newer file after each flush,
 * before it reports success. If there is none, every later writer sees its append. If there is one, the first append of the
 * newer file says whether the writer's append counts. This needs no lock, so a killed process locks nobody out.
 *
 * Readers change nothing: what they read counts if no newer file exists afterwards.
 *
 * A file that was damaged after it was written is an error: without its newer writes the streams would go on from an older
 * state, and put the same noise on other sums.
 */
import { type Append, encodeAppend, type Entry, hasAppend, type LogRecord, readAppends } from "./log.js";
import { type LogFiles, LogFolder } from "./logFolder.js";
import { conflict, finalConflicts, sameBytes, type Store, StoreError, type StoredSnapshot } from "./store.js";

export interface LogLimits {
  /** A file is full at this size. Replaced snapshots take up to as much space as the newest ones, and two full files. */
  readonly full: number;
  /** Bytes that are copied at once when an old file is emptied: they delay the call that copies them. */
  readonly copied: number;
  readonly files: number;
  /** How long a reader waits for the first append of a file, in milliseconds: after that its writer was killed. */
  readonly patience: number;
}

export const LIMITS: LogLimits = { full: 64 * 2 ** 20, copied: 2 ** 22, files: 16, patience: 1000 };

/** The outcome for a record: it is appended, stored already, does not follow, or nobody knows. */
type Verdict = "append" | "stored" | "refused" | "unknown";

type PutRecord = LogRecord & { readonly bytes: Uint8Array };

interface Place extends Entry {
  readonly file: number;
}

interface LogFile {
  /** How much of it was read and counts. */
  end: number;
  /** Bytes in it that are the newest snapshots of their streams. */
  live: number;
}

/** @param folder made if it is missing */
export const fileStore = (folder: string): Store => logStore(new LogFolder(folder), LIMITS);

export function logStore(folder: LogFiles, limits: LogLimits): Store {
  const log = new Log(folder, limits);
  return finalConflicts({
    durable: true,
    get: (name) => log.get(name),
    async put(name, sequence, bytes) {
      const [stored] = await log.putMany([{ name, sequence, bytes }]);
      if (!stored) throw conflict(name, sequence);
    },
    putMany: (snapshots) => log.putMany(snapshots),
    names: () => log.names(),
    async remove(name, sequence) {
      if (!(await log.remove(name, sequence))) throw conflict(name, sequence);
    },
  });
}

class Log {
  readonly #folder: LogFiles;
  readonly #limits: LogLimits;
  /** Ascending. */
  readonly #files = new Map<number, LogFile>();
  readonly #newest = new Map<string, Place>();
  /** The file that this process writes; 0 if it writes none. */
  #own = 0;
  #running: Promise<unknown> = Promise.resolve();

  constructor(folder: LogFiles, limits: LogLimits) {
    this.#folder = folder;
    this.#limits = limits;
  }

  get(name: string): Promise<StoredSnapshot | undefined> {
    return this.#run(async () => {
      for (;;) {
        await this.#refresh();
        const place = this.#newest.get(name);
        if (place === undefined) return undefined;
        const bytes = await this.#read(place);
        if (bytes !== undefined) return { sequence: place.sequence, bytes };
        this.#forget(); // another process emptied and removed that file
      }
    });
  }

  names(): Promise<string[]> {
    return this.#run(async () => {
      await this.#refresh();
      return [...this.#newest.keys()];
    });
  }

  putMany(records: readonly PutRecord[]): Promise<boolean[]> {
    return this.#run(() => this.#append(records, (record, lost) => this.#judgePut(record, lost)));
  }

  async remove(name: string, sequence: number): Promise<boolean> {
    const judge = (_: LogRecord, lost: boolean): Verdict => {
      const newest = this.#newest.get(name)?.sequence;
      if (newest === sequence) return "append";
      return newest === undefined && lost ? "stored" : "refused";
    };
    const [removed] = await this.#run(() => this.#append([{ name, sequence: 0 }], judge));
    return removed!;
  }

  /** One call at a time. */
  #run<T>(act: () => Promise<T>): Promise<T> {
    const turn = this.#running.then(act);
    this.#running = turn.catch(() => undefined);
    return turn;
  }

  /** Appends those records that follow, and says which records are stored now. */
  async #append<R extends LogRecord>(
    records: readonly R[],
    judge: (record: R, lost: boolean) => Verdict | Promise<Verdict>,
  ): Promise<boolean[]> {
    for (let lost = false; ;) {
      if (this.#own === 0 || (await this.#folder.newest()) !== this.#own) await this.#takeOver();
      const verdicts: Verdict[] = [];
      for (const record of records) verdicts.push(await judge(record, lost));
      if (verdicts.includes("unknown"))
        throw new Error("fileStore: another process removed the file of a write");
      if (this.#own === 0) continue; // a file was removed while its bytes were compared: judge again
      const stored = verdicts.map((verdict) => verdict !== "refused");
      const appended = records.filter((_, i) => verdicts[i] === "append");
      if (appended.length === 0) return stored;
      const own = this.#own;
      const append = await this.#write(appended);
      if (append === undefined) continue;
      if ((await this.#folder.newest()) === own) {
        this.#add(own, append);
        await this.#tidy();
        return stored;
      }
      await this.#takeOver();
      const end = this.#files.get(own)?.end;
      if (end !== undefined && end >= append.end) return stored;
      // The append came too late to count, or counted in a file that others have emptied since: judge again.
      lost ||= end === undefined;
    }
  }

  /** @param lost whether an earlier write of the record may have counted */
  async #judgePut({ name, sequence, bytes }: PutRecord, lost: boolean): Promise<Verdict> {
    const place = this.#newest.get(name);
    const newest = place?.sequence ?? 0;
    if (newest === sequence - 1) return "append";
    if (newest > sequence && lost) return "unknown";
    if (newest !== sequence || place?.length !== bytes.length) return "refused";
    const stored = await this.#read(place);
    if (stored === undefined) this.#forget(); // another process emptied and removed that file
    return stored !== undefined && sameBytes(stored, bytes) ? "stored" : "refused";
  }

  /**
   * After a failed write nobody knows what the disk has: this process leaves the file, and reads it before it writes again.
   * Undefined if the file is gone, because another process took over and removed it.
   */
  async #write(records: readonly LogRecord[]): Promise<Append | undefined> {
    const own = this.#own;
    const { end } = this.#files.get(own)!;
    const { bytes, append } = encodeAppend(records, end);
    this.#own = 0;
    if (!(await this.#folder.append(own, bytes, end))) return undefined;
    this.#own = own;
    return append;
  }

  /** Creates the next file, reads the older ones, and writes down how far they count. */
  async #takeOver(): Promise<void> {
    for (;;) {
      const number = (await this.#folder.newest()) + 1;
      if (!(await this.#folder.create(number))) continue;
      if ((await this.#folder.newest()) !== number) {
        await this.#folder.remove(number); // others had it, and went on: its number is not used again
        continue;
      }
      if ((await this.#readBelow(number)) === "gone") continue;
      const ends = [...this.#files].map(([file, { end }]) => ({ name: String(file), sequence: end }));
      this.#files.set(number, { end: 0, live: 0 });
      this.#own = number;
      const append = await this.#write(ends).catch((error: unknown) => {
        this.#forget(); // the file stays without a first append, and counts nothing
        throw error;
      });
      if (append === undefined) {
        this.#files.delete(number);
        continue;
      }
      await this.#folder.flushNames();
      this.#files.get(number)!.end = append.end;
      if ((await this.#folder.newest()) !== number) continue;
      for (const older of await this.#folder.numbers())
        if (older < number && !this.#files.has(older)) await this.#folder.remove(older); // it counts nothing
      return;
    }
  }

  /** Brings the index up to date for a reader. */
  async #refresh(): Promise<void> {
    for (const start = performance.now(); ;) {
      const newest = await this.#folder.newest();
      if (newest === this.#own && newest > 0) return; // nobody else writes: the index is complete
      this.#own = 0;
      const read = await this.#readBelow(newest + 1);
      if (read === "complete" && (await this.#folder.newest()) === newest) return;
      if (read !== "begun") continue;
      if (performance.now() - start > this.#limits.patience) return this.#takeOver();
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  /**
   * Reads what the files below `limit` have and the index has not. Gives "begun" if the newest of them has no first append
   * yet: how far the older ones count is not known then. Gives "gone" if another process emptied and removed a file
   * meanwhile: newer ones have what it had.
   */
  async #readBelow(limit: number): Promise<"complete" | "begun" | "gone"> {
    const numbers = (await this.#folder.numbers()).filter((number) => number < limit);
    const newest = numbers.at(-1) ?? 0;
    if ([...this.#files.keys()].some((known) => known > newest)) this.#forget(); // the folder was replaced
    for (const number of numbers.toReversed()) {
      const built = this.#files.has(number) || (await this.#rebuild(number));
      if (built === false) continue; // it has no first append
      if (built === undefined || !(await this.#readTail(number))) {
        this.#forget();
        return "gone";
      }
      return number === newest ? "complete" : "begun";
    }
    return numbers.length === 0 ? "complete" : "begun";
  }

  /**
   * Builds the index again from a file that this process has not seen. Gives false if it has no first append, and undefined
   * if it is gone.
   */
  async #rebuild(number: number): Promise<boolean | undefined> {
    const bytes = await this.#folder.read(number, 0);
    if (bytes === undefined) return undefined;
    const [first] = appendsOf(bytes, 0);
    if (first === undefined) return false;
    await this.#folder.flush(number); // its writer may have been killed before it did, and others say that it counts
    this.#forget();
    for (const { name, sequence: end } of first.entries) {
      const file = Number(name);
      const piece = await this.#folder.read(file, 0, end);
      if (piece === undefined) continue; // emptied and removed: what it had is in the tail of the newest one
      this.#files.set(file, { end: 0, live: 0 });
      const appends = appendsOf(piece, 0);
      if ((appends.at(-1)?.end ?? 0) !== end) throw damaged();
      for (const append of appends.slice(1)) this.#add(file, append);
      this.#files.get(file)!.end = end;
    }
    this.#files.set(number, { end: first.end, live: 0 });
    return true;
  }

  /** Gives false if the file is gone. */
  async #readTail(number: number): Promise<boolean> {
    const { end } = this.#files.get(number)!;
    const bytes = await this.#folder.read(number, end);
    if (bytes === undefined) return false;
    const appends = appendsOf(bytes, end);
    if (appends.length > 0) await this.#folder.flush(number); // what counts survives a power cut
    for (const append of appends) this.#add(number, append);
    return true;
  }

  #forget(): void {
    this.#files.clear();
    this.#newest.clear();
    this.#own = 0;
  }

  #add(file: number, { entries, end }: Append): void {
    for (const entry of entries) {
      const before = this.#newest.get(entry.name);
      if (before !== undefined) this.#files.get(before.file)!.live -= before.length;
      if (entry.sequence === 0) this.#newest.delete(entry.name);
      else this.#newest.set(entry.name, { ...entry, file });
      this.#files.get(file)!.live += entry.length;
    }
    this.#files.get(file)!.end = end;
  }

  /** Undefined if another process removed the file. */
  async #read({ file, start, length }: Place): Promise<Buffer | undefined> {
    const bytes = await this.#folder.read(file, start, start + length);
    return bytes?.length === length ? bytes : undefined;
  }

  /** Begins another file when this one is full. Empties the oldest one while replaced snapshots take too much space. */
  async #tidy(): Promise<void> {
    const { full, copied, files: most } = this.#limits;
    if (this.#files.get(this.#own)!.end > full) await this.#takeOver();
    const files = [...this.#files.values()];
    const total = files.reduce((sum, { end }) => sum + end, 0);
    const live = files.reduce((sum, file) => sum + file.live, 0);
    const [oldest] = this.#files.keys();
    if (oldest === this.#own || (total < 2 * live + 2 * full && files.length <= most)) return;
    const copies: LogRecord[] = [];
    let size = 0;
    for (const [name, place] of this.#newest) {
      if (place.file !== oldest || size > copied) continue;
      const bytes = await this.#read(place);
      if (bytes === undefined) return this.#forget();
      copies.push({ name, sequence: place.sequence, bytes });
      size += place.length;
    }
    if (copies.length > 0) {
      const append = await this.#write(copies);
      if (append === undefined || (await this.#folder.newest()) !== this.#own) return; // the next call reads what counts
      this.#add(this.#own, append);
    }
    if (size > copied) return;
    this.#files.delete(oldest!);
    await this.#folder.remove(oldest!);
  }
}

/** The complete appends of a piece of a file; throws if there are more behind one that is not complete. */
function appendsOf(piece: Buffer, start: number): Append[] {
  const appends = readAppends(piece, start);
  if (hasAppend(piece, (appends.at(-1)?.end ?? start) - start + 1)) throw damaged();
  return appends;
}

const damaged = (): StoreError =>
  new StoreError(
    "invalid",
    "fileStore: a log of the folder is damaged in the middle; streams cannot resume from it",
  );

/**
 * The folder of --state. A run makes the next snapshot the newest one by its last step, so a run that is killed has
 * published nothing.
 *
 *     DIR/release.json     the public options of the release
 *     DIR/run-1, run-2, …  the encrypted snapshot after each run; the newest one counts
 *     DIR/claim-1, …       which runs came to their last step
 *     DIR/lock             the run that is going on (runLock.ts)
 *
 * Two runs that continue the same snapshot would put the same noise on other events. The lock keeps them apart; if it is
 * removed, the claims still do. A run first claims a number above all others, then checks that the snapshot it continues
 * is still the newest, then renames its own, then checks that nobody has claimed a higher number. Of two runs, the one
 * with the lower number renamed before the other checked, which then refuses, or sees the higher claim, and refuses itself.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DataError, UsageError } from "./command.js";
import { tell } from "./tell.js";
import { inWords } from "./systemErrors.js";

/** Public record of a release, for a later run and `brume query`. */
export interface StoredRelease {
  /** Options of the stream. */
  readonly options: Record<string, unknown>;
  /** How they were given on the command line: another run may give them again, not others. */
  readonly flags: Record<string, string>;
  /** Groups; undefined if the release has none. */
  readonly keys: readonly string[] | undefined;
  /** δ of votes for groups that nobody listed; undefined if all are listed. */
  readonly discover?: number | undefined;
  /** When the first period starts, at the earliest. */
  readonly from: number;
  readonly columns: Record<string, string | undefined>;
}

const RUN = /^run-(\d+)$/;
const CLAIM = /^claim-(\d+)$/;
/** The newest claim is what a late run must see; the others are a reserve for folders that are listed while they change. */
const KEPT_CLAIMS = 16;

const numbersOf = (names: readonly string[], kind: RegExp): number[] =>
  names.flatMap((name) => kind.exec(name)?.[1] ?? []).map(Number);

const newestOf = (names: readonly string[], kind: RegExp): number => Math.max(0, ...numbersOf(names, kind));

export class EventState {
  readonly #folder: string;
  readonly #newest: number;
  readonly release: StoredRelease | undefined;
  readonly key: Uint8Array;

  private constructor(folder: string, newest: number, release: StoredRelease | undefined, key: Uint8Array) {
    this.#folder = folder;
    this.#newest = newest;
    this.release = release;
    this.key = key;
  }

  /** @param keyPath a file with 32 secret bytes in hexadecimal; made if there is no release yet */
  static async open(folder: string, keyPath: string, readOnly = false): Promise<EventState> {
    const names = await readdir(folder).catch((reason: NodeJS.ErrnoException) => {
      if (reason.code === "ENOENT") return [];
      throw new DataError(`--state: cannot read ${folder}: ${inWords(reason)}`);
    });
    const newest = newestOf(names, RUN);
    if (newest === 0 && readOnly)
      throw new UsageError(
        `--state: expected a release in ${folder}, got none; brume release --every makes one`,
      );
    const release = newest === 0 ? undefined : await readRelease(join(folder, "release.json"));
    return new EventState(folder, newest, release, await readKey(keyPath, newest === 0));
  }

  /** The newest snapshot; undefined before the first run. */
  async snapshot(): Promise<Uint8Array | undefined> {
    if (this.#newest === 0) return undefined;
    const path = join(this.#folder, `run-${this.#newest}`);
    return readFile(path).catch((reason: unknown) => {
      const isOld = (reason as NodeJS.ErrnoException).code === "EISDIR";
      throw new DataError(
        isOld
          ? `--state: ${this.#folder} was made by an earlier version of brume, whose releases cannot be continued; take another folder`
          : `--state: cannot read ${path}: ${inWords(reason)}`,
      );
    });
  }

  /** An empty file for the snapshot of this run: a folder that cannot be written fails now, not at the end. */
  async begin(): Promise<string> {
    const part = join(this.#folder, `part-${randomUUID()}`);
    await writeFile(part, "", { flag: "wx", mode: 0o600 });
    return part;
  }

  /** Makes a snapshot the newest one. Fails if another run continued the same one. @param part what `begin` gave */
  async finish(part: string, snapshot: Uint8Array, release: StoredRelease): Promise<void> {
    const file = await open(part, "r+");
    try {
      await file.writeFile(snapshot);
      await file.sync();
    } finally {
      await file.close();
    }
    const before = await readdir(this.#folder);
    const number = Math.max(newestOf(before, RUN), newestOf(before, CLAIM)) + 1;
    const place = (kind: string, n = number) => join(this.#folder, `${kind}-${n}`);
    try {
      await writeFile(place("claim"), "", { flag: "wx" });
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code === "EEXIST") throw this.#overtaken();
      throw reason;
    }
    if (newestOf(await readdir(this.#folder), RUN) !== this.#newest) throw this.#overtaken();
    if (this.#newest === 0)
      await writeFile(join(this.#folder, "release.json"), `${JSON.stringify(release, null, 2)}\n`);
    await rename(part, place("run"));
    const after = await readdir(this.#folder);
    if (newestOf(after, CLAIM) !== number) throw this.#overtaken();
    if (this.#newest > 0) await rm(place("run", this.#newest), { force: true });
    for (const claimed of numbersOf(after, CLAIM))
      if (claimed <= number - KEPT_CLAIMS) await rm(place("claim", claimed), { force: true });
  }

  #overtaken(): DataError {
    return new DataError(
      `--state: another run on ${this.#folder} ended first; nothing was published, run this one again`,
    );
  }

  async discard(part: string): Promise<void> {
    await rm(part, { force: true });
  }
}

async function readRelease(path: string): Promise<StoredRelease> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as StoredRelease;
  } catch {
    throw new DataError(
      `--state: expected ${path}, written by brume release --every, got none or another file`,
    );
  }
}

/** The key in a file; made where a release begins. */
export async function readKey(path: string, isNew: boolean): Promise<Uint8Array> {
  if (isNew) {
    const key = randomBytes(32);
    try {
      await writeFile(path, `${key.toString("hex")}\n`, { flag: "wx", mode: 0o600 });
      tell(`Wrote a new key to ${path}. It opens the state: keep it, and keep it apart from the state.`);
      return key;
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== "EEXIST")
        throw new DataError(`--key: cannot write ${path}: ${inWords(reason)}`);
    }
  }
  const text = await readFile(path, "utf8").catch((reason: unknown) => {
    throw new DataError(`--key: cannot read ${path}: ${inWords(reason)}`);
  });
  const key = Buffer.from(text.trim(), /^[0-9a-f]{64}\s*$/i.test(text) ? "hex" : "base64");
  if (key.length !== 32)
    throw new DataError(`--key: expected 32 bytes in ${path}, in hexadecimal or base64, got something else`);
  return key;
}

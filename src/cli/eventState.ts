/**
 * The folder of --state. A run works on a copy of the newest snapshots and makes it the newest one by its last step, so a
 * run that is killed leaves nothing behind, and of two runs at the same time one fails and publishes nothing.
 *
 *     DIR/release.json     the public options of the release
 *     DIR/run-1, run-2, …  snapshots after each run; the newest one counts
 */
import { randomBytes, randomUUID } from "node:crypto";
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DataError, UsageError } from "./command.js";
import { inWords } from "./systemErrors.js";

/** What a later run and `brume query` need to know. Public. */
export interface StoredRelease {
  /** Of the metric, but for its keys. */
  readonly options: Record<string, unknown>;
  /** Groups; undefined if the release has none. */
  readonly keys: readonly string[] | undefined;
  /** When the first tick starts. */
  readonly from: number;
  readonly columns: Record<string, string | undefined>;
}

const RUN = /^run-(\d+)$/;

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
    const runs = names.map((name) => Number(RUN.exec(name)?.[1] ?? 0));
    const newest = Math.max(0, ...runs);
    if (newest === 0 && readOnly)
      throw new UsageError(
        `--state: expected a release in ${folder}, got none; brume release --every makes one`,
      );
    const release = newest === 0 ? undefined : await readRelease(join(folder, "release.json"));
    return new EventState(folder, newest, release, await readKey(keyPath, newest === 0));
  }

  /** The newest snapshots, to be read only. */
  get current(): string {
    return join(this.#folder, `run-${this.#newest}`);
  }

  /** A copy to work on. */
  async begin(): Promise<string> {
    await mkdir(this.#folder, { recursive: true });
    const copy = join(this.#folder, `part-${randomUUID()}`);
    if (this.#newest === 0) await mkdir(copy);
    else await cp(this.current, copy, { recursive: true });
    return copy;
  }

  /** Makes a copy the newest state. Fails if another run did so in the meantime. */
  async finish(copy: string, release: StoredRelease): Promise<void> {
    if (this.#newest === 0)
      await writeFile(join(this.#folder, "release.json"), `${JSON.stringify(release, null, 2)}\n`);
    try {
      await rename(copy, join(this.#folder, `run-${this.#newest + 1}`));
    } catch {
      throw new DataError(`--state: another run on ${this.#folder} ended first; run this one again`);
    }
    if (this.#newest > 0) await rm(this.current, { recursive: true, force: true });
  }

  async discard(copy: string): Promise<void> {
    await rm(copy, { recursive: true, force: true });
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

async function readKey(path: string, isNew: boolean): Promise<Uint8Array> {
  if (isNew) {
    const key = randomBytes(32);
    try {
      await writeFile(path, `${key.toString("hex")}\n`, { flag: "wx", mode: 0o600 });
      process.stderr.write(
        `Wrote a new key to ${path}. It opens the state: keep it, and keep it apart from the state.\n`,
      );
      return key;
    } catch (reason) {
      if ((reason as NodeJS.ErrnoException).code !== "EEXIST")
        throw new DataError(`--key: cannot write ${path}: ${inWords(reason)}`);
    }
  }
  const text = await readFile(path, "utf8").catch((reason: unknown) => {
    throw new DataError(`--key: cannot read ${path}: ${inWords(reason)}`);
  });
  if (!/^[0-9a-f]{64}\s*$/i.test(text))
    throw new DataError(`--key: expected 64 hexadecimal digits in ${path}, got something else`);
  return Buffer.from(text.trim(), "hex");
}

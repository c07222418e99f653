/**
 * Snapshots as files: <folder>/<SHA-256 of the name>/<sequence>.
 *
 * A snapshot is written to a draft, flushed, and then linked to its number: a number never names half a snapshot.
 * Linking fails if the number exists, so if two processes continue the same snapshot, one of them succeeds. Numbers are
 * removed in ascending order, and only below one that exists. A process that finds the number before its own removed
 * came too late, and removes its own. The first number stays as an empty file: a stream cannot begin twice.
 * Readers change nothing. Drafts of killed processes are removed by the process that stores their number or a later one.
 */
import { createHash, randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, stat, truncate, unlink } from "node:fs/promises";
import { join } from "node:path";
import { conflict, type Store } from "./store.js";

const DRAFT = ".draft";

/** @param folder made if it is missing; one store may serve many streams and processes on one machine */
export function fileStore(folder: string): Store {
  const placeOf = (name: string) => join(folder, createHash("sha256").update(name).digest("hex"));
  return {
    durable: true,
    async get(name) {
      const place = placeOf(name);
      for (;;) {
        const sequence = Math.max(0, ...numbers(await namesIn(place)));
        if (sequence === 0) return undefined;
        const bytes = await readIfThere(join(place, String(sequence)));
        if (bytes.length > 0) return { sequence, bytes }; // else a writer removed it: there is a newer one
      }
    },
    async put(name, sequence, bytes) {
      const place = placeOf(name);
      if (sequence === 1) await makeFolder(folder, place);
      if (!(await hasPrevious(place, sequence))) throw conflict(name, sequence);
      const draft = `${sequence}.${randomUUID()}${DRAFT}`;
      try {
        await writeFlushed(join(place, draft), bytes);
        await link(join(place, draft), join(place, String(sequence)));
      } catch (error) {
        // A draft disappears when another process has stored this number.
        throw isTaken(error) || isMissing(error) ? conflict(name, sequence) : error;
      } finally {
        await remove(place, draft);
      }
      if (!(await hasPrevious(place, sequence))) {
        await remove(place, String(sequence));
        throw conflict(name, sequence);
      }
      await flushFolder(place);
      const names = await namesIn(place);
      for (const older of numbers(names).filter((number) => number < sequence))
        await remove(place, String(older));
      for (const other of names)
        if (other.endsWith(DRAFT) && Number.parseInt(other) <= sequence) await remove(place, other);
    },
  };
}

/** No bytes if the file is gone. */
async function readIfThere(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (error) {
    if (isMissing(error)) return new Uint8Array(0);
    throw error;
  }
}

async function namesIn(place: string): Promise<string[]> {
  try {
    return await readdir(place);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

const numbers = (names: string[]): number[] =>
  names
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);

async function makeFolder(folder: string, place: string): Promise<void> {
  await mkdir(place, { recursive: true });
  await flushFolder(folder);
}

async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** An emptied file counts as gone. */
async function hasPrevious(place: string, sequence: number): Promise<boolean> {
  if (sequence === 1) return true;
  try {
    return (await stat(join(place, String(sequence - 1)))).size > 0;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Removes a file that may be gone already; the first number is emptied instead. */
async function remove(place: string, file: string): Promise<void> {
  try {
    await (file === "1" ? truncate(join(place, file)) : unlink(join(place, file)));
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

/** Makes new and removed names survive a power cut, where folders can be opened for that. */
async function flushFolder(place: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(place, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === code;
const isTaken = (error: unknown) => hasCode(error, "EEXIST");
const isMissing = (error: unknown) => hasCode(error, "ENOENT");

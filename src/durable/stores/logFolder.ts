/** The log files of a folder, as bytes: 1.log, 2.log, … Files are opened for each call, so that none stays open. */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";

/** Operations on its folder that a log needs. */
export type LogFiles = { readonly [Method in keyof LogFolder]: LogFolder[Method] };

export class LogFolder {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The numbers of its files, ascending. */
  async numbers(): Promise<number[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (hasCode(error, "ENOENT")) return [];
      throw error;
    });
    return names
      .flatMap((name) => /^(\d+)\.log$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => a - b);
  }

  /** The number of its newest file; 0 if there is none. */
  async newest(): Promise<number> {
    return (await this.numbers()).at(-1) ?? 0;
  }

  /** Creates an empty file; false if it exists. */
  async create(number: number): Promise<boolean> {
    await mkdir(this.#folder, { recursive: true });
    try {
      await (await open(this.#path(number), "wx", 0o600)).close();
      return true;
    } catch (error) {
      if (hasCode(error, "EEXIST")) return false;
      throw error;
    }
  }

  /**
   * Appends and flushes; false if the file is gone.
   * @param end how long the file must be: another length means that somebody changed it
   */
  async append(number: number, bytes: Uint8Array, end: number): Promise<boolean> {
    const done = await this.#with(number, constants.O_RDWR, async (file) => {
      if ((await file.stat()).size !== end) {
        if ((await this.newest()) !== number) return false; // others went on, and removed the file that had this number
        throw new Error(
          "fileStore: another program changed the folder of this store; open the streams again",
        );
      }
      const { bytesWritten } = await file.write(bytes, 0, bytes.length, end);
      if (bytesWritten !== bytes.length) throw new Error("fileStore: the disk is full");
      await file.datasync();
      return true;
    });
    return done ?? false;
  }

  /** Bytes [start, end) of a file, or fewer if it ends before; undefined if the file is gone. */
  read(number: number, start: number, end = Infinity): Promise<Buffer | undefined> {
    return this.#with(number, constants.O_RDONLY, async (file) => {
      const size = Math.min(end, (await file.stat()).size) - start;
      const buffer = Buffer.allocUnsafe(Math.max(0, size));
      let done = 0;
      for (let more = 1; done < buffer.length && more > 0; done += more)
        more = (await file.read(buffer, done, buffer.length - done, start + done)).bytesRead;
      return buffer.subarray(0, done);
    });
  }

  /** Makes what a file has survive a power cut, no matter which process wrote it. */
  async flush(number: number): Promise<void> {
    await this.#with(number, constants.O_RDWR, (file) => file.datasync());
  }

  /** Makes new and removed files survive a power cut, where folders can be opened for that. */
  async flushNames(): Promise<void> {
    if (process.platform === "win32") return;
    const folder = await open(this.#folder, "r");
    await folder.sync().finally(() => folder.close());
  }

  /** Removes a file that may be gone. */
  async remove(number: number): Promise<void> {
    await unlink(this.#path(number)).catch((error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
    });
  }

  /** Undefined if the file is gone. */
  async #with<T>(
    number: number,
    flags: number,
    act: (file: FileHandle) => Promise<T>,
  ): Promise<T | undefined> {
    const file = await open(this.#path(number), flags).catch((error: unknown) => {
      if (!hasCode(error, "ENOENT")) throw error;
    });
    if (file === undefined) return undefined;
    try {
      return await act(file);
    } finally {
      await file.close();
    }
  }

  #path(number: number): string {
    return join(this.#folder, `${number}.log`);
  }
}

const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).code === code;

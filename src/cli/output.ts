/** Where results go: standard output as they come, or a file that is created atomically when it is complete; gzip or not. */
import { rmSync } from "node:fs";
import { type FileHandle, open, rename, stat } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import type { Gzip } from "node:zlib";
import { type Arguments, DataError } from "./command.js";
import { inWords } from "./systemErrors.js";

export interface Sink {
  /** Resolves when the bytes are needed no longer: a slow reader slows the writer. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Makes the file appear under its name. */
  done(): Promise<void>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

/** The file that an option names, or else its default. A file that cannot be written fails now, not at the end. */
export async function openSink(args: Arguments, option: string, otherwise: Sink): Promise<Sink> {
  const path = args.text(option);
  return path === undefined ? otherwise : WholeFile.open(path, option);
}

export const standardOutput: Sink = {
  write: (bytes) => new Promise((resolve) => process.stdout.write(bytes, () => resolve())),
  done: () => Promise.resolve(),
  discard: () => Promise.resolve(),
};

export const nowhere: Sink = {
  write: () => Promise.resolve(),
  done: () => Promise.resolve(),
  discard: () => Promise.resolve(),
};

/** Compresses what is written as gzip. zlib runs on a thread of its own, while this one makes the next bytes. */
export async function gzipped(sink: Sink): Promise<Sink> {
  const { createGzip } = await import("node:zlib");
  const gzip: Gzip = createGzip();
  const pumped = (async () => {
    for await (const piece of gzip as AsyncIterable<Buffer>) await sink.write(piece);
  })();
  pumped.catch((reason: unknown) => gzip.destroy(reason as Error));
  return {
    write: (bytes) =>
      new Promise((resolve, reject) => gzip.write(bytes, (reason) => (reason ? reject(reason) : resolve()))),
    async done() {
      gzip.end();
      await pumped;
      await sink.done();
    },
    async discard() {
      gzip.destroy();
      await pumped.catch(() => undefined); // it was stopped
      await sink.discard();
    },
  };
}

/** Written under another name in the same folder, then renamed. */
class WholeFile implements Sink {
  readonly #path: string;
  readonly #option: string;
  readonly #temporary: string;
  #file: FileHandle | undefined;
  /** For an exit nobody waits for: the reader of standard output has gone. */
  readonly #sweep = () => rmSync(this.#temporary, { force: true });

  private constructor(path: string, option: string) {
    this.#path = path;
    this.#option = option;
    this.#temporary = `${path}.${randomUUID()}.part`;
  }

  static async open(path: string, option: string): Promise<WholeFile> {
    const file = new WholeFile(path, option);
    const there = await stat(path).catch(() => undefined);
    if (there?.isDirectory()) throw file.#failure({ code: "EISDIR" });
    process.once("exit", file.#sweep);
    await file.#try(async () => (file.#file = await open(file.#temporary, "wx", 0o600)));
    return file;
  }

  write(bytes: Uint8Array | string): Promise<void> {
    return this.#try(() => this.#file!.appendFile(bytes));
  }

  done(): Promise<void> {
    return this.#try(async () => {
      await this.#close();
      await rename(this.#temporary, this.#path);
      process.off("exit", this.#sweep);
    });
  }

  async discard(): Promise<void> {
    await this.#close();
    this.#sweep();
    process.off("exit", this.#sweep);
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #try(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (reason) {
      throw this.#failure(reason);
    }
  }

  #failure(reason: unknown): Error {
    return new DataError(`--${this.#option}: cannot write ${this.#path}: ${inWords(reason)}`, {
      cause: reason,
    });
  }
}

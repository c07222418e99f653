/** Where results go: standard output as they come, or a file that appears only when it is whole. */
import { once } from "node:events";
import { createWriteStream, type WriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { randomUUID } from "node:crypto";

export interface Sink {
  write(text: string): Promise<void>;
  /** Makes the file appear under its name. */
  done(): Promise<void>;
  /** Leaves nothing behind. */
  discard(): Promise<void>;
}

export function openSink(path: string | undefined): Sink {
  return path === undefined ? new StandardOutput() : new WholeFile(path);
}

class StandardOutput implements Sink {
  async write(text: string): Promise<void> {
    if (!process.stdout.write(text)) await once(process.stdout, "drain");
  }
  async done(): Promise<void> {}
  async discard(): Promise<void> {}
}

/** Written under another name in the same folder, then renamed. */
class WholeFile implements Sink {
  readonly #path: string;
  readonly #temporary: string;
  readonly #stream: WriteStream;
  readonly #failed: Promise<never>;

  constructor(path: string) {
    this.#path = path;
    this.#temporary = `${path}.${randomUUID()}.part`;
    this.#stream = createWriteStream(this.#temporary, { flags: "wx", mode: 0o600 });
    this.#failed = once(this.#stream, "error").then(([reason]) => {
      throw reason as Error;
    });
    this.#failed.catch(() => undefined); // reported by the next write
  }

  async write(text: string): Promise<void> {
    if (!this.#stream.write(text)) await Promise.race([once(this.#stream, "drain"), this.#failed]);
  }

  async done(): Promise<void> {
    this.#stream.end();
    await Promise.race([once(this.#stream, "close"), this.#failed]);
    await rename(this.#temporary, this.#path);
  }

  async discard(): Promise<void> {
    this.#stream.destroy();
    await rm(this.#temporary, { force: true });
  }
}

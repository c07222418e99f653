/**
 * One run at a time on a folder of --state: a file that says which process has it. It is there for a clear message; that no
 * noise is used twice does not depend on it (eventState.ts).
 */
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { DataError } from "./command.js";
import { inWords } from "./systemErrors.js";

interface Holder {
  readonly host: string;
  readonly pid: number;
}

export class RunLock {
  readonly #path: string;

  private constructor(path: string) {
    this.#path = path;
  }

  /** Takes the lock of a folder. Takes over one whose process has ended on this machine; refuses any other. */
  static async take(folder: string): Promise<RunLock> {
    await mkdir(folder, { recursive: true }).catch((reason: unknown) => {
      throw new DataError(`--state: cannot make ${folder}: ${inWords(reason)}`);
    });
    const path = join(folder, "lock");
    const own = JSON.stringify({ host: hostname(), pid: process.pid } satisfies Holder);
    for (;;)
      try {
        await writeFile(path, own, { flag: "wx", mode: 0o600 });
        return new RunLock(path);
      } catch (reason) {
        if ((reason as NodeJS.ErrnoException).code !== "EEXIST")
          throw new DataError(`--state: cannot write ${path}: ${inWords(reason)}`);
        const text = await readFile(path, "utf8").catch(() => undefined);
        if (text === undefined) continue; // it was given back meanwhile
        if (!hasEnded(text)) throw refusal(folder, path, text);
        // Renamed, not removed: of several runs that see the same old lock, one gets it.
        const aside = `${path}-${randomUUID()}`;
        await rename(path, aside).catch(() => undefined);
        await rm(aside, { force: true });
      }
  }

  /** Gives the lock back. If that fails, a later run takes it over: this process will have ended. */
  async give(): Promise<void> {
    await rm(this.#path, { force: true }).catch(() => undefined);
  }
}

function holderOf(text: string): Holder | undefined {
  try {
    const { host, pid } = JSON.parse(text) as Partial<Holder>;
    return typeof host === "string" && Number.isSafeInteger(pid) && pid! > 0
      ? { host, pid: pid! }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the process of a lock ran on this machine and is gone. */
function hasEnded(text: string): boolean {
  const holder = holderOf(text);
  if (holder?.host !== hostname()) return false;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (reason) {
    return (reason as NodeJS.ErrnoException).code === "ESRCH";
  }
}

function refusal(folder: string, path: string, text: string): DataError {
  const holder = holderOf(text);
  const who = holder === undefined ? "" : ` by process ${holder.pid} on ${holder.host}`;
  return new DataError(
    `--state: another run on ${folder} is going on${who}; nothing was read. Wait for it, or remove ${path} if it has ended`,
  );
}

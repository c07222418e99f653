/**
 * The high-water mark: how new the state is, in a file beside it. A copy of the state that is older than the mark is
 * refused at start: it has the noise of periods that were published already, and would put it over other events.
 */
import { Refusal } from "brume/node";
import { readFile, rename, writeFile } from "node:fs/promises";
import type { Config } from "./config/types.js";

export interface Newest {
  /** The newest row of the hub. */
  readonly rows: number;
  /** The newest state of the budget. */
  readonly budget: number;
}

export class Mark {
  readonly path: string;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.path = path;
  }

  /** Zeros if there is no file. */
  async read(): Promise<Newest> {
    const text = await readFile(this.path, "utf8").catch((cause: unknown) => {
      if ((cause as { code?: string }).code === "ENOENT") return undefined;
      throw new Refusal(`mark: cannot read the file ${this.path}; let this user read it`, { cause });
    });
    if (text === undefined) return { rows: 0, budget: 0 };
    const [, rows, budget] = /^rows (\d{1,15})\nbudget (\d{1,15})\n$/.exec(text) ?? [];
    if (rows === undefined)
      throw new Refusal(
        `mark: expected two numbers in the file ${this.path}, got something else; it is damaged. If the state is the newest, remove the file`,
      );
    return { rows: Number(rows), budget: Number(budget) };
  }

  /** One after the other. The number of rows tells when events came, so only this user may read it. */
  write(newest: Newest): Promise<void> {
    const turn = this.#writing.then(() => this.#replace(newest));
    this.#writing = turn.catch(() => undefined);
    return turn;
  }

  async #replace({ rows, budget }: Newest): Promise<void> {
    const next = `${this.path}.next`;
    await writeFile(next, `rows ${rows}\nbudget ${budget}\n`, { mode: 0o600 });
    await rename(next, this.path); // whole, or as it was
  }
}

/** Where the mark of a config is; undefined if it has none. */
export function markOf({ mark, store = { sqlite: "./state" } }: Config): Mark | undefined {
  const path = mark ?? ("sqlite" in store ? `${store.sqlite.replace(/\/+$/, "")}.mark` : undefined);
  return path === undefined ? undefined : new Mark(path);
}

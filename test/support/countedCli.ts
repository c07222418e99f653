/** `brume release --every --state` under "counted once": runs on a file that grows, while calls of the file system fail. */
import { appendFileSync, mkdtempSync, promises, rmSync, writeFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../../src/cli/run.js";
import { eventRows, publishedLines, releaseCommand } from "./cliRelease.js";
import type { Path, Place } from "./countedOnce.js";

const START = Date.UTC(2026, 5, 1, 9);
const MINUTE = 60_000;
/** A run makes some twenty calls and has to begin again if one of them fails. */
const ODDS = 0.3;

/** Who decides whether a call fails, by the folder that it is about. */
const deciders = new Map<string, Place["fail"]>();
let watching = false;

/** Replaces the calls of `node:fs/promises` that the command uses, for all modules. Other folders are as ever. */
function watchFiles(): void {
  if (watching) return;
  watching = true;
  const files = promises as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of ["open", "readdir", "readFile", "rename", "rm", "writeFile", "mkdir"]) {
    const call = files[name]!;
    files[name] = (...args) => {
      const folder = [...deciders.keys()].find((own) => String(args[0]).startsWith(own));
      if (folder === undefined) return call(...args);
      const undo = name === "open" ? (handle: unknown) => void (handle as FileHandle).close() : undefined;
      return deciders.get(folder)!(() => call(...args), ODDS, undo);
    };
  }
  syncBuiltinESMExports();
}

/** Runs a command, and gives what it says instead of showing it. */
async function quietly(
  command: readonly string[],
): Promise<{ readonly code: number; readonly said: string }> {
  const [error, write] = [console.error, process.stderr.write.bind(process.stderr)];
  let said = "";
  console.error = (text: string) => void (said += text);
  process.stderr.write = () => true;
  try {
    return { code: await runCommand([...command]), said };
  } finally {
    console.error = error;
    process.stderr.write = write;
  }
}

interface Files {
  readonly folder: string;
  /** Place → count. A period that comes a second time has a place of its own, so what it holds counts twice. */
  readonly published: Map<string, number>;
  /** One run at a time in this process: a lock that is left over would be taken for one of a run that goes on. */
  running: Promise<unknown>;
  outs: number;
}

/** Nothing to publish yet. */
const NOTHING_DUE = 3;

/** A fault of a run, planted around it. @param cut when the period begins that the run must not read; @returns its end */
export type PlantedRun = (state: string, input: string, cut: number) => () => void;

export const releaseState = (planted?: PlantedRun): Path => ({
  name: "release --state",
  ...{ items: 30, writers: 3, heldOut: 0, alike: true, misses: true, releases: [] },
  open(place) {
    watchFiles();
    const files = place.shared((): Files => {
      const folder = mkdtempSync(join(tmpdir(), "brume-counted-cli-"));
      writeFileSync(join(folder, "events.csv"), eventRows([]));
      return { folder, published: new Map<string, number>(), running: Promise.resolve(), outs: 0 };
    });
    const { folder, published } = files;
    const [state, input] = [join(folder, "state"), join(folder, "events.csv")];
    const run = async (): Promise<void> => {
      const out = join(folder, `out-${files.outs++}.csv`);
      const restore = planted?.(state, input, place.clock());
      deciders.set(folder, place.fail);
      // The period of the newest events is cut in its middle: they are left to a later run.
      const [from, to] = [START, place.clock() + 30 * MINUTE];
      const { code, said } = await quietly(releaseCommand({ state, input, out, every: "1h", from, to }));
      deciders.delete(folder);
      restore?.();
      rmSync(join(state, "lock"), { force: true }); // of a run that could not remove it
      for (const { from, count } of publishedLines(out)) {
        let name = from;
        while (published.has(name)) name += ", again";
        published.set(name, count);
      }
      if (code !== 0 && code !== NOTHING_DUE) throw new Error(`release: ended with ${code}, ${said}`);
    };
    return {
      send(items) {
        const times = items.map(() => new Date(place.clock() + 20 * MINUTE).toISOString());
        appendFileSync(input, times.map((time) => `${time}\n`).join(""));
        return Promise.resolve();
      },
      read: () => Promise.resolve(new Map(published)),
      publish() {
        const ran = files.running.then(run);
        files.running = ran.catch(() => undefined);
        return ran;
      },
      close: () => Promise.resolve(rmSync(folder, { recursive: true })),
    };
  },
  counted: (published) => new Map([[0, [...published.values()].reduce((sum, count) => sum + count, 0)]]),
});

/** Two processes that begin the same empty state at once, at least one of them with a log. */
import { join } from "node:path";
import type { Store } from "brume";
import { sqliteStore } from "brume/node";
import Database from "libsql";
import { expect, test } from "vitest";
import { importLog, type Log } from "../src/import/importLog.js";
import { Service } from "../src/service.js";
import { FROM, importConfig, logOf, PRESENT, TO, visits } from "./madeLog.js";
import { atEnd, KEY, temporaryFolder, TestClock } from "./support.js";

const VISITS = visits(500);
const OTHERS = VISITS.map((visit) => ({ ...visit, key: "b" }));

function presentClock(): TestClock {
  const clock = new TestClock();
  clock.pass(PRESENT - clock.wall());
  return clock;
}

const importInto = (folder: string, log: Log, store: Store) =>
  importLog(importConfig(folder), log, { key: KEY, clock: presentClock(), from: FROM, to: TO, store });

const serve = async (folder: string, store: Store): Promise<void> =>
  (await Service.open(importConfig(folder), { key: KEY, clock: presentClock(), store })).stop();

/** An import that is broken off. */
function begin(folder: string, store: Store): Promise<void> {
  let left = 3;
  const log = logOf(VISITS, { isUnchanged: () => Promise.resolve(left-- > 0) });
  return importInto(folder, log, store).catch(() => undefined);
}

/** The store of a process that has read so many entries of an empty state when another one begins it. */
async function overtaken(folder: string, reads: number, other: typeof begin): Promise<Store> {
  const database = new Database(join(folder, "state.sqlite"));
  atEnd(() => database.close());
  const store = await sqliteStore(database);
  let read = 0;
  return {
    ...store,
    get: async (...name) => {
      const found = await store.get(...name);
      if (++read === reads) await other(folder, store);
      return found;
    },
  };
}

const READS = [1, 3, 5];

test.each(READS)("another log that began after %i reads is not gone on with", async (reads) => {
  const folder = temporaryFolder();
  const store = await overtaken(folder, reads, begin);
  await expect(importInto(folder, logOf(OTHERS), store)).rejects.toThrow("a part of another log");
  await importInto(folder, logOf(VISITS), store); // goes on
});

test.each(READS)("a service that began after %i reads gets no past", async (reads) => {
  const folder = temporaryFolder();
  const store = await overtaken(folder, reads, serve);
  await expect(importInto(folder, logOf(VISITS), store)).rejects.toThrow("expected a new service");
});

test.each(READS)("a service does not go on with an import that began after %i reads", async (reads) => {
  const folder = temporaryFolder();
  const store = await overtaken(folder, reads, begin);
  await expect(serve(folder, store)).rejects.toThrow("the import has not ended");
});

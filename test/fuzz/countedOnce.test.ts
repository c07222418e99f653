/** One thousandth of the long run of "counted once" (`npm run fuzz -- --counted`), on more stores, and the faults it must find. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "libsql";
import { afterAll, expect, test } from "vitest";
import { Dice } from "../../scripts/fuzz/dice.js";
import { runGuardJob } from "../../scripts/fuzz/guards.js";
import { finalConflicts, type Store } from "../../src/durable/stores/store.js";
import { memoryStore } from "../../src/index.js";
import { fileStore, sqliteStore } from "../../src/node.js";
import { checkHistory, durableMemory, type HistoryOptions, type Path } from "../support/countedOnce.js";
import { hubOfValues, hubWithSharedThreshold, PATHS, streamOfValues } from "../support/countedPaths.js";

const SEED = 20261118;
const root = mkdtempSync(join(tmpdir(), "brume-counted-"));
afterAll(() => rmSync(root, { recursive: true }));

/** Runs histories; gives their faults, and how much was driven. */
async function histories(
  path: Path,
  count: number,
  options: (i: number) => HistoryOptions | Promise<HistoryOptions>,
) {
  const faults: string[] = [];
  const driven = { injected: 0, calls: 0, inDoubt: 0 };
  for (let i = 0; i < count; i++) {
    const result = await checkHistory(path, new Dice(SEED, i), await options(i));
    faults.push(...result.faults.map((fault) => `history ${i}: ${fault}`));
    for (const name of ["injected", "calls", "inDoubt"] as const) driven[name] += result[name];
  }
  return { faults, driven };
}

test.each(PATHS.map((path) => [path.name, path] as const))(
  `seed ${SEED}, %s: every item counts once while the store fails`,
  async (_, path) => {
    const { faults, driven } = await histories(path, path.reads === undefined ? 16 : 8, () => ({}));
    expect(faults).toEqual([]);
    for (const count of Object.values(driven)) expect(count).toBeGreaterThan(3);
  },
);

const stores: Record<string, (i: number) => Promise<Store>> = {
  file: (i) => Promise.resolve(fileStore(join(root, `file ${i}`))),
  sqlite: (i) => sqliteStore(new Database(join(root, `${i}.db`), { timeout: 5000 })),
};

test.each(Object.keys(stores))("%s: every item counts once while the store fails", async (kind) => {
  for (const path of PATHS) {
    const { faults } = await histories(path, 2, async (i) => ({
      rate: 0.1,
      store: await stores[kind]!(100 * PATHS.indexOf(path) + i),
    }));
    expect(faults, path.name).toEqual([]);
  }
});

test("a writer that fell behind stores no older state above a newer one, so the hub can be opened again", async () => {
  const found = await Promise.all(
    [604, 769].map((first) => runGuardJob({ guard: "counted", seed: 7, first, count: 1 })),
  );
  expect(found.flatMap(({ faults }) => faults)).toEqual([]);
});

test("memory: every item counts once, by one writer at a time", async () => {
  const { faults } = await histories({ ...hubOfValues, alone: true }, 5, () => ({
    rate: 0,
    store: memoryStore(),
  }));
  expect(faults).toEqual([]);
});

/** Now and then stores a snapshot and says that another process was faster, as a connection that repeats calls does. */
function conflictsAfterStoring(store: Store): Store {
  let calls = 0;
  return {
    ...store,
    async put(name, sequence, bytes) {
      await store.put(name, sequence, bytes);
      if (++calls % 3 === 0) throw Object.assign(new Error("taken"), { code: "conflict" });
    },
  };
}

test('a store that says "conflict" of what it has stored: values count once, because the stored bytes are compared', async () => {
  for (const path of [streamOfValues, hubOfValues]) {
    const { faults } = await histories(path, 10, () => ({ plant: conflictsAfterStoring }));
    expect(faults).toEqual([]);
  }
});

test("planted: the stored bytes are not compared, and values count twice", async () => {
  const plant = (store: Store): Store => finalConflicts(conflictsAfterStoring(store));
  for (const path of [streamOfValues, hubOfValues]) {
    const { faults } = await histories(path, 10, () => ({ plant, rate: 0 }));
    expect(faults.join("\n")).toMatch(/counted 2 times/);
  }
});

test("planted: a batch across the end of a shared hold-out is made again, and its values count twice", async () => {
  const { faults } = await histories(hubWithSharedThreshold, 40, () => ({ rate: 0.2, repeatsInDoubt: true }));
  expect(faults.join("\n")).toMatch(/accepted and .* in doubt, but .* counted/);
});

test("planted: calls in doubt are made again", async () => {
  const { faults } = await histories(hubOfValues, 20, () => ({ rate: 0.3, repeatsInDoubt: true }));
  expect(faults.join("\n")).toMatch(/counted [23] times/);
});

test("planted: a store that forgets its newest snapshot once", async () => {
  const forgetful = (store: Store): Store => {
    let puts = 0;
    return { ...store, put: (...args) => (++puts === 3 ? Promise.resolve() : store.put(...args)) };
  };
  const { faults } = await histories(streamOfValues, 5, () => ({
    plant: forgetful,
    rate: 0,
    store: durableMemory(),
  }));
  expect(faults.join("\n")).toMatch(/accepted, counted 0 times|published as/);
});

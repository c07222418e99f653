/** Every store passes the tests that are exported for stores of others, and these tests can fail. */
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { memoryStore, type Store } from "../../../src/index.js";
import { fileStore, sqliteStore } from "../../../src/node.js";
import { storeTests, type StoreUnderTest } from "../../../src/durable/stores/storeTests.js";
import { plainStore, temporaryFolders } from "../support.js";

const folder = temporaryFolders();

const stores: Record<string, () => Promise<StoreUnderTest>> = {
  memory: () => Promise.resolve({ store: memoryStore() }),
  file: () => {
    const place = folder();
    return Promise.resolve({ store: fileStore(place), again: () => Promise.resolve(fileStore(place)) });
  },
  sqlite: async () => {
    const path = `${folder()}.db`;
    const open = () => sqliteStore(new Database(path, { timeout: 5000 }));
    return { store: await open(), again: open };
  },
};

describe.each(Object.keys(stores))("%s", (kind) => {
  test.each(storeTests.map(({ name, run }) => [name, run] as const))("%s", (_, run) => run(stores[kind]!));
});

describe("a broken store fails", () => {
  const broken: Record<string, (store: Store) => Partial<Store>> = {
    "forgets names that differ in case": (store) => ({
      put: (name, ...rest) => store.put(name.toLowerCase(), ...rest),
      get: (name) => store.get(name.toLowerCase()),
    }),
    "takes any sequence": () => {
      const { snapshots, ...store } = plainStore();
      const put: Store["put"] = (name, sequence, bytes) =>
        Promise.resolve(void snapshots.set(name, { sequence, bytes }));
      return { ...store, put };
    },
    "keeps the caller's bytes": () => plainStore(),
    "stores all of putMany": (store) => ({
      putMany: async (snapshots) => {
        for (const { name, sequence, bytes } of snapshots)
          await store.put(name, sequence, bytes).catch(() => undefined);
        return snapshots.map(() => true);
      },
    }),
    "lists nothing": () => ({ names: () => Promise.resolve([]) }),
    "removes nothing": () => ({ remove: () => Promise.resolve() }),
  };
  test.each(Object.keys(broken))("%s", async (fault) => {
    const failures: string[] = [];
    for (const { name, run } of storeTests) {
      const { store, again } = await stores["file"]!();
      const under = { store: { ...store, ...broken[fault]!(store) }, again: again! };
      await run(() => Promise.resolve(under)).catch(() => failures.push(name));
    }
    expect(failures).not.toEqual([]);
  });
});

test.each([null, 7, {}])("sqliteStore refuses %j, which is no database", async (database) => {
  await expect(sqliteStore(database as never)).rejects.toThrow(
    /^sqliteStore: expected a path or an open database, got /,
  );
});

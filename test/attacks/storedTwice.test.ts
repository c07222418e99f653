/**
 * The attacker wants a value to count twice: it costs twice its ε, and sums are wrong. Several processes write to one store, an
 * answer of the store is lost, a client of a database sends a command again after a broken connection. If the library takes
 * its own snapshot for another writer's, a hub makes the call again. What must be impossible: a call that counts, and counts
 * again because the library was told "conflict". Where nobody can know, the error says so.
 */
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { logStore } from "../../src/durable/stores/file.js";
import { type LogFiles, LogFolder } from "../../src/durable/stores/logFolder.js";
import { openHub, openOdometer, openStream, type Store } from "../../src/index.js";
import { fileStore, sqliteStore } from "../../src/node.js";
import { key, options, plainStore, temporaryFolders } from "../durable/support.js";

const folder = temporaryFolders();
const hubOn = (store: Store) => openHub({ ...options, store, key });
const received = async (store: Store, name: string) => (await hubOn(store).progress(name)).received;

interface Tried {
  acknowledged: number;
  doubtful: number;
}

/** Pushes one value after the other; anything but success and doubt is a fault. */
async function pushAll(store: Store, name: string, count: number): Promise<Tried> {
  const hub = hubOn(store);
  const tried = { acknowledged: 0, doubtful: 0 };
  for (let i = 0; i < count; i++)
    await hub.push(name, 1).then(
      () => tried.acknowledged++,
      (error: { code?: string; retryable?: boolean }) => {
        if (error.code === "conflict") return; // others were faster four times: nothing of it is stored
        expect(error).toMatchObject({ code: "in-doubt", retryable: false });
        tried.doubtful++;
      },
    );
  return tried;
}

describe("several writers on one folder", () => {
  test("each with a stream of its own: what is acknowledged is what counts", async () => {
    const path = folder();
    const names = ["a", "b", "c", "d"];
    const tried = await Promise.all(names.map((name) => pushAll(fileStore(path), name, 80)));
    const counted = await Promise.all(names.map((name) => received(fileStore(path), name)));
    expect(tried).toEqual(names.map(() => ({ acknowledged: 80, doubtful: 0 })));
    expect(counted).toEqual([80, 80, 80, 80]);
  });

  test("all on one stream: no value counts that was not acknowledged or called doubtful", async () => {
    const path = folder();
    const tried = await Promise.all([1, 2, 3, 4].map(() => pushAll(fileStore(path), "a", 80)));
    const sum = (of: keyof Tried) => tried.reduce((total, one) => total + one[of], 0);
    const counted = await received(fileStore(path), "a");
    expect(counted).toBeGreaterThanOrEqual(sum("acknowledged"));
    expect(counted).toBeLessThanOrEqual(sum("acknowledged") + sum("doubtful"));
    expect(sum("doubtful")).toBeLessThan(32);
  });

  test("no read fails, however often others begin and remove files", async () => {
    const path = folder();
    let writing = 4;
    const write = async (name: string) => {
      const store = fileStore(path);
      for (let i = 1; i <= 80; i++) await store.put(name, i, new Uint8Array(100).fill(i));
      writing--;
    };
    let reads = 0;
    const read = async () => {
      const [store, last] = [fileStore(path), new Map<string, number>()];
      while (writing > 0)
        for (const name of ["a", "b", "c", "d"]) {
          const found = await store.get(name);
          const sequence = found?.sequence ?? 0;
          expect(sequence).toBeGreaterThanOrEqual(last.get(name) ?? 0);
          expect(found?.bytes.every((byte) => byte === sequence) ?? true).toBe(true);
          last.set(name, sequence);
          reads++;
        }
    };
    await Promise.all([...["a", "b", "c", "d"].map(write), read(), read()]);
    expect(reads).toBeGreaterThan(0);
    for (const name of ["a", "b", "c", "d"]) expect((await fileStore(path).get(name))?.sequence).toBe(80);
  });

  /** A folder where another process acts just after one of our writes. */
  function interrupted(
    path: string,
    act: () => Promise<unknown>,
  ): { readonly files: LogFiles; readonly arm: () => void } {
    const inner = new LogFolder(path);
    let armed = false;
    const files = new Proxy(inner, {
      get(target, name) {
        const method = (Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>).bind(target);
        return async (...args: unknown[]) => {
          const answer = await method(...args);
          if (armed && name === "append") {
            armed = false;
            await act();
          }
          return answer;
        };
      },
    });
    return { files, arm: () => void (armed = true) };
  }

  const limits = { full: 2 ** 20, copied: 2 ** 20, files: 2, patience: 1000 };
  const others = async (path: string, names: readonly string[]) => {
    for (const name of names) {
      const store = logStore(new LogFolder(path), limits); // each begins a file, and old ones are emptied
      await store.put(name, ((await store.get(name))?.sequence ?? 0) + 1, Uint8Array.of(7));
    }
  };

  test("the file of a write is emptied and removed before the writer looks: the write is not refused", async () => {
    const path = folder();
    const { files, arm } = interrupted(path, () => others(path, ["x", "x", "x", "x", "x"]));
    const store = logStore(files, limits);
    await store.put("s", 1, Uint8Array.of(1));
    arm();
    await store.put("s", 2, Uint8Array.of(2));
    expect(await fileStore(path).get("s")).toMatchObject({ sequence: 2 });
    arm();
    expect(await store.putMany!([{ name: "s", sequence: 3, bytes: Uint8Array.of(3) }])).toEqual([true]);
    arm();
    await store.remove!("s", 3);
    expect(await fileStore(path).get("s")).toBeUndefined();
  });

  test("… and another process has continued the stream meanwhile: nobody knows, and it says so", async () => {
    const path = folder();
    const { files, arm } = interrupted(path, () => others(path, ["s", "x", "x", "x", "x"]));
    const store = logStore(files, limits);
    await store.put("s", 1, Uint8Array.of(1));
    arm();
    const error: unknown = await store.put("s", 2, Uint8Array.of(2)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect((error as { code?: string }).code).toBeUndefined();
  });
});

/** A client that lost the answer to a put and sends it again. @param between what others do meanwhile */
function sendsAgain(inner: Store, between: () => Promise<void> = () => Promise.resolve()): Store {
  return {
    durable: inner.durable,
    get: (name) => inner.get(name),
    async put(...snapshot) {
      await inner.put(...snapshot);
      await between();
      await inner.put(...snapshot);
    },
  };
}

describe("a client that sends a put again after its answer was lost", () => {
  const stores: Record<string, () => Store | Promise<Store>> = {
    "a store of a caller's": plainStore,
    files: () => fileStore(folder()),
    SQLite: () => sqliteStore(new Database(":memory:")),
  };

  test.each(Object.keys(stores))("%s: a hub, a stream and an odometer count once", async (kind) => {
    const inner = await stores[kind]!();
    const store = sendsAgain(inner);
    const hub = hubOn(store);
    for (let i = 0; i < 5; i++) await hub.push("a", 1);
    expect((await hub.progress("a")).received).toBe(5);
    expect(hub.stats().conflicts).toBe(0);
    const stream = await openStream({ ...options, name: "b", store, key });
    await stream.push(1);
    expect(stream.received).toBe(1);
    const odometer = await openOdometer({ name: "o", store, key, limit: 9 });
    await odometer.register("r", { epsilon: 1, unit: "one value" });
    await odometer.spend("r");
    expect(odometer.spent()).toBe(2);
  });

  test("another process continued it in between: in doubt, counted once, and not made again", async () => {
    const inner = plainStore();
    let others = 0;
    const store = sendsAgain(inner, async () => {
      if (others++ !== 2) return;
      await hubOn(inner).push("a", 5);
    });
    const hub = hubOn(store);
    await hub.push("a", 1);
    await hub.push("a", 1);
    await expect(hub.push("a", 1)).rejects.toMatchObject({ code: "in-doubt", retryable: false });
    expect(await received(inner, "a")).toBe(4); // three of this hub, one of the other
    await hub.push("a", 1); // it goes on
    expect(await received(inner, "a")).toBe(5);
  });
});

test("a store that fails for good: the push is in doubt, not refused", async () => {
  const inner = plainStore();
  let broken = false;
  const store: Store = {
    ...inner,
    async put(...snapshot) {
      await inner.put(...snapshot);
      if (broken) throw new Error("connection lost");
    },
    get: (name) => (broken ? Promise.reject(new Error("connection lost")) : inner.get(name)),
  };
  const hub = hubOn(store);
  await hub.push("a", 1);
  broken = true;
  await expect(hub.push("a", 1)).rejects.toMatchObject({ code: "in-doubt", retryable: false });
  broken = false;
  expect((await hub.progress("a")).received).toBe(2); // it counts, and the caller was not told to make it again
});

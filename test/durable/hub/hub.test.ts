import fc from "fast-check";
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { openHub, openStream, memoryStore, privateStream, type Store } from "../../../src/index.js";
import { fileStore, sqliteStore } from "../../../src/node.js";
import { key, options, temporaryFolders, values } from "../support.js";

const folder = temporaryFolders();

const stores: Record<string, () => Promise<Store>> = {
  memory: () => Promise.resolve(memoryStore()),
  file: () => Promise.resolve(fileStore(folder())),
  sqlite: () => sqliteStore(new Database(":memory:")),
};

describe.each(Object.keys(stores))("%s store", (kind) => {
  const make = stores[kind]!;

  test("a hub gives every stream what it would publish alone, however few are live", async () => {
    const streams = openHub({ ...options, live: 3, store: await make(), key });
    const names = ["a", "b", "c", "d", "e", "f", "g"];
    const alone = new Map(
      names.map((name) => [name, privateStream({ ...options, unsafeSeed: `hub/${name}` })]),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...names), fc.nat(399)), { maxLength: 60 }),
        async (steps) => {
          // Half of the calls are made before the ones before them are done.
          const calls = steps.map(([name, i], at) => {
            const from = Math.min(i, 380);
            const call =
              i % 2
                ? streams.push(name, values[i]!)
                : streams.pushMany(name, values.subarray(from, from + 20));
            return at % 2 ? call : call.then((out) => out);
          });
          const expected = steps.map(([name, i]) => {
            const from = Math.min(i, 380);
            return i % 2
              ? alone.get(name)!.push(values[i]!)
              : alone.get(name)!.pushMany(values.subarray(from, from + 20));
          });
          expect(await Promise.all(calls)).toEqual(expected);
          expect(streams.live).toBeLessThanOrEqual(3);
        },
      ),
      { numRuns: 8, seed: 1 },
    );
    for (const name of names) {
      const { received, length } = alone.get(name)!;
      expect(await streams.progress(name)).toMatchObject({ received, length });
      if (length > 10)
        expect((await streams.range(name, length - 9, length)).sum).toBe(
          alone.get(name)!.range(length - 9, length).sum,
        );
    }
  });
});

describe("hub", () => {
  test("each stream has noise of its own, without a seed too", async () => {
    const { unsafeSeed, ...secret } = options;
    expect(unsafeSeed).toBe("hub");
    for (const streams of [openHub({ ...options, threshold: 50 }), openHub({ ...secret, threshold: 50 })]) {
      const [one, two] = [await streams.pushMany("one", values), await streams.pushMany("two", values)];
      expect(one).not.toEqual(two);
    }
  });

  test("a refused value changes nothing and does not disturb others", async () => {
    const streams = openHub({ ...options, live: 1 });
    await streams.pushMany("a", values);
    await expect(streams.push("a", NaN)).rejects.toThrow("value: expected a finite number");
    await streams.push("b", 1);
    expect((await streams.progress("a")).received).toBe(400);
  });

  test("close stores everything, and another hub on the same store resumes", async () => {
    const store = memoryStore();
    const one = openHub({ ...options, store, key });
    const first = await one.pushMany("a", values.subarray(0, 200));
    await one.close();
    expect(one.live).toBe(0);
    const rest = await openHub({ ...options, store, key }).pushMany("a", values.subarray(200));
    const alone = privateStream({ ...options, unsafeSeed: "hub/a" });
    expect([...first, ...rest]).toEqual([...alone.pushMany(values)]);
  });

  test("close waits for running calls, stores their streams, and refuses calls that come later", async () => {
    const inner = memoryStore();
    let open = () => {};
    const gate = new Promise<void>((resolve) => (open = resolve));
    const store: Store = { ...inner, get: async (name) => (await gate, inner.get(name)) };
    const streams = openHub({ ...options, store, key });
    const running = streams.pushMany("a", values.subarray(0, 200)); // waits for the store
    const closing = streams.close();
    let closed = false;
    void closing.then(() => (closed = true));
    await expect(streams.push("b", 1)).rejects.toThrow("hub: expected an open hub, got a closed one");
    expect(closed).toBe(false);
    open();
    const first = await running;
    await closing;
    expect(streams.close()).toBe(closing);
    expect(streams.live).toBe(0);
    await expect(streams.range("a", 0, 1)).rejects.toThrow(/^hub: expected an open hub/);
    const rest = await openHub({ ...options, store, key }).pushMany("a", values.subarray(200));
    const alone = privateStream({ ...options, unsafeSeed: "hub/a" });
    expect([...first, ...rest]).toEqual([...alone.pushMany(values)]);
  });

  test("close says which stream could not be stored, after it has stored the others", async () => {
    const inner = memoryStore();
    const store: Store = {
      ...inner,
      put: (name, ...rest) =>
        name === "b" ? Promise.reject(new Error("no room")) : inner.put(name, ...rest),
    };
    const streams = openHub({ ...options, store, key });
    for (const name of ["a", "b", "c"]) await streams.push(name, 1);
    await expect(streams.close()).rejects.toThrow('stream "b": its state could not be stored');
    const again = openHub({ ...options, store, key });
    for (const name of ["a", "c"]) expect((await again.progress(name)).received).toBe(1);
  });

  test("a stream that is live in one hub is not handed to another, begun or stored", async () => {
    const store = memoryStore();
    for (const received of [1, 2]) {
      const one = openHub({ ...options, store, key });
      const two = openHub({ ...options, store, key });
      await one.push("a", 1);
      await expect(two.push("a", 1)).rejects.toThrow(
        'stream "a" is open already, in another hub or by openStream; close it there first',
      );
      await one.close();
      expect((await two.progress("a")).received).toBe(received);
      await two.close();
    }
  });

  test("a stream that was only asked, or could not be opened, goes back to the store as it was", async () => {
    const store = memoryStore();
    const streams = openHub({ ...options, store, key, live: 1 });
    await streams.pushMany("a", values);
    for (let i = 0; i < 3; i++) {
      await streams.progress("b");
      expect((await streams.progress("a")).received).toBe(400);
    }
    await streams.close();
    await expect(openHub({ ...options, store, key: new Uint8Array(32) }).push("a", 1)).rejects.toThrow(
      /cannot decrypt/,
    );
    expect((await openStream({ ...options, unsafeSeed: "hub/a", name: "a", store, key })).received).toBe(400);
  });

  test("says what it promises, for machines and for people", async () => {
    const streams = openHub(options);
    expect((await streams.statement("a")).epsilon).toBe(1);
    expect(await streams.explain("a")).toContain("NOT PRIVATE (it was made from a seed)");
    const kept = await openStream({ ...options, name: "a", store: memoryStore(), key });
    expect(await kept.explain()).toBe(privateStream(options).explain());
  });

  test("a store that fails is reported to the caller of that stream, and the next call tries again", async () => {
    const inner = fileStore(folder());
    let broken = true;
    const store: Store = {
      ...inner,
      put: (...args) => (broken ? Promise.reject(new Error("disk full")) : inner.put(...args)),
    };
    const streams = openHub({ ...options, store, key });
    await expect(streams.push("a", 1)).rejects.toThrow(/could not be stored/);
    broken = false;
    await streams.push("a", 1);
    expect(await streams.progress("a")).toMatchObject({ received: 1, length: 0, sequence: 1 });
  });

  test("options are checked when it is made", () => {
    expect(() => openHub({ ...options, epsilon: -1 })).toThrow(/^epsilon/);
    expect(() => openHub({ ...options, live: 0 })).toThrow(/^live/);
    expect(() => openHub({ ...options, store: memoryStore() })).toThrow(/^key/);
  });
});

test("Node's own SQLite is used where there is one, and asked for by name where there is none", async () => {
  const [major, minor] = process.versions.node.split(".").map(Number) as [number, number];
  const path = `${folder()}.db`;
  if (major > 22 || (major === 22 && minor >= 13)) {
    const store = await sqliteStore(path);
    await store.put("a", 1, Uint8Array.of(5));
    expect([...(await (await sqliteStore(path)).get("a"))!.bytes]).toEqual([5]);
  } else
    await expect(sqliteStore(path)).rejects.toThrow(/has no SQLite of its own.*better-sqlite3 or libsql/);
});

/**
 * The attacker, or an innocent dashboard, only opens streams of a store, in a loop, while a service writes to it. The
 * service must store and publish as if nobody were there. A second writer must not lead to a position published twice.
 */
import Database from "libsql";
import { describe, expect, test } from "vitest";
import { openStream, privateStream, type Store, type StoreError } from "../../src/index.js";
import { fileStore, sqliteStore } from "../../src/node.js";
import { key, options, temporaryFolders, values } from "../durable/support.js";

const folder = temporaryFolders();

/** Every open store is one of a process of its own. */
const stores: Record<string, (place: string) => Promise<Store>> = {
  file: (place) => Promise.resolve(fileStore(place)),
  sqlite: (place) => sqliteStore(new Database(`${place}.sqlite`, { timeout: 5000 })),
};

describe.each(Object.keys(stores))("%s store", (kind) => {
  const open = async (place: string) =>
    openStream({ ...options, name: "s", store: await stores[kind]!(place), key });

  test("a reader that opens the stream in a loop does not harm its writer", async () => {
    const place = folder();
    const writer = await open(place);
    let writing = true;
    let opened = 0;
    const read = async () => {
      while (writing) {
        const reader = await open(place);
        if (reader.length > 0) await reader.published(Math.max(0, reader.length - 60), reader.length);
        opened++;
      }
    };
    const readers = [read(), read(), read()];
    const published: number[] = [];
    for (let from = 0; from < 400; from += 8)
      published.push(...(await writer.pushMany(values.subarray(from, from + 8))));
    writing = false;
    await Promise.all(readers);
    expect(opened).toBeGreaterThan(20);
    expect(published).toEqual([...privateStream(options).pushMany(values)]);
  });

  test("two writers of one stream: at every turn one stores, the other gets an error that says so", async () => {
    const place = folder();
    const published = new Map<number, number>();
    for (let turn = 0; turn < 20; turn++) {
      const writers = await Promise.all([0, 1].map(() => open(place)));
      const starts = writers.map((writer) => writer.length);
      const results = await Promise.allSettled(
        writers.map((writer, i) => writer.pushMany(values.subarray(10 * turn + i, 10 * turn + 20 + i))),
      );
      const refused = results.filter((result) => result.status === "rejected");
      expect(refused).toHaveLength(1);
      const error = refused[0]!.reason as StoreError;
      expect([error.code, error.retryable]).toEqual(["conflict", true]);
      expect(error.message).toMatch(/could not be stored.*open it again/);
      results.forEach((result, i) => {
        if (result.status === "fulfilled")
          result.value.forEach((number, at) => {
            expect(published.has(starts[i]! + at)).toBe(false); // no position twice
            published.set(starts[i]! + at, number);
          });
      });
    }
    expect(published.size).toBe(20 * 20 - 16);
  });
});

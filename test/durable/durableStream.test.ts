import Database from "libsql";
import { describe, expect, test } from "vitest";
import { openStream, privateStream, type Store } from "../../src/index.js";
import { fileStore, sqliteStore } from "../../src/node.js";
import { failing, key, options, plainStore, temporaryFolders, values } from "./support.js";

const folder = temporaryFolders();

const durable: Record<string, () => Promise<Store>> = {
  file: () => Promise.resolve(fileStore(folder())),
  sqlite: () => sqliteStore(new Database(":memory:")),
};

describe.each(Object.keys(durable))("a durable stream, %s store", (kind) => {
  const make = durable[kind]!;

  test("resumes after the process was killed", async () => {
    const store = await make();
    const expected = privateStream(options).pushMany(values);
    const published: number[] = [];
    for (let from = 0; from < 400; from += 50) {
      const stream = await openStream({ ...options, name: "s", store, key }); // the one before was never closed
      expect(stream.received).toBe(from);
      published.push(...(await stream.pushMany(values.subarray(from, from + 50))));
    }
    expect(published).toEqual([...expected]);
  });

  test("calls that are not awaited come out in order, and share snapshots", async () => {
    const store = await make();
    let puts = 0;
    const counting: Store = { ...store, put: (...args) => (puts++, store.put(...args)) };
    const stream = await openStream({ ...options, name: "s", store: counting, key });
    const out = await Promise.all([...values].map((value) => stream.push(value)));
    expect(out.filter((number) => number !== undefined)).toEqual([
      ...privateStream(options).pushMany(values),
    ]);
    expect(puts).toBeLessThan(5);
  });

  test("of two that have it open, the second to publish is refused and says nothing", async () => {
    const store = await make();
    const [one, two] = [
      await openStream({ ...options, name: "s", store, key }),
      await openStream({ ...options, name: "s", store, key }),
    ];
    await one.pushMany(values.subarray(0, 100));
    await expect(two.pushMany(values.subarray(100, 200))).rejects.toThrow(
      /could not be stored.*open it again/,
    );
    await expect(two.push(1)).rejects.toThrow(/open it again/);
    await expect(two.statement()).rejects.toThrow(/open it again/);
    expect((await openStream({ ...options, name: "s", store, key })).received).toBe(100);
  });
});

test("nothing is returned before its state is stored: no number, no answer, no θ", async () => {
  const inner = fileStore(folder());
  let release = () => {};
  const gate = new Promise<void>((resolve) => (release = resolve));
  const store: Store = { ...inner, put: async (...args) => (await gate, inner.put(...args)) };
  const stream = await openStream({ ...options, name: "s", store, key });
  const said: string[] = [];
  const calls = [
    stream.pushMany(values.subarray(0, 100)).then(() => said.push("numbers")),
    stream.range(0, 10).then(() => said.push("range")),
    stream.published(0, 10).then(() => said.push("published")),
    stream.statement().then(() => said.push("statement")),
    stream.explain().then(() => said.push("explanation")),
  ];
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(said).toEqual([]);
  release();
  await Promise.all(calls);
  expect(said.sort()).toEqual(["explanation", "numbers", "published", "range", "statement"]);
});

test("a store that fails stops the stream; opened again it resumes, and what was stored but not sent can be read", async () => {
  // fails before storing, then after storing: the caller cannot tell which
  for (const stored of [false, true]) {
    const inner = fileStore(folder());
    let broken = false;
    const store: Store = {
      durable: true,
      get: (name) => (broken ? Promise.reject(new Error("disk gone")) : inner.get(name)),
      put: async (...args) => {
        if (!broken || stored) await inner.put(...args);
        if (broken) throw new Error("disk full");
      },
    };
    const stream = await openStream({ ...options, name: "s", store, key });
    const first = await stream.pushMany(values.subarray(0, 100));
    broken = true;
    await expect(stream.pushMany(values.subarray(100, 200))).rejects.toThrow(/could not be stored/);
    broken = false;
    const again = await openStream({ ...options, name: "s", store, key });
    expect(again.received).toBe(stored ? 200 : 100);
    const missed = await again.published(first.length, again.length);
    const rest = await again.pushMany(values.subarray(again.received));
    expect([...first, ...missed, ...rest]).toEqual([...privateStream(options).pushMany(values)]);
  }
});

test("a store that fails once, before or after its work, is asked again and stops nothing", async () => {
  for (const after of [false, true]) {
    const store = failing(fileStore(folder()), { fails: (call) => call === 3, after });
    const stream = await openStream({ ...options, name: "s", store, key });
    const out = [
      ...(await stream.pushMany(values.subarray(0, 100))),
      ...(await stream.pushMany(values.subarray(100))), // call 3 is its put
    ];
    expect(out).toEqual([...privateStream(options).pushMany(values)]);
    expect(stream.sequence).toBe(2);
  }
});

test("a snapshot that is damaged, truncated, of another key, other parameters or another stream is refused", async () => {
  const store = plainStore();
  const open = (more = {}) => openStream({ ...options, name: "s", store, key, ...more });
  await (await open()).pushMany(values.subarray(0, 200));
  const { sequence, bytes } = store.snapshots.get("s")!;
  await expect(open({ key: new Uint8Array(32) })).rejects.toThrow(/cannot decrypt/);
  await expect(open({ epsilon: 2 })).rejects.toThrow(/epsilon = "2", got "1"/);
  store.snapshots.set("s", { sequence, bytes: bytes.subarray(0, 200) });
  await expect(open()).rejects.toThrow(/truncated/);
  store.snapshots.set("s", { sequence, bytes: bytes.with(100, bytes[100]! ^ 1) });
  await expect(open()).rejects.toThrow(/corrupt/);
  await (await open({ name: "other" })).pushMany(values);
  store.snapshots.set("s", store.snapshots.get("other")!);
  await expect(open()).rejects.toThrow('expected one of the stream "s", got one of "other"');
  store.snapshots.set("s", { sequence, bytes });
  expect((await open()).received).toBe(200);
});

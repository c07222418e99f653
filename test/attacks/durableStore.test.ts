/**
 * The attacker wrote the store. It throws, returns anything, calls the stream that it stores, changes its mind, or puts an
 * older state back. Never may two different numbers come out for one position, and never a number before its state.
 */
import { describe, expect, test } from "vitest";
import { openHub, openStream, privateStream, type Store, type StoredSnapshot } from "../../src/index.js";
import { fileStore } from "../../src/node.js";
import { failing, key, options, plainStore, temporaryFolders, values } from "../durable/support.js";

const folder = temporaryFolders();
const expected = [...privateStream(options).pushMany(values)];

describe("what get returns is checked before use", () => {
  const rubbish: Record<string, unknown> = {
    null: null,
    "a number": 7,
    "no bytes": { sequence: 1 },
    "bytes that are text": { sequence: 1, bytes: "abc" },
    "an array of numbers": { sequence: 1, bytes: [1, 2, 3] },
    "a fraction": { sequence: 1.5, bytes: new Uint8Array(99) },
    zero: { sequence: 0, bytes: new Uint8Array(99) },
    "a BigInt": { sequence: 1n, bytes: new Uint8Array(99) },
    "a symbol": { sequence: Symbol("1"), bytes: new Uint8Array(99) },
    "a number above 2^53": { sequence: 2 ** 60, bytes: new Uint8Array(99) },
  };
  test.each(Object.keys(rubbish))("%s", async (what) => {
    const store = { ...plainStore(), get: () => Promise.resolve(rubbish[what] as StoredSnapshot) };
    await expect(openStream({ ...options, name: "s", store, key })).rejects.toMatchObject({
      ...{ name: "StoreError", code: "invalid", retryable: false },
      message: expect.stringMatching(/^store: expected get to return/) as string,
    });
  });

  test("a snapshot whose bytes change while they are read is read once", async () => {
    const store = plainStore();
    await (await openStream({ ...options, name: "s", store, key })).pushMany(values.subarray(0, 100));
    const { sequence, bytes } = store.snapshots.get("s")!;
    let reads = 0;
    const shifting = {
      sequence,
      get bytes() {
        return reads++ === 0 ? bytes : new Uint8Array(0);
      },
    };
    const stream = await openStream({
      ...{ ...options, name: "s", key },
      store: { ...store, get: () => Promise.resolve(shifting) },
    });
    expect([reads, stream.received]).toEqual([1, 100]);
  });

  test("an older snapshot under a newer number", async () => {
    const store = plainStore();
    const stream = await openStream({ ...options, name: "s", store, key });
    await stream.pushMany(values.subarray(0, 100));
    const first = store.snapshots.get("s")!;
    await stream.pushMany(values.subarray(100, 200));
    store.snapshots.set("s", { sequence: 2, bytes: first.bytes });
    await expect(openStream({ ...options, name: "s", store, key })).rejects.toMatchObject({
      code: "rolled-back",
    });
  });
});

test("a store that is no store is refused before anything is read", async () => {
  const stores: unknown[] = [undefined, null, 7, {}, { durable: true }, { ...plainStore(), durable: "yes" }];
  for (const store of stores)
    await expect(openStream({ ...options, name: "s", store: store as Store, key })).rejects.toThrow(
      /^store: expected/,
    );
});

test("a store that turns from durable to not durable gets no number out early", async () => {
  const inner = plainStore();
  let reads = 0;
  let open = () => {};
  const gate = new Promise<void>((resolve) => (open = resolve));
  const store: Store = {
    get durable() {
      return reads++ === 0;
    },
    get: (name) => inner.get(name),
    put: async (...args) => (await gate, inner.put(...args)),
  };
  const stream = await openStream({ ...options, name: "s", store, key });
  let out = false;
  const call = stream.pushMany(values.subarray(0, 100)).then(() => (out = true));
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(out).toBe(false);
  open();
  await call;
});

test("methods on Object.prototype are not the store's", async () => {
  let called = false;
  Object.defineProperty(Object.prototype, "giveBack", {
    ...{ configurable: true, value: () => Promise.resolve((called = true)) },
  });
  try {
    const stream = await openStream({ ...options, name: "s", store: plainStore(), key });
    await stream.close();
  } finally {
    delete (Object.prototype as Partial<Store>).giveBack;
  }
  expect(called).toBe(false);
});

test("what is missing is not taken from Object.prototype: not even how durable the store is", async () => {
  Object.assign(Object.prototype, { durable: false, put: () => Promise.resolve() });
  try {
    for (const [missing, what] of [
      ["durable", /^store: expected durable to be true or false/],
      ["put", /^store: expected a method put/],
    ] as const) {
      const store = { ...plainStore() };
      Reflect.deleteProperty(store, missing);
      await expect(openStream({ ...options, name: "s", store, key })).rejects.toThrow(what);
    }
  } finally {
    for (const name of ["durable", "put"]) Reflect.deleteProperty(Object.prototype, name);
  }
});

test("options on Object.prototype are no options", async () => {
  Object.assign(Object.prototype, { atLeast: 5, unsafeSeed: "x" });
  try {
    const { unsafeSeed: _, ...secret } = options;
    const stream = await openStream({ ...secret, name: "s", store: plainStore(), key });
    expect((await stream.statement()).private).toBe(true);
  } finally {
    delete (Object.prototype as { atLeast?: number }).atLeast;
    delete (Object.prototype as { unsafeSeed?: string }).unsafeSeed;
  }
});

test.each(["get", "put"] as const)(
  "a store that calls its own stream or hub in %s gets an error",
  async (method) => {
    const inner = plainStore();
    const errors: unknown[] = [];
    let call: () => Promise<unknown> = () => Promise.resolve();
    const store: Store = {
      ...inner,
      [method]: (...args: [string, number, Uint8Array]) => {
        void call().catch((error: Error) => errors.push(error.message));
        return inner[method](...args);
      },
    };
    const hub = openHub({ ...options, store, key });
    call = () => hub.push("b", 1);
    await hub.pushMany("a", values.subarray(0, 100));
    call = () => Promise.resolve();
    await hub.close();
    const stream = await openStream({ ...options, unsafeSeed: "hub/a", name: "a", store, key });
    call = () => stream.push(1);
    await stream.pushMany(values.subarray(100, 200));
    expect(errors.length).toBe(method === "put" ? 2 : 1);
    for (const error of errors)
      expect(error).toMatch(/^store: a method of the store called the stream or hub/);
    expect(inner.snapshots.has("b")).toBe(false);
  },
);

/** Pushes all values batch by batch; opens the stream again whenever it fails. Returns what came out, by position. */
async function publishAll(store: Store): Promise<number[]> {
  const published: number[] = [];
  for (let failures = 0; failures < 50;) {
    try {
      const stream = await openStream({ ...options, name: "s", store, key });
      const missed = await stream.published(published.length, stream.length);
      published.push(...missed);
      while (stream.received < values.length)
        published.push(...(await stream.pushMany(values.subarray(stream.received, stream.received + 50))));
      await stream.close();
      return published;
    } catch {
      failures++;
    }
  }
  throw new Error("the store fails for ever");
}

describe("the n-th call of the store fails, for all n", () => {
  const scenarios = [false, true].flatMap((after) => [1, 2, 3].map((length) => ({ after, length })));
  test.each(scenarios)("$length in a row, after its work: $after", async ({ after, length }) => {
    const faultless = failing(fileStore(folder()), { fails: () => false, after });
    expect(await publishAll(faultless)).toEqual(expected);
    for (let n = 1; n <= faultless.calls; n++) {
      const store = failing(fileStore(folder()), { fails: (call) => call >= n && call < n + length, after });
      expect(await publishAll(store)).toEqual(expected);
    }
  });

  test("a hub of three streams, with streams that leave and come back", async () => {
    const names = ["a", "b", "c"];
    const run = async (store: Store) => {
      const out = new Map<string, number[]>(names.map((name) => [name, []]));
      let hub = openHub({ ...options, live: 1, store, key });
      for (let failures = 0; ;) {
        try {
          for (const name of names) {
            const { length } = await hub.progress(name);
            const said = out.get(name)!;
            said.push(...(await hub.published(name, said.length, length)));
          }
          for (let from = 0; from < 100; from += 25)
            for (const name of names) {
              if ((await hub.progress(name)).received > from) continue;
              out.get(name)!.push(...(await hub.pushMany(name, values.subarray(from, from + 25))));
            }
          await hub.close();
          return out;
        } catch (error) {
          if (++failures > 50) throw error;
          hub = openHub({ ...options, live: 1, store, key });
        }
      }
    };
    const alone = new Map(
      names.map((name) => [
        name,
        [...privateStream({ ...options, unsafeSeed: `hub/${name}` }).pushMany(values.subarray(0, 100))],
      ]),
    );
    const faultless = failing(plainStore(), { fails: () => false, after: false });
    expect(await run(faultless)).toEqual(alone);
    for (const after of [false, true])
      for (let n = 1; n <= faultless.calls; n++)
        expect(
          await run(failing(plainStore(), { fails: (call) => call === n || call === n + 1, after })),
        ).toEqual(alone);
  });
});

describe("a put that fails and arrives late, between the question and the second offer", () => {
  /** The network breaks at a put; what was sent arrives when the same snapshot is offered again. */
  function late(breaks: (name: string) => boolean): Store {
    const inner = plainStore();
    let sent: (() => Promise<void>) | undefined;
    return {
      ...inner,
      async put(...snapshot) {
        const arrives = sent;
        sent = undefined;
        await arrives?.();
        if (arrives === undefined && breaks(snapshot[0])) {
          sent = () => inner.put(...snapshot);
          throw new Error("timeout");
        }
        return inner.put(...snapshot);
      },
    };
  }

  test("a hub receives the value once", async () => {
    let puts = 0;
    const hub = openHub({ ...options, store: late(() => ++puts === 2), key });
    await hub.push("a", 1);
    await hub.push("a", 2);
    expect((await hub.progress("a")).received).toBe(2);
  });

  test("a hub of events counts the event once", async () => {
    const at = Date.UTC(2026, 2, 1, 10);
    const exact = { epsilon: 64, every: "1s", levels: ["1s"], unsafeSeed: "late" } as const;
    const metrics = { orders: { ...exact, of: "count", keys: ["a"] } } as const;
    let puts = 0;
    const store = late((name) => name.includes("//") && ++puts === 1);
    const hub = openHub({ metrics, store, key, clock: () => at, commitEvery: 0 });
    await hub.add("orders", "a");
    await hub.advance(at + 1000);
    const { value } = await hub.between("orders", "a", at, at + 1000); // noise of scale 1/64: far below ½
    expect(Math.round(value!)).toBe(1);
  });
});

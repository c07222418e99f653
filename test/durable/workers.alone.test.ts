/** A hub with threads gives what a hub without them gives, in every bit. */
import { EventEmitter } from "node:events";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { ThreadHandle } from "../../src/durable/workers/threadHandle.js";
import { memoryStore, openHub, openOdometer, type Store } from "../../src/index.js";
import { fileStore, openWorkerHub, type WorkerHubOptions } from "../../src/node.js";
import { key, options, plainStore, temporaryFolders, values } from "./support.js";

const folder = temporaryFolders();
const script = pathToFileURL(join(folder(), "thread.mjs"));
const names = Array.from({ length: 20 }, (_, i) => `shop ${i}`);

beforeAll(() =>
  build({
    ...{ entryPoints: ["src/durable/workers/thread.ts"], outfile: script.pathname, bundle: true },
    ...{ platform: "node", format: "esm" },
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
  }),
);

const open = (more: Partial<WorkerHubOptions> = {}) =>
  openWorkerHub({ ...options, workers: 2, ...more }, script);

describe.each(["memory of the threads", "memory", "file"])("store: %s", (kind) => {
  const stores: Record<string, () => Store | undefined> = {
    "memory of the threads": () => undefined,
    memory: () => memoryStore(),
    file: () => fileStore(folder()),
  };

  test("the same answers as without threads, single values and batches mixed", async () => {
    const [one, two] = [0, 1].map(() => {
      const store = stores[kind]!();
      return store === undefined ? {} : { store, key };
    });
    const [alone, threads] = [openHub({ ...options, ...one, live: 6 }), open({ ...two, live: 6 })];
    const run = (hub: Pick<typeof alone, "push" | "pushMany">) =>
      Promise.all(
        names.flatMap((name, k) => [
          hub.pushMany(name, values.subarray(k, k + 90)),
          hub.push(name, values[k]!),
          hub.pushMany(name, []),
          hub.pushMany(name, values.subarray(k + 100, k + 200)),
          hub.push(name, 3),
        ]),
      );
    expect(await run(threads)).toEqual(await run(alone));
    for (const name of names) {
      expect(await threads.range(name, 70, 150)).toEqual(await alone.range(name, 70, 150));
      expect(await threads.published(name, 120, 140)).toEqual(await alone.published(name, 120, 140));
      expect(await threads.statement(name)).toEqual(await alone.statement(name));
      expect(await threads.explain(name)).toBe(await alone.explain(name));
      expect(await threads.progress(name)).toMatchObject({ received: 192, length: 176 });
    }
    expect(await threads.names()).toEqual([...names].sort());
    await threads.remove(names[0]!);
    expect(await threads.names()).not.toContain(names[0]);
    expect((await threads.stats()).published).toBe(20 * 176);
    await threads.close();
    await expect(threads.push("a", 1)).rejects.toThrow(/^hub: expected an open hub/);
  });
});

test("another hub, with more threads or with none, resumes", async () => {
  const place = folder();
  const part = (k: number) => values.subarray(100 * k, 100 * k + 100);
  const push = async (hub: Pick<ReturnType<typeof open>, "pushMany" | "close">, k: number) => {
    const out = await Promise.all(names.map((name) => hub.pushMany(name, part(k))));
    await hub.close();
    return out;
  };
  const store = () => ({ store: fileStore(place), key });
  const all = [
    await push(open(store()), 0),
    await push(openHub({ ...options, ...store() }), 1),
    await push(open({ ...store(), workers: 3 }), 2),
  ];
  const alone = await push(openHub(options), 0);
  expect(all[0]).toEqual(alone);
  const hub = openHub(options);
  for (const [i, name] of names.entries())
    for (let k = 0; k < 3; k++) expect(all[k]![i]).toEqual(await hub.pushMany(name, part(k)));
});

test("errors keep their class, message and code, and a failed call disturbs no other", async () => {
  const inner = plainStore();
  const store: Store = {
    ...inner,
    put: (name, ...rest) =>
      name === "b" ? Promise.reject(new Error("disk full")) : inner.put(name, ...rest),
  };
  const hub = open({ store, key, keys: ["a", "b", "c"] });
  const results = await Promise.allSettled(["a", "b", "c", "d"].map((name) => hub.push(name, 1)));
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
  expect((results[1] as PromiseRejectedResult).reason).toMatchObject({
    code: "in-doubt",
    retryable: false,
  });
  await expect(hub.range("a", 0, 1)).rejects.toThrow(RangeError);
  await expect(hub.range("a", 0, 1)).rejects.toThrow("holding out: 1 of 16");
  await expect(hub.push("a", NaN)).rejects.toThrow("value: expected a finite number");
  await expect(hub.range("d", 0, 1)).rejects.toThrow(/^name: expected one of the keys/);
  await hub.close();
  expect([...inner.snapshots.keys()].sort()).toEqual(["a", "c"]);
});

test("atLeast and the budget hold with threads too", async () => {
  const store = plainStore();
  const first = open({ store, key });
  await first.push("a", 1);
  await first.close();
  const second = open({ store, key, atLeast: () => 5 });
  await expect(second.push("a", 1)).rejects.toMatchObject({ code: "rolled-back", retryable: false });
  await second.close();
  const odometer = await openOdometer({ name: "budget", store: memoryStore(), key, limit: 0.5 });
  const third = open({ budget: { odometer, name: "hub" } });
  await expect(third.push("a", 1)).rejects.toThrow(/^odometer: release "hub"/);
  await third.close();
});

test.each([undefined, memoryStore(), plainStore()])(
  "whoever removes a stream and feeds it the same values again is charged, store %#",
  async (store) => {
    const odometer = await openOdometer({ name: "budget", store: memoryStore(), key, limit: 2 });
    const hub = open({ ...(store && { store, key }), budget: { odometer, name: "hub" } });
    for (let times = 1; times <= 2; times++) {
      await Promise.all([hub.push("a", 1), hub.pushMany("a", values), hub.push("b", 1)]);
      expect(odometer.spent()).toBe(times);
      if (store === undefined || store.remove !== undefined) await hub.remove("a");
      else (store as ReturnType<typeof plainStore>).snapshots.delete("a");
    }
    await expect(hub.push("a", 1)).rejects.toThrow(/ε = 3, expected at most 2/);
    await hub.close();
  },
);

test("what cannot be sent to a thread is refused at once", () => {
  expect(() => open({ smoother: ([last]) => last! })).toThrow(/^smoother: expected a built-in one/);
  expect(() => open({ threshold: "shared" as "noisy-max" })).toThrow(/^threshold: expected/);
  expect(() => open({ workers: 0 })).toThrow(/^workers: expected/);
  expect(() => open({ epsilon: -1 })).toThrow(/^epsilon: expected/);
});

test("a question that cannot be sent is refused, and the hub answers the next one", async () => {
  const hub = open();
  for (const rubbish of [Symbol("x"), () => 1])
    await expect(hub.range("a", rubbish as never, 3)).rejects.toThrow(
      /^range: expected numbers and plain options, got something that cannot be sent to a thread$/,
    );
  expect((await hub.progress("a")).received).toBe(0);
  const alone = openHub(options);
  await Promise.all([alone, hub].flatMap((one) => names.map((name) => one.pushMany(name, values))));
  expect((await hub.stats()).published).toBe(alone.stats().published);
  await hub.close();
  expect(() => openWorkerHub(null as never)).toThrow("openWorkerHub: expected an object of options");
});

describe("a process with threads", () => {
  /** Holds the process as a worker does, and answers when it is told to. */
  class FakeWorker extends EventEmitter {
    holds = true;
    broken = false;
    readonly sent: { kind: string; id: number; names: string[] }[] = [];
    ref = () => void (this.holds = true);
    unref = () => void (this.holds = false);

    postMessage(message: never): void {
      if (this.broken) throw new RangeError("Array buffer allocation failed");
      this.sent.push(message);
    }

    answer(): void {
      const { kind, id, names } = this.sent.shift()!;
      if (kind === "ask") this.emit("message", { kind: "answer", id, answer: 7 });
      else {
        const lengths = new Int32Array(names.length);
        this.emit("message", { kind: "pushed", id, lengths, numbers: new Float64Array(0), errors: [] });
      }
    }
  }

  const turn = () => new Promise((resolve) => setImmediate(resolve));
  const make = () => {
    const worker = new FakeWorker();
    return {
      worker,
      thread: new ThreadHandle(
        worker as never,
        undefined as never,
        () => 0,
        () => Promise.resolve(),
      ),
    };
  };

  test("does not end while a call waits for its answer, and ends when none does", async () => {
    const { worker, thread } = make();
    expect(worker.holds).toBe(false);
    for (let round = 0; round < 3; round++) {
      const calls = [thread.ask("stats"), thread.push("a", Float64Array.of(1)), thread.ask("names")];
      await turn();
      for (let left = worker.sent.length; left > 0; left--) {
        expect(worker.holds).toBe(true);
        worker.answer();
        await turn();
      }
      await Promise.all(calls);
      expect(worker.holds).toBe(false);
    }
  });

  test("is told if there is no memory to send values, and the next ones are sent", async () => {
    const { worker, thread } = make();
    worker.broken = true;
    await expect(thread.push("a", Float64Array.of(1))).rejects.toThrow("allocation failed");
    expect(worker.holds).toBe(false);
    worker.broken = false;
    const call = thread.push("a", Float64Array.of(1));
    await turn();
    worker.answer();
    expect(await call).toHaveLength(0);
  });
});

/** Threads and open streams of a hub, with stand-ins for the thread and for the streams. */
import { EventEmitter } from "node:events";
import type { Worker } from "node:worker_threads";
import { describe, expect, test } from "vitest";
import { CheckedStore } from "../../../src/durable/checkedStore.js";
import { LiveStreams } from "../../../src/durable/hub/liveStreams.js";
import type { DurableStream } from "../../../src/durable/durableStream.js";
import { StoreError } from "../../../src/durable/stores/store.js";
import { Calls } from "../../../src/durable/workers/calls.js";
import { joined, receiveError, sendError, type ToThread } from "../../../src/durable/workers/messages.js";
import { ThreadHandle } from "../../../src/durable/workers/threadHandle.js";
import { openHub } from "../../../src/index.js";
import { options, plainStore, values } from "../support.js";

const conflict = () => new StoreError("conflict", "taken");

describe("open streams", () => {
  /** Streams that only know whether they are closed. */
  function made(most: number) {
    const log: string[] = [];
    const live = new LiveStreams((name) => {
      log.push(`open ${name}`);
      const stream = {
        ...{ name, ended: false },
        close: () => {
          log.push(`close ${name}`);
          stream.ended = true;
          return name === "bad" ? Promise.reject(new Error("not stored")) : Promise.resolve();
        },
      };
      return Promise.resolve(stream as unknown as DurableStream);
    }, most);
    const use = (name: string) => live.use(name, (stream) => Promise.resolve(stream.name));
    return { live, log, use };
  }

  test("the least recently used one is closed", async () => {
    const { live, log, use } = made(2);
    for (const name of ["a", "b", "a", "c", "a", "b"]) expect(await use(name)).toBe(name);
    expect(log).toEqual(["open a", "open b", "open c", "close b", "open b", "close c"]);
    expect(live.stats).toEqual({ live: 2, opened: 4, closed: 2, conflicts: 0 });
    expect([...live.names()]).toEqual(["a", "b"]);
    expect(live.ready("a")!.name).toBe("a");
    expect([...live.names()]).toEqual(["b", "a"]); // used now
    expect([live.ready("c"), live.ready("x")]).toEqual([undefined, undefined]);
    await live.close();
    expect([live.size, live.stats.closed]).toEqual([0, 4]);
  });

  test("one that could not be opened is not closed, at whatever moment: its calls were told", async () => {
    for (let moment = 0; moment < 10; moment++) {
      let fail: (reason: Error) => void = () => undefined;
      const live = new LiveStreams(() => new Promise((_, reject) => (fail = reject)), 2);
      const call = live.use("x", () => Promise.resolve());
      const told = expect(call).rejects.toThrow("unavailable");
      fail(new Error("unavailable"));
      for (let i = 0; i < moment; i++) await Promise.resolve();
      await live.close();
      await told;
    }
  });

  test("one that others wait for is not closed, nor taken at once", async () => {
    const { live, log, use } = made(1);
    await use("a");
    const both = [use("b"), use("b")];
    expect(live.ready("b")).toBeUndefined(); // it is being opened
    await Promise.all(both);
    expect(log).toEqual(["open a", "open b", "close a"]);
    expect(live.ready("b")!.name).toBe("b");
    await live.ready("b")!.close();
    expect(live.ready("b")).toBeUndefined(); // ended
    await use("b"); // the next call opens it again
    expect(live.size).toBe(1);
    expect(log.filter((line) => line === "open b")).toHaveLength(2);
  });

  test("a conflict is tried four times, and each is counted", async () => {
    const { live } = made(4);
    let tries = 0;
    const act = (until: number) =>
      live.use("a", () => (++tries <= until ? Promise.reject(conflict()) : Promise.resolve("done")));
    expect([await act(3), tries, live.stats.conflicts]).toEqual(["done", 4, 3]);
    tries = 0;
    await expect(act(4)).rejects.toMatchObject({ code: "conflict" });
    expect([tries, live.stats.conflicts]).toEqual([4, 7]);
    tries = 0;
    const broken = live.use("a", () => (tries++, Promise.reject(new StoreError("unavailable", "down"))));
    await expect(broken).rejects.toMatchObject({ code: "unavailable" });
    expect([tries, live.stats.conflicts]).toEqual([1, 7]);
    expect([live.countConflict(conflict()), live.countConflict(new Error("x"))]).toEqual([true, false]);
  });

  test("one that could not be stored rejects the next call for it, and the end of the hub", async () => {
    const { live, use } = made(1);
    await use("bad");
    await use("a"); // closes it, and does not reject
    await expect(use("bad")).rejects.toThrow("not stored");
    expect(await use("bad")).toBe("bad");
    await use("a");
    await expect(live.close()).rejects.toThrow("not stored");
  });
});

describe("a thread", () => {
  class FakeWorker extends EventEmitter {
    readonly posted: ToThread[] = [];
    held = true;
    ended = 0;
    postMessage(message: ToThread): void {
      if (message.kind === "ask" && message.args.includes("unsendable")) throw new Error("clone");
      this.posted.push(message);
    }
    ref(): void {
      this.held = true;
    }
    unref(): void {
      this.held = false;
    }
    terminate(): Promise<number> {
      this.ended++;
      return Promise.resolve(0);
    }
  }
  const tick = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  const made = (store = plainStore(), atLeast: (name: string) => number = () => 0) => {
    const worker = new FakeWorker();
    const thread = new ThreadHandle(worker as unknown as Worker, new CheckedStore(store), atLeast, () =>
      Promise.resolve(),
    );
    return { worker, thread };
  };

  test("values of many calls go in one message, and each call gets its numbers", async () => {
    const { worker, thread } = made();
    expect(worker.held).toBe(false);
    const calls = [
      thread.push("a", Float64Array.of(1, 2)),
      thread.push("b", Float64Array.of(3)),
      thread.push("c", Float64Array.of(4)),
      thread.push("d", Float64Array.of(5, 6, 7)),
    ];
    expect(worker.held).toBe(true);
    await tick();
    expect(worker.posted).toEqual([
      {
        ...{ kind: "push", id: 1, names: ["a", "b", "c", "d"], lengths: Int32Array.of(2, 1, 1, 3) },
        values: Float64Array.of(1, 2, 3, 4, 5, 6, 7),
      },
    ]);
    worker.emit("message", {
      ...{ kind: "pushed", id: 1, lengths: Int32Array.of(1, -1, 0, 2), numbers: Float64Array.of(10, 20, 30) },
      errors: [{ name: "RangeError", message: "no", code: undefined }],
    });
    const results = await Promise.allSettled(calls);
    expect(results.map((result) => (result.status === "fulfilled" ? [...result.value] : "rejected"))).toEqual(
      [...[[10], "rejected", [], [20, 30]]],
    );
    expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(RangeError);
    expect(worker.held).toBe(false);
    void thread.push("a", Float64Array.of(9)).catch(() => undefined);
    await tick();
    expect(worker.posted[1]).toMatchObject({ id: 2 });
  });

  test("questions come after the values before them, and keep the process alive until they are answered", async () => {
    const { worker, thread } = made();
    const pushed = thread.push("a", Float64Array.of(1));
    const asked = [thread.ask("range", "a", 0, 1), thread.ask("names")];
    expect(worker.posted.map(({ kind, id }) => [kind, id])).toEqual([
      ["push", 1],
      ["ask", 1],
      ["ask", 2],
    ]);
    worker.emit("message", { kind: "answer", id: 2, answer: ["a"] });
    worker.emit("message", { kind: "answer", id: 1, error: sendError(conflict()) });
    await expect(asked[0]).rejects.toMatchObject({ code: "conflict", retryable: true });
    expect([await asked[1], worker.held]).toEqual([["a"], true]);
    worker.emit("message", {
      ...{ kind: "pushed", id: 1, lengths: Int32Array.of(0), numbers: new Float64Array(0), errors: [] },
    });
    expect([await pushed, worker.held]).toEqual([new Float64Array(0), false]);
    await expect(thread.ask("range", "unsendable")).rejects.toThrow(
      "range: expected numbers and plain options, got something that cannot be sent to a thread",
    );
    await tick();
    expect(worker.held).toBe(false);
    await thread.end();
    expect(worker.ended).toBe(1);
  });

  test("it asks for the caller's store, and gets answers and errors", async () => {
    const store = { ...plainStore(), names: () => Promise.resolve(["s"]), remove: () => Promise.resolve() };
    const { worker } = made(store, (name) => (name === "old" ? 5 : 0));
    const ask = async (question: string, ...args: unknown[]) => {
      worker.emit("message", { kind: "ask", id: 7, question, args });
      for (let i = 0; i < 5; i++) await tick();
      const { id, answer, error } = worker.posted.pop() as {
        id: number;
        answer?: unknown;
        error?: { code: string };
      };
      expect(id).toBe(7);
      return error === undefined ? answer : error.code;
    };
    const snapshot = (name: string, sequence: number) => ({ name, sequence, bytes: Uint8Array.of(sequence) });
    expect(await ask("get", "s")).toBeUndefined();
    expect(await ask("putMany", [snapshot("s", 1)])).toEqual([true]);
    expect(await ask("putMany", [snapshot("s", 1)])).toBe("conflict");
    expect(await ask("putMany", [snapshot("s", 2), snapshot("t", 9)])).toEqual([true, false]);
    expect(await ask("get", "s")).toMatchObject({ sequence: 2 });
    expect(await ask("get", "old")).toBe("rolled-back");
    expect(await ask("store names")).toEqual(["s"]);
    expect([await ask("store remove", "s", 2), await ask("give back", "s")]).toEqual([undefined, undefined]);
    store.put = () => Promise.reject(new Error("disk"));
    expect(await ask("putMany", [snapshot("s", 3), snapshot("t", 1)])).toBe("unavailable");
  });

  test.each(["error", "exit"])("when it ends (%s), every call is rejected, now and later", async (how) => {
    const { worker, thread } = made();
    const sent = thread.push("a", Float64Array.of(1));
    const asked = thread.ask("names");
    const waiting = thread.push("a", Float64Array.of(2));
    worker.emit(how, new Error("why"));
    worker.emit("exit");
    const message =
      how === "error" ? "hub: a thread ended with an error" : "hub: a thread has ended; make another hub";
    for (const call of [sent, asked, waiting, thread.ask("names"), thread.push("a", Float64Array.of(3))])
      await expect(call).rejects.toThrow(message);
    await tick();
    expect(worker.posted).toHaveLength(2); // what waited was not sent
  });

  test("errors keep their class and their code on the way", () => {
    const there = (error: unknown) => receiveError(sendError(error));
    expect(there(new TypeError("t"))).toBeInstanceOf(TypeError);
    expect(there(new RangeError("r"))).toBeInstanceOf(RangeError);
    expect(there(new SyntaxError("s"))).toMatchObject({ name: "Error", message: "s" });
    expect(there(conflict())).toMatchObject({ name: "StoreError", code: "conflict", message: "taken" });
    expect(there("text").message).toBe("hub: a call failed");
    expect(joined([Float64Array.of(1), new Float64Array(0), Float64Array.of(2, 3)])).toEqual(
      Float64Array.of(1, 2, 3),
    );
  });

  test("calls have numbers of their own; one that could not be sent waits for nothing", async () => {
    const calls = new Calls();
    const ids: number[] = [];
    const first = calls.call((id) => void ids.push(id));
    await expect(
      calls.call(() => {
        throw new Error("not sent");
      }),
    ).rejects.toThrow("not sent");
    const third = calls.call((id) => void ids.push(id));
    expect(ids).toEqual([1, 3]);
    calls.settle({ kind: "answer", id: 3, answer: "c" });
    calls.settle({ kind: "answer", id: 99 });
    expect(await third).toBe("c");
    calls.rejectAll(new Error("gone"));
    await expect(first).rejects.toThrow("gone");
  });
});

describe("a hub", () => {
  test("says how far each stream is, and counts what it published", async () => {
    const hub = openHub({ ...options, live: 2 });
    expect(await hub.progress("a")).toEqual({
      received: 0,
      length: 0,
      sequence: 0,
      holdout: { received: 0, of: 16 },
    });
    await hub.pushMany("a", values.subarray(0, 10));
    expect((await hub.progress("a")).holdout).toEqual({ received: 10, of: 16 });
    await expect(hub.range("a", 0, 1)).rejects.toThrow(
      "range(0, 1): nothing is published yet; holding out: 10 of 16",
    );
    await expect(hub.published("a", 2, 4)).rejects.toThrow("published(2, 4): nothing is published yet");
    expect((await hub.range("a", 0, 0)).sum).toBe(0);
    expect(await hub.explain("a")).toContain("\nNothing is published yet; holding out: 10 of 16.");
    expect(await hub.push("a", 3)).toBeUndefined();
    expect(hub.stats().published).toBe(0);
    const out = await hub.pushMany("a", values.subarray(11, 30));
    expect([out.length, hub.stats().published]).toEqual([14, 14]);
    expect(typeof (await hub.push("a", 3))).toBe("number");
    expect(await hub.progress("a")).toMatchObject({
      received: 31,
      length: 15,
      holdout: { received: 16, of: 16 },
    });
    expect([hub.stats().published, hub.live]).toEqual([15, 1]);
    expect(await hub.explain("a")).not.toContain("Nothing is published yet");
    await hub.close();
    await expect(hub.push("a", 1)).rejects.toThrow("hub: expected an open hub, got a closed one");
  });

  test("drops what is for no key, and refuses questions about it", async () => {
    const hub = openHub({ ...options, keys: ["b", "a"] });
    expect(await hub.push("x", 1)).toBeUndefined();
    expect(await hub.pushMany("x", values)).toEqual(new Float64Array(0));
    await expect(hub.progress("x")).rejects.toThrow('name: expected one of the keys, got "x"');
    expect(await hub.names()).toEqual(["a", "b"]);
    await expect(hub.push(5 as never, 1)).rejects.toThrow(/^name: expected/);
  });

  test("a shared θ is chosen by the first values of all streams, which are not published", async () => {
    const hub = openHub({ ...options, threshold: "shared" });
    await expect(hub.push("", 1)).rejects.toThrow("name: expected a name that is not empty when θ is shared");
    expect(await hub.pushMany("a", values.subarray(0, 10))).toHaveLength(0);
    expect(await hub.progress("b")).toEqual({
      received: 0,
      length: 0,
      sequence: 0,
      holdout: { received: 10, of: 16 },
    });
    await hub.remove("b");
    expect(await hub.pushMany("b", values.subarray(10, 20))).toHaveLength(4); // six more choose θ
    expect(await hub.progress("b")).toMatchObject({
      received: 4,
      length: 4,
      holdout: { received: 16, of: 16 },
    });
    expect(await hub.push("a", 3)).toBeTypeOf("number");
    expect(await hub.names()).toEqual(["a", "b"]);
    const { stages, composition } = await hub.statement("a");
    expect(stages.length).toBeGreaterThan(1);
    expect(composition).toMatch(/^The values that choose θ are the first ones of the hub\./);
  });
});

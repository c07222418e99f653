/**
 * Every call to the cluster and every read of the clock fails once, in several scenarios. What was published before and
 * after must be what a single process publishes, and the state must let the next worker continue.
 */
import { describe, expect, test } from "vitest";

import { type Countdown, everyFault, failingFunction, Fault } from "../../../test/support/faults.js";
import { heartbeat, runClock } from "../src/clock.js";
import { MemoryCluster } from "../src/memory/memoryCluster.js";
import type { Port } from "../src/port.js";
import { readPublishedFrom } from "../src/readPublished.js";
import { rekey } from "../src/rekey.js";
import { PartitionTask } from "../src/partitionTask.js";
import { makeWorker, type WorkerOptions } from "../src/worker.js";
import { mortalPort, WithoutBirthFirst } from "./support/broken.js";
import { failingPort, type When } from "./support/failingPort.js";
import type { Verdict } from "./support/judge.js";
import { makeTopics, RIGHT, sendRound, settled, testOptions } from "./support/workload.js";

const KEYS = 2;
/** Clusters at the same time: they mostly wait. */
const TOGETHER = 8;
const fast = { commitInterval: 1, sealEvery: 3 };

interface Scene {
  readonly port: Port;
  readonly options: WorkerOptions;
  /** The port that fails. */
  readonly failing: Port;
  readonly send: (rounds: number) => Promise<void>;
}

async function scene(fault: Countdown, when: When, more: Partial<WorkerOptions> = {}): Promise<Scene> {
  const port = new MemoryCluster().port();
  const options = testOptions("faults", { ...fast, ...more });
  await makeTopics(port, options, 1);
  let round = 0;
  const send = async (rounds: number) => {
    for (let i = 0; i < rounds; i++) await sendRound(port, options.in, 1, KEYS, round++);
  };
  return { port, options, send, failing: failingPort(port, fault, when) };
}

/** Starts a worker as a person would: after an error again. */
async function started(port: Port, options: WorkerOptions, Task = PartitionTask) {
  for (;;) {
    const worker = makeWorker(port, options, Task);
    try {
      await worker.start();
      return worker;
    } catch (error) {
      expect(error).toBeInstanceOf(Fault);
      await worker.stop();
    }
  }
}

async function stopped(worker: { stop(): Promise<void> }): Promise<void> {
  await worker.stop().catch((error: unknown) => expect(error).toBeInstanceOf(Fault));
}

/** The next worker finds a state from which everything goes on; the judge compares all of it with a single process. */
async function goesOn({ port, options, send }: Scene, committed: number): Promise<Verdict> {
  const next = await started(port, options);
  await send(1);
  const verdict = await settled(port, options);
  expect(next.stats().refused).toEqual([]);
  await next.stop();
  expect(verdict).toMatchObject({ ...RIGHT, committed: committed + KEYS });
  return verdict;
}

/** Two rounds are there at the start, two come later, and then the worker stops. */
async function life(of: Scene, Task = PartitionTask): Promise<void> {
  await of.send(2);
  const worker = await started(of.failing, of.options, Task);
  await settled(of.port, of.options);
  await of.send(2);
  await settled(of.port, of.options);
  await stopped(worker);
}

describe.each(["before", "after"] as const)("each call of the port fails %s it does its work", (when) => {
  test("a worker: from its start to its stop", async () => {
    const calls = await everyFault(async (fault) => {
      const of = await scene(fault, when);
      await life(of);
      await goesOn(of, 4 * KEYS);
    }, TOGETHER);
    expect(calls).toBeGreaterThan(15);
  });

  test("a worker that takes over from one that died, with a replay", async () => {
    const calls = await everyFault(async (fault) => {
      const of = await scene(fault, when, { sealEvery: 100 });
      const { port, die } = mortalPort(of.port);
      const dying = await started(port, of.options);
      await of.send(3);
      await settled(of.port, of.options);
      die();
      await dying.stop();
      await life(of);
      await goesOn(of, 7 * KEYS);
    }, TOGETHER);
    expect(calls).toBeGreaterThan(15);
  });

  test("two workers that hand over to each other", async () => {
    const calls = await everyFault(async (fault) => {
      const of = await scene(fault, when);
      const first = await started(of.port, of.options);
      await of.send(1);
      await settled(of.port, of.options);
      const second = await started(of.failing, of.options);
      await first.stop();
      await of.send(2);
      await settled(of.port, of.options);
      const third = await started(of.port, of.options);
      await stopped(second);
      await of.send(1);
      await settled(of.port, of.options);
      await third.stop();
      await goesOn(of, 4 * KEYS);
    }, TOGETHER);
    expect(calls).toBeGreaterThan(10);
  });

  test("new keys for all streams", async () => {
    const keys = { old: new Uint8Array(32).fill(7), new: new Uint8Array(32).fill(8) };
    const calls = await everyFault(async (fault) => {
      const of = await scene(fault, when, { key: { current: "old", keys } });
      const worker = await started(of.port, of.options);
      await of.send(3);
      await settled(of.port, of.options);
      await worker.stop();
      const options = { ...of.options, key: { current: "new", keys } };
      for (let done = false; !done;)
        try {
          await rekey(of.failing, options);
          done = true;
        } catch (error) {
          expect(error).toBeInstanceOf(Fault);
        }
      await goesOn({ ...of, options }, 3 * KEYS);
    }, TOGETHER);
    expect(calls).toBeGreaterThan(8);
  });

  test("a reader that begins again gets every position once", async () => {
    const { port, options, send } = await scene({ strikes: () => false } as Countdown, when);
    const worker = await started(port, options);
    await send(5);
    await settled(port, options);
    await worker.stop();
    const calls = await everyFault(async (fault) => {
      const failing = failingPort(port, fault, when);
      const read = async () => {
        const found: string[] = [];
        const reading = readPublishedFrom(failing, { topic: options.out, toEnd: true, format: "binary" });
        for await (const { name, position } of reading) found.push(`${name}@${position}`);
        return found;
      };
      const found = await read().catch((error: unknown) => {
        expect(error).toBeInstanceOf(Fault);
        return read();
      });
      expect(new Set(found).size).toBe(5 * KEYS);
      expect(found.length).toBe(5 * KEYS);
    }, TOGETHER);
    expect(calls).toBeGreaterThanOrEqual(3);
  });

  test("a clock: heartbeats that fail or come twice close every period once", async () => {
    const stream = { epsilon: 1, every: "1m", levels: ["1m"], of: "count" } as const;
    const calls = await everyFault(async (fault) => {
      const { port, options, failing } = await scene(fault, when, { stream });
      const send = (timestamp: number) => {
        const record = { key: Buffer.from("a"), value: Buffer.alloc(8), timestamp };
        return port.send([{ topic: options.in, partition: 0, records: [record] }]);
      };
      await port.send([{ topic: options.in, partition: 0, records: [heartbeat(10 * 60_000)] }]);
      const worker = await started(failing, options);
      for (let minute = 10; minute < 14; minute++) {
        await send(60_000 * minute + 1);
        for (let done = false; !done;) done = await beatOnce(failing, options.in, 60_000 * (minute + 1));
        await settled(port, options);
      }
      await stopped(worker);
      const next = await started(port, options);
      await send(14 * 60_000 + 1);
      await beatOnce(port, options.in, 15 * 60_000);
      const verdict = await settled(port, options);
      await next.stop();
      expect(verdict).toMatchObject({ ...RIGHT, committed: 5 });
    }, TOGETHER);
    expect(calls).toBeGreaterThan(15);
  });
});

/** Lets a clock run until its first heartbeat is written; false if that failed. */
async function beatOnce(port: Port, topic: string, time: number): Promise<boolean> {
  const stop = new AbortController();
  const once: Port = { ...port, send: (writes) => port.send(writes).finally(() => stop.abort()) };
  try {
    await runClock(once, topic, 1, stop.signal, "UTC", () => time);
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(Fault);
    return false;
  }
}

test("each read of the clock fails", async () => {
  const now = performance.now.bind(performance);
  const calls = await everyFault(async (fault) => {
    const of = await scene({ strikes: () => false } as Countdown, "before");
    performance.now = failingFunction(now, fault);
    try {
      await life(of);
    } finally {
      performance.now = now;
    }
    await goesOn(of, 4 * KEYS);
  });
  expect(calls).toBeGreaterThan(10);
});

test("without birth first, a fault is seen as positions with different numbers", async () => {
  let differing = 0;
  await everyFault(async (fault) => {
    const of = await scene(fault, "after");
    await of.send(2);
    const worker = await started(of.failing, of.options, WithoutBirthFirst);
    differing += (await settled(of.port, of.options)).differing;
    await stopped(worker);
  }, TOGETHER);
  expect(differing).toBeGreaterThan(0);
});

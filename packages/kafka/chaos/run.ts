/** A run with faults: producers send, workers are killed, frozen and added, and at the end the judge reads all. */
import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

import { kafkaPort } from "../src/kafka/kafkaPort.js";
import type { Port } from "../src/port.js";
import { judge, type Verdict } from "../test/support/judge.js";
import { makeTopics, sendRound, testOptions, until } from "../test/support/workload.js";
import type { ProcessSettings } from "../test/support/workerProcess.js";
import { Recoveries } from "./recoveries.js";
import { WorkerProcess } from "./workers.js";

export interface ChaosOptions {
  readonly brokers: readonly string[];
  /** How workers reach the brokers, if not as the producer and the judge do. */
  readonly workerBrokers?: readonly string[];
  readonly program: string;
  readonly name: string;
  readonly partitions: number;
  readonly keys: number;
  readonly replicas?: number;
  /** Milliseconds between rounds; each sends one value per key. */
  readonly pace: number;
  /** Every round brings a new key and ends the oldest, so that every transaction has a birth. */
  readonly manyBirths?: boolean;
  readonly sessionTimeout: number;
  /** Milliseconds that a worker has to reach a transaction, when it shall freeze there; 500 if not given. */
  readonly freezeWithin?: number;
  /** Faults to inject, one after the other; the run ends after the last one. */
  readonly faults: Iterable<Fault>;
  readonly without?: ProcessSettings["without"];
}

export type Fault = (run: Run) => Promise<void>;

export interface Run {
  readonly workers: readonly WorkerProcess[];
  /** A worker for a moment, as in a rebalance storm. */
  readonly extra: () => WorkerProcess;
  /** Waits until all partitions have published something that was written after this call. */
  readonly writtenFromNow: () => Promise<void>;
}

/** Kills a worker at a random moment. */
export const kill: Fault = async ({ workers }) => {
  await sleep(randomInt(300, 1500));
  workers[randomInt(workers.length)]!.kill();
};

/** Freezes a worker for longer than its session, so that it wakes as a zombie. */
export const freeze: Fault = async ({ workers }) => {
  await sleep(randomInt(300, 800));
  await workers[randomInt(workers.length)]!.freeze(() => sleep(4_000));
};

/** Freezes a worker with numbers in its hands until another one has published them, so that it surely wakes as a zombie. */
export const freezeUntilReplaced: Fault = async ({ workers, writtenFromNow }) => {
  await workers.at(-1)!.freeze(writtenFromNow);
};

/** Three workers come and go, so that the group is rebalanced six times. */
export const storm: Fault = async ({ extra }) => {
  const guests = [];
  for (let i = 0; i < 3; i++) {
    guests.push(extra());
    await sleep(400);
  }
  for (const guest of guests) await guest.stop();
};

/** The wall clock of a worker jumps by an hour. Nothing may depend on it. */
export const jumpClock: Fault = async ({ workers }) => {
  workers[randomInt(workers.length)]!.jumpClock();
  await sleep(500);
};

/** A worker that kills itself between the numbers of a transaction and its commit, again and again. */
export const dieBeforeCommit: Fault = async ({ workers: [first] }) => {
  const before = first!.restarts;
  await until(() => first!.restarts > before, 20_000).catch(() => undefined); // it may own nothing at the moment
};

export interface ChaosResult {
  readonly verdict: Verdict;
  readonly faults: number;
  readonly restarts: number;
  readonly fenced: number;
  /** Messages of the workers, without repeats. */
  readonly messages: readonly string[];
  /** Milliseconds from each fault until all partitions published again. */
  readonly recoveries: readonly number[];
}

export async function runChaos(options: ChaosOptions): Promise<ChaosResult> {
  const { brokers, program, name, partitions, keys, pace, faults, sessionTimeout, without } = options;
  const port = kafkaPort({ brokers });
  const setting = testOptions(name, { development: (options.replicas ?? 1) < 3 });
  await makeTopics(port, setting, partitions, options.replicas);
  const settings = {
    ...{ brokers: options.workerBrokers ?? brokers, name, sessionTimeout },
    ...{ freezeBefore: "write" as const, freezeWithin: options.freezeWithin ?? 500 },
    ...(without === undefined ? {} : { without }),
  };
  const fleet = { program, settings };
  const workers = [
    new WorkerProcess(fleet, { dieBeforeCommit: 25, freezeBefore: "commit" }),
    new WorkerProcess(fleet),
  ];
  const guests: WorkerProcess[] = [];
  const extra = () => {
    const guest = new WorkerProcess(fleet);
    guests.push(guest);
    return guest;
  };
  let count = 0;
  const limit = without === undefined ? 60_000 : 3_000; // a run without a rule may never recover
  const recoveries = new Recoveries(port, setting.out, partitions);
  const producer = produce(port, setting.in, {
    partitions,
    keys,
    pace,
    manyBirths: options.manyBirths ?? false,
  });
  try {
    await recoveries.measure(limit); // until everyone has begun
    for (const fault of faults) {
      count++;
      await fault({ workers, extra, writtenFromNow: () => recoveries.writtenFromNow(60_000) });
      await recoveries.measure(limit);
    }
  } finally {
    await producer.stop();
  }
  let verdict = await judge(port, setting);
  const whole = async () => (verdict = await judge(port, setting)).missing === 0 && verdict.expected > 0;
  await until(whole, limit).catch(() => undefined);
  await Promise.all([...workers, ...guests].map((worker) => worker.stop()));
  verdict = await judge(port, setting);
  await recoveries.stop();
  await port.close();
  const all = [...workers, ...guests];
  return {
    verdict,
    faults: count,
    restarts: all.reduce((sum, { restarts }) => sum + restarts, 0),
    fenced: all.reduce((sum, { errors }) => sum + (errors.get("Fenced") ?? 0), 0),
    messages: [...new Set(all.flatMap(({ messages }) => [...messages]))],
    recoveries: recoveries.list.slice(1),
  };
}

/** Sends rounds until it is stopped. New keys come all the time, so that births meet faults too. */
function produce(
  port: Port,
  topic: string,
  {
    partitions,
    keys,
    pace,
    manyBirths,
  }: Required<Pick<ChaosOptions, "partitions" | "keys" | "pace" | "manyBirths">>,
) {
  let running = true;
  const done = (async () => {
    for (let round = 0; running; round++) {
      const born = manyBirths ? 4 + round : Math.min(keys, 4 + Math.floor(round / 4));
      await sendRound(port, topic, partitions, born, round, Math.max(0, born - keys));
      await sleep(pace);
    }
  })();
  done.catch(() => undefined);
  return {
    stop: () => {
      running = false;
      return done;
    },
  };
}

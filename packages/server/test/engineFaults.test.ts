/**
 * The attacker makes the service run out of memory, or a kernel trap, in the middle of a commit. If the events of a row are
 * half in the streams, and ticks are published from them, the same ticks after a restart have the same noise and other
 * counts: the difference is a true count. What must be impossible: two answers for one range of time, and a request that
 * is never answered.
 */
import type { NamedSnapshot, Store, StoredSnapshot } from "brume";
import { describe, expect, test } from "vitest";
import { chooseCore } from "../../../src/core/choose.js";
import {
  type Countdown,
  everyFault,
  failingLaterAllocations,
  failingMethods,
} from "../../../test/support/faults.js";
import type { Engine } from "../src/engine/engine.js";
import { Service } from "../src/service.js";
import { KEY, START, TestClock, testConfig } from "./support.js";

function durableMemory(): Store {
  const snapshots = new Map<string, StoredSnapshot>();
  const follows = ({ name, sequence }: NamedSnapshot) =>
    sequence === (snapshots.get(name)?.sequence ?? 0) + 1;
  const putMany = (many: readonly NamedSnapshot[]): Promise<boolean[]> => {
    const stored = many.map(follows);
    many.forEach((snapshot, i) => stored[i] && snapshots.set(snapshot.name, snapshot));
    return Promise.resolve(stored);
  };
  return {
    durable: true,
    get: (name) => Promise.resolve(snapshots.get(name)),
    async put(name, sequence, bytes) {
      if (!(await putMany([{ name, sequence, bytes }]))[0])
        throw Object.assign(new Error("taken"), { code: "conflict" });
    },
    putMany,
  };
}

const open = (store: Store, clock: TestClock): Promise<Service> =>
  Service.open(testConfig("unused"), { key: KEY, clock, store });

/** Five events of every metric; says of each metric whether they were acknowledged. */
async function submit(engine: Engine, round: number): Promise<string[]> {
  const metrics = ["requests", "basket", "latency"].map((name) => engine.metric(name)!);
  const key = (name: string) => (name === "requests" ? "a" : "");
  const calls = metrics.map((metric) =>
    engine.submit(
      Array.from({ length: 5 }, (_, i) => ({
        ...{ metric, key: key(metric.metric.name), value: 10 * i + round, at: undefined },
        person: `person ${i % 4}`,
      })),
      `${metric.metric.name} ${round}`,
    ),
  );
  const late = new Promise<"never answered">((done) =>
    setTimeout(() => done("never answered"), 3000).unref(),
  );
  return Promise.all(
    calls.map((call) =>
      Promise.race([
        call.then(
          () => "stored",
          () => "refused",
        ),
        late,
      ]),
    ),
  );
}

/** The answers for every second up to `to`; undefined where the service gives none. */
function answers(engine: Engine, to: number): (string | undefined)[] {
  return ["requests", "basket", "latency"].flatMap((name) =>
    Array.from({ length: (to - START) / 1000 }, (_, i) => {
      try {
        const stream = engine.stream(engine.metric(name)!, name === "requests" ? "a" : "");
        return JSON.stringify(stream!.between(START + 1000 * i, START + 1000 * (i + 1)));
      } catch {
        return undefined;
      }
    }),
  );
}

async function beat(engine: Engine, clock: TestClock): Promise<void> {
  clock.pass(1000);
  await engine.flush().catch(() => undefined);
}

/** One service whose second commit goes wrong, and the one that is started after it. */
async function scenario(goWrong: (act: () => Promise<void>) => Promise<void>): Promise<void> {
  const [store, clock] = [durableMemory(), new TestClock()];
  const { engine } = await open(store, clock);
  let ended: Error | undefined;
  engine.onEnd((reason) => (ended = reason));
  expect(await submit(engine, 1)).toEqual(["stored", "stored", "stored"]);
  await beat(engine, clock);
  let said: string[] = [];
  await goWrong(async () => {
    said = await submit(engine, 2);
    await beat(engine, clock);
  }).catch(() => undefined);
  expect(said).not.toContain("never answered");
  said = await submit(engine, 3);
  expect(said).not.toContain("never answered");
  if (said.includes("refused")) expect(String(ended)).toContain("start the service again");
  await beat(engine, clock);
  const before = answers(engine, engine.time);
  await engine.stop().catch(() => undefined);
  const again = await open(store, clock);
  await beat(again.engine, clock);
  const after = answers(again.engine, START + before.length * (1000 / 3));
  before.forEach((answer, i) => answer !== undefined && expect(after[i]).toBe(answer));
  await again.stop();
}

test("those who come while a commit fails are told, and so are those who come while the service stops", async () => {
  for (const [name, ends] of [
    ["a commit fails", (engine: Engine) => engine.flush()],
    ["the service stops", (engine: Engine) => engine.stop()],
  ] as const) {
    const [memory, clock] = [durableMemory(), new TestClock()];
    let [slow, begun] = [Promise.resolve(), false];
    const putMany = async (many: readonly NamedSnapshot[]): Promise<readonly boolean[]> => {
      await slow;
      return name === "a commit fails" && begun ? many.map(() => false) : memory.putMany!(many);
    };
    const { engine } = await open({ ...memory, putMany }, clock);
    let free!: () => void;
    [slow, begun] = [new Promise<void>((resolve) => (free = resolve)), true];
    const ending = ends(engine).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const said = submit(engine, 1);
    free();
    await ending;
    expect({ name, said: await said }).toEqual({ name, said: ["refused", "refused", "refused"] });
  }
});

describe("the second commit of a service goes wrong", () => {
  test("each allocation failing in turn", async () => {
    const failures = await everyFault((fault) => scenario((act) => failingLaterAllocations(fault, act)));
    expect(failures).toBeGreaterThan(5);
  });

  test.each(["before", "after"] as const)("each kernel call failing in turn, %s its work", async (when) => {
    const failures = await everyFault((fault: Countdown) =>
      scenario((act) => failingMethods(chooseCore(), fault, when, act)),
    );
    expect(failures).toBeGreaterThan(0);
  });
});

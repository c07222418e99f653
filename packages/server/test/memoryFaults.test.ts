/**
 * The attacker makes the service run out of memory, or a kernel trap, in the middle of a commit. If the events of a row are
 * half in memory, and periods are published from them, the same periods after a restart have the same noise and other
 * counts: the difference is a true count. What must be impossible: two answers for one range of time, and a request that
 * is never answered.
 */
import type { NamedSnapshot, Store, StoredSnapshot } from "brume";
import { describe, expect, test } from "vitest";
import { chooseNoise } from "../../../src/core/choose.js";
import {
  type Countdown,
  everyFault,
  failingLaterAllocations,
  failingMethods,
} from "../../../test/support/faults.js";
import { Service } from "../src/service.js";
import type { Config } from "../src/config/types.js";
import { KEY, METRICS, START, TestClock, testConfig } from "./support.js";

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

const HOUR = 3_600_000;
/** Two hours before midnight: the second commit that goes wrong ends the day. */
const BEGIN = START + 10 * HOUR;
const metrics: Config["metrics"] = Object.fromEntries(
  Object.entries(METRICS).map(([name, metric]) => [name, { ...metric, every: "1h", levels: ["1h", "1d"] }]),
);

const open = (store: Store, clock: TestClock): Promise<Service> =>
  Service.open(testConfig("unused", { metrics }), { key: KEY, clock, store });

function eveningClock(): TestClock {
  const clock = new TestClock();
  clock.pass(BEGIN - START);
  return clock;
}

/** Five events of every metric; says of each metric whether they were acknowledged. */
async function submit(service: Service, round: number): Promise<string[]> {
  const metrics = ["requests", "basket", "latency"].map((name) => service.metric(name)!);
  const key = (name: string) => (name === "requests" ? "a" : "");
  const calls = metrics.map((metric) =>
    service.submit(
      Array.from({ length: 5 }, (_, i) => ({
        ...{ metric, key: key(metric.config.name), value: 10 * i + round, count: 1, at: undefined },
        person: `person ${i % 4}`,
      })),
      `${metric.config.name} ${round}`,
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

/** The answers for every hour up to `to`; undefined where the service gives none. */
async function answers({ hub }: Service, to: number): Promise<(string | undefined)[]> {
  const found: (string | undefined)[] = [];
  for (const name of ["requests", "basket", "latency"])
    for (let from = BEGIN; from < to; from += HOUR)
      found.push(
        await hub.between(name, name === "requests" ? "a" : "", from, from + HOUR).then(
          (answer) => JSON.stringify(answer),
          () => undefined,
        ),
      );
  return found;
}

async function beat(service: Service, clock: TestClock): Promise<void> {
  clock.pass(HOUR);
  await service.flush().catch(() => undefined);
}

/** Resolves when the service takes events again: its state is read from the store. */
async function recovered(service: Service): Promise<void> {
  while (service.trouble !== undefined) await new Promise((resolve) => setTimeout(resolve, 20));
}

/** One service whose second commit goes wrong, and the one that is started after it. */
async function scenario(goWrong: (act: () => Promise<void>) => Promise<void>): Promise<void> {
  const [store, clock] = [durableMemory(), eveningClock()];
  const service = await open(store, clock);
  expect(await submit(service, 1)).toEqual(["stored", "stored", "stored"]);
  await beat(service, clock);
  let said: string[] = [];
  await goWrong(async () => {
    said = await submit(service, 2);
    await beat(service, clock);
  }).catch(() => undefined);
  expect(said).not.toContain("never answered");
  await recovered(service);
  expect(await submit(service, 2)).toEqual(["stored", "stored", "stored"]); // again: it counts once
  await beat(service, clock);
  const end = clock.wall();
  const before = await answers(service, end);
  await service.stop();
  const again = await open(store, clock);
  const after = await answers(again, end);
  expect(before).not.toContain(undefined);
  expect(after).toEqual(before);
  await again.stop();
}

test("those who come while a commit fails are told, and so are those who come while the service stops", async () => {
  for (const [name, ends] of [
    ["a commit fails", (service: Service) => service.flush()],
    ["the service stops", (service: Service) => service.stop()],
  ] as const) {
    const [memory, clock] = [durableMemory(), eveningClock()];
    let [slow, begun] = [Promise.resolve(), false];
    const putMany = async (many: readonly NamedSnapshot[]): Promise<readonly boolean[]> => {
      await slow;
      return name === "a commit fails" && begun ? many.map(() => false) : memory.putMany!(many);
    };
    const put = async (name: string, sequence: number, bytes: Uint8Array): Promise<void> => {
      if (!(await putMany([{ name, sequence, bytes }]))[0])
        throw Object.assign(new Error("taken"), { code: "conflict" });
    };
    const service = await open({ ...memory, put, putMany }, clock);
    let free!: () => void;
    [slow, begun] = [new Promise<void>((resolve) => (free = resolve)), true];
    const ending = ends(service).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const said = submit(service, 1);
    free();
    await ending;
    expect({ name, said: await said }).toEqual({ name, said: ["refused", "refused", "refused"] });
    await service.stop();
  }
});

describe("the second commit of a service goes wrong", () => {
  test("each allocation failing in turn", async () => {
    const failures = await everyFault((fault) => scenario((act) => failingLaterAllocations(fault, act)));
    expect(failures).toBeGreaterThan(5);
  });

  test.each(["before", "after"] as const)("each kernel call failing in turn, %s its work", async (when) => {
    const failures = await everyFault((fault: Countdown) =>
      scenario((act) => failingMethods(chooseNoise(), fault, when, act)),
    );
    expect(failures).toBeGreaterThan(0);
  });
});
